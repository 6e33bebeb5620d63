"""The records that events came from, read again from where they stand."""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from unspool.dialect import Record
from unspool.ingest.logs import OpenLog
from unspool.model import Event, Note
from unspool.sources.files import DASH, is_packed
from unspool.sources.jsontext import loads_or_text
from unspool.sources.storage import local

_KEPT = 32 << 20
"""Bytes of records that are kept for events that look back: to the row of their session, or to a call that waited."""


class Originals:
    """Of one log. Events come mostly in order, so that what cannot be sought in is read once."""

    def __init__(self, log: OpenLog) -> None:
        self._log = log
        log.keep()
        self._sought = not log.reader.rows and not log.reader.document and log.path != DASH and not is_packed(log.path)
        self._records: Iterator[Record | Note] | None = None
        self._line = 0
        """Of the last record that was read."""
        self._kept: OrderedDict[int, Record] = OrderedDict()
        self._size = 0
        self._place: int | None = None
        self._unfolded: Any = None

    def payload(self, event: Event) -> Any:
        """What the event came from: see `Reader.payload`."""
        return self._log.reader.payload(self.record(event), event)

    def record(self, event: Event) -> Any:
        """The whole record that holds it: see `Reader.unfold`."""
        reader = self._log.reader
        place = 0 if reader.document else event.origin.offset if self._sought else event.origin.line
        if place != self._place:
            self._place, self._unfolded = place, reader.unfold(self._value(event))
        return self._unfolded

    def _value(self, event: Event) -> Any:
        if self._log.reader.document:
            return self._log.document
        if self._sought:
            with local(event.origin.file) as file:
                file.seek(event.origin.offset)
                return loads_or_text(file.read(event.origin.size))
        record = self._record(event.origin.line)
        if record is None:
            return None
        return record.value if record.value is not None else loads_or_text(record.data)

    def _record(self, line: int) -> Record | None:
        kept = self._kept.get(line)
        if kept is not None:
            return kept
        if self._records is None or line <= self._line:
            self._records, self._line = self._log.records(), 0
        for record in self._records:
            if isinstance(record, Record):
                self._keep(record)
                if record.origin.line >= line:
                    return record
        return None

    def _keep(self, record: Record) -> None:
        self._line = record.origin.line
        self._kept[self._line] = record
        self._size += _size_of(record)
        while self._size > _KEPT and len(self._kept) > 1:
            self._size -= _size_of(self._kept.popitem(last=False)[1])


def _size_of(record: Record) -> int:
    columns = record.value.values() if isinstance(record.value, dict) else ()
    return len(record.data) + sum(len(column) for column in columns if isinstance(column, str | bytes)) + 500
