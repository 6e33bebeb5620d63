"""Take in the journal: calls that a killed recorder left behind become records, marked as interrupted."""

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from unspool.recorder.files import drop_torn
from unspool.sources.call_log import Logs, entry
from unspool.sources.callfile import ENDING, LOG, Call, frame, is_held, read_call, stands_in
from unspool.sources.compact import is_compact
from unspool.sources.composing import Recorded, record_of

Write = Callable[[Recorded, Callable[[bytes], object]], None]


def fold(journal: Path, write: Write, say: Callable[[str], None], sync: Callable[[], None]) -> int:
    """Return how many calls became records. Calls that another recorder works on are left alone.

    `write` is called with each record, and with a function to call with the record's place before that is written.
    If the journal holds logs of --durable recorders, `sync` is called before they are removed.
    """
    if not journal.is_dir():
        return 0
    folded, faults = 0, []
    with _locked(journal):
        logs = Logs(journal, [path for path in sorted(journal.glob(f"*{LOG}")) if not is_held(path)])
        files = [path for path in sorted(journal.iterdir()) if path.suffix in (ENDING, ".new")]
        steps: list[Callable[[], int]] = [partial(_fold_log, logs, path, write) for path in logs.paths]
        steps += [partial(_fold_one, path, write) for path in files if path.stem not in logs.known]
        for step in steps:
            try:
                folded += step()
            except OSError as error:
                faults.append(f"{error.filename or journal}: {error.strerror}")
        if logs.paths and not faults:
            sync()
            _remove(logs, files)
    if folded:
        say(f"{folded:,} call{'s' if folded > 1 else ''} taken in from the journal")
    if faults:
        say(f"{len(faults):,} parts of {journal} could not be taken in: {faults[0]}")
    return folded


@contextmanager
def _locked(journal: Path) -> Iterator[None]:
    """Keep other recorders from taking in the same calls."""
    descriptor = os.open(journal, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _remove(logs: Logs, files: Iterable[Path]) -> None:
    """Remove logs whose calls are in the synced trace, and the calls' own files that say no more than the logs."""
    for path in (*logs.paths, *(file for file in files if file.stem in logs.known)):
        path.unlink(missing_ok=True)


def _fold_log(logs: Logs, path: Path, write: Write) -> int:
    log, calls = logs.log(path), logs.left(path)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.ftruncate(descriptor, log.size)  # a mark behind a torn entry would not count
        for logged in calls:
            call = logged.call()
            if call is None:
                continue
            call.mark = logged.mark
            _drop_torn(call)
            write(record_of(call), partial(_mark, descriptor, logged.number))
    finally:
        os.close(descriptor)
    return len(calls)


def _mark(descriptor: int, number: int, payload: bytes) -> None:
    os.writev(descriptor, entry(number, b"w", 0, payload))


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
            write(record_of(call), lambda mark: os.writev(descriptor, frame(b"w", 0, mark)))
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
    _drop_torn(call)
    return False


def _drop_torn(call: Call) -> None:
    """Take away the torn beginning of a record. Of a compact trace the next write cuts it off."""
    mark = call.mark
    if mark is not None and Path(mark.file).is_file() and not is_compact(mark.file):
        drop_torn(Path(mark.file), mark.offset, call.asked.id)
