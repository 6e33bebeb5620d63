"""Keys of records that name themselves; forks, resumptions and retries write some of them again."""

from typing import Any

from unspool.dialect import Record


class Repeats:
    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def key(self, name: Any, record: Record) -> str | None:
        """The record's own name, else its line. None if it was read before; with its line if it has changed since."""
        if not isinstance(name, str) or not name:
            return str(record.origin.line)
        content = hash(record.data)
        known = self._seen.get(name)
        if known is None:
            self._seen[name] = content
            return name
        return None if known == content else f"{name}@{record.origin.line}"
