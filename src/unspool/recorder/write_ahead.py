"""The log of a --durable recorder: one file for all calls, and a thread that syncs it.

    writing thread ─► one writev a round ─► JOURNAL/<recorder>-<n>.wal ─► fdatasync in the syncing thread ─► Outbox

Rounds that are written while a sync runs share the next one. The calls' own files and the trace are not synced one by
one. Instead a log that has grown large is replaced: a new log starts with a copy of the calls in flight, and when it
and the trace are synced, the old log is removed.
"""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeAlias
from uuid import uuid4

import msgspec
from msgspec import Struct

from unspool.recorder.callfiles import append, create
from unspool.recorder.calls import Recording
from unspool.sources.call_log import MAGIC, START, LogStart, entry
from unspool.sources.callfile import LOG, PIECES, frames_of

LIMIT = 64 << 20
"""Bytes after which a new log is started."""
_LAZY_SECONDS = {b"i": 0.02, b"q": 0.02, b"h": 1.0, b"r": 1.0}
"""How long pieces may stay unsynced for which answers rarely wait. Ends of requests and calls are synced at once."""


class _File(Struct, eq=False):
    path: Path
    descriptor: int
    size: int
    is_listed: bool = False
    """Whether the folder that names the file is synced."""


class _Commit(Struct):
    calls: dict[Recording, int]
    """How many pieces of each call are in the log."""
    file: _File
    due: float
    """When the calls must be synced, by the monotonic clock."""


class _Replace(Struct):
    old: _File
    new: _File
    traces: set[Path]
    """Files with records of calls that are not in the new log."""


_Task: TypeAlias = _Commit | _Replace | None


class WriteAheadLog:
    """The methods belong to the writing thread."""

    def __init__(
        self,
        journal: Path,
        synced: Callable[[list[Recording]], None],
        failed: Callable[[list[Recording], str], None],
        say: Callable[[str], None],
    ) -> None:
        """`synced` and `failed` are called by the syncing thread."""
        self._journal, self._synced, self._failed, self._say = journal, synced, failed, say
        self._full_at = LIMIT
        self._name, self._logs, self._calls = uuid4().hex, 0, 0
        self._file: _File | None = None
        self._round: list[bytes] = []
        self._seconds = 1.0
        """Until the round must be synced."""
        self._tasks: SimpleQueue[_Task] = SimpleQueue()
        self._replacing: list[Thread] = []
        self._old: list[_Replace] = []
        self._syncer = Thread(target=self._run, name="syncer", daemon=True)
        self._syncer.start()

    def add(self, call: Recording, kind: bytes, micros: int, payload: bytes) -> None:
        """Put a piece into the round. Nothing is written until `commit`."""
        if call.released:  # a log with a gap in it would be no use
            return
        if not call.number:
            self._calls += 1
            call.number = self._calls
        self._round += entry(call.number, kind, micros, payload)
        self._seconds = min(self._seconds, _LAZY_SECONDS.get(kind, 0.0))

    def commit(self, calls: dict[Recording, int], offset: Callable[[], int]) -> None:
        """Write the round, and let it be synced. `calls` says how many pieces of each call are noted by now."""
        pieces, self._round = self._round, []
        seconds, self._seconds = self._seconds, 1.0
        if self._file is None:
            self._file = self._begin(offset())
        self._file.size = append(self._file.descriptor, pieces, self._file.size)
        self._tasks.put(_Commit(calls, self._file, time.monotonic() + seconds))

    def mark(self, call: Recording, payload: bytes) -> None:
        """Note where the record of a call is about to be written."""
        if self._file is not None and call.number:
            pieces = entry(call.number, b"w", 0, payload)
            self._file.size = append(self._file.descriptor, pieces, self._file.size)

    @property
    def is_full(self) -> bool:
        return self._file is not None and self._file.size >= self._full_at

    def replace(self, calls: Iterable[Recording], traces: set[Path], offset: int) -> bool:
        """Start a new log with the calls in flight. Return False if the disk does not take it.

        The old log goes as soon as these traces and the new log are synced.
        """
        old = self._file
        assert old is not None
        new = None
        try:
            new = self._begin(offset)
            for call in calls:
                if call.descriptor >= 0 and call.number and not call.released:
                    self._copy(call, new)
        except OSError as error:
            self._say(f"{self._journal}: {error.strerror}: the log goes on growing")
            self._full_at = old.size + LIMIT
            if new is not None:
                _remove(new)
            return False
        self._file, self._full_at = new, max(LIMIT, 2 * new.size)
        self._tasks.put(_Replace(old, new, traces))
        return True

    def close(self, traces: set[Path]) -> None:
        """Sync the traces, and remove the logs: all their calls are in the traces, or in synced files of their own."""
        self._tasks.put(None)
        self._syncer.join()
        for thread in self._replacing:
            thread.join()
        try:
            for task in self._old:
                traces = traces | task.traces
            sync_files(traces)
        except OSError as error:
            self._say(f"{error.filename}: {error.strerror}: the log {self._journal} stays")
            return
        for file in (*(task.old for task in self._old), self._file):
            if file is not None:
                _remove(file)

    def _begin(self, offset: int) -> _File:
        self._logs += 1
        start = entry(0, START, 0, msgspec.json.encode(LogStart(offset, time.time())))
        path, descriptor, size = create(self._journal, f"{self._name}-{self._logs:06}{LOG}", [MAGIC, *start])
        return _File(Path(path), descriptor, size)

    def _copy(self, call: Recording, new: _File) -> None:
        with open(call.descriptor, "rb", closefd=False) as file:
            file.seek(0)
            for kind, micros, payload in frames_of(file):
                if kind in PIECES:
                    new.size = append(new.descriptor, entry(call.number, kind, micros, payload), new.size)

    # The syncing thread.

    def _run(self) -> None:
        file: _File | None = None
        pending: dict[Recording, int] = {}
        due = 0.0
        over = False
        while not over:
            tasks: list[_Task] = []
            with suppress(Empty):  # nothing came, and what is pending is due
                tasks.append(self._tasks.get(timeout=max(0.0, due - time.monotonic()) if pending else None))
            with suppress(Empty):
                while True:
                    tasks.append(self._tasks.get_nowait())
            for task in tasks:
                match task:
                    case _Commit():
                        due = min(due, task.due) if pending else task.due
                        file, pending = task.file, pending | task.calls
                    case _Replace():
                        self._sync(file, pending)
                        pending = {}
                        self._start_retiring(task)
                    case None:
                        over = True
            if pending and (over or time.monotonic() >= due):
                self._sync(file, pending)
                pending = {}

    def _start_retiring(self, task: _Replace) -> None:
        self._replacing = [thread for thread in self._replacing if thread.is_alive()]
        self._replacing.append(Thread(target=self._retire, args=(task,), daemon=True))
        self._replacing[-1].start()

    def _sync(self, file: _File | None, calls: dict[Recording, int]) -> None:
        if file is None or not calls:
            return
        try:
            self._sync_file(file)
        except OSError as error:
            self._failed(list(calls), f"{file.path}: {error.strerror}")
            return
        for call, pieces in calls.items():
            call.synced = pieces
        self._synced([call for call in calls if call.waits])

    def _sync_file(self, file: _File) -> None:
        getattr(os, "fdatasync", os.fsync)(file.descriptor)  # not everywhere is there one
        if not file.is_listed:
            sync_files([], [self._journal, self._journal.parent])
            file.is_listed = True

    def _retire(self, task: _Replace) -> None:
        """Remove a log whose calls are in the synced traces, or in the new log."""
        try:
            self._sync_file(task.new)
            sync_files(task.traces)
            _remove(task.old)
        except OSError as error:
            self._say(f"{error.filename or task.old.path}: {error.strerror}: the log {task.old.path} stays")
            self._old.append(task)


def sync_files(paths: Iterable[Path], folders: Sequence[Path] = ()) -> None:
    """Let files, and the folders that name them, survive a power cut."""
    paths = list(paths)
    for path in (*paths, *dict.fromkeys(path.parent for path in paths), *folders):
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except FileNotFoundError:  # somebody took it away
            continue
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _remove(file: _File) -> None:
    file.path.unlink(missing_ok=True)
    os.close(file.descriptor)
