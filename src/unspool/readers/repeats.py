"""Keys of records that name themselves; forks, resumptions and retries write some of them again."""

from typing import Any

from unspool.dialect import Record


class Repeats:
    def __init__(self) -> None:
        self._names: set[str] = set()
        self._seen: set[int] = set()
        """Names with what they named, hashed."""

    def key(self, name: Any, record: Record) -> str | None:
        """The record's own name, else its line. None if it was read before; with its line if it has changed since."""
        if not isinstance(name, str) or not name:
            return str(record.origin.line)
        mark = hash((name, record.data))
        if mark in self._seen:
            return None
        self._seen.add(mark)
        if name in self._names:
            return f"{name}@{record.origin.line}"
        self._names.add(name)
        return name
