"""What readers of databases share: queries that fit the generation at hand, and columns that hold JSON."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from unspool.readers.log import Log
from unspool.sources.jsontext import Unreadable, loads, loads_or_text


def chosen(tables: Mapping[str, frozenset[str]], table: str, wanted: Iterable[str], prefix: str = "") -> str:
    """Those of the wanted columns that the table has, as a query names them. What is missing is None to a decoder."""
    return ", ".join(f"{prefix}{column}" for column in wanted if column in tables[table])


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


def unfolding(*columns: str) -> Callable[[Any], Any]:
    """A row with what its columns of JSON hold, in place of their text."""

    def unfold(row: Any) -> Any:
        if not isinstance(row, dict):
            return row
        return row | {name: loads_or_text(row[name].encode()) for name in columns if isinstance(row.get(name), str)}

    return unfold
