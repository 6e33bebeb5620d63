"""Which words stand in which reel of a site: so that its search opens only the data in which something may be found.

A word is a run of letters and digits, and of whatever is beyond ASCII, in small letters. Of a long one its pieces are
kept, each of 32 characters and half of it shared with the next: so the first 16 of whatever is looked for stand in one.
`web/src/lib/index.ts` cuts what is looked for in the same way.
"""

import re

from unspool.jobs.view.redacting import Redaction
from unspool.jobs.view.sharing import Kept

_WORD = re.compile(r"[^\x00-/:-@\[-`{-\x7f]+")
_PIECE, _STEP = 32, 16


class Index:
    def __init__(self, redaction: Redaction | None) -> None:
        self._redaction = redaction
        self._reels: list[str] = []
        self._words: dict[str, list[int]] = {}

    def add(self, reel: str, kept: Kept) -> None:
        number = len(self._reels)
        self._reels.append(reel)
        found: set[str] = set()
        for message in kept.messages.values():
            for text in (message.text, *(part for call in message.calls for part in (call.name, call.arguments))):
                clean = text if self._redaction is None else self._redaction.text(text)  # a piece of a key is none
                found.update(_WORD.findall(clean.lower()))
        for word in found:
            for at in range(0, max(1, len(word) - _STEP), _STEP):
                places = self._words.setdefault(word[at : at + _PIECE], [])
                if not places or places[-1] != number:
                    places.append(number)

    def value(self) -> dict[str, object]:
        """Words by the reels in which they stand: most stand in one, or in the same few."""
        groups: dict[str, list[str]] = {}
        for word, places in sorted(self._words.items()):
            groups.setdefault(",".join(map(str, places)), []).append(word)
        return {"reels": self._reels, "words": {places: " ".join(words) for places, words in groups.items()}}
