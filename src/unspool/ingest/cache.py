"""Digests of files that have not changed since they were read. It can be deleted at any time."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from zlib import crc32

import msgspec

from unspool.ingest.digests import FileDigest, stamp, unpacked
from unspool.sources.home import cache_folder

_FORMAT = 2
"""The form of the digests: raise it with every change of the structs that are stored."""


@cache
def _version() -> int:
    """Return the version of stored digests. Digests of another version are not used: their form or readers differ."""
    home = Path(__file__).parent.parent
    folders = ("readers", "actions", "ingest", "model", "sources")
    parts = [path for name in folders for path in _modules(str(home / name))]
    return crc32(f"{_FORMAT} {stamp(parts)}".encode()) & 0x7FFFFFFF


def _modules(folder: str) -> Iterator[str]:
    with os.scandir(folder) as listed:
        entries = sorted(listed, key=lambda entry: entry.name)
    for entry in entries:
        if entry.name.endswith(".py"):
            yield entry.path
        elif entry.name != "__pycache__" and entry.is_dir():
            yield from _modules(entry.path)


class DigestCache:
    """By path, as long as nothing changed. Where it cannot be kept, nothing is, and all still works."""

    def __init__(self) -> None:
        self._new: list[tuple[bytes, bytes]] = []
        self._kept: dict[bytes, bytes] = {}
        self._file = cache_folder() / "digests.db"
        with suppress(sqlite3.Error, OSError):
            self._kept = dict(self._load())

    def get(self, path: str) -> FileDigest | None:
        """None when the file, or one that was read with it, is not what it was."""
        kept = self._kept.get(_whole(path)) if self._kept else None
        if kept is None:
            return None
        try:
            digest = unpacked(kept)
        except msgspec.DecodeError:
            return None
        return digest if digest.stamp == stamp([path, *digest.beside]) else None

    def put(self, path: str, digest: bytes) -> None:
        self._new.append((_whole(path), digest))

    def save(self) -> None:
        if not self._new:
            return
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with closing(self._opened()) as database, database:
                database.executemany("INSERT OR REPLACE INTO digests VALUES (?, ?)", self._new)
                gone = [(path,) for path in self._kept if not Path(os.fsdecode(path)).exists()]
                database.executemany("DELETE FROM digests WHERE path = ?", gone)
        except (sqlite3.Error, OSError):
            return  # a cache that cannot be written costs time, nothing else
        self._new.clear()

    def _load(self) -> Iterator[tuple[bytes, bytes]]:
        if not self._file.exists():
            return
        database = self._opened()
        try:
            yield from database.execute("SELECT path, digest FROM digests")
        finally:
            database.close()

    def _opened(self) -> sqlite3.Connection:
        """In a transaction, of which nothing is kept unless it is committed: making it takes longer than filling it."""
        database = sqlite3.connect(self._file, timeout=2, isolation_level=None)
        try:
            database.execute("BEGIN")
            if database.execute("PRAGMA user_version").fetchone()[0] != _version():
                database.execute("DROP TABLE IF EXISTS digests")
                database.execute("CREATE TABLE digests (path BLOB PRIMARY KEY, digest BLOB)")
                database.execute(f"PRAGMA user_version = {_version()}")
                self._file.chmod(0o600)
        except sqlite3.OperationalError:  # in use, or not ours to write
            database.close()
            raise
        except sqlite3.DatabaseError:  # no database at all: begin anew
            database.close()
            self._file.unlink(missing_ok=True)
            raise
        return database


def _whole(path: str) -> bytes:
    """As the system has it: not every name is text."""
    return os.fsencode(os.path.abspath(path))  # noqa: PTH100  # thousands of files: making a Path costs four times as much
