"""The database file: made whole or not at all, for its owner alone, brought to the newest form when it is opened."""

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from unspool.errors import StoreFault
from unspool.sources.storage import put_in_place
from unspool.store.migrations import MIGRATIONS

NAME = "turns.db"
_APPLICATION = 0x556E7370  # "Unsp"
_OURS = re.compile(r"\.?(turns\.db|key)[-.\w]*|(config|keys)\.(toml|\d+)|servers\.(json|\d+)|answers|recordings|slack")
"""What unspool keeps in its folder."""
FAULTS = (sqlite3.Error, UnicodeDecodeError)
"""What a damaged database raises; the second where a name in its schema or a message of SQLite's is not UTF-8."""
_PATIENCE = 30.0
"""Seconds to wait for another process that writes."""


class Connection(sqlite3.Connection):
    """Says which file a fault is about."""

    path = ""
    is_read_only = False
    caution: str | None = None
    """What the user should know of a store that was just made."""

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        try:
            return super().execute(sql, parameters)
        except FAULTS as error:
            raise StoreFault(f"{self.path}: {error}") from error

    def executemany(self, sql: str, parameters: Any, /) -> sqlite3.Cursor:
        try:
            return super().executemany(sql, parameters)
        except FAULTS as error:
            raise StoreFault(f"{self.path}: {error}") from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing. Writers wait for each other from the beginning, so that none has to begin again."""
        with self._between("BEGIN IMMEDIATE"):
            yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything is read as it is now, whatever others write meanwhile. A transaction is one already."""
        if self.in_transaction:
            yield
            return
        with self._between("BEGIN"):
            yield

    @contextmanager
    def _between(self, begin: str) -> Iterator[None]:
        self.execute(begin)
        try:
            yield
        except BaseException:
            with suppress(StoreFault):  # what went wrong matters more
                self.execute("ROLLBACK")
            raise
        self.execute("COMMIT")


def open_database(folder: Path) -> Connection:
    path = folder / NAME
    caution: str | None = None
    try:
        if path.exists() and os.statvfs(folder).f_flag & os.ST_RDONLY:
            _refuse_empty(path)
            return _read_only(path)
        closed = _private(folder)
        _refuse_empty(path)
        if not path.exists():
            _make(path)
            if not closed:
                caution = f"{folder} holds other things too, so others may go on looking into it; {NAME} is yours alone"
        elif path.stat().st_mode & 0o077:
            path.chmod(0o600)
    except OSError as error:
        raise StoreFault(f"{error.filename or folder}: {error.strerror}") from error
    database = _in_newest_form(_connect(path, path))
    database.caution = caution
    return database


def _refuse_empty(path: Path) -> None:
    """Refuse a file without a byte: it was a store, because a new one has some, and would be taken for a new one."""
    ahead = path.with_name(f"{path.name}-wal")
    if path.exists() and not path.stat().st_size and not (ahead.exists() and ahead.stat().st_size):
        raise StoreFault(
            f"{path} is empty, so the threads that were stored in it are lost. Restore it from a backup, or remove the"
            " file to start a new store"
        )


def _read_only(path: Path) -> Connection:
    """On a disk that takes nothing, where no log can be kept beside the database. Nobody else can change it either."""
    ahead = path.with_name(f"{path.name}-wal")
    if ahead.exists() and ahead.stat().st_size:  # without these it would be an older store than it is
        raise StoreFault(f"{path} is on a read-only disk, and its newest turns are still in {ahead.name}: copy both")
    database = _in_newest_form(_connect(f"{path.absolute().as_uri()}?immutable=1", path))
    database.is_read_only = True
    return database


def _private(folder: Path) -> bool:
    """What people said to a model is nobody else's business: whether only its owner can look into the folder.

    One that holds what is not ours is not ours to close: the files in it are.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not folder.stat().st_mode & 0o077:
        return True
    if not all(_OURS.fullmatch(path.name) for path in folder.iterdir()):
        return False
    try:
        folder.chmod(0o700)
    except PermissionError:  # it is somebody else's, who lets us write there
        return False
    return True


def _make(path: Path) -> None:
    """Beside, then linked into place: of several processes that come at once one wins, and all find it whole."""
    beside = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    try:
        os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        database = _connect(beside, beside)
        try:
            database.execute("PRAGMA journal_mode = WAL")  # the file remembers it
            _migrate(database)
        finally:
            database.close()
        put_in_place(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def _connect(uri: str | Path, path: Path) -> Connection:
    named = isinstance(uri, str)
    try:
        database = sqlite3.connect(uri, timeout=_PATIENCE, isolation_level=None, factory=Connection, uri=named)
    except sqlite3.Error as error:
        raise StoreFault(f"{path}: {error}") from error
    database.path = str(path)
    # A damaged row is read as far as it can be: nothing is stored under the text that it becomes.
    database.text_factory = lambda text: text.decode("utf-8", "backslashreplace")
    try:
        # A process that is killed loses nothing that was committed; only a power cut may lose the last moments.
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("PRAGMA foreign_keys = ON")
        database.execute("PRAGMA secure_delete = ON")  # what is removed is gone
    except BaseException:
        database.close()
        raise
    return database


def _in_newest_form(database: Connection) -> Connection:
    """The same; closed, if it cannot be brought there."""
    try:
        _migrate(database)
    except BaseException:
        database.close()
        raise
    return database


def _migrate(database: Connection) -> None:
    if _version(database) == len(MIGRATIONS):
        return
    with database.transaction():
        done = _version(database)  # another process may have been faster
        for number, step in enumerate(MIGRATIONS[done:], done + 1):
            for statement in step.split(";"):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {number}")
        database.execute(f"PRAGMA application_id = {_APPLICATION}")


def _version(database: Connection) -> int:
    application: int = database.execute("PRAGMA application_id").fetchone()[0]
    version: int = database.execute("PRAGMA user_version").fetchone()[0]
    if version > len(MIGRATIONS):
        raise StoreFault(f"{database.path} was written by a newer unspool (its form {version}): update this one")
    if application not in (0, _APPLICATION) or (version == 0 and _has_tables(database)):
        raise StoreFault(f"{database.path} is another program's database")
    return version


def _has_tables(database: Connection) -> bool:
    return bool(database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
