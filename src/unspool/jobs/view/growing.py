"""A file of recorded calls that may still be written to: what is new in it, whole lines only."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from unspool.dialect import Record
from unspool.model import Note, Origin
from unspool.sources.files import BLOCK, is_packed
from unspool.sources.jsontext import Unreadable, strict
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
        self._line = 0
        self._whole = False
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
        """Records that were not read before."""
        now = self._now()
        if now == self._stamp:
            return  # nothing is; and a pipe must not be waited for again
        if self._stamp and (self._whole or now[0] != self._stamp[0] or now[1:2] < (self._offset,)):
            raise Replaced(self.path)
        first = not self._stamp
        self._stamp = now
        if first and (is_packed(self.path) or self._is_document()):
            self._whole = True
            yield from read_records(self.path)
            return
        for item in split_lines(self.path, self._blocks(), self._line, self._offset):
            if isinstance(item, Record):
                self._line = item.origin.line
            yield item
        self._offset = self._read_to

    def _now(self) -> tuple[int, ...]:
        found = Path(self.path).stat()
        if not stat.S_ISREG(found.st_mode):  # a pipe was read to its end
            return (found.st_ino,)
        return found.st_ino, found.st_size, found.st_mtime_ns

    def _is_document(self) -> bool:
        with opened(self.path) as file:
            return opens_a_document(file.read(_HEAD).partition(b"\n")[0].strip())

    def _blocks(self) -> Iterator[bytes]:
        """To the end of the last whole line; a last line without an end counts if it is whole JSON."""
        self.rest = None
        with opened(self.path) as file:
            end = file.seek(0, os.SEEK_END)
            self._read_to = _behind_last_line(file, self._offset, end)
            file.seek(self._offset)
            left = self._read_to - self._offset
            while left and (block := file.read(min(BLOCK, left))):
                left -= len(block)
                yield block
            tail = file.read(end - self._read_to)
        if not tail.strip():
            return
        try:
            strict(tail)
        except Unreadable:
            origin = Origin(self.path, self._line + 1, self._read_to, len(tail))
            self.rest = Note("unreadable", "the last line is not whole (yet)", origin)
        else:
            self._read_to += len(tail)
            yield tail


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


def size_of(paths: list[str]) -> int:
    total = 0
    for path in paths:
        try:
            total += Path(path).stat().st_size
        except OSError:  # gone since it was listed
            continue
    return total
