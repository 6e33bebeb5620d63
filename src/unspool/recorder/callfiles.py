"""The calls' own files in the journal, as the writing thread keeps them: made, extended, cut back, removed."""

import errno
import fcntl
import os
from collections.abc import Sequence
from pathlib import Path

from unspool.recorder.calls import Recording
from unspool.sources.callfile import ENDING, MAGIC

_MOST_BUFFERS = 1000
"""Buffers in one system call: Linux takes 1,024."""
_PROBE = 1 << 16
"""Bytes that must fit on a disk that failed before calls are recorded on it again."""


def create(journal: Path, name: str, pieces: Sequence[bytes]) -> tuple[str, int, int]:
    """Return path, descriptor and size of a new file, which is locked and filled before any reader can see it."""
    path = journal / name
    new = path.with_suffix(".new")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND
    try:
        descriptor = os.open(new, flags, 0o600)
    except FileNotFoundError:
        journal.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(new, flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        size = append(descriptor, pieces, 0)
        os.rename(new, path)  # noqa: PTH104  # one of few system calls: each may cost a turn at the interpreter
    except OSError:
        os.close(descriptor)
        new.unlink(missing_ok=True)
        raise
    return str(path), descriptor, size


def append(descriptor: int, pieces: Sequence[bytes], size: int) -> int:
    """Write all pieces at the end of a file of this size, or none of them. Return the new size."""
    start = size
    try:
        for number in range(0, len(pieces), _MOST_BUFFERS):
            part = pieces[number : number + _MOST_BUFFERS]
            whole = sum(map(len, part))
            if os.writev(descriptor, part) < whole:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            size += whole
    except OSError:
        os.ftruncate(descriptor, start)
        raise
    return size


def flush(call: Recording, journal: Path) -> None:
    """Write the frames that wait to the call's own file. An OSError says why they could not be written."""
    frames, call.frames = call.frames, []
    if not frames:
        return
    if call.descriptor < 0:
        call.path, call.descriptor, call.size = create(journal, call.id + ENDING, [MAGIC, *frames])
    else:
        call.size = append(call.descriptor, frames, call.size)


def remove(call: Recording) -> None:
    if call.descriptor >= 0:
        Path(call.path).unlink(missing_ok=True)
        os.close(call.descriptor)
        call.descriptor = -1


def probe(call: Recording, journal: Path) -> None:
    """Raise an OSError if the disk takes no call of average size."""
    try:
        call.path, call.descriptor, _ = create(journal, call.id + ENDING, [MAGIC, bytes(_PROBE)])
    finally:
        remove(call)
