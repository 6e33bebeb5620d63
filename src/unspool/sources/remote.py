"""Object storage, and whatever else fsspec speaks, by URL: `s3://bucket/logs/2026-03-02/a.jsonl`.

Each protocol is a package of its own, as `s3fs` is for `s3://`; keys and endpoints are taken from where that package
takes them, the environment first. What goes wrong is an OSError whose `strerror` says it, without addresses or keys.
"""

import errno
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedReader, RawIOBase
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from unspool.errors import UnspoolError
from unspool.sources.storage import is_url, replacing

if TYPE_CHECKING:
    from typing_extensions import Buffer

_FIRST, _LARGEST = 1 << 16, 8 << 20
"""Bytes that are fetched first; then twice as many each time, because a request takes its time however small it is."""
_AT_ONCE = 16
"""Objects whose beginnings are fetched at the same time."""
_REMEMBERED = 200_000
"""Objects whose sizes are: a hundred million may be listed."""
_PRIVATE = re.compile(r"(?<=://)[^/\s@]*:[^/\s@]*@|[?&][^\s\"']*")
"""In an address: a name with a password, and a query, which may be a signature."""
_PASSWORD = re.compile(r"[^/]*://[^/@]*:[^/@]*@")
_SIGNED = re.compile(r"[?&](?:sig|signature|token|x-amz-[\w-]+|x-goog-[\w-]+|[\w-]*key)=", re.IGNORECASE)
ABSENT = "No such file or directory"
_VERSIONS = "ETag etag md5Hash content_md5 generation mtime LastModified last_modified created".split()
"""What one protocol or another tells versions of an object by, the surest first."""
_EXTRAS = {"s3": "cloud", "s3a": "cloud"}
"""Protocols whose package comes with one of our extras."""


class Facts(Struct, frozen=True):
    """What is known of one object, or of a folder, which is nothing but the beginning of names."""

    name: str
    """Within its folder."""
    size: int
    is_folder: bool
    stamp: str
    """Changes with what the object holds."""


class _Object(RawIOBase):
    """An object being read once, in pieces that grow."""

    def __init__(self, file: Any, start: bytes, piece: int, shared: bool) -> None:
        self._file, self._shared = file, shared
        self._held = memoryview(start)
        self._at = len(start)
        self._piece = piece

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "Buffer") -> int:
        if not self._held:
            self._piece = min(2 * self._piece, _LARGEST)
            with _told():
                self._file.seek(self._at)
                self._held = memoryview(self._file.read(self._piece))
            self._at += len(self._held)
        wanted = memoryview(buffer)
        data = self._held[: len(wanted)]
        self._held = self._held[len(data) :]
        wanted[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed and not self._shared:
            self._file.close()
        super().close()


_begun: dict[str, tuple[Any, bytes]] = {}
"""Objects that are being looked into: opened, and their beginnings."""


def opened(url: str, buffer: int) -> BufferedReader:
    piece = min(max(4 * buffer, _FIRST), _LARGEST)
    file, start = _begun.get(url) or _begin(*_system(url), piece)
    return BufferedReader(_Object(file, start, piece, shared=url in _begun), buffer)


def looked_into(paths: Iterable[str]) -> Iterator[str]:
    """See `storage`. What cannot be opened is left to whoever opens it next, to be told there."""
    from collections import deque
    from concurrent.futures import Future, ThreadPoolExecutor

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        ahead: deque[tuple[str, Future[tuple[Any, bytes]] | None]] = deque()
        try:
            left = iter(paths)
            while True:
                for path in islice(left, _AT_ONCE - len(ahead)):
                    ahead.append((path, pool.submit(_begin, *_system(path), _FIRST) if is_url(path) else None))
                if not ahead:
                    return
                path, beginning = ahead.popleft()
                if beginning is not None and beginning.exception() is None:
                    _begun[path] = beginning.result()
                yield path
                if path in _begun:
                    _begun.pop(path)[0].close()
        finally:  # also if nobody wants the rest
            for file, _ in _begun.values():
                file.close()
            _begun.clear()
            for _, beginning in ahead:
                if beginning is not None and not beginning.cancel():
                    beginning.add_done_callback(_close)


def _close(beginning: Any) -> None:
    if beginning.exception() is None:
        beginning.result()[0].close()


def _begin(system: Any, path: str, piece: int) -> tuple[Any, bytes]:
    """The object opened, and its beginning. From there on it is one version of it, or a fault."""
    with _told():
        try:
            file = system.open(path, "rb", cache_type="none")  # each fetches what it is asked for, and no more
            return file, file.read(piece)
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
        system.invalidate_cache()  # another version was listed
        file = system.open(path, "rb", cache_type="none")
        return file, file.read(piece)


def facts(url: str) -> Facts | None:
    """None if there is no such object, and none below it."""
    system, path = _system(url)
    system.invalidate_cache()  # others write there too
    try:
        with _told():
            return _facts(system.info(path))
    except FileNotFoundError as error:
        if error.strerror == ABSENT and "/" in path:  # else it is a bucket
            return None
        raise


_sizes: dict[str, int] = {}
"""Of objects that were listed: sizes are told on the way, and asked for one by one they cost a request each."""


def size(url: str) -> int:
    if url in _sizes:
        return _sizes[url]
    known = facts(url)
    return 0 if known is None else known.size


def entries(url: str) -> list[Facts]:
    """What stands directly below; nothing if there is no such folder."""
    system, path = _system(url)
    system.invalidate_cache()
    try:
        with _told():
            listed = system.ls(path, detail=True)
    except FileNotFoundError as error:
        if error.strerror == ABSENT:
            return []
        raise
    own = path.rstrip("/")
    return [_facts(entry) for entry in listed if str(entry["name"]).rstrip("/") != own]  # some keep a mark for folders


def below(url: str, wanted: Callable[[str, Facts], bool] = lambda _path, _facts: True) -> Iterator[tuple[str, Facts]]:
    """Each object at any depth, in the order of the URLs as text. A folder is listed only if it is wanted."""
    folder = url.rstrip("/")
    for entry in sorted(entries(folder), key=lambda entry: entry.name + "/" * entry.is_folder):
        path = f"{folder}/{entry.name}"
        if not wanted(path, entry):
            continue
        if entry.is_folder:
            yield from below(path, wanted)
        else:
            if len(_sizes) < _REMEMBERED:
                _sizes[path] = entry.size
            yield path, entry


def put(local: str, url: str) -> None:
    """The object is what the file is, whole or not at all."""
    _put(local, *_system(url))


def _put(local: str, system: Any, path: str) -> None:
    with _told():
        if "file" not in _protocols(system):
            system.put_file(local, path)
            return
        with open(local, "rb") as source, replacing(path) as file:  # fsspec would copy it bit by bit
            shutil.copyfileobj(source, file)


def put_all(files: Iterable[tuple[str, str]]) -> None:
    """Each a file and the URL that it goes to; many at once, because most are small."""
    _at_once(partial(_put, local, *_system(url)) for local, url in files)


def get_all(files: Iterable[tuple[str, Path]]) -> None:
    """Copies of objects. One that cannot be had is left out: whoever looks for it will say so."""
    _at_once(partial(_get, *_system(url), local) for url, local in files)


def _at_once(works: Iterable[Callable[[], None]]) -> None:
    """All of them, or until one fails."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        try:
            for done in [pool.submit(work) for work in works]:
                done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _get(system: Any, path: str, local: Path) -> None:
    try:
        local.parent.mkdir(parents=True, exist_ok=True)
        with _told():
            system.get_file(path, str(local))
    except (FileNotFoundError, PermissionError):
        local.unlink(missing_ok=True)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        return  # `a` and `a/b` may both be objects, and cannot both be files


def remove(url: str) -> None:
    system, path = _system(url)
    try:
        with _told():
            system.rm_file(path)
    except FileNotFoundError:
        return


def whole(url: str) -> str:
    """Other spellings of one place are one."""
    protocol, _, rest = url.partition("://")
    return f"{protocol}://{rest.rstrip('/')}"


def _system(url: str) -> tuple[Any, str]:
    """What speaks the URL's protocol, and the path in its own words. One is made for each process and account."""
    if _SIGNED.search(url) or _PASSWORD.match(url):
        bare = _PRIVATE.sub("", url)
        raise UnspoolError(
            f"{bare}: a URL that holds a key would be written into reports: give keys by the environment"
        )
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise UnspoolError(f"{url}: object storage needs fsspec: pip install 'unspool[cloud]'") from error
    protocol = url.partition("://")[0]
    try:
        system, path = url_to_fs(url)
    except ImportError as error:
        extra = _EXTRAS.get(protocol)
        told = f"{protocol}:// needs a package: pip install 'unspool[{extra}]'" if extra else _first_line(error)
        raise UnspoolError(f"{url}: {told}") from error
    except ValueError as error:
        raise UnspoolError(f"{url}: {_first_line(error)}") from error
    except OSError:
        raise
    except Exception as error:  # some connect at once
        raise OSError(errno.EIO, _first_line(error)) from error
    return system, str(path)


@contextmanager
def _told() -> Iterator[None]:
    """Faults of all packages in one form: each has its own exceptions, and few of them are OSErrors."""
    try:
        yield
    except FileNotFoundError as error:
        text = _first_line(error)
        known = text != "Not Found" and " " in text and "/" not in text  # else it is nothing but the name
        raise FileNotFoundError(errno.ENOENT, text if known else ABSENT) from error
    except PermissionError as error:
        raise PermissionError(errno.EACCES, f"not permitted: {_first_line(error)}") from error
    except OSError as error:
        text = "it changed while it was read" if error.errno == errno.EBUSY else _first_line(error)
        raise OSError(error.errno or errno.EIO, text) from error
    except Exception as error:
        raise OSError(errno.EIO, _first_line(error)) from error


def _first_line(error: Exception) -> str:
    told = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return _PRIVATE.sub("", told.strip().partition("\n")[0])


def _facts(entry: dict[str, Any]) -> Facts:
    size = int(entry.get("size") or 0)
    mark = next((entry[name] for name in _VERSIONS if entry.get(name)), "")
    name = str(entry["name"]).rstrip("/").rpartition("/")[2]
    return Facts(name, size, entry["type"] == "directory", f"{size}.{mark}".replace('"', ""))


def _protocols(system: Any) -> tuple[str, ...]:
    return (system.protocol,) if isinstance(system.protocol, str) else tuple(system.protocol)
