"""Rows of somebody else's database, which may be in use: read only, without a lock that could stop its owner.

A database that keeps a write-ahead log is read together with it, which never keeps a writer waiting. One without is
opened as immutable, that is without any lock; its rows are those of the last commit.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from unspool.dialect import Record
from unspool.errors import FileFault, InputNotFound
from unspool.model import Note, Origin
from unspool.sources.limits import max_record, too_large
from unspool.sources.storage import notice

_FAULTS = (sqlite3.Error, sqlite3.Warning, OSError, ValueError, OverflowError)
"""What a damaged database can raise. A name or a message that is not UTF-8 raises UnicodeDecodeError, a ValueError."""


_LARGEST_LIMIT = (1 << 31) - 1
_TOO_LARGE_ROWS = 100
"""Rows of one table that may be too large before the rest of it is given up."""


def tables(path: str) -> dict[str, frozenset[str]]:
    """Each table with its columns; nothing for what cannot be read."""
    try:
        return tables_in(path)
    except InputNotFound:
        return {}


def tables_in(path: str) -> dict[str, frozenset[str]]:
    """The same, and `FileFault` for a database that cannot be read."""
    try:
        with _opened(path) as database:
            names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            return {name: frozenset(_columns(database, name)) for name in names}
    except _FAULTS as error:
        raise FileFault(f"{path}: a database that cannot be read: {_reason(error)}", "unreadable") from error


def rows(path: str, queries: Mapping[str, str]) -> Iterator[Record | Note]:
    """What the queries give, one after another: `value` is `{"table": name, column: value, …}`, `line` counts rows.

    A query on a table or column that this database does not have gives a note, and the next goes on.
    """
    number = 0
    try:
        with _opened(path) as database:
            database.row_factory = sqlite3.Row
            for table, query in queries.items():
                for row in _rows(database, table, query):
                    number += 1
                    if isinstance(row, str):
                        yield Note("unreadable", row, Origin(path, number, 0, 0))
                    else:
                        yield Record(b"", Origin(path, number, 0, 0), {"table": table, **row})
    except _FAULTS as error:
        yield Note("unreadable", f"a database that cannot be read: {_reason(error)}", Origin(path, 0, 0, 0))


def _rows(database: sqlite3.Connection, table: str, query: str) -> Iterator[dict[str, Any] | str]:
    """Yield each row of the query. Where a row cannot be read, yield the reason; one that is too large is left out."""
    passed, too_large_rows = 0, 0
    try:
        while too_large_rows < _TOO_LARGE_ROWS:
            rest = f"SELECT * FROM ({query}) LIMIT -1 OFFSET {passed}" if passed else query
            try:
                for row in database.execute(rest):
                    passed += 1
                    yield _values(row)
                return
            except sqlite3.DataError as error:
                _refuse_other(error)
            # The module reads one row ahead: the next row is too large, or the one behind it.
            try:
                rest = f"SELECT * FROM ({query}) LIMIT 1 OFFSET {passed}"
                yield from map(_values, database.execute(rest))
            except sqlite3.DataError as error:
                _refuse_other(error)
                too_large_rows += 1
                yield too_large(f"a row of table {table}", max_record())
            passed += 1
    except _FAULTS as error:
        yield f"table {table}: {_reason(error)}"


def _reason(error: Exception) -> str:
    """Format the reason why a database cannot be read. Only names in a schema can fail to decode: texts never do."""
    return "names in its schema are damaged" if isinstance(error, UnicodeDecodeError) else str(error)


def _values(row: sqlite3.Row) -> dict[str, Any]:
    return dict(zip(row.keys(), row, strict=True))


def _refuse_other(error: sqlite3.DataError) -> None:
    if error.sqlite_errorcode != sqlite3.SQLITE_TOOBIG:
        raise error


@contextmanager
def _opened(path: str) -> Iterator[sqlite3.Connection]:
    """Open the database without writing to its folder, and replace bytes that are not UTF-8 wherever text is read."""
    with _connected(path) as database:
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(max_record(), _LARGEST_LIMIT))
        database.text_factory = lambda text: text.decode("utf-8", "replace")
        yield database


@contextmanager
def _connected(path: str) -> Iterator[sqlite3.Connection]:
    """Nothing beside the database is written either: where its log has no index, both are copied and read there."""
    notice(Path(path).stat())
    log = Path(f"{path}-wal")
    if not log.is_file() or not log.stat().st_size:
        with closing(sqlite3.connect(f"file:{quote(path)}?mode=ro&immutable=1", uri=True)) as database:
            yield database
    elif Path(f"{path}-shm").is_file():
        with closing(sqlite3.connect(f"file:{quote(path)}?mode=ro&readonly_shm=1", uri=True)) as database:
            yield database
    else:
        with tempfile.TemporaryDirectory(prefix="unspool-") as folder:
            copy = Path(folder) / "copy.db"
            shutil.copyfile(path, copy)
            shutil.copyfile(log, f"{copy}-wal")
            with closing(sqlite3.connect(copy)) as database:
                yield database


def _columns(database: sqlite3.Connection, table: str) -> list[str]:
    return [name for (name,) in database.execute("SELECT name FROM pragma_table_info(?)", (table,))]
