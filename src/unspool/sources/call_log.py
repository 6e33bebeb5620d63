"""Logs of --durable recorders: one file for all calls, synced before a client sees what it holds.

    magic │ entry │ entry │ …        entry: call number, kind, length, microseconds, checksum, payload

An entry is a frame of a call's own file with a number and a checksum. After a crash without a power cut the calls' own
files hold the same. After a power cut they may be gone or damaged, and the trace too, because only the log is synced.
A log counts up to its first damaged entry.
"""

import mmap
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from struct import Struct as Layout
from zlib import crc32

import msgspec
from msgspec import Struct

from unspool.sources.callfile import ENDING, LOG, PIECES, Asked, Call, Mark, call_of, frames_in, ids_in, is_held
from unspool.sources.composing import parts_of, record_of
from unspool.sources.files import CALL, JOURNAL

MAGIC = CALL + b"s\x001\n"
START = b"t"
"""The kind of the first entry, a LogStart."""
_HEAD = Layout("<IcIQ")
_CHECKSUM = Layout("<I")
_SIZE = _HEAD.size + _CHECKSUM.size
_asked = msgspec.json.Decoder(Asked).decode
_mark = msgspec.json.Decoder(Mark).decode


class LogStart(Struct):
    """Where the trace ended, and the time (Unix seconds), when the log was begun."""

    offset: int
    time: float


_start = msgspec.json.Decoder(LogStart).decode


class LoggedCall(Struct):
    """The frames of one call: kind, microseconds, payload."""

    id: str
    frames: list[tuple[bytes, int, memoryview]]
    number: int = 0
    mark: Mark | None = None

    def call(self) -> Call | None:
        return call_of(self.frames)

    @property
    def has_ended(self) -> bool:
        return any(kind == b"e" for kind, _, _ in self.frames)


class Log(Struct):
    path: Path
    start: LogStart
    calls: dict[str, LoggedCall]
    size: int
    """Bytes up to the end of the last whole entry."""


def entry(number: int, kind: bytes, micros: int, payload: bytes) -> tuple[bytes, bytes]:
    head = _HEAD.pack(number, kind, len(payload), micros)
    return head + _CHECKSUM.pack(crc32(payload, crc32(head))), payload


def read_log(path: Path) -> Log:
    log = Log(path, LogStart(0, 0.0), {}, 0)
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size < len(MAGIC):
            return log
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    if data[: len(MAGIC)] != MAGIC:
        return log
    log.size = len(MAGIC)
    numbers: dict[int, LoggedCall] = {}
    for number, kind, micros, payload in _entries(data):
        log.size += _SIZE + len(payload)
        if kind == START:
            log.start = _start(payload)
        elif kind == b"i":
            numbers[number] = LoggedCall(_asked(payload).id, [(kind, micros, payload)], number)
            log.calls[numbers[number].id] = numbers[number]
        elif number in numbers and kind == b"w":
            numbers[number].mark = _mark(payload)
        elif number in numbers and kind in PIECES:
            numbers[number].frames.append((kind, micros, payload))
    return log


def _entries(data: memoryview) -> Iterator[tuple[int, bytes, int, memoryview]]:
    """Yield the entries up to the first that is torn or damaged."""
    start = len(MAGIC)
    while start + _SIZE <= len(data):
        head = data[start : start + _HEAD.size]
        number, kind, length, micros = _HEAD.unpack(head)
        (checksum,) = _CHECKSUM.unpack(data[start + _HEAD.size : start + _SIZE])
        payload = data[start + _SIZE : start + _SIZE + length]
        if len(payload) < length or crc32(payload, crc32(head)) != checksum:
            return
        yield number, kind, micros, payload
        start += _SIZE + length


class Logs:
    """The logs in a journal that no recorder holds. A call in several of them belongs to the log with most of it."""

    def __init__(self, journal: Path, paths: Iterable[Path]) -> None:
        self._journal = journal
        self._logs = {path: read_log(path) for path in paths}
        self._left: dict[Path, list[LoggedCall]] = {path: [] for path in self._logs}
        self.known: set[str] = set()
        """The ids of calls whose own files are not needed: the trace or a log holds at least as much of them."""
        fullest: dict[str, tuple[int, Path]] = {}
        for path, log in self._logs.items():
            for name, call in log.calls.items():
                fullest[name] = max(fullest.get(name, (0, path)), (len(call.frames), path))
        recorded = self._recorded()
        for name, (size, path) in fullest.items():
            if name in recorded:
                self.known.add(name)
            elif size >= frames_in(journal / f"{name}{ENDING}"):
                self.known.add(name)
                self._left[path].append(self._logs[path].calls[name])

    @property
    def paths(self) -> list[Path]:
        return list(self._logs)

    def log(self, path: Path) -> Log:
        return self._logs[path]

    def left(self, path: Path) -> list[LoggedCall]:
        """Return the calls that are not in the trace, and of which this log holds most."""
        return self._left[path]

    def _recorded(self) -> set[str]:
        """Return the ids of calls that have a record. Where it was to be written says a mark, if that was synced."""
        places: dict[str, tuple[int, set[str]]] = defaultdict(lambda: (1 << 62, set()))
        for log in self._logs.values():
            lost = {call.id for call in log.calls.values() if call.mark is None and call.has_ended}
            for file in self._traces(log) if lost else ():
                offset, names = places[file]
                places[file] = min(offset, log.start.offset), names | lost
            for call in log.calls.values():
                if call.mark is not None:
                    offset, names = places[call.mark.file]
                    places[call.mark.file] = min(offset, call.mark.offset), names | {call.id}
        recorded: set[str] = set()
        for file, (offset, names) in places.items():
            try:
                recorded |= ids_in(file, offset, names)
            except OSError:  # the trace is gone, and with it the records
                continue
        return recorded

    def _traces(self, log: Log) -> list[str]:
        """Return the files that may hold a call of the log whose mark was lost."""
        if self._journal.name != JOURNAL:
            return [str(self._journal.with_name(self._journal.name.removesuffix(JOURNAL)))]
        files = self._journal.parent.glob("*/*.jsonl")
        return [str(file) for file in files if file.stat().st_mtime >= log.start.time - 1]


def logged_records(path: Path) -> Iterator[bytes]:
    """Yield the lines of the records that only this log holds."""
    folder = path.parent
    others = [other for other in folder.glob(f"*{LOG}") if other != path and not is_held(other)]
    for logged in Logs(folder, [path, *others]).left(path):
        if (call := logged.call()) is not None:
            yield b"".join(parts_of(record_of(call)))
