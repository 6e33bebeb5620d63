"""A real pseudo-terminal for the command, and an emulator that shows what a person would see on it."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pyte

_PATIENCE = 60
"""Seconds after which a test has failed: nothing here takes so long."""
_LAST = b"\x00the end\x00"
"""What we write behind the last word of the command: a terminal hands things on late, but in order."""


class Terminal:
    """The command with this terminal as its standard output, and a pipe as its standard input."""

    def __init__(self, *arguments: str | Path, columns: int = 80, environment: Mapping[str, str] | None = None) -> None:
        self._master, self._slave = pty.openpty()
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        clean = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "unspool", *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=self._slave,
            stderr=subprocess.PIPE,
            env={**clean, "TERM": "xterm-256color", **(environment or {})},
        )
        self.columns = columns
        self.raw = b""
        self.told = b""
        """What it said on standard error."""

    def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def wait_for(self, word: str) -> None:
        self._read(lambda: word.encode() in self.raw)
        assert word.encode() in self.raw, self.raw.decode()

    def signal(self, number: signal.Signals) -> int:
        """Send it, and wait for the exit status."""
        self.process.send_signal(number)
        return self.end()

    def end(self) -> int:
        """Take all of its output; its exit status."""
        self._read(lambda: self.process.poll() is not None)
        os.write(self._slave, _LAST)
        self._read(lambda: self.raw.endswith(_LAST))
        self.raw = self.raw.removesuffix(_LAST)
        assert self.process.stdin is not None
        assert self.process.stderr is not None
        self.process.stdin.close()
        self.told = self.process.stderr.read()
        self.process.stderr.close()
        os.close(self._master)
        os.close(self._slave)
        return self.process.wait(_PATIENCE)

    def close(self) -> int:
        """End the input, and take the rest of the output."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.end()

    def _read(self, is_enough: Callable[[], bool]) -> None:
        """We keep the other end open too: when the last one closes it, a terminal may drop what nobody took yet."""
        deadline = time.monotonic() + _PATIENCE
        while not is_enough() and time.monotonic() < deadline:
            if select.select([self._master], [], [], 0.05)[0]:
                self.raw += os.read(self._master, 1 << 16)

    @property
    def screen(self) -> list[str]:
        """The lines of a screen that is high enough for all of it, each cell as it was drawn."""
        return drawn(self.raw, self.columns)


def drawn(raw: bytes, columns: int) -> list[str]:
    screen = pyte.Screen(columns, raw.count(b"\n") + 2)
    pyte.ByteStream(screen).feed(raw)
    rows = ["".join(screen.buffer[y][x].data for x in range(columns)) for y in range(screen.lines)]
    while rows and not rows[-1].strip():
        rows.pop()
    return [row.rstrip() for row in rows]


def cell_in(raw: bytes, columns: int, column: int) -> list[str]:
    """What stands in one column, line by line."""
    screen = pyte.Screen(columns, raw.count(b"\n") + 2)
    pyte.ByteStream(screen).feed(raw)
    return [screen.buffer[y][column].data for y in range(screen.lines)]
