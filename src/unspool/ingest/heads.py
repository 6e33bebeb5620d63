"""Whose log is this file? Its beginning tells, never its name alone."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import Any

import msgspec

from unspool.dialect import Head, Reader, Record
from unspool.errors import FileFault
from unspool.model import Note
from unspool.readers import READERS
from unspool.sources.files import BLOCK, SQLITE, Damaged, TooLarge, blocks, whole
from unspool.sources.jsontext import Unreadable, loads, strict
from unspool.sources.records import opens_a_document, read_lines, split_lines

_GLANCE, LOOK = 3, 60
"""Lines that mostly suffice, and lines that are looked at before a file is given up."""
_TEXT, _GLANCED = 1 << 14, 512
_REPLACED = "\N{REPLACEMENT CHARACTER}"
_BLANK = b"\xef\xbb\xbf \t\r\n"
_elements = msgspec.json.Decoder(list[msgspec.Raw]).decode
_latest: list[Reader] = []
"""The reader that claimed the last file."""
_begun: dict[str, Iterator[bytes]] = {}
"""The last file that was known by its mark: to be read on, and not to be opened once more. One at most."""


def reader_of(path: str) -> tuple[Reader | None, Head]:
    """The reader that claims the file, and the head that it saw."""
    head = Head(path)
    for lines in (_GLANCE, LOOK):
        head = head_of(path, lines)
        reader = reader_for(head)
        if reader is not None:
            return reader, head
        if head.document is not None or head.tables:
            break  # all of it was seen; of lines, what is no object may stand before the first that is one
    if any(_REPLACED in name for table, columns in head.tables.items() for name in (table, *columns)):
        raise FileFault(f"{path}: a database that cannot be read: names in its schema are damaged", "unreadable")
    return None, head


def like_the_last(path: str) -> tuple[Reader, Head] | None:
    """The reader of the last file, if this one bears its mark: then nothing need be decoded to know it, or, of a
    document, only as the reader likes it best."""
    last = _last()
    if last is None or last.mark is None or (last.document and last.decode is None):
        return None
    start, rest = beginning(path)
    if not last.mark.match(start):
        return None
    if last.document:
        try:
            return _shaped(path, last, whole(chain([start], rest)))
        except TooLarge as error:
            raise FileFault(f"{path}: {error}", "unreadable") from error
    _begun.clear()
    _begun[path] = chain([start], rest)
    return last, Head(path)


def _shaped(path: str, reader: Reader, data: bytes) -> tuple[Reader, Head] | None:
    try:
        [document] = reader.decode(data) if reader.decode is not None else [None]
    except Unreadable:
        return None
    head = Head(path, document=document)
    return (reader, head) if reader.claims(head) else None


def beginning(path: str, size: int = BLOCK) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, and those that follow. None of a file that is packed, and damaged where it begins."""
    pieces = blocks(path, size)
    try:
        return next(pieces, b""), pieces
    except Damaged:
        return b"", iter(())


def begun(path: str) -> Iterator[bytes]:
    """All blocks of the file: those of the look at it, if that was the last one, and what follows."""
    return _begun.pop(path, None) or blocks(path)


def reader_for(head: Head) -> Reader | None:
    """Only one may claim it, so any order is right; the files of a folder are mostly one agent's."""
    last = _last()
    if last is not None and last.claims(head):
        return last
    return _remembered(next((reader for reader in READERS.values() if reader.claims(head)), None))


def marked(start: bytes) -> Reader | None:
    """The reader of a file that begins like this, if its mark alone tells: then nothing need be decoded."""
    last = _last()
    if last is not None and last.mark is not None and last.mark.match(start):
        return last
    if not opens_a_document(start[:_GLANCED].partition(b"\n")[0].rstrip()):
        return None
    return _remembered(next((reader for reader in READERS.values() if reader.mark and reader.mark.match(start)), None))


def _last() -> Reader | None:
    """To be asked once, and kept: the viewer's threads read other files meanwhile."""
    return _latest[0] if _latest else None


def _remembered(found: Reader | None) -> Reader | None:
    if found is not None:
        _latest[:] = [found]
    return found


def head_of(path: str, lines: int = LOOK) -> Head:
    start, pieces = beginning(path, _TEXT)
    if start.startswith(SQLITE):
        return Head(path, tables=_tables(path))
    if opens_a_document(start.lstrip(_BLANK).partition(b"\n")[0].rstrip()):
        return _odd(path, lines, start, pieces)
    records = split_lines(path, chain([start], pieces))
    before: list[Note] = []
    for record in records:
        if isinstance(record, Record):
            first = record
            break
        before.append(record)
    else:
        if before and before[0].origin.size:  # all that there is, is too large to be a record
            raise FileFault(f"{path}: {before[0].reason}", "unreadable")
        return Head(path)
    try:
        value = strict(first.data)
    except Unreadable:
        return _odd(path, lines, *beginning(path, _TEXT))
    following = [record.data for record in islice(records, lines - 1) if isinstance(record, Record)]
    objects = [value, *map(_read, following)]
    return Head(
        path,
        lines=tuple(item for item in objects if isinstance(item, dict)),
        document=None if following else value,
    )


def _tables(path: str) -> dict[str, frozenset[str]]:
    from unspool.sources.sqlite import tables_in  # 5 ms that other files need not pay

    return tables_in(path)


def _odd(path: str, lines: int, start: bytes, pieces: Iterator[bytes]) -> Head:
    """A file whose first line is no JSON: a document over many lines, lines with a torn one, or a text."""
    try:
        if start.lstrip(_BLANK).startswith((b"{", b"[")):
            return Head(path, document=_document(path, whole(chain([start], pieces))))
    except TooLarge as error:
        raise FileFault(f"{path}: {error}", "unreadable") from error
    except Unreadable:  # no document, or one that is packed and damaged
        pass
    text = start[:_TEXT].decode("utf-8", "replace")
    objects = (_read(record.data) for record in islice(read_lines(path), lines) if isinstance(record, Record))
    return Head(path, lines=tuple(item for item in objects if isinstance(item, dict)), text=text)


def _document(path: str, data: bytes) -> Any:
    """Return the value of a document. Of an array that no reader claims, only the first elements: decoded, records take
    many times their size."""
    if data.lstrip(_BLANK).startswith(b"["):
        with suppress(*Unreadable):
            first = [strict(element) for element in islice(_elements(data), LOOK)]
            if reader_for(Head(path, document=first)) is None:
                return first
    return loads(data)


def _read(line: bytes) -> Any:
    try:
        return strict(line)
    except Unreadable:
        return None
