"""A file of recorded calls that may still be written to: what is new in it, whole lines only."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from unspool.dialect import Record
from unspool.model import Note, Origin
from unspool.sources.density import lean
from unspool.sources.files import BLOCK, is_packed
from unspool.sources.jsontext import Unreadable, strict
from unspool.sources.limits import max_record, too_large_note
from unspool.sources.records import opens_a_document, read_records, split_lines
from unspool.sources.storage import opened

_HEAD = 4096


class Replaced(Exception):
    """The file is another, or shorter, or one that can only be read whole: begin again."""


class Growing:
    """Call `read` again and again."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._stamp: tuple[int, ...] = ()
        self._offset = self._read_to = 0
        self._line = self._lines = 0
        """How many lines end before `_offset`, and before `_read_to`."""
        self._whole = self._torn = False
        self.rest: Note | None = None
        """What stands at the end, and is no whole line yet."""

    def mark(self) -> None:
        """Remember how the file is now, without reading it."""
        with suppress(OSError):
            self._stamp = self._now()

    def changed(self) -> bool:
        try:
            return self._now() != self._stamp
        except OSError:
            return False  # it is gone; what was read of it stays

    def read(self) -> Iterator[Record | Note]:
        """Records that were not read before.

        What was not read to its end, because of a fault or as nobody wanted the rest, is read anew as a whole.
        """
        try:
            now = self._now()
        except FileNotFoundError:
            if self._stamp and not self._torn:
                return  # it is gone; what was read of it stays
            raise
        if now == self._stamp:
            return  # nothing is; and a pipe must not be waited for again
        is_another = self._stamp and (self._whole or now[0] != self._stamp[0] or now[1:2] < (self._offset,))
        if self._torn or is_another:
            raise Replaced(self.path)
        self._torn = True
        self._whole = not self._stamp and (is_packed(self.path) or self._is_document())
        if self._whole:
            yield from read_records(self.path)
        else:
            yield from split_lines(self.path, self._blocks(), self._line, self._offset)
            self._offset, self._line = self._read_to, self._lines
        self._stamp, self._torn = now, False

    def _now(self) -> tuple[int, ...]:
        return _stamp(self.path)

    def _is_document(self) -> bool:
        with opened(self.path) as file:
            return opens_a_document(file.read(_HEAD).partition(b"\n")[0].strip())

    def _blocks(self) -> Iterator[bytes]:
        """To the end of the last whole line; a last line without an end counts if it is whole JSON."""
        self.rest = None
        self._lines = self._line
        with opened(self.path) as file:
            end = file.seek(0, os.SEEK_END)
            self._read_to = _behind_last_line(file, self._offset, end)
            file.seek(self._offset)
            left = self._read_to - self._offset
            while left and (block := file.read(min(BLOCK, left))):
                left -= len(block)
                self._lines += _ends(block)
                yield block
            origin = Origin(self.path, self._lines + 1, self._read_to, end - self._read_to)
            if origin.size > max_record():
                self.rest = too_large_note("the last line, which has no end yet,", origin)
                return
            tail = file.read(origin.size)
        if not tail.strip():
            return
        try:
            strict(lean(tail))
        except Unreadable:
            self.rest = Note("unreadable", "the last line is not whole (yet)", origin)
        else:
            self._read_to += len(tail)
            yield tail


def _ends(block: bytes) -> int:
    """Ends of lines in it. `count` looks at each byte, and lines of recorded calls are long."""
    found, at = 0, block.find(b"\n")
    while at >= 0:
        found, at = found + 1, block.find(b"\n", at + 1)
    return found


def _behind_last_line(file: BinaryIO, start: int, end: int) -> int:
    """Where the last line that has an end ends; `start` if there is none behind it."""
    while end > start:
        begin = max(start, end - BLOCK)
        file.seek(begin)
        found = file.read(end - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return start


def _stamp(path: str) -> tuple[int, ...]:
    """Another one when the file is another, or was written to."""
    found = Path(path).stat()
    if not stat.S_ISREG(found.st_mode):  # a pipe was read to its end
        return (found.st_ino,)
    return found.st_ino, found.st_size, found.st_mtime_ns


def stamps(paths: list[str]) -> list[tuple[int, ...]]:
    """Of files as they are now; nothing of those that are gone."""
    now: list[tuple[int, ...]] = []
    for path in paths:
        try:
            now.append(_stamp(path))
        except OSError:
            now.append(())
    return now


def size_of(paths: list[str]) -> int:
    total = 0
    for path in paths:
        try:
            total += Path(path).stat().st_size
        except OSError:  # gone since it was listed
            continue
    return total
