"""Recording beside the forwarding: the event loop hands pieces over, a thread of its own writes them.

    proxy ─► begin, request, answer, response, end ─► queue ─► each call's own file ─► the trace, one record a call

The loop never waits for a disk. What waits to be written is counted: past a bound, new calls go unrecorded (or, under
--strict, the proxy stops reading until there is room). A disk that fails is told once, and calls are counted.
"""

import errno
import fcntl
import os
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeAlias
from uuid import uuid4

import msgspec
from msgspec import Struct

from unspool.recorder.files import PlainFile, SessionFiles, Trace
from unspool.recorder.redacting import BodyRedactor
from unspool.sources.callfile import ENDING, MAGIC, Answered, Asked, Ended, Mark, frame, read_call
from unspool.sources.composing import Recorded, parts_of, record_of

BOUND = 256 << 20
"""Bytes that may wait for a slow disk."""
_PAUSE = 0.002
"""Seconds that pieces wait for others: many small ones become few writes, and a request is forwarded by then."""
_PROBE = 1 << 16
"""Bytes that must fit on a disk that failed before calls are recorded on it again."""
_OVERHEAD = 200
_MOST_PIECES = 512
_encode = msgspec.json.encode
_Item: TypeAlias = "tuple[Recording, bytes, int, bytes] | None"
Say: TypeAlias = Callable[[str], None]


class Counts(Struct):
    recorded: int = 0
    passed: int = 0
    """Calls that were forwarded unrecorded, because too much waited for the disk."""
    failed: int = 0
    """The same, because the disk took nothing, or what was to be redacted could not be."""
    kept: int = 0
    """Calls that are in the journal, because the trace could not be written."""
    broken: int = 0
    """Recorded calls that were interrupted, or ended with an error."""
    foreign: int = 0
    """Requests of web pages, or for another host, that were refused and not recorded."""
    sent: int = 0
    received: int = 0
    sessions: set[str] = msgspec.field(default_factory=set)

    @property
    def unrecorded(self) -> int:
        """Calls that were forwarded and are not in the trace. (Each part of it is counted by one thread alone.)"""
        return self.passed + self.failed


class Recording:
    """One call, as the proxy sees it. Nothing here waits."""

    __slots__ = ("_began", "_left", "_put", "descriptor", "frames", "lost", "path", "redactor")

    def __init__(self, put: Callable[["Recording", bytes, int, bytes], None]) -> None:
        self._put, self._began, self._left = put, time.monotonic_ns(), 0
        self.lost = False
        # What follows is the writing thread's own.
        self.path, self.descriptor = "", -1
        self.frames: list[bytes] = []
        self.redactor: BodyRedactor | None = None

    def note(self, kind: bytes, payload: bytes = b"") -> None:
        if not self.lost:
            self._put(self, kind, ((self._left or time.monotonic_ns()) - self._began) // 1000, payload)

    def request(self, piece: bytes) -> None:
        self.note(b"q", piece)

    def request_over(self, trailers: dict[str, str] | None = None) -> None:
        self.note(b"Q", _encode(trailers) if trailers else b"")

    def answer(self, status: int, headers: dict[str, str]) -> None:
        self.note(b"h", _encode(Answered(status, headers)))

    def response(self, piece: bytes) -> None:
        self.note(b"r", piece)

    def response_over(self, trailers: dict[str, str] | None = None) -> None:
        self.note(b"R", _encode(trailers) if trailers else b"")

    def left(self) -> None:
        """The client has hung up: for it the call is over now, whatever else is told."""
        self._left = time.monotonic_ns()

    def end(self, by: str | None = None, error: str | None = None) -> None:
        self.note(b"e", _encode(Ended(by, error)))


class Recorder:
    """Where calls go: a trace, or a folder of session files."""

    def __init__(
        self,
        trace: Trace,
        say: Say,
        *,
        strict: bool = False,
        durable: bool = False,
        bound: int = BOUND,
        redact: Callable[[bytes], bytes] | None = None,
        seen: Callable[[Recorded], None] | None = None,
    ) -> None:
        self.trace, self.strict, self.counts = trace, strict, Counts()
        self._say, self._durable, self._bound, self._redact, self._seen = say, durable, bound, redact, seen
        self._journal = trace.journal
        self._queue: SimpleQueue[_Item] = SimpleQueue()
        self._put_bytes = self._done_bytes = 0
        self._overfull = False
        self.failing = False
        self._thread = Thread(target=self._run, name="recorder", daemon=True)

    def start(self) -> None:
        """Take in what an earlier recorder had to leave behind, and begin to write."""
        from unspool.recorder.folding import fold

        seen, self._seen = self._seen, None
        fold(self._journal, self._write, self._say)
        self._seen, self.counts = seen, Counts()  # those were not this run's calls
        self._thread.start()

    @property
    def full(self) -> bool:
        return self._put_bytes - self._done_bytes > self._bound

    def begin(self, method: str, path: str, upstream: str | None, peer: str, headers: dict[str, str]) -> Recording:
        """A call begins. One that is `lost` from the beginning is not recorded."""
        call = Recording(self._put)
        if self.full and not self.strict:
            call.lost = True
            self.counts.passed += 1
            if not self._overfull:
                self._overfull = True
                self._say(f"the disk is too slow: {self._bound >> 20} MB wait to be written, new calls go unrecorded")
            return call
        now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        asked = Asked(str(uuid4()), now, method, path, upstream, peer, headers, self._redact is not None)
        call.note(b"i", _encode(asked))
        return call

    def _put(self, call: Recording, kind: bytes, micros: int, payload: bytes) -> None:
        self._put_bytes += len(payload) + _OVERHEAD
        self._queue.put((call, kind, micros, payload))
        if not self.strict and kind in (b"q", b"r") and self._put_bytes - self._done_bytes > 2 * self._bound:
            call.lost = True  # what had come until now is kept
            self._put(call, b"e", micros, _encode(Ended("recorder", "the disk was too slow to record the rest")))

    def try_again(self) -> None:
        """Find out whether a disk that failed takes records again."""
        self._queue.put((Recording(self._put), b"?", 0, b""))

    def close(self) -> None:
        """Write what waits, and whatever else can be written now."""
        from unspool.recorder.folding import fold

        self._queue.put(None)
        self._thread.join()
        self.counts.kept -= min(self.counts.kept, fold(self._journal, self._write, self._say))
        self.trace.close()
        with suppress(OSError):  # never made, or others' calls are in it
            self._journal.rmdir()

    # The writing thread.

    def _run(self) -> None:
        open_calls: dict[Recording, None] = {}
        while True:
            batch = [self._queue.get()]
            time.sleep(_PAUSE)
            try:
                while len(batch) < 4096:
                    batch.append(self._queue.get_nowait())
            except Empty:
                pass
            touched: dict[Recording, None] = {}
            over = batch[-1] is None
            for item in batch:
                if item is not None:
                    call, kind, micros, payload = item
                    if kind == b"?":
                        self._probe(call)
                        continue
                    self._add(call, kind, micros, payload)
                    touched[call] = None
                    if kind == b"e":
                        self._finish(call)
                        touched.pop(call)
                        open_calls.pop(call, None)
                    self._done_bytes += len(payload) + _OVERHEAD
            for call in touched:
                if self._flush(call):
                    open_calls[call] = None
                else:
                    open_calls.pop(call, None)
            if over:
                break
            if self._overfull and not self.full:
                self._overfull = False
                self._say(f"recording again; {self.counts.unrecorded:,} calls went unrecorded")
        for call in open_calls:  # the loop is over, and with it those that it had not ended
            self._add(call, b"e", 0, _encode(Ended("recorder")))
            self._finish(call)

    def _add(self, call: Recording, kind: bytes, micros: int, payload: bytes) -> None:
        if self._redact is None:
            call.frames += frame(kind, micros, payload)
        elif call.path != LOST:
            call.redactor = call.redactor or BodyRedactor(self._redact)
            try:
                for each, clean in call.redactor.feed(kind, payload):
                    call.frames += frame(each, micros, clean)
            except Exception as fault:  # ours, and no other call may pay for it
                self._give_up(call, f"a call could not be searched for secrets, and is not recorded: {fault!r}")
        if len(call.frames) >= _MOST_PIECES:
            self._flush(call)

    def _flush(self, call: Recording) -> bool:
        """Write the pieces that wait to the call's own file. False if that did not work: the call is lost."""
        if not call.frames or call.path == LOST:
            call.frames.clear()
            return call.path != LOST
        try:
            if call.descriptor < 0:
                call.path, call.descriptor = self._created()
            whole = sum(map(len, call.frames))
            if os.writev(call.descriptor, call.frames) < whole:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if self._durable:
                os.fsync(call.descriptor)
        except OSError as error:
            self._give_up(call, f"{self._journal}: {error.strerror}: calls are forwarded, but not recorded")
            return False
        finally:
            call.frames.clear()
        return True

    def _created(self) -> tuple[str, int]:
        """A file that is locked before anybody can see it."""
        name = uuid4().hex
        new, path = self._journal / f"{name}.new", self._journal / f"{name}{ENDING}"
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND
        try:
            descriptor = os.open(new, flags, 0o600)
        except FileNotFoundError:
            self._journal.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(new, flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.write(descriptor, MAGIC)
            new.rename(path)
        except OSError:
            os.close(descriptor)
            new.unlink(missing_ok=True)
            raise
        return str(path), descriptor

    def _probe(self, call: Recording) -> None:
        try:
            call.path, call.descriptor = self._created()
            if os.write(call.descriptor, bytes(_PROBE)) < _PROBE:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._recovered()
        except OSError as error:
            self._failed(f"{self._journal}: {error.strerror}")
        finally:
            self._remove(call)

    def _recovered(self) -> None:
        if self.failing:
            self.failing = False
            self._say(f"recording again; {self.counts.unrecorded:,} calls went unrecorded")

    def _give_up(self, call: Recording, reason: str) -> None:
        call.lost = True
        self.counts.failed += 1
        self._remove(call)
        call.path = LOST
        self._failed(reason)

    def _failed(self, reason: str) -> None:
        if not self.failing:
            self.failing = True
            self._say(reason)

    def _finish(self, call: Recording) -> None:
        if not self._flush(call):
            return
        try:
            with open(call.descriptor, "rb", closefd=False) as file:
                file.seek(0)
                found = read_call(file)
            if found is not None:
                self._write(record_of(found), lambda mark: os.write(call.descriptor, mark))
            self._remove(call)
        except OSError as error:
            self._keep(call, f"{error.filename or self._name}: {error.strerror}: calls are kept in {self._journal}")
            return
        except Exception as fault:  # ours, and no other call may pay for it
            self._keep(call, f"{call.path} could not be made a record, and is kept: {fault!r}")
            return
        self._recovered()

    def _keep(self, call: Recording, reason: str) -> None:
        """Leave the call's file where it is, for the next recorder."""
        self.counts.kept += 1
        os.close(call.descriptor)
        self._failed(reason)

    def _remove(self, call: Recording) -> None:
        if call.descriptor >= 0:
            Path(call.path).unlink(missing_ok=True)
            os.close(call.descriptor)
            call.descriptor = -1

    @property
    def _name(self) -> str:
        match self.trace:
            case SessionFiles(folder=place) | PlainFile(path=place):
                return str(place)
        return "standard output"

    def _write(self, record: Recorded, mark: Callable[[bytes], object]) -> None:
        """To the file that it belongs to; before that, `mark` is given where."""
        file = self.trace.of(record.session, record.timestamp)
        if isinstance(self.trace, SessionFiles):
            record.session_id, record.started = record.session or "", record.timestamp
            # In a session file times must not go back, and calls end in the order in which they are written.
            record.timestamp = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        file.append(parts_of(record), lambda name, end: mark(b"".join(frame(b"w", 0, _encode(Mark(name, end))))))
        counts = self.counts
        counts.recorded += 1
        counts.sent += record.request_bytes
        counts.received += record.response_bytes
        counts.broken += record.interrupted or record.error is not None
        if record.session and len(counts.sessions) < 10_000:
            counts.sessions.add(record.session)
        if self._seen is not None:
            try:
                self._seen(record)
            except OSError:  # whoever read that has gone; the record is written all the same
                self._seen = None


LOST = "\0"
"""The path of a call whose file could not be written."""
