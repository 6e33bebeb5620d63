"""Server-sent events: bytes in pieces of any size, or lines that a recorder kept, to the data of each event.

Follows the standard: LF, CRLF or CR end a line, `:` begins a comment, several `data:` lines are one event. Recorders
drop the blank lines between events, so an event also ends where its data is complete JSON. Only LF and CR end a line:
U+2028 and U+0085 inside JSON do not.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from unspool.sources.jsontext import Unreadable, loads

DONE = "[DONE]"
_LINE_END = re.compile(b"\r\n|\n|\r(?!$)")  # a CR that ends a piece may be half of a CRLF


class Broken(str):
    """Data of an event that is no JSON: the text as it came."""


class Assembler:
    """Feed it the bytes of a stream as they arrive; each event comes out once, as soon as it is whole."""

    def __init__(self) -> None:
        self._tail = b""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> Iterator[Any]:
        *lines, self._tail = _LINE_END.split(self._tail + piece)
        for line in lines:
            yield from self.line(line.decode("utf-8", "replace"))

    def line(self, line: str) -> Iterator[Any]:
        """One whole line, without its end."""
        name, colon, value = line.partition(":")
        match name.lstrip("\ufeff"):
            case "data":
                self._data.append(value.removeprefix(" "))
                yield from self._take(broken=False)
            case "event" | "" if not (name == "" and colon):  # the next event begins, or this one has ended
                yield from self._take(broken=True)
            case other if other.lstrip()[:1] in ("{", "["):  # JSON lines under the name of a stream
                yield from self._take(broken=True)
                self._data = [line]
                yield from self._take(broken=True)

    def end(self) -> Iterator[Any]:
        """What the stream left unfinished."""
        if self._tail:
            yield from self.line(self._tail.rstrip(b"\r").decode("utf-8", "replace"))
            self._tail = b""
        yield from self._take(broken=True)

    def _take(self, broken: bool) -> Iterator[Any]:
        if not self._data:
            return
        text = "\n".join(self._data).strip()
        try:
            yield DONE if text == DONE else loads(text)
        except Unreadable:
            if not broken:
                return
            if text:
                yield Broken(text)
        self._data = []


def events(source: Iterable[str] | str) -> Iterator[Any]:
    """The events of a finished stream: recorded lines, or its whole text."""
    assembler = Assembler()
    if isinstance(source, str):
        yield from assembler.feed(source.encode("utf-8", "replace"))
    else:
        for line in source:
            yield from assembler.line(line.rstrip("\r\n"))
    yield from assembler.end()
