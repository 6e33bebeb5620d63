"""Agents' logs → events and notes."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from msgspec import Struct, structs

from unspool.dialect import Decoder, Head, Reader, Record
from unspool.errors import FileFault, InputNotFound
from unspool.ingest.heads import LOOK, begun, head_of, like_the_last, reader_for, reader_of
from unspool.ingest.net import fault_note, file_note
from unspool.model import Event, Facts, Note, Origin
from unspool.sources.files import DASH
from unspool.sources.jsontext import Unreadable, joined, loads
from unspool.sources.records import decoded_lines, read_lines, read_records


class OpenLog:
    """One file of an agent's, being read."""

    def __init__(self, path: str, reader: Reader, head: Head, records: Iterable[Record | Note] | None = None) -> None:
        self.path = path
        self.reader = reader
        self._head = head
        self._given = records
        self._decoder: Decoder = reader.decoder(path)

    def keep(self) -> None:
        """What can be read only once is read now, to be read again."""
        if self._given is not None:
            self._given = list(self._given)

    @property
    def sessions(self) -> dict[str, Facts]:
        """What was learned so far of the sessions in it."""
        return self._decoder.sessions

    @property
    def document(self) -> Any:
        """The whole of a file that is one JSON document, as it stands there."""
        if isinstance(self._head.document, Struct):
            self._head = head_of(self.path)
        return self._head.document

    def __iter__(self) -> Iterator[Event | Note]:
        """A record at which the decoder fails costs only itself. One loop, because many events pass through it."""
        feed = self._decoder.feed
        try:
            for record in self._fed():
                if type(record) is not Record:  # isinstance takes five times as long where it says no
                    assert isinstance(record, Note)
                    yield record
                    continue
                try:
                    items = feed(record)
                    if not items:
                        continue
                    if record.data and type(items) is list and len(items) == 1 and type(items[0]) is Note:
                        yield from self._apart(record, items[0])
                    else:
                        yield from items
                except Exception as error:
                    yield fault_note(error, record.origin)
            yield from self._decoder.close()
        except Exception as error:
            yield file_note(error, self.path)

    def _apart(self, record: Record, note: Note) -> Iterator[Event | Note]:
        """What stands in a line that is no JSON because writes broke off in it: whole records, each by itself."""
        places, alone = joined(record.data) if note.kind == "unreadable" else ([], False)
        yield Note("repaired", "several records in one line", record.origin) if alone and len(places) > 1 else note
        origin = record.origin
        keys: set[str] = set()
        for begin, end in places:
            place = Origin(origin.file, origin.line, origin.offset + begin, end - begin)
            for item in self._decoder.feed(Record(record.data[begin:end], place)):
                if isinstance(item, Note):
                    yield item
                    continue
                # some are named by their line, for want of a name
                key = f"{item.key}~{begin}" if item.key in keys else item.key
                keys.add(key)
                yield structs.replace(item, key=key)

    def _fed(self) -> Iterator[Record | Note]:
        """The records as the decoder likes them best."""
        if self.reader.decode is not None and self._given is None and not self.reader.document:
            return decoded_lines(self.path, begun(self.path), self.reader.decode)
        return self.records()

    def records(self) -> Iterator[Record | Note]:
        """Each as it stands in the file."""
        if self.reader.document:
            return iter([Record(b"", Origin(self.path, 1, 0, 0), self._head.document)])
        if self._given is not None:
            return iter(self._given)
        return self.reader.rows(self.path) if self.reader.rows is not None else read_lines(self.path)


def open_log(path: str) -> OpenLog | None:
    """Return None for a file that no reader claims. Raise InputNotFound for one that cannot be read, and FileFault for
    one that unspool fails to recognise. Standard input is looked at too."""
    try:
        if path == DASH:
            log, _ = open_records(path, read_records(path))
            return log
        if (known := like_the_last(path)) is not None:
            return OpenLog(path, *known)
        reader, head = reader_of(path)
        return None if reader is None else OpenLog(path, reader, head)
    except OSError as error:
        raise InputNotFound(f"{path}: {error.strerror}") from error
    except Exception as error:
        note = file_note(error, path)
        raise FileFault(f"{path}: {note.reason}", "unreadable" if note.kind == "unreadable" else "internal") from error


def open_records(path: str, records: Iterator[Record | Note]) -> tuple[OpenLog | None, Iterator[Record | Note]]:
    """The same for what can be read only once. If nobody claims it, all of its records are handed back."""
    first = list(islice(records, LOOK))
    values = [_value(record) for record in first if isinstance(record, Record)]
    objects = tuple(value for value in values if isinstance(value, dict))
    head = Head(path, lines=objects, document=values[0] if len(values) == 1 else values)
    reader = reader_for(head)
    if reader is not None and reader.document and len(values) > 1:  # an array, whose elements came one by one
        values += [_value(record) for record in records if isinstance(record, Record)]
    every = chain(first, records)
    return (None if reader is None else OpenLog(path, reader, head, every)), every


def _value(record: Record) -> Any:
    try:
        return loads(record.data)
    except Unreadable:
        return None
