"""A log for the requests of many calls that come at once: one write instead of a new file for each call.

A busy machine takes milliseconds to create a file, and answers wait until their requests are written. So the requests
of a crowd go to a log first, and each call's own file follows. When all calls have their own files, the log is emptied.
It is not synced: what a power cut leaves is a matter of --durable and its own log.
"""

import os
import time
from collections.abc import Iterable
from pathlib import Path
from uuid import uuid4

import msgspec

from unspool.recorder.callfiles import append, create
from unspool.recorder.calls import Recording
from unspool.sources.call_log import MAGIC, START, LogStart, entry
from unspool.sources.callfile import LOG, frames_from

_LIMIT = 64 << 20
"""Bytes after which the calls get files of their own before anything else."""


class EarlyLog:
    """The methods belong to the writing thread."""

    def __init__(self, journal: Path) -> None:
        self._journal, self._path = journal, ""
        self._descriptor, self._size, self._empty_size, self._calls = -1, 0, 0, 0

    def write(self, calls: Iterable[Recording]) -> None:
        """Write what came of calls that have no file yet. An OSError says why that is impossible."""
        if self._descriptor < 0:
            start = entry(0, START, 0, msgspec.json.encode(LogStart(0, time.time())))
            name = f"{uuid4().hex}-000000{LOG}"
            self._path, self._descriptor, self._size = create(self._journal, name, [MAGIC, *start])
            self._empty_size = self._size
        pieces: list[bytes] = []
        for call in calls:
            if not call.number:
                self._calls += 1
                call.number = self._calls
            for kind, micros, payload in frames_from(call.frames[call.logged :]):
                pieces += entry(call.number, kind, micros, payload)
        self._size = append(self._descriptor, pieces, self._size)
        for call in calls:
            call.logged = len(call.frames)

    def mark(self, call: Recording, place: bytes) -> None:
        """Note where the record of a call is about to be written, if the log holds the call."""
        if call.number and self._size > self._empty_size:
            self._size = append(self._descriptor, entry(call.number, b"w", 0, place), self._size)

    @property
    def is_full(self) -> bool:
        return self._size >= _LIMIT

    def clear(self) -> None:
        """Empty the log: all calls have files of their own."""
        if self._size > self._empty_size:
            os.ftruncate(self._descriptor, self._empty_size)
            self._size = self._empty_size

    def close(self) -> None:
        if self._descriptor >= 0:
            Path(self._path).unlink(missing_ok=True)
            os.close(self._descriptor)
