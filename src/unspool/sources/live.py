r"""A stream while it is written: its bytes → JSON objects, and lines that are none.

{"a": 1}\n                 one object a line, the usual form
{"a": 1} {"b": 2}\n        several in a line
{\n  "a": 1\n}\n           one over several lines, indented or not
[{"a": 1},\n{"b": 2}]\n   an array of objects, in one line or in several
Compiling…\n               anything else: handed on as it is

An object that was begun and does not end is held only while each further line may belong to it, so that a lone brace
holds nothing up. Whoever reads a live stream also calls `release` if nothing came for a while.
"""

from collections.abc import Iterator
from typing import Any, Literal

from unspool.dialect import Record
from unspool.model import Note, Origin
from unspool.sources.density import is_suspicious, left_out_note, thinned
from unspool.sources.jsontext import Unreadable, loads, mend, objects_in, strict
from unspool.sources.limits import max_record, too_large_note
from unspool.sources.nesting import Nesting

_BOM = b"\xef\xbb\xbf"
_MAX_BYTES = 1 << 26
"""Bytes of one object over several lines."""


class Framing:
    """Give it the bytes as they come; it gives back records, and other lines as bytes without their ends."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._rest: list[bytes] = []
        """A line that has not ended, unless it is too large."""
        self._held = 0
        """Bytes of that line that came."""
        self._most = max_record()
        self._begun: list[bytes] = []
        """The lines of an object or an array that has not ended. Elements that ended are handed on."""
        self._array: Literal["none", "first", "later"] = "none"
        """Whether these lines belong to an array, and whether elements of it were handed on."""
        self._nesting = Nesting()
        self._size = 0
        self._count = 0

    def feed(self, data: bytes) -> Iterator[Record | bytes | Note]:
        lines = data.split(b"\n")
        last = lines.pop()
        if lines:
            first, lines[0] = lines[0], b""
            yield from self._end_line(first)
            for line in lines[1:]:
                yield from self._line(line)
        self._hold(last)

    def close(self) -> Iterator[Record | bytes | Note]:
        """The end: what has begun will not go on."""
        if self._held:
            yield from self._end_line(b"")
        yield from self._give_up()

    @property
    def waiting(self) -> bool:
        """Whether lines are held because an object in them has not ended."""
        return bool(self._begun)

    def release(self) -> Iterator[Record | bytes]:
        """Hand on the lines of an object that has not ended: nothing came for so long that it will not."""
        yield from self._give_up()

    def _hold(self, data: bytes) -> None:
        """Keep the beginning of a line; of one that is too large only its size."""
        self._held += len(data)
        if self._held > self._most:
            self._rest.clear()
        elif data:
            self._rest.append(data)

    def _end_line(self, data: bytes) -> Iterator[Record | bytes | Note]:
        """Take the end of the line that was kept."""
        self._hold(data)
        size, self._held = self._held, 0
        if size > self._most:
            yield too_large_note("a line", Origin(self._path, self._count + 1, 0, size))
            return
        line = b"".join(self._rest)
        self._rest.clear()
        yield from self._line(line)

    def _line(self, line: bytes) -> Iterator[Record | bytes | Note]:
        line = line.removeprefix(_BOM)  # each of several files in a row may have one
        if is_suspicious(line):
            size = len(line)
            line, count = thinned(line)
            if count:
                yield left_out_note(count, Origin(self._path, self._count + 1, 0, size))
        if self._begun or self._array == "later":
            self._size += len(line)
            if self._size <= _MAX_BYTES and self._nesting.add(line):
                self._begun.append(line)
                if self._nesting.whole:
                    yield from self._end_value()
                elif self._nesting.between_elements:
                    yield from self._end_elements()
                return
            yield from self._give_up()
        yield from self._first(line)

    def _first(self, line: bytes) -> Iterator[Record | bytes]:
        """A line that does not go on with the one before."""
        value = _object(line)
        if value is None:
            yield from self._odd(line)
        else:
            yield self._record(line, value)

    def _odd(self, line: bytes) -> Iterator[Record | bytes]:
        """A line that is not just one valid object."""
        bare = line.strip()
        if not bare.startswith((b"{", b"[")):
            yield line.removesuffix(b"\r")
            return
        values = _values(bare)
        if values is not None:
            for value in values:
                yield self._record(bare, value)
        elif (nesting := _begun(bare)) is not None:
            self._begun, self._size, self._nesting = [line], len(line), nesting
            self._array = "first" if bare.startswith(b"[") else "none"
            if nesting.between_elements:
                yield from self._end_elements()
        else:
            yield line.removesuffix(b"\r")

    def _end_value(self) -> Iterator[Record | bytes]:
        """Hand on the objects of the lines that were kept: all that was opened is closed."""
        data = b"\n".join(self._begun)
        bare = data.strip()
        yield from self._hand_on(data, _elements(bare[:-1]) if self._array == "later" else _values(bare))
        self._array = "none"

    def _end_elements(self) -> Iterator[Record | bytes]:
        """Hand on the elements of an array that ended: the whole array may be larger than memory."""
        data = b"\n".join(self._begun)
        yield from self._hand_on(data, _elements(data.strip()[self._array == "first" :]))

    def _hand_on(self, data: bytes, values: list[Any] | None) -> Iterator[Record | bytes]:
        if values is None:
            yield from self._give_up()
            return
        self._begun, self._size = [], 0
        self._array = "later" if self._array != "none" else "none"
        for value in values:
            yield self._record(data, value)

    def _give_up(self) -> Iterator[Record | bytes]:
        """It was no object: its lines are lines like any other, and what seemed a part of it may be a record."""
        begun, self._begun, self._array = self._begun, [], "none"
        for number, line in enumerate(begun):
            value = _object(line) if number else None
            yield line.removesuffix(b"\r") if value is None else self._record(line, value)

    def _record(self, data: bytes, value: Any) -> Record:
        """Records are numbered, not lines: several may stand in one."""
        self._count += 1
        return Record(data, Origin(self._path, self._count, 0, len(data)), value)


def _object(line: bytes) -> Any:
    """The value of a line that is one valid object, else None."""
    if not line.startswith(b"{"):
        return None
    try:
        return strict(line)
    except Unreadable:
        return None


def _begun(line: bytes) -> Nesting | None:
    """What a line opens and does not close: an object, or an array of objects. A lone `[` is text."""
    if not line.startswith(b"{") and not line[1:].lstrip().startswith(b"{"):
        return None
    nesting = Nesting()
    return nesting if nesting.add(line) and not nesting.whole else None


def _elements(text: bytes) -> list[Any] | None:
    """Return the objects in a part of an array, None if it holds anything else."""
    bare = text.strip().strip(b",").strip()
    return _values(b"[%b]" % bare) if bare else []


def _values(line: bytes) -> list[Any] | None:
    """The objects of a line: one that needs mending, several, or those of an array. None if it holds anything else."""
    if line.startswith(b"{"):
        try:
            return [strict(mend(line))]
        except Unreadable:
            return objects_in(line)
    try:
        value = loads(line)
    except Unreadable:
        return None
    return value if isinstance(value, list) and value and all(isinstance(item, dict) for item in value) else None
