"""Records of finished calls into the trace, and what is known of that: counts, and files that are not synced yet."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from unspool.recorder.files import PlainFile, SessionFiles
from unspool.recorder.write_ahead import sync_files
from unspool.sources.callfile import Mark
from unspool.sources.composing import Recorded, parts_of

if TYPE_CHECKING:
    from unspool.recorder.recording import Recorder

_MAX_SESSIONS = 10_000
_encode = msgspec.json.encode


class RecordWriter:
    def __init__(self, recorder: "Recorder", seen: Callable[[Recorded], None] | None) -> None:
        self._recorder, self._trace = recorder, recorder.trace
        self.seen = seen
        self.unsynced: set[Path] = set()
        """Files that hold records, or calls that have none, and must be synced before a log goes."""

    @property
    def name(self) -> str:
        match self._trace:
            case SessionFiles(folder=place) | PlainFile(path=place):
                return str(place)
        return "standard output"

    def write(self, record: Recorded, mark: Callable[[bytes], object]) -> None:
        """Append a record to its file. Before that, pass the place to `mark`."""
        file = self._trace.of(record.session, record.timestamp)
        if isinstance(file, PlainFile):
            self.unsynced.add(file.path)
        if isinstance(self._trace, SessionFiles):
            record.session_id, record.started = record.session or "", record.timestamp
            # In a session file times must not go back, and calls end in the order in which they are written.
            record.timestamp = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        file.append(parts_of(record), lambda name, end: mark(_encode(Mark(name, end))))
        self._count(record)
        if self.seen is not None:
            try:
                self.seen(record)
            except OSError:  # the reader has gone; the record is written all the same
                self.seen = None

    def _count(self, record: Recorded) -> None:
        counts = self._recorder.counts
        counts.recorded += 1
        counts.sent += record.request_bytes
        counts.received += record.response_bytes
        counts.broken += record.interrupted or record.error is not None
        if record.session and len(counts.sessions) < _MAX_SESSIONS:
            counts.sessions.add(record.session)

    def end(self) -> int:
        """Return where in the trace the records of new calls will be. In a compact trace, all of it is searched."""
        if type(self._trace) is not PlainFile:
            return 0
        try:
            return self._trace.path.stat().st_size
        except FileNotFoundError:
            return 0

    def sync(self) -> None:
        sync_files(self.unsynced)
        self.unsynced = set()
