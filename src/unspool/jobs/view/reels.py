"""Reels: what can be opened. Each is read when it is first looked at, and goes on from there when its files grow."""

import hashlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic

from msgspec.structs import replace

from unspool.errors import FileFault, InputNotFound, UnspoolError
from unspool.ingest.agents import agent_of
from unspool.ingest.implied import implied
from unspool.ingest.net import file_note
from unspool.ingest.sessions import Found
from unspool.ingest.telling import read_session
from unspool.ingest.traffic import Traffic
from unspool.jobs.cook import Cooking
from unspool.jobs.sessions import cost_of, find_sessions
from unspool.jobs.view.growing import Growing, Replaced, size_of, stamps
from unspool.jobs.view.loaded import Loaded, loaded, summed, weight_of
from unspool.jobs.view.pages import Grown, ReelKind, ReelRow
from unspool.jobs.view.shelf import Shelf
from unspool.model import (
    CookedRequest,
    Event,
    Exchange,
    Note,
    Origin,
)
from unspool.sources.files import legible
from unspool.sources.values import time_of


class Reel(ABC):
    """One thing to open. Reading is guarded by a lock: pages are asked for by several threads."""

    kind: ReelKind = "trace"
    named: Callable[[str], str] = staticmethod(legible)
    """A path as people know it: standard input and URLs are read from copies."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.id = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        self._lock = threading.RLock()
        self._loaded: Loaded | None = None
        self._version = 0
        self._untold = False
        """It was opened again and is another than the one that was closed, which nobody heard of yet."""
        self._closed: tuple[ReelRow, list[tuple[int, ...]]] | None = None
        """What it was when it was closed, and its files then."""
        self._cost = 0.0
        self._due = 0.0
        self.shelf = Shelf()

    @abstractmethod
    def files(self) -> list[str]: ...

    def _watched(self) -> list[str]:
        """Files that tell whether it changed while it was closed."""
        return self.files()

    @abstractmethod
    def _read(self, version: int) -> Loaded: ...

    @abstractmethod
    def _changed(self) -> bool: ...

    @abstractmethod
    def _forget(self) -> None:
        """Whatever reading left, so that it can be read anew."""

    @property
    def is_open(self) -> bool:
        return self._loaded is not None

    @property
    def is_known(self) -> bool:
        """Whether its row has sums: it is open, or is still what it was when it was closed."""
        return self._loaded is not None or self._closed is not None

    def load(self, passing: bool = False) -> Loaded:
        """`passing`: nobody looks at it, so it need not stay open."""
        with self._lock:
            known = self._loaded
            if known is None:
                if not self._version or self._grew_unseen():
                    self._untold, self._version = self._version > 0, self._version + 1
                known = self._loaded = self._timed()
                self._closed = None
        self.shelf.took(self, passing)
        return known

    def weight(self) -> int:
        known = self._loaded
        return 0 if known is None else known.weight

    def close(self) -> None:
        """Forget what was read; it is read again when somebody asks. Who is busy with it keeps it open."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            if self._loaded is not None:
                self._closed = self.row(), stamps(self._watched())
                self._loaded = None
                self._forget()
        finally:
            self._lock.release()

    def _grew_unseen(self) -> bool:
        return self._closed is not None and stamps(self._watched()) != self._closed[1]

    def refresh(self) -> Grown | None:
        """Read what is new, if anything is. What takes long to read is read less often; what was closed, not at all."""
        with self._lock:
            before = self._loaded
            if self._untold or (before is None and self._grew_unseen()):
                if before is None:
                    self._version += 1
                    self._closed = None
                self._untold = False
                return Grown(self.id, self._version, 0, 0 if before is None else len(before.rows))
            if before is None or monotonic() < self._due:
                return None
            try:
                if not self._changed():
                    return None
                self._version += 1
                self._loaded = after = self._timed()
            except UnspoolError:  # it is gone, or no log any more: what was read of it stays
                return None
            kept = next(
                (at for at, pair in enumerate(zip(before.rows, after.rows, strict=False)) if pair[0] != pair[1]),
                min(len(before.rows), len(after.rows)),
            )
            return Grown(self.id, after.version, kept, len(after.rows))

    def _timed(self) -> Loaded:
        start = monotonic()
        try:
            result = self._read(self._version)
        except OSError as error:
            raise InputNotFound(f"{self.named(self.name)}: {error.strerror or error}") from error
        except Exception as error:
            note = file_note(error, self.name)
            raise FileFault(f"{self.named(self.name)}: {note.reason}") from error
        result.weight = weight_of(result)
        self._cost = monotonic() - start
        self._due = monotonic() + 4 * self._cost
        return result

    def row(self) -> ReelRow:
        """In the list: what is known without reading it, or all that reading told."""
        row = ReelRow(self.id, self.kind, self.named(self.name), size=size_of(self.files()))
        return self._summed(row) or row

    def _summed(self, row: ReelRow) -> ReelRow | None:
        """With what reading told; None if nothing was read."""
        known, closed = self._loaded, self._closed
        return summed(row, known.rows) if known is not None else None if closed is None else closed[0]

    def place(self, origin: Origin) -> Origin:
        return replace(origin, file=self.named(origin.file))

    def note(self, note: Note) -> Note:
        return replace(note, origin=self.place(note.origin))


class TrafficReel(Reel):
    """The recorded calls of a path: a file, or the files of a folder."""

    def __init__(self, name: str, files: list[str], left: Sequence[str] = ()) -> None:
        super().__init__(name)
        self._names = files
        self._left = list(left)
        """Calls that a killed recorder left beside them, until the next one takes them in."""
        self._begin()

    def _begin(self) -> None:
        self._left = [path for path in self._left if Path(path).exists()]
        self._files = [Growing(path) for path in (*self._names, *self._left)]
        self._traffic = Traffic()
        self._cooking = Cooking()
        self._agents: list[tuple[CookedRequest, str | None]] = []
        self._first_bytes: list[tuple[CookedRequest, float]] = []
        self._lost: dict[str, Note] = {}
        """Files of several that could not be read: the others can."""

    def files(self) -> list[str]:
        return self._names

    def _forget(self) -> None:
        self._begin()

    def finish(self) -> None:
        """Free the state of decoding, as large as the largest record: an export reads no new calls afterwards."""
        with self._lock:
            self._begin()

    def extend(self, files: list[str]) -> None:
        """Files that came to its folder: read with what is new in the others."""
        with self._lock:
            known = set(self._names)
            new = [path for path in files if path not in known]
            self._names += new
            self._files += [Growing(path) for path in new]

    def _changed(self) -> bool:
        return any(file.changed() for file in self._files) or not all(Path(path).exists() for path in self._left)

    def _read(self, version: int) -> Loaded:
        if not all(Path(path).exists() for path in self._left):
            self._begin()
        try:
            self._take()
        except Replaced:
            self._begin()
            self._take()
        cooked = self._cooking.cooked()
        rest = (file.rest for file in self._files if file.rest is not None)
        cooked.notes = [*cooked.notes, *rest, *self._lost.values()]
        made = loaded(cooked, {request.id: agent for request, agent in self._agents}, version)
        made.first_bytes = {request.id: first for request, first in self._first_bytes}
        return made

    def _take(self) -> None:
        for file in self._files:
            try:
                for item in self._items(file):
                    request = self._cooking.add(item)
                    if request is not None and isinstance(item, Exchange):
                        self._agents.append((request, agent_of(item)))
                        if isinstance(first := (item.extra or {}).get("ttfb_ms"), int | float):
                            self._first_bytes.append((request, first))
            except OSError as error:
                if len(self._files) == 1 or self.is_open:  # then what was read stays
                    raise InputNotFound(f"{file.path}: {error.strerror}") from error
                self._lost[file.path] = Note("unreadable", error.strerror or str(error), Origin(file.path, 0, 0, 0))
            else:
                self._lost.pop(file.path, None)

    def _items(self, file: Growing) -> Iterator[Exchange | Note]:
        for record in file.read():
            if isinstance(record, Note):
                yield record
            else:
                yield from self._traffic.read(record)


class SessionReel(Reel):
    """One session of an agent, whichever files it lies in."""

    kind: ReelKind = "session"

    def __init__(self, found: Found) -> None:
        super().__init__(f"{found.facts.agent}:{found.id}")
        self.found = found
        self._stamps: list[Growing] = []

    def files(self) -> list[str]:
        return self.found.files

    def _changed(self) -> bool:
        return any(stamp.changed() for stamp in self._stamps)

    def _read(self, version: int) -> Loaded:
        self._stamps = [Growing(path) for path in self.found.files]
        for stamp in self._stamps:
            stamp.mark()
        if version > 1:  # new streams may have come with what is new
            again, _ = find_sessions(self.found.files, jobs=1)
            self.found = next((each for each in again if each.id == self.found.id), self.found)
        cooking = Cooking()
        items = [(log.reader.agent, item) for log, item in read_session(self.found)]
        for made in implied(items):
            cooking.add(made)
        cooked = cooking.cooked()
        agents = dict.fromkeys((request.id for request in cooked.requests), self.found.facts.agent)
        return loaded(cooked, agents, version, [item for _, item in items if isinstance(item, Event)])

    def row(self) -> ReelRow:
        found, facts = self.found, self.found.facts
        row = ReelRow(
            id=self.id,
            kind="session",
            name=" ".join((facts.title or found.prompt or found.id)[:300].split()),
            agent=facts.agent,
            project=facts.project,
            start=time_of(found.start),
            end=time_of(found.end),
            model=found.model,
            turns=found.turns,
            tools=found.tools,
            usage=found.tokens.usage,
            size=size_of(found.files),
            session=found.id,
        )
        if (known := self._summed(row)) is not None:
            return known
        cost = cost_of(found)  # exact once the session was opened
        row.cost, row.priced, row.estimated = cost.usd, cost.complete, cost.estimated
        return row

    def _forget(self) -> None:
        self._stamps = []
