"""What was given → reels to open."""

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from time import monotonic

from msgspec import Struct

from unspool.dialect import Record
from unspool.errors import FileFault, InputNotFound, SessionNotFound, StoreFault, UnspoolError
from unspool.ingest.finding import given as files_in
from unspool.ingest.finding import is_session
from unspool.ingest.open import is_call
from unspool.jobs.sessions import Seen, find_sessions, lost_in
from unspool.jobs.show import find, on_disk
from unspool.jobs.view.cooked_files import CookedReel
from unspool.jobs.view.pages import Grown, ReelRow
from unspool.jobs.view.reels import Reel, SessionReel, TrafficReel
from unspool.jobs.view.shelf import Shelf
from unspool.jobs.view.threads import all_threads, find_thread
from unspool.sources.copies import fetched, named
from unspool.sources.files import DASH, JOURNAL, Damaged, blocks, is_database, legible, unfinished
from unspool.sources.records import read_records

_COOKED = re.compile(rb'\s*\{\s*"messages"\s*:\s*\[')
_PATIENCE = 5.0
"""Seconds between two looks for new sessions."""
_AT_ONCE = 8_000_000
"""Bytes that are read before anybody asked for them."""


class Given(Struct):
    reels: list[Reel]
    unknown: list[str] = []
    """Files that are neither recorded calls nor logs."""
    lost: list[str] = []
    """Those that could not be read, with the reason."""
    faults: list[str] = []
    """What could not be looked at, in words."""


def in_list(row: ReelRow) -> tuple[bool, int]:
    """Where it stands in the list, to sort by."""
    is_session = row.kind == "session"
    return is_session, -(row.end or row.start or (0 if is_session else 1 << 60))


class Catalog:
    """The reels, and those that appear while somebody looks."""

    def __init__(
        self, paths: Sequence[str] = (), seen: Seen = lambda _path: None, named: Callable[[str], str] = legible
    ) -> None:
        self._paths = list(paths)
        self._named = named
        self._lock = threading.Lock()
        self._shelf = Shelf()
        found = look(self._paths, seen)
        self.unknown, self.lost, self.faults = found.unknown, list(map(named, found.lost)), found.faults
        self._reels = self._known(found.reels)
        self._due = monotonic() + _PATIENCE
        self._watched = not paths or any(Path(path).is_dir() for path in paths)

    def __iter__(self) -> Iterator[Reel]:
        return iter(list(self._reels.values()))

    def __len__(self) -> int:
        return len(self._reels)

    def get(self, name: str) -> Reel | None:
        return self._reels.get(name)

    def rows(self) -> list[ReelRow]:
        """Traces and threads, then sessions, each newest first. A trace that was not read yet has no time, and may
        be the newest; a session that has none is told last, as in `unspool sessions`.

        A lone reel is read at once: it is what will be opened. So are traces that are small: only then is anything
        known of them.
        """
        if len(self._reels) == 1:
            with suppress(UnspoolError):  # it cannot be read any more: its page says why
                next(iter(self)).load()
        rows = [reel.row() for reel in self]
        left = _AT_ONCE
        for at, reel in enumerate(self):
            if reel.kind == "session" or reel.is_known or rows[at].size > left:
                continue
            left -= rows[at].size
            with suppress(UnspoolError):  # gone since it was listed
                reel.load(passing=True)
                rows[at] = reel.row()
        return sorted(rows, key=in_list)

    def refresh(self) -> tuple[list[Grown], bool]:
        """What grew of what is open, and whether there are new reels."""
        grown = [told for reel in self if (told := reel.refresh()) is not None]
        return grown, self._look_again()

    def _look_again(self) -> bool:
        if not self._watched or monotonic() < self._due:
            return False
        with self._lock:
            start = monotonic()
            try:
                found = look(self._paths, jobs=1)  # a server's threads start no processes
            except UnspoolError:  # a folder that was emptied: what was there stays
                return False
            finally:
                self._due = monotonic() + max(_PATIENCE, 10 * (monotonic() - start))
            for reel in found.reels:
                known = self._reels.get(reel.id)
                if isinstance(known, TrafficReel):
                    known.extend(reel.files())
            new = self._known(reel for reel in found.reels if reel.id not in self._reels)
            self._reels |= new
            return bool(new)

    def _known(self, reels: Iterable[Reel]) -> dict[str, Reel]:
        known = {reel.id: reel for reel in reels}
        for reel in known.values():
            reel.named = self._named
            reel.shelf = self._shelf
        return known


@contextmanager
def opened(paths: Sequence[str], seen: Seen = lambda _path: None) -> Iterator[Catalog]:
    """What was given: standard input and URLs are read from copies, and told by their own names."""
    with (
        on_disk(DASH if DASH in paths else "") as standard,
        fetched([standard if path == DASH else path for path in paths]) as local,
    ):
        yield Catalog(local, seen, lambda path: "standard input" if path and path == standard else legible(named(path)))


def look(paths: Sequence[str], seen: Seen = lambda _path: None, jobs: int | None = None) -> Given:
    if not paths:
        found, read = find_sessions(jobs=jobs, seen=seen)
        sessions: list[Reel] = list(map(SessionReel, found))
        try:
            return Given([*all_threads(), *sessions], lost=lost_in(read))
        except StoreFault as error:  # the sessions are none the worse for it
            return Given(sessions, lost=lost_in(read), faults=[str(error)])
    whole = Given([])
    for name in dict.fromkeys(paths):
        try:
            part = _one(name, seen, jobs)
        except FileFault as error:
            if len(paths) == 1:
                raise
            part = Given([], lost=[str(error)])
        whole.reels += part.reels
        whole.unknown += part.unknown
        whole.lost += part.lost
    unique: dict[str, Reel] = {}
    for reel in whole.reels:
        known = unique.get(reel.id)
        unique[reel.id] = reel if known is None else _joined(known, reel, jobs)
    return Given(list(unique.values()), whole.unknown, whole.lost)


def _joined(one: Reel, other: Reel, jobs: int | None) -> Reel:
    """What both are: a session may go on in another file that was given, too."""
    if not isinstance(one, SessionReel) or not isinstance(other, SessionReel) or one.files() == other.files():
        return other
    sessions, _ = find_sessions([*one.files(), *other.files()], jobs)
    return next((SessionReel(session) for session in sessions if session.id == other.found.id), other)


def _one(name: str, seen: Seen, jobs: int | None) -> Given:
    with suppress(StoreFault):  # a session of that name can be shown all the same; if there is none, the fault is told
        if not Path(name).exists() and (thread := find_thread(name, exactly=True)) is not None:
            return Given([thread])
    if is_session(name):
        return Given([_named(name)])
    files = [path for path, _ in files_in([name])]
    if not Path(name).is_dir():
        return _file(name)
    sessions, read = find_sessions([name], jobs, seen)
    others = [path for path, digest in read if digest.reader is None and not digest.is_lost]
    rest = [path for path in others if not Path(path).parent.name.endswith(JOURNAL)]
    calls = [path for path in rest if holds_calls(path)]
    known = set(calls)
    cooked = [path for path in rest if path not in known and is_cooked(path)]
    known.update(cooked)
    left = [call for folder in Path(name).rglob(f"*{JOURNAL}") for call in unfinished(folder)]
    reels: list[Reel] = [TrafficReel(name, calls, left=left)] if calls or left else []
    reels += [CookedReel(path) for path in cooked]
    reels += [SessionReel(session) for session in sessions]
    if not reels:
        many = "its one file" if len(files) == 1 else f"its {len(files):,} files"
        raise InputNotFound(f"{name}: neither recorded calls nor an agent's log among {many}")
    return Given(reels, [path for path in rest if path not in known], lost_in(read))


def _named(name: str) -> Reel:
    """A session, or a thread by the beginning of an id."""
    try:
        return SessionReel(find(name).session)
    except SessionNotFound as error:
        if (thread := find_thread(name)) is not None:
            return thread
        raise SessionNotFound(f"{error}; nor is there a thread of that name") from error


def _file(path: str) -> Given:
    left = list(unfinished(Path(path + JOURNAL)))
    if left or holds_calls(path):
        return Given([TrafficReel(path, [path], left=left)])
    if is_cooked(path):
        return Given([CookedReel(path)])
    from unspool.ingest.logs import open_log

    log = open_log(path)
    if log is None:  # nothing that we know: shown with its notes; it may still be written to
        return Given([TrafficReel(path, [path])])
    near = [other for other in log.reader.kin(path) if other != path]
    sessions, _ = find_sessions([path], near=near)
    found = [SessionReel(session) for session in sessions if path in session.files]
    return Given([*found]) if found else Given([TrafficReel(path, [path])])


def holds_calls(path: str) -> bool:
    """Whether its first record is a recorded call."""
    try:
        if is_database(path):
            return False
        records = read_records(path)
        first = next((record for record in records if isinstance(record, Record)), None)
    except (InputNotFound, Damaged):
        return False
    return first is not None and is_call(first)


def is_cooked(path: str) -> bool:
    """Whether `unspool cook`, or llm-path, wrote it: messages, and requests that name them."""
    try:
        pieces = blocks(path)
        start = next(pieces, b"")
        if not _COOKED.match(start):
            return False
        before = b""
        for piece in chain([start], pieces):
            if re.search(rb'"requests"\s*:', before[-32:] + piece):
                return True
            before = piece
    except (InputNotFound, Damaged):
        return False
    return False
