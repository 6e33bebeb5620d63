"""Answers that come back inside the text of a later prompt: how a summary replaces a conversation."""

from collections import Counter
from collections.abc import Callable, Iterable

_LONG = 32
_MANY = 60
"""Lines and sentences of a message that are looked at."""
_ENOUGH = 120
"""Characters in equal lines and sentences that make a quotation."""

# Words with which agents begin a conversation that goes on from a summary.
_SUMMARIES = (
    "continued from a previous conversation",  # Claude Code
    "Another language model started to solve this problem and produced a summary",  # Codex
    "<state_snapshot>",  # Gemini CLI, Qwen Code
    "The conversation history before this point was compacted",  # Pi
)


# What stands in a request for a summary, in some languages that agents are prompted in.
_ASKS = (
    "summar",
    "compact",
    "condens",
    "recap",
    "hand-off",
    "handoff",
    "snapshot",
    "总结",
    "摘要",
    "要約",
    "zusammenfass",
)
_BEGINNING = 1000
_EDGE = 600
"""Characters at the beginning and at the end of a message: there an instruction stands, if there is one."""


class Quotes:
    def __init__(self, text: Callable[[str], str]) -> None:
        self._text = text
        self._said: dict[int, int] = {}
        self._asking: dict[str, bool] = {}

    def remember(self, answer: Iterable[str], number: int) -> None:
        for row in answer:
            for piece in self._sentences(row):
                self._said[hash(piece)] = number

    def quoted_by(self, rows: Iterable[str]) -> list[int]:
        """The requests whose answers these rows quote at length, the most quoted first."""
        length: Counter[int] = Counter()
        for row in rows if self._said else ():
            for piece in self._sentences(row):
                if (number := self._said.get(hash(piece))) is not None:
                    length[number] += len(piece)
        return [number for number, quoted in length.most_common() if quoted >= _ENOUGH]

    def asks_for_summary(self, rows: Iterable[str]) -> bool:
        return any(map(self._asks, rows))

    def _asks(self, row: str) -> bool:
        known = self._asking.get(row)
        if known is None:
            text = self._text(row)
            if len(text) > 2 * _EDGE:
                text = f"{text[:_EDGE]} {text[-_EDGE:]}"
            text = text.lower()
            known = self._asking[row] = _holds_any(text, _ASKS)
        return known

    def says_summary(self, rows: Iterable[str]) -> bool:
        beginnings = [self._text(row)[:_BEGINNING] for row in rows]
        return any(_holds_any(text, _SUMMARIES) for text in beginnings)

    def _sentences(self, row: str) -> list[str]:
        """Lines, and what tags and full stops part in them."""
        text = self._text(row).replace("<", "\n").replace(">", "\n").replace(". ", ".\n")
        return [piece for piece in map(str.strip, text.split("\n", _MANY)) if len(piece) >= _LONG]


def _holds_any(text: str, words: tuple[str, ...]) -> bool:
    """A loop: `any` takes half as long again, and every request asks."""
    for word in words:  # noqa: SIM110
        if word in text:
            return True
    return False
