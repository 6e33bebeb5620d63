"""Local copies of what lies in object storage, for what must be sought in, or read together with its neighbours.

with copies():
    copy = copied("s3://bucket/projects")   →  all below it, in a temporary folder, each fetched once
    copy.local("s3://bucket/projects/a.jsonl"), copy.named("…/unspool-x/bucket/projects/a.jsonl")
                                            …  and gone when the scope is left
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import Struct

from unspool.errors import InputNotFound, UnspoolError
from unspool.sources.files import DASH, SECRETS, standard_input
from unspool.sources.listing import SKIPPED
from unspool.sources.storage import is_url

if TYPE_CHECKING:
    import tempfile

    from unspool.sources.remote import Facts

_MOST = 10_000
"""Objects beside a log that was named: with more, the folder is hardly an agent's."""


class Copy(Struct, frozen=True):
    """It can be sent to another process of this machine."""

    url: str
    folder: str

    def local(self, url: str) -> str:
        return self.folder + url.removeprefix(self.url) if self.holds(url) else url

    def named(self, local: str) -> str:
        """By its URL, as users know it."""
        inside = local == self.folder or local.startswith(f"{self.folder}/")
        return self.url + local.removeprefix(self.folder) if inside else local

    def holds(self, url: str) -> bool:
        return url == self.url or url.startswith(f"{self.url}/")


_Scope: TypeAlias = "dict[str, tuple[Copy, tempfile.TemporaryDirectory[str]]]"
_scopes: list[_Scope] = [{}]
"""The innermost last. Outside of all of them, copies last as long as this process."""


@contextmanager
def copies() -> Iterator[None]:
    """Copies that are made within are gone afterwards."""
    scope: _Scope = {}
    _scopes.append(scope)
    try:
        yield
    finally:
        _scopes[:] = [other for other in _scopes if other is not scope]  # it need not be the innermost any more
        for _, folder in scope.values():
            folder.cleanup()


@contextmanager
def fetched(paths: Sequence[str]) -> Iterator[list[str]]:
    """The same paths; for URLs those of copies. What is said of these names the URLs."""
    with copies():
        try:
            yield [_near(path) if is_url(path) else path for path in paths]
        except UnspoolError as error:
            error.args = (named(str(error)),)
            raise


@contextmanager
def spooled() -> Iterator[str]:
    """A file with what standard input holds. What is said of it names `-`."""
    import shutil
    import tempfile

    given = standard_input()
    with copies():
        folder = tempfile.TemporaryDirectory(prefix="unspool-")
        copy = Copy(DASH, str(Path(folder.name, "stdin.jsonl")))
        _scopes[-1][DASH] = copy, folder
        with open(copy.folder, "wb") as file:
            shutil.copyfileobj(given, file)
        try:
            yield copy.folder
        except UnspoolError as error:
            error.args = (named(str(error)),)
            raise


def named(text: str) -> str:
    """The text with URLs in place of their copies."""
    for scope in _scopes:
        for copy, _ in scope.values():
            text = text.replace(copy.folder, copy.url)
    return text


def named_json(line: bytes) -> bytes:
    """The same for a line of JSON."""
    for scope in _scopes:
        for copy, _ in scope.values():
            line = line.replace(_inner_json(copy.folder), _inner_json(copy.url))
    return line


def _inner_json(text: str) -> bytes:
    return msgspec.json.encode(text)[1:-1]


def copied(url: str, without: Collection[str] = (), most: int | None = None) -> Copy:
    """All that lies below the URL, or the one object that it is; as deep below the folder, so that names still tell."""
    import tempfile

    from unspool.sources import remote

    url = remote.whole(url)
    for scope in reversed(_scopes):
        if url in scope:
            return scope[url][0]
    folder = tempfile.TemporaryDirectory(prefix="unspool-")
    inner = [part for part in url.partition("://")[2].split("/") if part not in ("", ".", "..")]
    copy = Copy(url, str(Path(folder.name, *inner)))
    _scopes[-1][url] = copy, folder
    try:
        _fetch(copy, without, most)
    except (OSError, UnspoolError) as error:
        del _scopes[-1][url]
        folder.cleanup()
        if isinstance(error, OSError):
            raise InputNotFound(f"{url}: {error.strerror}") from error
        raise
    return copy


def copied_with_neighbours(url: str) -> Copy:
    """The folder that a log lies in: agents put beside a log, and below, what belongs to it."""
    for scope in reversed(_scopes):
        for copy, _ in scope.values():
            if copy.holds(url) and copy.url != url:
                return copy
    above = url.rpartition("/")[0]
    return copied(above, most=_MOST) if "://" in above else copied(url)


def _near(url: str) -> str:
    from unspool.sources import remote

    try:
        facts = remote.facts(url)
    except OSError as error:
        raise InputNotFound(f"{url}: {error.strerror}") from error
    if facts is None:
        raise InputNotFound(f"{url}: {remote.ABSENT}")
    copy = copied(url) if facts.is_folder else copied_with_neighbours(url)
    return copy.local(remote.whole(url))


def _fetch(copy: Copy, without: Collection[str], most: int | None) -> None:
    from unspool.sources import remote

    facts = remote.facts(copy.url)
    if facts is not None and not facts.is_folder:
        remote.get_all([(copy.url, Path(copy.folder))])
        return

    def wanted(path: str, facts: "Facts") -> bool:
        return facts.name not in SKIPPED if facts.is_folder else facts.name not in SECRETS and path not in without

    objects = [path for path, _ in islice(remote.below(copy.url, wanted), most and most + 1)]
    if most is not None and len(objects) > most:
        raise UnspoolError(f"{copy.url}: more than {most:,} objects lie beside a log: name the folder, or copy the log")
    safe = [path for path in objects if ".." not in path.split("/")]
    remote.get_all([(path, Path(copy.local(path))) for path in safe])
