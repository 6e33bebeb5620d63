"""Whose log is this file? Its beginning tells, never its name alone."""

from itertools import islice
from typing import Any

from unspool.dialect import Head, Reader, Record
from unspool.readers import READERS
from unspool.sources.files import DASH, blocks, is_database
from unspool.sources.jsontext import Unreadable, loads, strict
from unspool.sources.records import read_lines
from unspool.sources.sqlite import tables

_GLANCE, LOOK = 3, 60
"""Lines that mostly suffice, and lines that are looked at before a file is given up."""
_TEXT = 1 << 14


def reader_of(path: str) -> tuple[Reader | None, Head]:
    """The reader that claims the file, and the head that it saw."""
    head = Head(path)
    for lines in (_GLANCE, LOOK):
        head = head_of(path, lines)
        reader = reader_for(head)
        if reader is not None:
            return reader, head
        if len(head.lines) < lines:
            break
    return None, head


def reader_for(head: Head) -> Reader | None:
    return next((reader for reader in READERS.values() if reader.claims(head)), None)


def head_of(path: str, lines: int = LOOK) -> Head:
    if path != DASH and is_database(path):
        return Head(path, tables=tables(path))
    records = read_lines(path, _TEXT)
    first = next((record for record in records if isinstance(record, Record)), None)
    if first is None:
        return Head(path)
    try:
        value = strict(first.data)
    except Unreadable:
        return _odd(path, lines)
    following = [record.data for record in islice(records, lines - 1) if isinstance(record, Record)]
    objects = [value, *map(_read, following)]
    return Head(
        path,
        lines=tuple(item for item in objects if isinstance(item, dict)),
        document=None if following else value,
    )


def _odd(path: str, lines: int) -> Head:
    """A file whose first line is no JSON: a document over many lines, lines with a torn one, or a text."""
    pieces, start = blocks(path), b""
    try:
        start = next(pieces, b"")
        if start[:_TEXT].lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
            return Head(path, document=loads(start + b"".join(pieces)))
    except Unreadable:  # no document, or one that is packed and damaged
        pass
    text = start[:_TEXT].decode("utf-8", "replace")
    objects = (_read(record.data) for record in islice(read_lines(path), lines) if isinstance(record, Record))
    return Head(path, lines=tuple(item for item in objects if isinstance(item, dict)), text=text)


def _read(line: bytes) -> Any:
    try:
        return strict(line)
    except Unreadable:
        return None
