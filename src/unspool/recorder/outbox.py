"""Bytes on their way out of the proxy, held until the recorder has written what they depend on.

The client never sees more than what is written. What each byte waits for depends on the options:

    plain       first byte of an answer: the request is in its file, for HOLD_SECONDS at most
    --durable   first byte: the request is synced; last byte: the whole call is synced
    --strict    every byte, in both directions, is written

Bytes that wait for nothing leave at once, unless others wait before them. Closing a connection and the next request on
it wait in the same queue, so their order is kept.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeAlias

from unspool.recorder.calls import Recording
from unspool.recorder.recording import Recorder

HOLD_SECONDS = 0.25
"""After this time a plain recorder passes an answer on although its request is not written. 0 holds no answer."""
Leave: TypeAlias = bytes | Callable[[], object]
"""Bytes to send, or an action to run in their place."""
_Entry: TypeAlias = tuple[Leave, Recording | None, int, int]


class Outbox:
    """The queue of one direction of a connection. Its methods belong to the event loop."""

    def __init__(
        self,
        recorder: Recorder,
        send: Callable[[bytes], None],
        *,
        hold: Callable[[], None],
        release: Callable[[], None],
        unwritable: Callable[[], None],
    ) -> None:
        """`hold` and `release` stop and resume the source of the bytes.

        `unwritable` is called once if the bytes at the head of the queue can never be written. From then on the queue
        discards everything, until it is cleared.
        """
        self._recorder, self._strict, self._durable = recorder, recorder.strict, recorder.durable
        self._is_plain = not (recorder.strict or recorder.durable)
        self._send, self._hold, self._release, self._unwritable = send, hold, release, unwritable
        self._queue: deque[_Entry] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._is_dead = False

    def __bool__(self) -> bool:
        """Return whether anything waits."""
        return bool(self._queue)

    def put(self, item: Leave, call: Recording | None = None, first: bool = False, last: bool = False) -> None:
        """Send bytes, or run an action, as soon as the recorder has written what they wait for."""
        if not self._queue and not first and self._is_plain:  # most pieces of most calls
            self._leave(item)
            return
        written, synced = self._needs(call, first, last) if call is not None else (0, 0)
        if not self._queue and not self._is_dead and (call is None or self._may_leave(call, written, synced)):
            self._leave(item)
        elif not self._is_dead:
            self._queue.append((item, call, written, synced))
            self.go_on()

    def go_on(self) -> None:
        """Send what may leave by now."""
        queue = self._queue
        while queue and not self._is_dead:
            item, call, written, synced = queue[0]
            if call is not None and not self._may_leave(call, written, synced):
                if self._strict and call.lost:
                    self._die()
                    return
                call.waits = True
                if not self._may_leave(call, written, synced):  # it may have been written in this moment
                    self._wait(call)
                    return
            queue.popleft()
            self._leave(item)
        self._stop_timer()
        self._release()

    def clear(self) -> None:
        """Discard what waits."""
        self._queue.clear()
        self._is_dead = False
        self._stop_timer()
        self._release()

    def _needs(self, call: Recording, first: bool, last: bool) -> tuple[int, int]:
        """Return how many pieces of the call must be written, and how many synced."""
        synced = 0
        if self._durable:
            synced = call.noted if last else call.asked if first else 0
        if self._strict:
            return call.noted, synced
        return call.asked if first and not self._durable and HOLD_SECONDS else 0, synced

    def _may_leave(self, call: Recording, written: int, synced: int) -> bool:
        return call.allows(written, synced) and not (self._strict and call.lost)

    def _leave(self, item: Leave) -> None:
        if isinstance(item, bytes):
            self._send(item)
        else:
            item()

    def _wait(self, call: Recording) -> None:
        self._hold()
        self._recorder.hurry()
        if self._timer is None and self._is_plain:
            self._timer = asyncio.get_running_loop().call_later(HOLD_SECONDS, self._expire, call)

    def _expire(self, call: Recording) -> None:
        self._timer = None
        if self._queue and self._queue[0][1] is call:
            self._recorder.pass_on(call, HOLD_SECONDS)
            self.go_on()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _die(self) -> None:
        self._queue.clear()
        self._is_dead = True
        asyncio.get_running_loop().call_soon(self._unwritable)


def wake(loop: asyncio.AbstractEventLoop, calls: Sequence[Recording]) -> None:
    """Let the answers of these calls go on. Other threads call this, once for all calls of a round."""
    try:
        loop.call_soon_threadsafe(_wake_all, calls)
    except RuntimeError:  # the loop is closed: all its connections are gone
        if not loop.is_closed():
            raise


def _wake_all(calls: Sequence[Recording]) -> None:
    for call in calls:
        call.waits = False
        if call.wake is not None:
            call.wake()
