"""Disk space under --strict: a call is admitted only while there is room for it and for those admitted before."""

import os
from pathlib import Path

_ANSWER = 64 << 10
"""Bytes reserved for the answer of each call and the facts around it."""


class Room:
    """The room on the disk of a folder. `reserve` and `release` may be called by one thread each."""

    def __init__(self, folder: Path, copies: int) -> None:
        self.folder, self._copies = folder, copies
        self._reserved = self._released = 0

    def is_enough(self, size: int) -> bool:
        """Return whether a call with so many bytes in its request fits beside the calls in flight."""
        try:
            disk = os.statvfs(self.folder)
        except OSError:  # the first write will say why
            return True
        in_flight = self._reserved - self._released
        # A file system without a size of its own has no blocks.
        return not disk.f_blocks or disk.f_bavail * disk.f_frsize >= in_flight + self._needed(size)

    def reserve(self, size: int) -> int:
        """Return the number of bytes to release when the call is written or gone."""
        self._reserved += self._needed(size)
        return self._needed(size)

    def release(self, reserved: int) -> None:
        self._released += reserved

    def _needed(self, size: int) -> int:
        return self._copies * size + _ANSWER
