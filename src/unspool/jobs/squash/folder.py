"""The folder that records go to: everything is written beside it first, and then put in its place, or nothing is.

Afterwards the folder holds what this run wrote. Files of an earlier run, which its summary names, are gone; files of
others stay.
"""

import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType

import msgspec

from unspool.errors import OutputNotWritable
from unspool.exports.reports import SUMMARY

_FULL = 4 << 20
"""Bytes that wait before they are written: so no file need stay open, however many there are."""


class Folder:
    """Staged files in `staging`, moved by `commit`."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._made: list[Path] = []
        self._waiting: dict[str, list[bytes]] = defaultdict(list)
        self._size = 0

    def __enter__(self) -> "Folder":
        try:
            for folder in [*reversed(self._path.parents), self._path]:
                if not folder.exists():
                    folder.mkdir()
                    self._made.append(folder)
            self.staging = Path(tempfile.mkdtemp(prefix=".squash-", dir=self._path))
        except OSError as error:
            self._unmake()
            raise OutputNotWritable(f"{self._path}: {error.strerror}") from error
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
            raise OutputNotWritable(f"{self._path}: {error.strerror}") from error
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
        old = self._of_earlier_runs()
        try:
            names = sorted(file.name for file in self.staging.iterdir())
            for name in sorted(names, key=lambda name: name == SUMMARY):
                (self.staging / name).replace(self._path / name)
            for name in old.difference(names):
                (self._path / name).unlink(missing_ok=True)
        except OSError as error:
            raise OutputNotWritable(f"{self._path}: {error.strerror}") from error
        self._made.clear()

    def _of_earlier_runs(self) -> set[str]:
        try:
            told = msgspec.json.decode((self._path / SUMMARY).read_bytes())
            return _plain_names(told["files"])
        except (OSError, ValueError, KeyError, TypeError):
            return set()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        shutil.rmtree(self.staging, ignore_errors=True)
        self._unmake()

    def _unmake(self) -> None:
        """Folders that nothing was put into are not left behind."""
        for folder in reversed(self._made):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def _plain_names(names: Iterable[str]) -> set[str]:
    """Files of the folder itself: a summary that somebody edited must not reach others."""
    return {name for name in names if isinstance(name, str) and Path(name).name == name and name not in ("", ".", "..")}
