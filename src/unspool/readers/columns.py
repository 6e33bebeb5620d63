"""What readers of databases share: queries that fit the generation at hand, and columns that hold JSON."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from unspool.readers.log import Log
from unspool.sources.files import Damaged, unpacked
from unspool.sources.jsontext import Unreadable, loads, loads_or_text


def chosen(tables: Mapping[str, frozenset[str]], table: str, wanted: Iterable[str]) -> str:
    """Those of the wanted columns that the table has, as a query names them. What is missing is None to a decoder."""
    return ", ".join(column for column in wanted if column in tables[table])


def has(tables: Mapping[str, frozenset[str]], table: str, *columns: str) -> bool:
    return table in tables and tables[table].issuperset(columns)


def decoded(log: Log, value: Any, what: str) -> Any:
    """The JSON that a column holds; None, and a note, for what is none."""
    if not isinstance(value, str | bytes):
        return value
    try:
        return loads(value)
    except Unreadable:
        log.note("odd", f"{what} that is no JSON")
        return None


def plain(value: Any) -> Any:
    """What a column holds, unpacked if it was packed; None for what is damaged."""
    if not isinstance(value, bytes):
        return value
    try:
        return unpacked(value)
    except Damaged:
        return None


def unfolding(*columns: str) -> Callable[[Any], Any]:
    """A row with what its columns of JSON hold, in place of their text."""

    def unfold(row: Any) -> Any:
        if not isinstance(row, dict):
            return row
        found = {name: plain(row.get(name)) for name in columns}
        return row | {
            name: loads_or_text(value.encode() if isinstance(value, str) else value)
            for name, value in found.items()
            if isinstance(value, str | bytes)
        }

    return unfold
