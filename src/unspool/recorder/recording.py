"""Recording beside the forwarding: the event loop passes pieces on, and a thread of its own writes them.

    proxy ─► begin, request, answer, response, end ─► queue ─► Writer ─► the call's own file ─► the trace

The event loop never waits for a disk. It asks each `Recording` how much of it is written, and `Outbox` holds bytes back
until that is enough. The bytes that wait for the disk are counted: past a bound, new calls are not recorded.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from queue import SimpleQueue
from threading import Lock

import msgspec

from unspool.recorder.calls import Counts, Item, Recording
from unspool.recorder.files import Trace
from unspool.recorder.room import Room
from unspool.recorder.writer import OVERHEAD, Say, Writer
from unspool.sources.callfile import Asked, Ended
from unspool.sources.composing import Recorded

BOUND = 256 << 20
"""Bytes that may wait for a slow disk."""
_encode = msgspec.json.encode


class Recorder:
    """Record calls to a trace, or to a folder of session files."""

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
        self.trace, self.strict, self.durable, self.counts = trace, strict, durable, Counts()
        self._say, self._bound = say, bound
        self._queue: SimpleQueue[Item] = SimpleQueue()
        self._pause = Lock()
        self._pause.acquire()
        self._put_bytes = 0
        self._overfull = self._crowded = self._slow = False
        self._redacts = redact is not None
        self.room = Room(trace.journal.parent, copies=3 if durable else 2)
        self._writer = Writer(self, self._queue, self._pause, say, redact, seen)
        self.wake: Callable[[Sequence[Recording]], None] = self._wake_none
        """Called by other threads with calls that may go on. The proxy sets it."""

    def start(self) -> None:
        """Take in the calls that an earlier recorder left in the journal, and start to write."""
        self._writer.take_in()
        self._writer.start()

    @property
    def failing(self) -> bool:
        """Whether the disk refused the last attempt to write."""
        return self._writer.failing

    @property
    def full(self) -> bool:
        return self._put_bytes - self._writer.done_bytes > self._bound

    def refusal(self, size: int) -> str | None:
        """Under --strict, return why a call with so many bytes in its request cannot be recorded now."""
        if not self.strict:
            return None
        reason = None
        if self.failing:
            self.try_again()
            reason = "the disk refused the last write"
        elif not self.room.is_enough(size):
            reason = "the disk has not enough room for it"
        if reason is None:
            self._crowded = False
            return None
        self.counts.refused += 1
        if not (self._crowded or self.failing):
            self._crowded = True
            self._say(f"{self.room.folder}: no room for more calls: they are answered with 503 until there is")
        return f"unspool record cannot record this call, and --strict forwards no call unrecorded: {reason}"

    def begin(
        self, method: str, path: str, upstream: str | None, peer: str, headers: dict[str, str], size: int = 0
    ) -> Recording:
        """Start the record of a call. If its `lost` is set, the call is not recorded."""
        call = Recording(self._put)
        if self.full and not self.strict:
            call.lost = True
            self.counts.passed += 1
            if not self._overfull:
                self._overfull = True
                self._say(f"the disk is too slow: {self._bound >> 20} MB wait to be written, new calls go unrecorded")
            return call
        if self.strict:
            call.reserved = self.room.reserve(size)
        now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        asked = Asked(call.id, now, method, path, upstream, peer, headers, self._redacts)
        call.note(b"i", _encode(asked))
        call.asked = call.noted
        return call

    def _put(self, call: Recording, kind: bytes, micros: int, payload: bytes) -> None:
        self._put_bytes += len(payload) + OVERHEAD
        self._queue.put((call, kind, micros, payload))
        if not self.strict and kind in (b"q", b"r") and self._put_bytes - self._writer.done_bytes > 2 * self._bound:
            call.lost = True  # the pieces that came until now are kept
            self._put(call, b"e", micros, _encode(Ended("recorder", "the disk was too slow to record the rest")))

    def hurry(self) -> None:
        """End the writing thread's pause: an answer waits. Only the event loop may call this."""
        if self._pause.locked():
            self._pause.release()

    def pass_on(self, call: Recording, seconds: float) -> None:
        """Let the answer of a call go although its request is not written yet, and count it."""
        call.released = True
        self.counts.late += 1
        if not self._slow:
            self._slow = True
            self._say(f"the disk is slow: after {seconds:g} s answers are passed on before their request is written")

    def try_again(self) -> None:
        """Find out whether a disk that failed takes records again."""
        self._queue.put((Recording(self._put), b"?", 0, b""))

    def relieve(self) -> None:
        """Say so when new calls are recorded again. The writing thread calls this after each round."""
        if self._overfull and not self.full:
            self._overfull = False
            self._say(f"recording again; {self.counts.unrecorded:,} calls went unrecorded")

    def close(self) -> None:
        """Write what waits, and the calls in the journal that can be written now."""
        self._queue.put(None)
        self._writer.close()
        self.trace.close()

    @staticmethod
    def _wake_none(_calls: Sequence[Recording]) -> None:
        """Before there is a proxy, nothing waits."""
