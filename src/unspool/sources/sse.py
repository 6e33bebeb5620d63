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
_MARKS = re.compile(r'"(?:[^"\\]|\\.)*+("?)|[\[{]|[\]}]')


class Broken(str):
    """Data of an event that is no JSON: the text as it came."""


class Assembler:
    """Feed it the bytes of a stream as they arrive; each event comes out once, as soon as it is whole."""

    def __init__(self) -> None:
        self._tail: list[bytes] = []
        """Of a line that has not ended: the pieces, put together once."""
        self._half_ended = False
        """It ends with a CR."""
        self._name = ""
        self._data: list[str] = []
        self._depth = 0
        """Of the data, where one line was not enough: brackets that are open."""
        self._quoted = False
        """A text in it is open."""

    def feed(self, piece: bytes) -> Iterator[Any]:
        self._tail.append(piece)
        if b"\n" not in piece and b"\r" not in piece and not self._half_ended:
            return
        *lines, rest = _LINE_END.split(b"".join(self._tail))
        self._tail, self._half_ended = [rest], rest.endswith(b"\r")
        for line in lines:
            yield from self.line(line.decode("utf-8", "replace"))

    def line(self, line: str) -> Iterator[Any]:
        """One whole line, without its end."""
        name, colon, value = line.partition(":")
        match name.lstrip("\ufeff"):
            case "data":
                if self._data and not self._data[0].strip():
                    self._data.clear()  # nothing yet
                self._data.append(value.removeprefix(" "))
                yield from self._whole()
            case "event":  # the next event begins
                yield from self._rest()
                self._name = value.strip()
            case "" if not colon:  # this one has ended
                yield from self._rest()
                self._name = ""
            case "id" | "retry" | "":
                return
            case _:  # no line of a stream: JSON lines under its name, or something that came between
                yield from self._rest()
                self._data = [line]
                yield from self._rest()

    def end(self) -> Iterator[Any]:
        """What the stream left unfinished."""
        tail, self._tail, self._half_ended = b"".join(self._tail), [], False
        if tail:
            yield from self.line(tail.rstrip(b"\r").decode("utf-8", "replace"))
        yield from self._rest()

    def _whole(self) -> Iterator[Any]:
        """The event, if its data is complete. A new beginning shows that what came before it never will be."""
        for data in (self._data, self._data[-1:]) if self._may_be_whole() else (self._data[-1:],):
            try:
                value = _decode(data)
            except Unreadable:
                continue
            if len(data) < len(self._data):
                yield Broken("\n".join(self._data[:-1]).strip())
            self._data = []
            yield self._named(value)
            return

    def _may_be_whole(self) -> bool:
        """Whether data of several lines can be JSON: all that was opened in it is closed, for the first time."""
        if len(self._data) == 1:
            return False  # it is tried by itself
        if len(self._data) == 2:
            self._depth, self._quoted = 0, False
            self._weigh(self._data[0])
        if self._depth <= 0 and not self._quoted:
            return False  # and was no JSON: nor will it be with more behind it
        self._weigh(self._data[-1])
        return self._depth == 0 and not self._quoted

    def _weigh(self, line: str) -> None:
        text, self._quoted = f'"{line}' if self._quoted else line, False
        for mark in _MARKS.finditer(text):
            match mark[0][0]:
                case '"':
                    self._quoted = not mark[1]
                case "[" | "{":
                    self._depth += 1
                case _:
                    self._depth -= 1

    def _rest(self) -> Iterator[Any]:
        """The event, complete or not."""
        if self._data:
            try:
                value = _decode(self._data)
            except Unreadable:
                value = Broken("\n".join(self._data).strip())
            self._data = []
            if value != "":
                yield self._named(value)

    def _named(self, value: Any) -> Any:
        """An event that only its name tells to be an error says so itself."""
        if self._name == "error" and not (isinstance(value, dict) and value.keys() & {"type", "error"}):
            return {"error": str(value) if isinstance(value, str) else value}
        return value


def _decode(data: list[str]) -> Any:
    text = "\n".join(data).strip()
    return DONE if text == DONE else loads(text)


def events(source: Iterable[str] | str) -> Iterator[Any]:
    """The events of a finished stream: recorded lines, or its whole text."""
    assembler = Assembler()
    yield from assembler.feed((source if isinstance(source, str) else "\n".join(source)).encode("utf-8", "replace"))
    yield from assembler.end()
