"""A log that is shown as if it happened now: at once, or in its own time."""

import time
from collections.abc import Callable, Iterator

from unspool.jobs.pretty.stopping import waiting
from unspool.model import Event
from unspool.sources.values import time_of
from unspool.views.pretty.assembler import Assembler
from unspool.views.pretty.moments import Moment


class Pace:
    """Waits before each event until its time has come. Its clock shows the seconds of the run, not ours."""

    def __init__(self, speed: float, flush: Callable[[], None]) -> None:
        self._speed = speed
        """So many seconds of the run in one of ours; 0 for at once."""
        self._flush = flush
        self._first: float | None = None
        self._now = 0.0
        self._began = 0.0

    def clock(self) -> float:
        return self._now

    def wait(self, event: Event, assembler: Assembler) -> Iterator[Moment]:
        moment = time_of(event.timestamp)
        if moment is None or self._speed <= 0:
            return
        if self._first is None:
            self._first, self._began = moment / 1000, time.monotonic()
        until = moment / 1000 - self._first
        while self._now < until:
            due = assembler.due
            self._sleep(until if due is None or due <= self._now else min(due, until))
            yield from assembler.tick(self._now)

    def _sleep(self, until: float) -> None:
        """By the clock on the wall, so that drawing takes none of the time."""
        self._flush()
        left = self._began + until / self._speed - time.monotonic()
        if left > 0:
            with waiting:
                time.sleep(left)
        self._now = until
