"""Where a stream comes from: standard input, a file that grows, a command. All give bytes as soon as there are any.

None in between means that nothing came, but that time passed: whoever waits for something may look at the clock.
"""

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from unspool.errors import CommandNotRun, InputNotFound
from unspool.jobs.pretty.stopping import waiting
from unspool.sources.files import BLOCK, DASH

Due: TypeAlias = Callable[[], float | None]
"""When somebody wants to look at the clock, by the clock that never goes back."""

_POLL = 0.01
"""Seconds between two looks at a file that grows: what one does not notice."""
_ORPHANED_PIPE = 0.5
"""Seconds after the end of a command until its output is over, though something else still holds it open."""
_PATIENCE, _LAST_WORDS = 0.3, 5.0
"""Seconds that a command has to end by itself after Ctrl-C, and then to end at all."""


def arriving(path: str, due: Due) -> Iterator[bytes | None]:
    """Standard input, or a pipe with a name, as `<(command)` makes one."""
    try:
        with waiting:
            descriptor = 0 if path == DASH else os.open(path, os.O_RDONLY)
        yield from _arriving(descriptor, due)
    except OSError as error:
        raise InputNotFound(f"{path}: {error.strerror}") from error


def _arriving(descriptor: int, due: Due) -> Iterator[bytes | None]:
    while True:
        moment = due()
        timeout = None if moment is None else max(0.0, moment - time.monotonic())
        with waiting:
            ready = select.select([descriptor], [], [], timeout)[0]
        if not ready:
            yield None
            continue
        data = os.read(descriptor, BLOCK)
        if not data:
            return
        yield data


def growing(path: str) -> Iterator[bytes | None]:
    """The file from its beginning, then what is added to it, for ever. One that is replaced or emptied begins anew."""
    try:
        file = open(path, "rb", buffering=0)  # noqa: SIM115  # it is opened again when it was replaced
    except OSError as error:
        raise InputNotFound(f"{path}: {error.strerror}") from error
    try:
        while True:
            if data := file.read(BLOCK):
                yield data
                continue
            if _is_another(path, file.fileno(), file.tell()):
                file.close()
                file = open(path, "rb", buffering=0)  # noqa: SIM115
                continue
            yield None
            with waiting:
                time.sleep(_POLL)
    finally:
        file.close()


def _is_another(path: str, descriptor: int, position: int) -> bool:
    """Whether the name now means another file, or this one became shorter. One that is gone may come back."""
    try:
        now, then = Path(path).stat(), os.fstat(descriptor)
    except OSError:
        return False
    return now.st_ino != then.st_ino or now.st_size < position


class Command:
    """A command that is run for its output. It keeps our standard input and standard error."""

    def __init__(self, words: Sequence[str]) -> None:
        try:
            self._process = subprocess.Popen(words, stdout=subprocess.PIPE)
        except OSError as error:
            missing = isinstance(error, FileNotFoundError)
            raise CommandNotRun(f"{words[0]}: {error.strerror}", 127 if missing else 126) from error
        assert self._process.stdout is not None
        self._descriptor = self._process.stdout.fileno()
        self._deadline: float | None = None
        self._stopped: int | None = None

    def arriving(self, due: Due) -> Iterator[bytes | None]:
        over: float | None = None
        """When we first saw that the command had ended."""
        while self._deadline is None or time.monotonic() < self._deadline:
            moment, now = due(), time.monotonic()
            timeout = _ORPHANED_PIPE / 5 if moment is None else min(_ORPHANED_PIPE / 5, max(0.0, moment - now))
            with waiting:
                ready = select.select([self._descriptor], [], [], timeout)[0]
            if ready:
                data = os.read(self._descriptor, BLOCK)
                if not data:
                    return
                over = None
                yield data
                continue
            yield None
            self._relay()
            if self._process.poll() is not None:
                over = over or now
                if now - over >= _ORPHANED_PIPE:
                    return

    def stop(self, number: int) -> None:
        """We were told to stop. Ctrl-C reaches the command too; other signals do not, nor does one sent by hand."""
        now = time.monotonic()
        self._stopped, self._deadline = number, now + _LAST_WORDS
        if number != signal.SIGINT:
            self._relay(at_once=True)

    def _relay(self, at_once: bool = False) -> None:
        if self._stopped is None or self._deadline is None or self._process.poll() is not None:
            return
        if at_once or time.monotonic() >= self._deadline - _LAST_WORDS + _PATIENCE:
            self._process.send_signal(self._stopped)
            self._stopped = None

    def end(self) -> int:
        """Its exit status; of one that a signal ended, as shells have it. One that was told to stop is waited for only
        so long."""
        assert self._process.stdout is not None
        self._process.stdout.close()
        if self._deadline is not None:
            with suppress(subprocess.TimeoutExpired), waiting:
                self._process.wait(max(0.0, self._deadline - time.monotonic()))
            if self._process.poll() is None:
                self._process.kill()
        with waiting:
            status = self._process.wait()
        return status if status >= 0 else 128 - status

    def kill(self) -> None:
        self._process.kill()

    def abandon(self) -> None:
        """Nobody wants its output any more."""
        if self._process.poll() is None:
            self._process.terminate()
            self._deadline = time.monotonic() + _LAST_WORDS
        self.end()
