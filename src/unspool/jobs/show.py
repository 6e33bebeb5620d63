"""One session: its events, or assembled."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from unspool.errors import SessionNotFound
from unspool.ingest.assembly import assemble
from unspool.ingest.finding import no_log
from unspool.ingest.logs import open_log
from unspool.ingest.originals import Originals
from unspool.ingest.sessions import Found, pick
from unspool.ingest.telling import read_session
from unspool.jobs.sessions import Seen, find_sessions, notes_of_lost
from unspool.model import MAIN, Event, Note
from unspool.model.session import Session
from unspool.sources.files import DASH
from unspool.sources.storage import is_url


class Shown(Struct):
    """A session that was found, and what else the place holds."""

    session: Found
    others: list[Found] = []
    """Other sessions in the same file, or with the same id, newest first."""
    lost: list[Note] = []
    """Files that could not be read when the session was looked for."""


@contextmanager
def on_disk(name: str) -> Iterator[str]:
    """The same name; for standard input that of a file with what it holds, because a session is looked at twice.

    For a URL that of a copy.
    """
    if is_url(name):
        from unspool.sources.copies import fetched

        with fetched([name]) as (local,):
            yield local
        return
    if name != DASH:
        yield name
        return
    from unspool.sources.copies import spooled

    with spooled() as path:
        yield path


def find(name: str, seen: Seen = lambda _path: None) -> Shown:
    """By path, by id, by the beginning of an id, or `latest`."""
    if Path(name).exists():
        return _in_path(name, seen)
    sessions, read = find_sessions(seen=seen)
    session = pick(sessions, name)
    others = [other for other in sessions if other.id == session.id and other is not session]
    return Shown(session, others, notes_of_lost(read))


def _in_path(path: str, seen: Seen) -> Shown:
    if Path(path).is_dir():
        found, read = find_sessions([path], seen=seen)
        if not found:
            raise SessionNotFound(f"{path}: no agent's session in it (recorded API calls are shown by `unspool view`)")
        return Shown(found[0], found[1:], notes_of_lost(read))
    log = open_log(path)
    if log is None:
        raise no_log(path)
    sessions, _ = find_sessions([path], seen=seen, near=[other for other in log.reader.kin(path) if other != path])
    found = [session for session in sessions if path in session.files]
    if not found:
        reason = "without a session: `unspool cook` names what was not understood"
        raise SessionNotFound(f"{path}: a log of {log.reader.title} {reason}")
    return Shown(found[0], found[1:])


def show(found: Found, stream: str | None = None) -> tuple[Session, list[Note]]:
    """The session in turns and steps, and notes on what was not understood."""
    items = [item for _, item in read_session(found, stream)]
    notes = [item for item in items if isinstance(item, Note)]
    return assemble(found.facts, (item for item in items if isinstance(item, Event))), notes


def events(found: Found, stream: str | None = None, payload: bool = False) -> Iterator[tuple[Event, str, Any]]:
    """Each event with its agent and, if wanted, what it came from. The main stream first."""
    originals: dict[str, Originals] = {}
    items = [(log, item) for log, item in read_session(found, stream) if isinstance(item, Event)]
    order = {name: at for at, name in enumerate(dict.fromkeys([MAIN, *(item.stream_id for _, item in items)]))}
    for log, event in sorted(items, key=lambda pair: order[pair[1].stream_id]):
        raw = msgspec.UNSET
        if payload:
            if log.path not in originals:
                originals[log.path] = Originals(log)
            raw = originals[log.path].payload(event)
        yield event, log.reader.agent, raw
