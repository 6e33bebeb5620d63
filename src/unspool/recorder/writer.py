"""The writing thread: pieces of calls into the calls' own files, and finished calls into the trace.

Each round first writes the pieces that came, because answers may wait for them. Then it makes records of calls that
have ended, until an answer waits again.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from unspool.recorder.callfiles import append, flush, probe, remove
from unspool.recorder.calls import Counts, Item, Recording
from unspool.recorder.early_log import EarlyLog
from unspool.recorder.folding import fold
from unspool.recorder.record_writer import RecordWriter
from unspool.recorder.redacting import BodyRedactor
from unspool.recorder.write_ahead import WriteAheadLog
from unspool.sources.callfile import Call, Ended, call_of, frame, frames_from, read_call
from unspool.sources.composing import Recorded, record_of

if TYPE_CHECKING:
    from unspool.recorder.recording import Recorder

_PAUSE_SECONDS = 0.002
"""Pieces wait for others for so long: many small ones become few writes, and by then a request is forwarded."""
OVERHEAD = 200
"""Bytes of memory that a waiting piece takes beside its payload."""
_MAX_ITEMS = 4096
_MAX_FILES = 4
"""New files in a round, before answers that wait: of more calls the requests go to a log first."""
_MAX_WAITING = 16
"""Calls whose answers are woken together."""
_ROUND_SECONDS, _MIN_SECONDS = 0.02, 0.005
"""Seconds of other work in a round, and the same while an answer waits."""
_SECONDS_A_CALL, _MAX_SECONDS = 0.0001, 0.1
"""Seconds that are added for each call that is over, so that their number cannot grow for ever."""
_SMALL = 1 << 16
"""Bytes of a call that may stay in memory until its record is written."""
_REQUEST = frozenset((b"i", b"q", b"Q"))
_encode = msgspec.json.encode
Say: TypeAlias = Callable[[str], None]


class Writer:
    def __init__(
        self,
        recorder: "Recorder",
        queue: "SimpleQueue[Item]",
        pause: Lock,
        say: Say,
        redact: Callable[[bytes], bytes] | None,
        seen: Callable[[Recorded], None] | None,
    ) -> None:
        self._recorder, self._queue, self._pause = recorder, queue, pause
        self._journal, self._say, self._redact = recorder.trace.journal, say, redact
        self._records = RecordWriter(recorder, seen)
        self._in_flight: dict[Recording, None] = {}
        self._unwritten: dict[Recording, None] = {}
        """Calls of which pieces are not in their own files yet."""
        self._ended: deque[Recording] = deque()
        """Calls that are over, and not in the trace yet."""
        self._log: WriteAheadLog | None = None
        self._early = EarlyLog(self._journal)
        self.done_bytes = 0
        self.failing = False
        self._thread = Thread(target=self._run, name="recorder", daemon=True)

    def take_in(self) -> None:
        """Make records of the calls that an earlier recorder left in the journal."""
        seen, self._records.seen = self._records.seen, None
        fold(self._journal, self._records.write, self._say, self._records.sync)
        self._records.seen, self._recorder.counts = seen, Counts()  # they do not count as calls of this run

    def start(self) -> None:
        if self._recorder.durable:
            self._log = WriteAheadLog(self._journal, self._wake, self._sync_failed, self._say)
        self._thread.start()

    def close(self) -> None:
        """Wait until all is written, and try once more to write calls that are kept in the journal."""
        self._thread.join()
        self._early.close()
        if self._log is not None:
            self._log.close(self._records.unsynced)
        counts = self._recorder.counts
        counts.kept -= min(counts.kept, fold(self._journal, self._records.write, self._say, self._records.sync))
        with suppress(OSError):  # never made, or other recorders' calls are in it
            self._journal.rmdir()

    # Rounds.

    def _run(self) -> None:
        over = False
        while not over:
            batch, over = self._next_batch()
            self._record(batch)
            self._catch_up()
            self._recorder.relieve()
        for call in list(self._in_flight):  # the event loop is over, and has not ended them
            self._add(call, b"e", 0, _encode(Ended("recorder")))
            self._ended.append(call)
        while self._ended:
            self._finish(self._ended.popleft())

    def _next_batch(self) -> tuple[list[tuple[Recording, bytes, int, bytes]], bool]:
        """Return what came, and whether the recorder is to end. Wait for it unless there is other work."""
        batch = []
        if not self._ended and not self._unwritten:
            batch.append(self._queue.get())
            if batch[0] is not None:
                self._pause.acquire(timeout=_PAUSE_SECONDS)
        with suppress(Empty):
            while len(batch) < _MAX_ITEMS and (not batch or batch[-1] is not None):
                batch.append(self._queue.get_nowait())
        return [item for item in batch if item is not None], None in batch[-1:]

    def _record(self, batch: list[tuple[Recording, bytes, int, bytes]]) -> None:
        """Write the pieces for which answers may wait, and wake these answers."""
        urgent: dict[Recording, None] = {}
        logged: dict[Recording, int] = {}
        for call, kind, micros, payload in batch:
            if kind == b"?":
                self._probe(call)
            elif kind == b"!":
                self._not_synced([call], payload.decode())
            else:
                if not call.added:
                    self._in_flight[call] = None
                self._add(call, kind, micros, payload)
                self._unwritten[call] = None
                logged[call] = call.added
                if self._recorder.strict or (kind in _REQUEST and self._log is None):
                    urgent[call] = None
                if kind == b"e":
                    call.over = True
                    self._in_flight.pop(call, None)
                    if not call.closed:
                        self._ended.append(call)
        if self._log is not None:
            self._commit(self._log, logged)
        crowd = [call for call in urgent if call.descriptor < 0 and not call.closed]
        if len(crowd) > _MAX_FILES and not self._recorder.strict and self._write_early(crowd):
            urgent = {call: None for call in urgent if call.descriptor >= 0}
        self._write_urgent(urgent)

    def _write_early(self, calls: Sequence[Recording]) -> bool:
        """Write the requests of many calls at once. Return False if the disk does not take them."""
        try:
            self._early.write(calls)
        except OSError:  # the calls' own files may still fit, and if not, they say why
            return False
        for call in calls:
            call.written = call.added
        self._wake([call for call in calls if call.waits])
        return True

    def _write_urgent(self, calls: Iterable[Recording]) -> None:
        waiting = []
        for call in calls:
            self._flush(call)
            if call.waits:
                waiting.append(call)
                if len(waiting) >= _MAX_WAITING:
                    self._wake(waiting)
                    waiting = []
        self._wake(waiting)

    def _catch_up(self) -> None:
        """Do what no answer waits for, for a while: for a shorter one if an answer waits again."""
        backlog = min(_MAX_SECONDS, _SECONDS_A_CALL * len(self._ended))
        until, waits = time.monotonic() + _ROUND_SECONDS + backlog, False
        while self._unwritten or self._ended:
            if not waits and self._pause.acquire(blocking=False):
                until, waits = time.monotonic() + _MIN_SECONDS + backlog, True
            if time.monotonic() > until and not self._early.is_full:
                return
            if self._ended:
                self._finish(self._ended.popleft())
            if self._unwritten:
                call = next(iter(self._unwritten))
                if call.over and call.unwritten < _SMALL:  # it is finished without a file of its own
                    self._unwritten.pop(call)
                else:
                    self._flush(call)
            if not self._unwritten and not self._ended:
                self._early.clear()

    def _wake(self, calls: list[Recording]) -> None:
        if calls:
            self._recorder.wake(calls)

    # --durable.

    def _commit(self, log: WriteAheadLog, calls: dict[Recording, int]) -> None:
        if not calls:
            return
        try:
            log.commit(calls, self._records.end)
        except OSError as error:
            self._not_synced(calls, f"{self._journal}: {error.strerror}")
        if log.is_full:
            open_calls = [call for call in (*self._in_flight, *self._ended) if self._flush(call)]
            if log.replace(open_calls, self._records.unsynced, self._records.end()):
                self._records.unsynced = set()

    def _sync_failed(self, calls: list[Recording], reason: str) -> None:
        """Leave it to the writing thread: the syncing thread calls this."""
        for call in calls:
            self._queue.put((call, b"!", 0, reason.encode()))

    def _not_synced(self, calls: Iterable[Recording], reason: str) -> None:
        """The log could not be written or synced. Under --strict the calls are lost, else their answers go on."""
        for call in calls:
            if self._recorder.strict:
                self._lose(call, f"{reason}: calls are refused", reason)
            elif not call.released:
                call.released = True
                self._recorder.counts.late += 1
        self._failed(f"{reason}: answers are passed on before their calls are synced")
        self._wake([call for call in calls if call.waits])

    # One call.

    def _add(self, call: Recording, kind: bytes, micros: int, payload: bytes) -> None:
        call.added += 1
        call.unwritten += len(payload) + OVERHEAD
        if call.closed:
            return
        if self._redact is None:
            call.frames += frame(kind, micros, payload)
            if self._log is not None:
                self._log.add(call, kind, micros, payload)
        else:
            call.redactor = call.redactor or BodyRedactor(self._redact)
            try:
                for each, clean in call.redactor.feed(kind, payload):
                    call.frames += frame(each, micros, clean)
                    if self._log is not None:
                        self._log.add(call, each, micros, clean)
            except Exception as fault:  # our own, and other calls must not suffer from it
                self._lose(call, f"a call could not be searched for secrets, and is not recorded: {fault!r}")

    def _flush(self, call: Recording) -> bool:
        """Write the frames that wait to the call's own file. Return False if the call is lost."""
        self._unwritten.pop(call, None)
        if not call.closed:
            try:
                flush(call, self._journal)
            except OSError as error:
                rule = "calls are refused" if self._recorder.strict else "calls are forwarded, but not recorded"
                self._lose(call, f"{self._journal}: {error.strerror}: {rule}", error.strerror or "")
        self.done_bytes += call.unwritten
        call.unwritten, call.written = 0, call.added
        return not call.closed

    def _lose(self, call: Recording, reason: str, fault: str = "") -> None:
        """Give a call up. Under --strict the part that the disk took stays, if any of it was passed on."""
        self._in_flight.pop(call, None)
        with suppress(ValueError):
            self._ended.remove(call)  # no record is to be made of it twice
        call.lost = call.closed = True
        call.frames = []
        self._failed(reason)
        if self._recorder.strict and call.written:
            end = frame(b"e", (time.monotonic_ns() - call.began) // 1000, _encode(Ended("recorder", fault)))
            with suppress(OSError):  # without its end the call counts as interrupted by the recorder, too
                call.size = append(call.descriptor, end, call.size)
            self._finish(call)
            return
        self._recorder.counts.failed += not self._recorder.strict
        remove(call)
        self._recorder.room.release(call.reserved)

    def _finish(self, call: Recording) -> None:
        """Write the record of a call that is over to the trace, and remove the call's file."""
        is_logged = call.number > 0 and call.descriptor < 0
        if not is_logged and not call.lost and not self._flush(call):
            return
        try:
            found = call_of(frames_from(call.frames)) if is_logged else self._read(call)
            if found is not None:
                self._records.write(record_of(found), lambda mark: self._mark(call, mark))
            self._forget(call)
        except OSError as error:
            self._keep(
                call, f"{error.filename or self._records.name}: {error.strerror}: calls are kept in {self._journal}"
            )
            return
        except Exception as fault:  # our own, and other calls must not suffer from it
            self._keep(call, f"{call.path} could not be made a record, and is kept: {fault!r}")
            return
        finally:
            self._recorder.room.release(call.reserved)
        if not call.lost:
            self._recovered()

    def _read(self, call: Recording) -> Call | None:
        with open(call.descriptor, "rb", closefd=False) as file:
            file.seek(0)
            return read_call(file)

    def _forget(self, call: Recording) -> None:
        """Remove what is kept of a call that has its record."""
        remove(call)
        call.closed, call.frames = True, []
        self._flush(call)

    def _mark(self, call: Recording, place: bytes) -> None:
        """Note where the record is about to be written, so that it is not written twice after a crash."""
        if call.descriptor >= 0:
            os.writev(call.descriptor, frame(b"w", 0, place))
        if self._log is not None:
            self._log.mark(call, place)
        else:
            self._early.mark(call, place)

    def _keep(self, call: Recording, reason: str) -> None:
        """Leave the call's file where it is, for the next recorder."""
        if not call.closed and not self._flush(call):  # there was no need for a file of its own until now
            return
        call.closed = True
        self._recorder.counts.kept += 1
        if self._log is not None:
            self._records.unsynced.add(Path(call.path))
        os.close(call.descriptor)
        self._failed(reason)

    # The disk's state.

    def _probe(self, call: Recording) -> None:
        try:
            probe(call, self._journal)
            self._recovered()
        except OSError as error:
            self._failed(f"{self._journal}: {error.strerror}")

    def _recovered(self) -> None:
        if self.failing:
            self.failing = False
            counts = self._recorder.counts
            if self._recorder.strict:
                self._say(f"recording again; {counts.refused:,} calls were refused")
            else:
                self._say(f"recording again; {counts.unrecorded:,} calls went unrecorded")

    def _failed(self, reason: str) -> None:
        if not self.failing:
            self.failing = True
            self._say(reason)
