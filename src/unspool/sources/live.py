r"""A stream while it is written: its bytes → JSON objects, and lines that are none.

{"a": 1}\n                 one object a line, the usual form
{"a": 1} {"b": 2}\n        several in a line
{\n  "a": 1\n}\n           one over several lines, as it is printed for people
Compiling…\n               anything else: handed on as it is

An object that was begun and does not end is held only as long as each further line may belong to it, so that a lone
brace holds nothing up.
"""

import re
from collections.abc import Iterator
from typing import Any

from unspool.dialect import Record
from unspool.model import Origin
from unspool.sources.jsontext import Unreadable, breaks_off, loads, mend, objects_in, strict

_BOM = b"\xef\xbb\xbf"
_INSIDE = re.compile(rb'\s*(?:["\[\]{}:,]|-?\d|true|false|null)')
"""How a line may begin that goes on with an object."""
_MOST = 1 << 26
"""Bytes of one object over several lines."""


class Framing:
    """Give it the bytes as they come; it gives back records, and other lines as bytes without their ends."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._rest: list[bytes] = []
        """A line that has not ended."""
        self._begun: list[bytes] = []
        """The lines of an object that has not ended."""
        self._size = 0
        self._count = 0

    def feed(self, data: bytes) -> Iterator[Record | bytes]:
        lines = data.split(b"\n")
        if len(lines) == 1:
            self._rest += [data] if data else []
            return
        if self._rest:
            lines[0] = b"".join([*self._rest, lines[0]])
        last = lines.pop()
        self._rest = [last] if last else []
        for line in lines:
            yield from self._line(line)

    def close(self) -> Iterator[Record | bytes]:
        """The end: what has begun will not go on."""
        if self._rest:
            yield from self._line(b"".join(self._rest))
            self._rest = []
        yield from self._give_up()

    def _line(self, line: bytes) -> Iterator[Record | bytes]:
        line = line.removeprefix(_BOM)  # each of several files in a row may have one
        if line.startswith(b"{"):
            try:
                value = strict(line)
            except Unreadable:
                yield from self._odd(line)
                return
            if self._begun:  # a whole object: what was begun before it was none
                yield from self._give_up()
            yield self._record(line, value)
        else:
            yield from self._odd(line)

    def _odd(self, line: bytes) -> Iterator[Record | bytes]:
        """A line that is not just one valid object."""
        bare = line.strip()
        if self._begun:
            if not line.startswith(b"{") and (not bare or _INSIDE.match(line)) and self._size < _MOST:
                yield from self._go_on(line, bare)
                return
            yield from self._give_up()
        if not bare.startswith((b"{", b"[")):
            yield line.removesuffix(b"\r")
            return
        values = _values(bare)
        if values is not None:
            for value in values:
                yield self._record(bare, value)
        elif bare.startswith(b"{") and breaks_off(bare):
            self._begun, self._size = [line], len(line)
        else:
            yield line.removesuffix(b"\r")

    def _go_on(self, line: bytes, bare: bytes) -> Iterator[Record | bytes]:
        """One more line of what was begun. Its end is a brace that stands no deeper than the first one."""
        self._begun.append(line)
        self._size += len(line)
        if bare.startswith(b"}") and _indent(line) <= _indent(self._begun[0]):
            whole = b"\n".join(self._begun)
            values = _values(whole.strip())
            if values is None:
                yield from self._give_up()
                return
            self._begun = []
            for value in values:
                yield self._record(whole, value)

    def _give_up(self) -> Iterator[bytes]:
        """It was no object: its lines are lines like any other."""
        begun, self._begun = self._begun, []
        for line in begun:
            yield line.removesuffix(b"\r")

    def _record(self, data: bytes, value: Any) -> Record:
        """Records are numbered, not lines: several may stand in one."""
        self._count += 1
        return Record(data, Origin(self._path, self._count, 0, len(data)), value)


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


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip())
