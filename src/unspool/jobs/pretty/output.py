"""Lines on their way to whoever reads them. A slow reader is waited for, a closed pipe is told by BrokenPipeError."""

import os
import select
import time
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO

from unspool.jobs.pretty.stopping import waiting

_ENOUGH = 1 << 16
"""Characters that are gathered before they are written."""
_SELECTS = os.name == "posix"
_PIECE = select.PIPE_BUF if _SELECTS else _ENOUGH
"""Bytes that a pipe takes at once when it takes any: so nobody waits while they are written, only before."""


class Output:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lines: list[str] = []
        self._size = 0
        self._pending = memoryview(b"")
        """Not copied at each write: one line may have fifty megabytes, and a pipe takes four kilobytes at a time."""

    def line(self, text: str) -> None:
        self._lines.append(text)
        self._size += len(text)
        if self._size >= _ENOUGH:
            self.flush()

    def flush(self) -> None:
        """Returns when all of it was taken."""
        self._take()
        while self._pending:
            if _SELECTS:
                with waiting:
                    select.select([], [self._descriptor], [])
            self._write()

    def drain(self, seconds: float) -> None:
        """The same, but not for ever: whoever does not read by then gets no more."""
        self._take()
        deadline = time.monotonic() + seconds
        os.set_blocking(self._descriptor, False)
        try:
            while self._pending and (left := deadline - time.monotonic()) > 0:
                with waiting:
                    ready = select.select([], [self._descriptor], [], left)[1]
                if ready:
                    with suppress(BlockingIOError):  # a terminal may have room, and still not for a whole line
                        self._write()
        except OSError:  # it is gone, and so is what was for it
            self._pending = memoryview(b"")
        finally:
            os.set_blocking(self._descriptor, True)

    def _take(self) -> None:
        if self._lines:
            text = "\n".join(self._lines) + "\n"
            self._lines, self._size = [], 0
            data = text.encode("utf-8", "replace")
            self._pending = memoryview(bytes(self._pending) + data if self._pending else data)

    def _write(self) -> None:
        written = os.write(self._descriptor, self._pending[:_PIECE])
        self._pending = self._pending[written:]


class Tee:
    """The raw stream, kept in a file. That it cannot be written is said once, and spoils nothing else."""

    def __init__(self, file: BinaryIO, say: Callable[[str], None]) -> None:
        self._file: BinaryIO | None = file
        self._say = say
        self.failed = False

    def write(self, data: bytes) -> None:
        if self._file is None:
            return
        try:
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            self._say(f"{self._file.name}: {error.strerror}; from here on the stream is not kept")
            self._file, self.failed = None, True
