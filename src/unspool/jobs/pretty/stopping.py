"""Ctrl-C and SIGTERM as an exception, where the program waits: for input, for a reader, for the clock.

Nowhere else: what was read is shown, and what was written is known to be written, before anybody stops.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(BaseException):
    """Somebody wants us to stop."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def name(self) -> str:
        return signal.Signals(self.number).name

    @property
    def exit_status(self) -> int:
        return 128 + self.number


class _Waiting:
    """`with waiting:` inside of it signals raise `Stopped`; one that came before does so at once."""

    def __init__(self) -> None:
        self._now = False
        self._came: int | None = None
        """A signal that nobody was waiting for."""

    def __enter__(self) -> None:
        self._now = True
        if self._came is not None:
            self._stop(self._came)

    def __exit__(self, *_: object) -> None:
        self._now = False

    def signalled(self, number: int, _frame: FrameType | None) -> None:
        if self._now or self._came is not None:  # who says it twice will not wait
            self._stop(number)
        self._came = number

    def _stop(self, number: int) -> None:
        self._now, self._came = False, None
        raise Stopped(number)


waiting = _Waiting()


@contextmanager
def stoppable() -> Iterator[None]:
    """Inside of it, who waits is stopped by these signals."""
    before = {number: signal.signal(number, waiting.signalled) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
