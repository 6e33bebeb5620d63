"""Keys of records that name themselves; forks, resumptions and retries write some of them again."""

from typing import Any

from unspool.dialect import Record
from unspool.sources.jsontext import dumps


class Repeats:
    def __init__(self) -> None:
        self._names: set[str] = set()
        self._seen: set[int] = set()
        """Names with what they named, hashed."""

    def key(self, name: Any, record: Record) -> str | None:
        """The record's own name, else its line. None if it was read before; with its line if it has changed since."""
        if not isinstance(name, str) or not name:
            return str(record.origin.line)
        return self.named(name, record.data or dumps(record.value), record.origin.line)

    def named(self, name: str, content: bytes | str, place: int) -> str | None:
        """The same of a part of a record, by what it says and its place."""
        mark = hash((name, content))
        if mark in self._seen:
            return None
        self._seen.add(mark)
        if name in self._names:
            return f"{name}@{place}"
        self._names.add(name)
        return name
