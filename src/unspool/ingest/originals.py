"""The records that events came from, read again from where they stand."""

from collections.abc import Iterator
from typing import Any

from unspool.dialect import Record
from unspool.ingest.logs import OpenLog
from unspool.model import Event, Note
from unspool.sources.files import DASH, is_packed
from unspool.sources.jsontext import loads_or_text


class Originals:
    """Of one log. Events come mostly in order, so that what cannot be sought in is read once."""

    def __init__(self, log: OpenLog) -> None:
        self._log = log
        log.keep()
        self._sought = not log.reader.rows and not log.reader.document and log.path != DASH and not is_packed(log.path)
        self._records: Iterator[Record | Note] = iter(())
        self._at: Record | None = None

    def payload(self, event: Event) -> Any:
        """What the event came from: see `Reader.payload`."""
        value = self._sought_value(event) if self._sought else self._read_value(event)
        return self._log.reader.payload(value, event)

    def _sought_value(self, event: Event) -> Any:
        with open(event.origin.file, "rb") as file:
            file.seek(event.origin.offset)
            return loads_or_text(file.read(event.origin.size))

    def _read_value(self, event: Event) -> Any:
        if self._log.reader.document:
            return self._log.document
        if self._at is None or self._at.origin.line > event.origin.line:
            self._records, self._at = self._log.records(), None
        while self._at is None or self._at.origin.line < event.origin.line:
            record = next(self._records, None)
            if record is None:
                return None
            if isinstance(record, Record):
                self._at = record
        return self._at.value if self._at.value is not None else loads_or_text(self._at.data)
