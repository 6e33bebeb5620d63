"""Runs of items that were read before.

An agent sends its whole history with each call, so a line's item list begins like an earlier one:

    earlier   …"messages": [A, B, C]…
    now       …"messages": [A, B, C, D, E]…
    decoded   …"messages": [■, D, E]…            ■ stands for the run A, B, C

Bytes that equal a known run are compared, not parsed: that is what makes reading a growing conversation cheaper than
parsing it. The cut is sound: the bytes taken out are whole items, one after another, and the line is used only if,
once decoded, the mark stands in the item list just where the run began. A first item that changes with every call (a
system prompt with the time in it) is stepped over.
"""

import re
import secrets
from collections.abc import Sequence

from msgspec import Raw, Struct

from unspool.model import Message

_MARK = b'"%b"' % secrets.token_hex(8).encode()
_KEYS = (b'"messages"', b'"input"', b'"contents"')
_OPENING = re.compile(rb"\s*:\s*\[\s*")
_BETWEEN = re.compile(rb"[\s,]*")
_SELF_DELIMITING = (b"}", b'"', b"]")
_WORTH_IT = 4096
"""Lines shorter than this are parsed faster than they are compared."""
_SHIFT = 1024
"""By how many bytes a changed first item may be longer or shorter than before."""
_PROBE = 64


class Run(Struct):
    """The items of one request: where they lie in its line, and what they were decoded to."""

    line: bytes
    starts: list[int]
    ends: list[int]
    messages: Sequence[Message]
    wire: str

    def shared(self, line: bytes, at: int, first: int) -> int:
        """How many items, from number `first` on, stand in `line` from `at` on."""
        view, shift = memoryview(self.line), at - self.starts[first]
        if not line.startswith(view[self.starts[first] : self.ends[first]], at):
            return 0
        equal, limit = first + 1, len(self.ends)
        upto = limit  # nearly always all of them; else halve
        while equal < limit:
            begin = self.starts[equal]
            if line.startswith(view[begin : self.ends[upto - 1]], begin + shift):
                equal = upto
            else:
                limit = upto - 1
            upto = (equal + limit + 1) // 2
        return equal - first


class Cut(Struct):
    """A line with a known run taken out."""

    line: bytes
    start: int
    """Where the item list begins."""
    run: Run
    first: int
    """The run's first item that stands in the line, and the number it has there."""
    count: int
    at: int
    end: int

    def fits(self, items: Sequence[Raw]) -> bool:
        """Whether the line, once decoded, has the mark among its items where the run began."""
        return len(items) > self.first and bytes(items[self.first]) == _MARK


class KnownRuns:
    """The newest run of each conversation that was read lately."""

    def __init__(self, capacity: int = 12, size: int = 32 << 20) -> None:
        self._capacity, self._size = capacity, size
        self._runs: list[Run] = []  # the newest last
        self._key = _KEYS[0]

    def cut(self, line: bytes) -> Cut | None:
        """The line without its longest known run; None when it has none."""
        if not self._runs or len(line) < _WORTH_IT or not (start := self._item_list(line)):
            return None
        best: tuple[int, Run, int, int] | None = None
        for run in reversed(self._runs):
            at, first, count = start, 0, run.shared(line, start, 0)
            if not count and (at := _second_item(run, line, start)):
                first, count = 1, run.shared(line, at, 1)
            if count and (best is None or count > best[0]):
                best = count, run, first, at
                if first + count == len(run.ends):
                    break
        if best is None:
            return None
        count, run, first, at = best
        end = at + run.ends[first + count - 1] - run.starts[first]
        return Cut(line[:at] + _MARK + line[end:], start, run, first, count, at, end)

    def learn(self, line: bytes, cut: Cut | None, items: Sequence[Raw], messages: Sequence[Message], wire: str) -> None:
        """Remember the items of a line; `items` are those that were not cut out."""
        if len(line) < _WORTH_IT:
            return
        if cut is None:
            placed = _place(line, self._item_list(line), items)
        else:
            placed = _place(line, cut.start, items[: cut.first])
            shift = cut.at - cut.run.starts[cut.first]
            for into, known in zip(placed, (cut.run.starts, cut.run.ends), strict=True):
                run = known[cut.first : cut.first + cut.count]
                into.extend([place + shift for place in run] if shift else run)
            for into, new in zip(placed, _place(line, cut.end, items[cut.first :]), strict=True):
                into.extend(new)
            if cut.first + cut.count == len(cut.run.ends):
                self._runs.remove(cut.run)  # the conversation has moved on
        if placed[0]:
            self._runs.append(Run(line, *placed, messages, wire))
        while len(self._runs) > self._capacity or sum(len(run.line) for run in self._runs[:-1]) > self._size:
            del self._runs[0]

    def _item_list(self, line: bytes) -> int:
        """Where the first item stands, or 0. A wrong guess costs time, never truth."""
        for key in (self._key, *_KEYS):
            found = line.find(key)
            if found >= 0 and (opening := _OPENING.match(line, found + len(key))):
                self._key = key
                return opening.end()
        return 0


def _second_item(run: Run, line: bytes, start: int) -> int:
    """Where the run's second item stands in a line whose first item has changed; 0 if it is not there."""
    if len(run.starts) < 3:
        return 0
    second = run.starts[1]
    expected = start + second - run.starts[0]
    probe = run.line[second : min(second + _PROBE, run.ends[1])]
    return max(line.find(probe, max(start, expected - _SHIFT), expected + _SHIFT + len(probe)), 0)


def _place(line: bytes, at: int, items: Sequence[Raw]) -> tuple[list[int], list[int]]:
    """Start and end of each item, from the first on, for as long as they stand where they should."""
    starts: list[int] = []
    ends: list[int] = []
    for item in items:
        at = _BETWEEN.match(line, at).end()  # type: ignore[union-attr]  # it matches nothing too
        if not line.startswith(item, at):
            break
        starts.append(at)
        at += len(memoryview(item))
        ends.append(at)
        if line[at - 1 : at] not in _SELF_DELIMITING:
            return starts[:-1], ends[:-1]
    return starts, ends
