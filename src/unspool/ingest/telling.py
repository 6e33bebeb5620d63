"""Sessions of agents, told by one log or by several → their events, and the calls that these imply."""

from collections.abc import Iterable, Iterator

from unspool.errors import FileFault
from unspool.ingest.digests import packed_digest
from unspool.ingest.finding import installed
from unspool.ingest.implied import implied
from unspool.ingest.leftovers import taken
from unspool.ingest.logs import OpenLog, open_log
from unspool.ingest.net import file_note
from unspool.ingest.sessions import Found, digests, gather, pick
from unspool.model import MAIN, Event, Exchange, Note
from unspool.model.event import AgentSpawn
from unspool.sources.files import is_database


def on_this_machine(names: Iterable[str]) -> tuple[list[Found], list[str]]:
    """Return the sessions with these ids, or all of them, oldest first; and the files that cannot be read."""
    here, lost = _gathered(list(installed()))
    return [pick(here, name) for name in names] or here[::-1], lost


def sessions_in(files: list[str], named: Iterable[str]) -> tuple[dict[str, list[Found]], list[str]]:
    """Return the sessions of each log, oldest first, and the files that cannot be read. Sub-agents' logs near the named
    logs are read too."""
    near = (path for log in named for path in _kin(log))
    held: dict[str, list[Found]] = {}
    sessions, lost = _gathered(list(dict.fromkeys([*files, *near])))
    for session in reversed(sessions):
        for path in session.files:
            held.setdefault(path, []).append(session)
    return held, lost


def _gathered(files: list[str]) -> tuple[list[Found], list[str]]:
    """Return the sessions of these files, newest first, and the files that cannot be read."""
    read = digests(files, lambda missing: ((path, packed_digest(path)) for path in missing))
    return gather(read), [path for path, digest in read if digest.is_lost]


def _kin(path: str) -> Iterable[str]:
    """Return the logs near this one that may belong to its sessions: none of a log that cannot be read."""
    try:
        log = open_log(path)
        return () if log is None else list(log.reader.kin(path))
    except FileFault:  # its own digest reports it
        return ()
    except Exception as error:
        file_note(error, path)
        return ()


def calls_of(found: Found) -> Iterator[Exchange | Note]:
    """The calls to the model, those of sub-agents among them: these name the call that asked for the agent."""
    spawned: dict[str, str] = {}
    made: list[Exchange] = []
    for item in implied(_told(found, spawned)):
        if isinstance(item, Note):
            yield item
        else:
            made.append(item)
    for exchange in made:  # who asked for an agent may be told after the agent spoke
        if exchange.extra is not None and (call := spawned.get(exchange.extra["stream_id"])) is not None:
            exchange.extra["spawned_by"] = call
    yield from made


def _told(found: Found, spawned: dict[str, str]) -> Iterator[tuple[str, Event | Note]]:
    """Its events. `spawned` is told which call asked for which agent: also by what is told a second time."""
    for log, item in _in_all_files(found, one_of_many=True):
        if isinstance(item, Event):
            if isinstance(item.content, AgentSpawn) and item.content.provider_call_id is not None:
                spawned[f"agent:{item.content.agent_id}"] = item.content.provider_call_id
            if not _is_fullest(log, item, found):
                continue
        yield found.facts.agent, item


def read_session(found: Found, stream: str | None = None) -> Iterator[tuple[OpenLog, Event | Note]]:
    """The events of all of its files, or of one stream: of a stream that is told twice, only the fuller telling."""
    for log, item in _in_all_files(found):
        if isinstance(item, Note) or (stream in (None, item.stream_id) and _is_fullest(log, item, found)):
            yield log, item


def _in_all_files(found: Found, one_of_many: bool = False) -> Iterator[tuple[OpenLog, Event | Note]]:
    """What its files say of the session, also what they say twice. One of many: others in the same database follow."""
    for path in found.files:
        log: OpenLog | None
        items: Iterable[Event | Note]
        if one_of_many and is_database(path):
            agents = {name.removeprefix("agent:") for name in found.streams if name != MAIN}
            log, items = taken(path, {found.id, *agents}) or (None, ())
        else:
            log = open_log(path)
            items = log or ()
        if log is None:
            continue
        for item in items:
            if isinstance(item, Note) or item.session_id == found.id or _is_kin(item, found):
                yield log, item


def _is_kin(event: Event, found: Found) -> bool:
    """Whether it is of an agent of an agent, which names the one above it as its session."""
    return event.stream_id != MAIN and f"agent:{event.session_id}" in found.streams


def _is_fullest(log: OpenLog, event: Event, found: Found) -> bool:
    """Whether this log is the one, or one of those, by which the event's stream is told."""
    return log.path in found.tellers.get(event.stream_id, (log.path,))
