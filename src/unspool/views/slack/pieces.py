"""Text as pieces, and pieces as texts that Slack takes: escaped, closed where they are cut, never longer than allowed.

All text of a message goes through here. A piece holds raw text; it is escaped when it is written, and only then is it
counted. So an entity cannot be cut in two, what was opened is closed, and nothing that a model or a tool wrote can mean
anything to Slack: no link, no mention, no `<!channel>`.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias
from urllib.parse import quote

_SEQUENCE = re.compile(r"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)?|\[[0-?]*[ -/]*[@-~]?|[@-Z\\^_])|\x9b[0-?]*[ -/]*[@-~]?")
"""What colours a terminal, and steers it."""
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_BROKEN = re.compile("[\ud800-\udfff]")
"""Halves of characters: they cannot be sent."""
_CALL = re.compile(r"(?<![\w.])@(?=(?:channel|here|everyone|group)\b)", re.IGNORECASE)
_SPECIAL = re.compile("[&<>\U00010000-\U0010ffff]")
_COSTS = {"&": 5, "<": 4, ">": 4}
_APART = "\u200b"
"""A space without width: markers count only at the edges of words."""
_FENCE_IN_TEXT = re.compile("`(?=``)")
_MARGIN = 4
"""Left free for an ellipsis, and for such spaces."""
_JOINER = "\u200d"


class Text(NamedTuple):
    raw: str


class Open(NamedTuple):
    begin: str
    end: str


class Close(NamedTuple):
    """Ends what was opened last."""


Piece: TypeAlias = Text | Open | Close

_CLOSE = Close()
_FENCE = Open("```\n", "\n```")


def bold(text: str) -> list[Piece]:
    return _marked("*", text)


def italic(text: str) -> list[Piece]:
    """Or as code, where a text holds what would end it."""
    return code(text.replace("`", "ˋ")) if re.search("[*_~`]", text) else _marked("_", text)


def code(text: str) -> list[Piece]:
    """In a line, or as a block where it has several, or would end itself."""
    if "\n" in text.strip("\n") or "`" in text:
        return [_FENCE, Text(text.strip("\n")), _CLOSE]
    return _marked("`", text)


def fenced(text: str) -> list[Piece]:
    return [_FENCE, Text(text), _CLOSE] if text.strip() else []


def link(url: str, inner: list[Piece]) -> list[Piece]:
    """A link if it leads to a page; else its text, and where it leads."""
    if not re.match(r"(?:https?://|mailto:)[^\s]{1,1000}\Z", url):
        return [*inner, Text(f" ({url})")] if url else inner
    safe = quote(clean(url), safe="!#$%'()*+,-./:;=?@[]_~&").replace("&", "&amp;")
    return [Open(f"<{safe}|", ">"), *(_in_link(piece) for piece in inner), _CLOSE]


def _in_link(piece: Piece) -> Piece:
    return Text(re.sub(r"[|\n]", " ", piece.raw)) if isinstance(piece, Text) else piece


def _marked(mark: str, text: str) -> list[Piece]:
    text = text.strip()
    return [Open(mark, mark), Text(text), _CLOSE] if text else []


def clean(text: str) -> str:
    """Without what steers terminals, what cannot be sent, and what calls people."""
    if not text.isascii() or not text.isprintable():
        text = _SEQUENCE.sub("", text.replace("\r\n", "\n"))
        text = _BROKEN.sub("\N{REPLACEMENT CHARACTER}", _UNSEEN.sub("", text))
    return _CALL.sub("@" + _APART, text) if "@" in text else text


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def units(text: str) -> int:
    """Its length as Slack's limits may count it at most: in UTF-16."""
    return len(text) if text.isascii() else len(text) + sum(letter > "\uffff" for letter in text)


def first_line(text: str) -> str:
    """The first that says something."""
    for line in text.splitlines():
        if told := " ".join(clean(line).split()):
            return told
    return ""


def shorten(text: str, most: int, lines: int | None = None) -> str:
    """So many characters and lines at most, with an ellipsis where something was left out."""
    told = text
    if lines is not None and text.count("\n") >= lines:
        told = "\n".join(text.split("\n", lines)[:lines])
    if len(told) > most:
        told = told[: _whole(told, most - 1)]
    return told if len(told) == len(text) else told.rstrip() + "…"


def plain(text: str, limit: int) -> str:
    """One line of escaped text, for what has no formatting."""
    return write([Text(" ".join(clean(text).split()))], limit)[0]


def write(pieces: Iterable[Piece], limit: int, most: int = 1) -> list[str]:
    """Texts that are each not longer than the limit, at least one and `most` at most; an ellipsis tells of the rest."""
    writer = _Writer(limit, most)
    for piece in pieces:
        match piece:
            case Text(raw):
                writer.text(_FENCE_IN_TEXT.sub("`" + _APART, clean(raw)))
            case Open():
                writer.open(piece)
            case Close():
                writer.close()
        if writer.full:
            break
    return writer.done()


class _Writer:
    def __init__(self, limit: int, most: int) -> None:
        self._limit = limit
        self._left = most - 1
        self._written: list[str] = []
        self._page: list[str] = []
        self._used = 0
        self._opened: list[Open] = []
        self._after_mark = False
        self.full = False

    @property
    def _room(self) -> int:
        return self._limit - self._used - _MARGIN - sum(units(each.end) for each in self._opened)

    @property
    def _last(self) -> str:
        return self._page[-1][-1] if self._page else ""

    def text(self, text: str) -> None:
        while text:
            if (self._after_mark and text[0].isalnum()) or (text[0] == "`" and self._last == "`"):
                self._put(_APART)
            self._after_mark = False
            if self._fits(text):
                self._put(escape(text))
                return
            end = _cut(text, self._room)
            self._put(escape(text[:end].rstrip(" \n")))
            text = text[end:].lstrip("\n")
            self._turn()
            if self.full:
                return

    def _fits(self, text: str) -> bool:
        room = self._room
        return len(text) <= room and sum(map(_cost, _SPECIAL.findall(text))) + len(text) <= room

    def open(self, mark: Open) -> None:
        needed = units(mark.begin) + units(mark.end) + 1
        if needed > self._room:
            self._turn()
            if self.full:
                return
            if needed > self._room:
                mark = Open("", "")  # a link that fits nowhere is its text
        if len(mark.begin) == 1 and (self._last.isalnum() or self._last == mark.begin):
            self._put(_APART)
        self._put(mark.begin)
        self._opened.append(mark)
        self._after_mark = False

    def close(self) -> None:
        mark = self._opened.pop()
        self._put(mark.end)
        self._after_mark = len(mark.end) == 1

    def _turn(self) -> None:
        """To the next page, with what is open here closed, and opened again there."""
        if self._left == 0:
            self.full = True
            self._put("…")
        self._left -= 1
        self._put("".join(each.end for each in reversed(self._opened)))
        self._end_page()
        if not self.full:
            for each in self._opened:
                self._put(each.begin)

    def _end_page(self) -> None:
        text = "".join(self._page).strip("\n")
        if text.strip():
            self._written.append(text)
        self._page, self._used, self._after_mark = [], 0, False

    def _put(self, written: str) -> None:
        if written:
            self._page.append(written)
            self._used += units(written)

    def done(self) -> list[str]:
        if self._page:
            self._put("".join(each.end for each in reversed(self._opened)))
            self._end_page()
        return self._written or ["…"]


def _cost(letter: str) -> int:
    """What it takes beyond one unit."""
    return _COSTS.get(letter, 2) - 1


def _cut(text: str, room: int) -> int:
    """Where to cut so that what is before it fits: at the end of a line or of a word, or at least of a character."""
    fitting = used = 0
    for letter in text:
        used += 1 + (_cost(letter) if letter in _COSTS or letter > "\uffff" else 0)
        if used > room:
            break
        fitting += 1
    for mark, least in (("\n", fitting // 2), (" ", fitting * 3 // 4)):
        if (place := text.rfind(mark, least, fitting)) > 0:
            return place + 1
    return _whole(text, fitting)


def _whole(text: str, end: int) -> int:
    """The end, or the beginning of what it would cut: a letter with its accents, a joined emoji, a flag."""
    least = max(0, end - 64)
    if end >= len(text):
        return len(text)
    place = end
    while place > least and (_continues(text[place]) or text[place - 1] == _JOINER):
        place -= 1
    flags = 0
    while place - flags > least and _is_flag(text[place - flags - 1]):
        flags += 1
    if flags % 2 and _is_flag(text[place]):
        place -= 1
    return place if place > least else end


def _continues(letter: str) -> bool:
    return (
        letter == _JOINER
        or "\ufe00" <= letter <= "\ufe0f"
        or "\U0001f3fb" <= letter <= "\U0001f3ff"
        or unicodedata.category(letter) in ("Mn", "Me", "Mc")
    )


def _is_flag(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"
