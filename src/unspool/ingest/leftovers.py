"""A database holds many sessions: what was read of it for one of them is kept for the next, as far as there is room.

So the sessions of a database can be taken one by one, and it is read once for each `_ROOM` events, not once for each.
"""

from collections.abc import Iterable

from unspool.ingest.digests import stamp
from unspool.ingest.logs import OpenLog, open_log
from unspool.model import Event, Note

_ROOM = 50_000
"""Events, with what they say some 100 MB."""


class Leftovers:
    """What is left of one database."""

    def __init__(self, path: str, wanted: Iterable[str]) -> None:
        self._path, self._stamp = path, _stamp(path)  # from before it is read
        self.log: OpenLog | None = open_log(path)
        self._notes: list[tuple[int, Event | Note]] = []
        self._kept: dict[str, list[tuple[int, Event | Note]]] = {session: [] for session in wanted}
        self._gone: set[str] = set()
        first, room = set(self._kept), _ROOM
        for at, item in enumerate(self.log or ()):
            if isinstance(item, Note):
                self._notes.append((at, item))
                continue
            session = item.session_id
            if room <= 0 and session not in first and session not in self._gone:
                room += len(self._kept.pop(session, ()))
                self._gone.add(session)
            if session not in self._gone:
                self._kept.setdefault(session, []).append((at, item))
                room -= 1

    def has(self, path: str, sessions: set[str]) -> bool:
        """Whether all that the file says of these sessions is there still."""
        is_same = path == self._path and self._stamp == _stamp(path)
        return self.log is not None and is_same and self._gone.isdisjoint(sessions)

    def take(self, sessions: set[str]) -> list[Event | Note]:
        """The events of these sessions, as they came; and all notes, of which nobody knows whose they are."""
        found = [*self._notes, *(item for session in sessions for item in self._kept.pop(session, ()))]
        self._gone |= sessions
        return [item for _, item in sorted(found, key=lambda each: each[0])]


_last: list[Leftovers] = []


def taken(path: str, sessions: set[str]) -> tuple[OpenLog, list[Event | Note]] | None:
    """What the database says of these sessions, and the log that said it; None for what no reader claims."""
    if not _last or not _last[0].has(path, sessions):
        _last.clear()  # before the next is read, not after it
        _last.append(Leftovers(path, sessions))
    left = _last[0]
    return None if left.log is None else (left.log, left.take(sessions))


def _stamp(path: str) -> str:
    """Another, if something was written: into the file, or into the log of writes beside it."""
    return stamp([path, f"{path}-wal"])
