"""The folder that records go to: everything is written beside it first, and then put in its place, or nothing is.

Afterwards the folder holds what this run wrote. Files of an earlier run, which its summary names, are gone; files of
others stay. In object storage nothing can be moved, so what is there is marked as unfinished while objects are put.
"""

import fcntl
import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType

import msgspec

from unspool.errors import OutputNotWritable
from unspool.exports.reports import SUMMARY
from unspool.sources import storage

_UNFINISHED = "unfinished.json"
"""Stands in object storage, in place of the summary, while a run is put there; if that ends early, until the next."""
_STAGING = ".squash-"
_FULL = 4 << 20
"""Bytes that wait before they are written: so no file need stay open, however many there are."""


class Folder:
    """Staged files in `staging`, moved by `commit`."""

    def __init__(self, path: str) -> None:
        self._name = path
        self._path = Path(path)
        self._remote = storage.is_url(path)
        self._made: list[Path] = []
        self._waiting: dict[str, list[bytes]] = defaultdict(list)
        self._size = 0
        self._lock: int | None = None
        """Tells other runs that this one is still there."""

    def __enter__(self) -> "Folder":
        try:
            if self._remote:
                storage.exists(self._name)  # whether it can be reached is known now, and not when all is done
                self.staging = Path(tempfile.mkdtemp(prefix="unspool-"))
                return self
            for folder in [*reversed(self._path.parents), self._path]:
                if not folder.exists():
                    folder.mkdir()
                    self._made.append(folder)
            _sweep(self._path)
            self.staging = Path(tempfile.mkdtemp(prefix=_STAGING, dir=self._path))
            self._lock = _locked(self.staging)
        except OSError as error:
            self._unmake()
            raise OutputNotWritable(f"{self._name}: {error.strerror}") from error
        return self

    def append(self, name: str, data: bytes) -> None:
        self._waiting[name].append(data)
        self._size += len(data)
        if self._size >= _FULL:
            self.flush()

    def flush(self) -> None:
        try:
            for name, pieces in self._waiting.items():
                with (self.staging / name).open("ab") as file:
                    file.writelines(pieces)
        except OSError as error:
            place = self.staging if self._remote else self._name
            raise OutputNotWritable(f"{place}: {error.strerror}") from error
        self._waiting.clear()
        self._size = 0

    def take(self, name: str) -> Iterator[bytes]:
        """What was appended to a file that does not belong into the folder."""
        self.flush()
        part = self.staging / name
        if part.exists():
            with part.open("rb") as file:
                yield from file
            part.unlink()

    def cut(self, name: str, spans: Iterable[tuple[int, int]]) -> None:
        """Take pieces, each an offset and a size, out of a file that was appended to."""
        part, beside = self.staging / name, self.staging / f"{name}.cut"
        with part.open("rb") as file, beside.open("wb") as kept:
            for offset, size in sorted(spans):
                kept.write(file.read(offset - file.tell()))
                file.seek(offset + size)
            shutil.copyfileobj(file, kept)
        beside.replace(part)

    def write(self, name: str, data: bytes) -> None:
        (self.staging / name).write_bytes(data)

    def commit(self) -> None:
        """The summary last: where it is, all is."""
        self.flush()
        names = sorted(file.name for file in self.staging.iterdir())
        try:
            if self._remote:
                self._upload(names)
            else:
                self._move(names)
        except OSError as error:
            raise OutputNotWritable(f"{self._name}: {error.strerror}") from error
        self._made.clear()

    def _move(self, names: list[str]) -> None:
        old = self._told(SUMMARY)
        for name in sorted(names, key=lambda name: name == SUMMARY):
            (self.staging / name).replace(self._path / name)
        for name in old.difference(names):
            (self._path / name).unlink(missing_ok=True)

    def _upload(self, names: list[str]) -> None:
        from unspool.sources.remote import put_all

        old = self._told(SUMMARY) | self._told(_UNFINISHED)
        self._put(_UNFINISHED, msgspec.json.encode({"files": sorted(old.union(names) - {_UNFINISHED})}))
        storage.remove(storage.joined(self._name, SUMMARY))
        put_all([(str(self.staging / name), storage.joined(self._name, name)) for name in names if name != SUMMARY])
        for name in old.difference(names, [_UNFINISHED]):
            storage.remove(storage.joined(self._name, name))
        if SUMMARY in names:
            self._put(SUMMARY, (self.staging / SUMMARY).read_bytes())
        storage.remove(storage.joined(self._name, _UNFINISHED))

    def _put(self, name: str, data: bytes) -> None:
        storage.write_bytes(storage.joined(self._name, name), data)

    def _told(self, name: str) -> set[str]:
        """Files of an earlier run."""
        try:
            told = msgspec.json.decode(storage.read_bytes(storage.joined(self._name, name)))
            return _plain_names(told["files"])
        except (FileNotFoundError, PermissionError, ValueError, KeyError, TypeError):
            return set()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        shutil.rmtree(self.staging, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
        self._unmake()

    def _unmake(self) -> None:
        """Folders that nothing was put into are not left behind."""
        for folder in reversed(self._made):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def _sweep(folder: Path) -> None:
    """What runs left behind that were killed: as much as all of their output, where nobody looks."""
    for left in folder.glob(f"{_STAGING}????????"):
        if (lock := _locked(left)) is not None:
            shutil.rmtree(left, ignore_errors=True)
            os.close(lock)


def _locked(folder: Path) -> int | None:
    """None where another run has it, or nobody can: then it is left alone."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def _plain_names(names: Iterable[str]) -> set[str]:
    """Files of the folder itself: a summary that somebody edited must not reach others."""
    return {name for name in names if isinstance(name, str) and Path(name).name == name and name not in ("", ".", "..")}
