"""Rows of somebody else's database, which may be in use: read only, without a lock that could stop its owner.

A database that keeps a write-ahead log is read together with it, which never keeps a writer waiting. One without is
opened as immutable, that is without any lock; its rows are those of the last commit.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from unspool.dialect import Record
from unspool.model import Note, Origin


def tables(path: str) -> dict[str, frozenset[str]]:
    """Each table with its columns; nothing for what is no database."""
    try:
        with closing(_opened(path)) as database:
            names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            return {name: frozenset(_columns(database, name)) for name in names}
    except sqlite3.Error:
        return {}


def rows(path: str, queries: Mapping[str, str]) -> Iterator[Record | Note]:
    """What the queries give, one after another: `value` is `{"table": name, column: value, …}`, `line` counts rows.

    A query on a table or column that this database does not have gives a note, and the next goes on.
    """
    number = 0
    try:
        with closing(_opened(path)) as database:
            database.row_factory = sqlite3.Row
            database.text_factory = lambda text: text.decode("utf-8", "replace")
            for table, query in queries.items():
                try:
                    for row in database.execute(query):
                        number += 1
                        value = {"table": table, **dict(zip(row.keys(), row, strict=True))}
                        yield Record(b"", Origin(path, number, 0, 0), value)
                except sqlite3.Error as error:
                    yield Note("unreadable", f"table {table}: {error}", Origin(path, number, 0, 0))
    except sqlite3.Error as error:
        yield Note("unreadable", f"no database that can be read: {error}", Origin(path, 0, 0, 0))


def _opened(path: str) -> sqlite3.Connection:
    log = Path(f"{path}-wal")
    if log.is_file() and log.stat().st_size:
        database = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)
        try:
            database.execute("SELECT 1 FROM sqlite_master")
        except sqlite3.OperationalError:  # a folder that cannot be written has no room for the index of the log
            database.close()
        else:
            return database
    return sqlite3.connect(f"file:{quote(path)}?immutable=1", uri=True)


def _columns(database: sqlite3.Connection, table: str) -> list[str]:
    return [name for (name,) in database.execute("SELECT name FROM pragma_table_info(?)", (table,))]
