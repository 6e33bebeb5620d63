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

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice

from msgspec import Raw, Struct

from unspool.model import Message

_MARK = b'"%b"' % os.urandom(8).hex().encode()
_OPENING = re.compile(rb"\s*:\s*\[\s*")
_BETWEEN = re.compile(rb"[\s,]*")
_SELF_DELIMITING = set(b'}]"')
_WORTH_IT = 4096
"""Lines shorter than this are parsed faster than they are compared."""
_SHIFT = 1024
"""By how many bytes a changed first item may be longer or shorter than before."""
_PROBE = 64
_TRIES = 6
_PLACES = (0, 500, 2_000, 8_000, 30_000)


class Run(Struct):
    """The items of one request: where they lie in its line, and what they were decoded to."""

    number: int
    sample: bytes
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
            begin = self.ends[equal - 1]  # what stands between two items counts too
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

    def __init__(self, keys: Iterable[str], size: int = 32 << 20) -> None:
        self._keys = [b'"%b"' % key.encode() for key in keys]
        self._size = size
        self._held = 0
        self._runs: dict[int, Run] = {}  # by their numbers, the newest last
        self._alike: dict[bytes, dict[int, Run]] = defaultdict(dict)
        self._number = 0

    def cut(self, line: bytes) -> Cut | None:
        """The line without its longest known run; None when it has none."""
        if not self._runs or len(line) < _WORTH_IT or not (start := self._item_list(line)):
            return None
        best: tuple[int, Run, int, int] | None = None
        for run in islice(reversed(self._alike.get(_sample(line, start), {}).values()), _TRIES):
            count = run.shared(line, start, 0)
            if count and (best is None or count > best[0]):
                best = count, run, 0, start
                if count == len(run.ends):
                    break
        if best is None:
            for run in islice(reversed(self._runs.values()), _TRIES):
                if (at := _second_item(run, line, start)) and (count := run.shared(line, at, 1)):
                    best = count, run, 1, at
                    break
        if best is None:
            return None
        count, run, first, at = best
        end = at + run.ends[first + count - 1] - run.starts[first]
        return Cut(line[:at] + _MARK + line[end:], start, run, first, count, at, end)

    def learn(
        self, line: bytes, cut: Cut | None, items: Sequence[bytes], messages: Sequence[Message], wire: str
    ) -> None:
        """Remember the items of a line; `items` are those that were not cut out."""
        if len(line) < _WORTH_IT:
            return
        if cut is None:
            start = self._item_list(line)
            starts, ends = _place(line, start, items)
        else:
            start = cut.start
            starts, ends = _place(line, start, items[: cut.first])
            if len(starts) < cut.first or (ends and _between(line, ends[-1]) != cut.at):
                return
            shift, known = cut.at - cut.run.starts[cut.first], slice(cut.first, cut.first + cut.count)
            starts += _shifted(cut.run.starts[known], shift)
            ends += _shifted(cut.run.ends[known], shift)
            more_starts, more_ends = _place(line, cut.end, items[cut.first :])
            starts += more_starts
            ends += more_ends
            if cut.first + cut.count == len(cut.run.ends):
                self._forget(cut.run)  # the conversation has moved on
        if starts:
            self._remember(Run(self._number, _sample(line, start), line, starts, ends, messages, wire))

    def _remember(self, run: Run) -> None:
        self._number += 1
        self._held += len(run.line)
        self._runs[run.number] = self._alike[run.sample][run.number] = run
        while self._held > self._size and len(self._runs) > 1:
            self._forget(next(iter(self._runs.values())))

    def _forget(self, run: Run) -> None:
        if self._runs.pop(run.number, None):
            self._held -= len(run.line)
            alike = self._alike[run.sample]
            del alike[run.number]
            if not alike:
                del self._alike[run.sample]

    def _item_list(self, line: bytes) -> int:
        """Where the first item stands, or 0. A wrong guess costs time, never truth."""
        for place, key in enumerate(self._keys):
            found = line.find(key)
            if found >= 0 and (opening := _OPENING.match(line, found + len(key))):
                self._keys.insert(0, self._keys.pop(place))  # the next line has probably the same
                return opening.end()
        return 0


def _sample(line: bytes, start: int) -> bytes:
    """Bytes from places of the item list that a conversation keeps as it grows, and others do not share."""
    return b"".join([line[start + place : start + place + 32] for place in _PLACES])


def _second_item(run: Run, line: bytes, start: int) -> int:
    """Where the run's second item stands in a line whose first item has changed; 0 if it is not there."""
    if len(run.starts) < 3:
        return 0
    second = run.starts[1]
    expected = start + second - run.starts[0]
    probe = run.line[second : min(second + _PROBE, run.ends[1])]
    return max(line.find(probe, max(start, expected - _SHIFT), expected + _SHIFT + len(probe)), 0)


def _place(line: bytes, at: int, items: Sequence[bytes]) -> tuple[list[int], list[int]]:
    """Start and end of each item in the line; nothing unless all of them stand there, in an even rhythm."""
    starts: list[int] = []
    ends: list[int] = []
    if items and at:
        at = _between(line, at)
        gap = _between(line, at + len(items[0])) - at - len(items[0])
        for item in items:
            if not line.startswith(item, at) or item[-1] not in _SELF_DELIMITING:
                return [], []
            starts.append(at)
            at += len(item)
            ends.append(at)
            at += gap
    return starts, ends


def _between(line: bytes, at: int) -> int:
    """The end of the blanks and commas that stand at `at`."""
    found = _BETWEEN.match(line, at)
    return found.end() if found else at


def _shifted(places: list[int], shift: int) -> list[int]:
    return [place + shift for place in places] if shift else places
