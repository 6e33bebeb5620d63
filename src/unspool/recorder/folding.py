"""Take in the journal: calls that a killed recorder left behind become records, marked as interrupted."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

from unspool.recorder.files import drop_torn
from unspool.sources.callfile import ENDING, Call, read_call, stands_in
from unspool.sources.compact import is_compact
from unspool.sources.composing import Recorded, record_of

Write = Callable[[Recorded, Callable[[bytes], object]], None]


def fold(journal: Path, write: Write, say: Callable[[str], None]) -> int:
    """How many calls were taken in. What another recorder still holds is left alone."""
    if not journal.is_dir():
        return 0
    folded, faults = 0, []
    for path in sorted(journal.iterdir()):
        if path.suffix in (ENDING, ".new"):
            try:
                folded += _fold_one(path, write)
            except OSError as error:
                faults.append(f"{error.filename or path}: {error.strerror}")
    if folded:
        say(f"{folded:,} call{'s' if folded > 1 else ''} taken in from the journal")
    if faults:
        say(f"{len(faults):,} of the calls in {journal} could not be taken in: {faults[0]}")
    return folded


def _fold_one(path: Path, write: Write) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.fstat(descriptor).st_nlink:  # its recorder finished it in this moment
            return False
        with open(descriptor, "rb", closefd=False) as file:
            file.seek(0)
            call = read_call(file)
        new = call is not None and not _is_there(call)
        if call is not None and new:
            write(record_of(call), lambda mark: os.write(descriptor, mark))
        path.unlink()
        return new
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)


def _is_there(call: Call) -> bool:
    """Whether the record was written before its recorder was killed; if only a part of it, that is taken away."""
    if call.mark is None or not Path(call.mark.file).exists():
        return False
    if stands_in(call.mark.file, call.mark.offset, call.asked.id):
        return True
    if not is_compact(call.mark.file):  # of a compact trace the next write cuts off what is torn
        drop_torn(Path(call.mark.file), call.mark.offset, call.asked.id)
    return False
