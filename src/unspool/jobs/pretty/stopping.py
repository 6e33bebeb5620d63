"""Ctrl-C and SIGTERM as an exception, wherever the program waits: for input, for a reader, for the clock."""

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


@contextmanager
def stoppable() -> Iterator[None]:
    """Inside of it, these signals raise `Stopped`."""
    before = {number: signal.signal(number, _stop) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(number: int, _frame: FrameType | None) -> None:
    raise Stopped(number)
