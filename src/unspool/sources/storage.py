"""Files by path or by URL: one set of functions for both. What a URL needs is in `remote`, and loaded only for one.

Each raises OSError whose `strerror` says what is wrong, for both alike.
"""

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import DEFAULT_BUFFER_SIZE, BufferedReader, FileIO, RawIOBase
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, TypeAlias, cast

if TYPE_CHECKING:
    from typing_extensions import Buffer

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_LOCAL_URL = re.compile(r"(?:file|local)://")
_BUFFER = 1 << 18
Identity: TypeAlias = tuple[int, int]
"""Device and inode of a file: the same for all its names."""
_watched: dict[Identity, bool] = {}
"""Files that a command is about to replace, and whether any was opened for reading."""


def watch(files: Iterable[Identity]) -> None:
    """Notice from now on when one of these files is opened for reading."""
    _watched.update((file, _watched.get(file, False)) for file in files)


def unwatch(files: Iterable[Identity]) -> None:
    for file in files:
        _watched.pop(file, None)


def was_opened(files: Iterable[Identity]) -> bool:
    return any(_watched.get(file, False) for file in files)


def notice(facts: os.stat_result) -> None:
    """Called with each file that is opened for reading."""
    if (file := (facts.st_dev, facts.st_ino)) in _watched:
        _watched[file] = True


def noticed(path: Path) -> Path:
    """Return the path of a file that is about to be read in another way than by `opened`."""
    if _watched:
        with suppress(OSError, ValueError):  # whoever reads it reports what is wrong
            notice(path.stat())
    return path


def is_url(path: str) -> bool:
    return "://" in path and _URL.match(path) is not None


def local_name(name: str) -> str:
    """Return the path that a `file://` URL stands for, or any other name unchanged."""
    return _LOCAL_URL.sub("", name, count=1) if _LOCAL_URL.match(name) else name


def opened(path: str, buffer: int = DEFAULT_BUFFER_SIZE, bite: int = 0) -> BufferedReader:
    """To be read from beginning to end. Of an object that is read in little bites, little is fetched at once."""
    if is_url(path):
        from unspool.sources import remote

        return remote.opened(path, max(buffer, bite))
    return cast(BufferedReader, local(path, buffer))


def local(path: str, buffer: int = 0) -> FileIO | BufferedReader:
    """A file of this machine. What is none, such as a pipe, can be read once, and is kept to be read again."""
    kept = _kept.get(path)
    if kept is None:
        file = open(path, "rb", buffer)  # noqa: SIM115  # whoever asked for it closes it
        facts = os.fstat(file.fileno())
        notice(facts)
        if stat.S_ISREG(facts.st_mode):
            return cast(FileIO, file)
        from shutil import copyfileobj
        from tempfile import TemporaryFile

        with file:
            kept = _kept[path] = TemporaryFile()  # noqa: SIM115
            copyfileobj(file, kept)
            kept.flush()
    return BufferedReader(_Again(kept.fileno()))


_kept: dict[str, IO[bytes]] = {}
"""What came out of pipes, in files without a name: they are gone when this process is."""


class _Again(RawIOBase):
    """Such a file, from its beginning, whoever else reads it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._at = descriptor, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: os.fstat(self._descriptor).st_size}
        self._at = base[whence] + offset
        return self._at

    def readinto(self, buffer: "Buffer") -> int:
        size = os.preadv(self._descriptor, [memoryview(buffer)], self._at)
        self._at += size
        return size


def looked_into(paths: Sequence[str]) -> Iterator[str]:
    """The same paths. Beginnings of objects are fetched ahead, many at once, for whoever opens each as it comes."""
    if any(map(is_url, paths)):
        from unspool.sources import remote

        yield from remote.looked_into(paths)
    else:
        yield from paths


def exists(path: str) -> bool:
    if is_url(path):
        from unspool.sources import remote

        return remote.facts(path) is not None
    return Path(path).exists()


def is_folder(path: str) -> bool:
    if is_url(path):
        from unspool.sources import remote

        facts = remote.facts(path)
        return facts is not None and facts.is_folder
    return Path(path).is_dir()


def size(path: str) -> int:
    """Of a file, of an object as it was last listed; 0 for anything else."""
    if is_url(path):
        from unspool.sources import remote

        return remote.size(path)
    return Path(path).stat().st_size if Path(path).is_file() else 0


def stamp(path: str) -> str:
    """Return a text that changes with the content: of a local file as `stamp_of` has it, of an object what its storage
    keeps for it. Empty if there is no such file."""
    if is_url(path):
        from unspool.sources import remote

        facts = remote.facts(path)
        return "" if facts is None else facts.stamp
    try:
        known = Path(path).stat()
    except FileNotFoundError:
        return ""
    return stamp_of(known)


def stamp_of(facts: os.stat_result) -> str:
    """Return size, times and inode as text. Size and mtime alone stay the same for a file that was replaced by a copy
    tool that keeps them; the time of the last change to the inode does not."""
    return f"{facts.st_size}.{facts.st_mtime_ns}.{facts.st_ctime_ns}.{facts.st_ino}"


def joined(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}" if is_url(folder) else str(Path(folder, name))


def whole(path: str) -> str:
    """The same for any two names of one file or folder."""
    if is_url(path):
        from unspool.sources import remote

        return remote.whole(path)
    return str(Path(path).resolve())


def is_below(path: str, folder: str) -> bool:
    """Whether it lies in the folder, at any depth; both as `whole` has them."""
    if is_url(path) or is_url(folder):
        return path.startswith(f"{folder.rstrip('/')}/")
    return Path(folder) in Path(path).parents


def names(folder: str) -> list[str]:
    """Of the files in a folder, not in those below it, in order; none if there is no such folder."""
    if is_url(folder):
        from unspool.sources import remote

        return sorted(entry.name for entry in remote.entries(folder) if not entry.is_folder)
    try:
        return sorted(entry.name for entry in os.scandir(folder) if entry.is_file())
    except FileNotFoundError:
        return []


def read_bytes(path: str) -> bytes:
    with opened(path) as file:
        return file.read()


def write_bytes(path: str, data: bytes) -> None:
    """Whole or not at all; the folder is made."""
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: str, make_folder: bool = True, confirm: Callable[[], object] = lambda: None) -> Iterator[BinaryIO]:
    """Open a file for writing. When all is written, and `confirm` has not raised, it gets the name `path`."""
    if is_url(path):
        import tempfile

        from unspool.sources import remote

        with tempfile.NamedTemporaryFile(prefix="unspool-", buffering=_BUFFER) as file:
            yield cast(BinaryIO, file)
            file.flush()
            confirm()
            remote.put(file.name, path)
        return
    target = Path(path)
    if make_folder:
        target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name[:100]}.{os.urandom(6).hex()}.part")
    try:
        with open(beside, "xb", _BUFFER) as file:
            if target.exists():  # who may not read the old one may not read the new one
                beside.chmod(target.stat().st_mode & 0o777)
            yield file
        confirm()
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def remove(path: str) -> None:
    """A file; it need not be there."""
    if is_url(path):
        from unspool.sources import remote

        remote.remove(path)
    else:
        Path(path).unlink(missing_ok=True)


def put_in_place(beside: Path, path: Path) -> None:
    """Give a file that is whole its name, unless somebody else was first: of several that come at once one wins."""
    try:
        path.hardlink_to(beside)
    except FileExistsError:
        return
    except OSError:  # a file system without links
        if not path.exists():
            beside.rename(path)
