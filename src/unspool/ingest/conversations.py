"""Whatever is given → conversations: the calls of one session, in the order of time.

    a session file          its entries; one file is one session
    recorded traffic        split by what its calls name as their session, else by the roots of their lineage
    an agent's log          the calls that it implies, sub-agents among them; one session, whichever files hold it

A `Unit` is what can be read by itself, in any process: a file of calls, or one session of an agent. One unit is in
memory at a time.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from unspool.dialect import Record
from unspool.errors import InputNotFound
from unspool.ingest.agents import agent_of
from unspool.ingest.facts import BESIDE
from unspool.ingest.finding import given, installed, is_session
from unspool.ingest.implied import is_implied
from unspool.ingest.net import file_note
from unspool.ingest.open import in_time_order, is_recorded, read_exchanges
from unspool.ingest.sessions import Found
from unspool.ingest.splitting import split
from unspool.ingest.telling import calls_of, on_this_machine, sessions_in
from unspool.model import Exchange, Note
from unspool.sources.files import DASH, ENDINGS, is_database
from unspool.sources.jsontext import Unreadable
from unspool.sources.records import read_lines, read_records
from unspool.sources.storage import is_url, looked_into
from unspool.transforms.scenarios import day_of, scenario_of

if TYPE_CHECKING:
    from unspool.sources.copies import Copy

_GLANCE = 1 << 16


class Conversation(Struct):
    session: str
    source: str
    """The file, as it was named to us; of a session in several files, the main one."""
    date: str | None
    """YYYY-MM-DD: of the folder that is named so, else of the first call."""
    scenario: str
    agent: str | None
    exchanges: list[Exchange]


class Unit(Struct):
    path: str
    root: str | None = None
    """The folder that was given, where the file lies in one."""
    found: Found | None = None
    """A session of an agent; else the file holds recorded calls."""
    agent: str | None = None
    """Only conversations of this agent are wanted."""
    copies: "tuple[Copy, ...]" = ()
    """Where the files of a session are to be read, if their names are URLs."""


def units(paths: Sequence[str], agent: str | None = None) -> list[Unit]:
    """What there is to read of files, folders, `-` and sessions by id, in the order given; if nothing is given, of all
    logs on this machine. No session is in two units.
    """
    names = [path for path in paths if is_session(path)]
    files = [path for path in paths if path not in names]
    found = _units(files, agent) if files else []
    if names or not paths:
        sessions, lost = on_this_machine(names)
        found += [Unit(session.files[0], None, session, agent) for session in sessions]
        wanted = () if names else set(installed(agent)).intersection(lost)
        found += [Unit(path) for path in sorted(wanted)]
    return [unit for unit in found if unit.found is None or agent in (None, unit.found.facts.agent)]


def _units(paths: Sequence[str], agent: str | None) -> list[Unit]:
    named: dict[str, bool] = {}
    roots: dict[str, str] = {}
    for path in paths:
        for file, by_name in given([path]):
            named[file] = by_name or named.get(file, False)
            if not by_name:
                roots[file] = path
    logs = [file for file in looked_into(list(named)) if file != DASH and not is_traffic(file, roots.get(file))]
    copies = _copies(paths, logs, named)
    held, lost = _held(logs, [log for log in logs if named[log]], copies)
    known, done = set(logs), set[int]()
    made: list[Unit] = []
    for file, by_name in named.items():
        for session in held.get(file, ()):
            if id(session) not in done:
                done.add(id(session))
                made.append(Unit(session.files[0], roots.get(session.files[0]), session, agent, copies))
        is_wanted = file not in known or by_name or file in lost or file.lower().endswith(ENDINGS)
        if file not in held and is_wanted:
            made.append(Unit(file, roots.get(file), None, agent))
    return made


def is_traffic(path: str, root: str | None) -> bool:
    """A file of a folder that cannot be read is left to the run, which reports it. One that was named must be there."""
    try:
        return holds_calls(path)
    except InputNotFound:
        if root is None:
            raise
    except Exception as error:
        file_note(error, path)
    return True


def _copies(paths: Sequence[str], logs: Collection[str], files: Collection[str]) -> "tuple[Copy, ...]":
    """Of agents' logs in object storage: what belongs to one may be told in others, and in files beside it."""
    if not any(map(is_url, logs)):
        return ()
    from unspool.sources.copies import copied, copied_with_neighbours

    traffic = set(files).difference(logs)
    made: list[Copy] = []
    for path in filter(is_url, paths):
        if path in logs:
            made.append(copied_with_neighbours(path))
        elif any(log.startswith(f"{path.rstrip('/')}/") for log in logs):
            made.append(copied(path, without=traffic))
    return tuple(made)


def _held(
    logs: list[str], named: list[str], copies: "tuple[Copy, ...]"
) -> tuple[dict[str, list[Found]], Collection[str]]:
    """Return the sessions in each of these logs, and the files that cannot be read."""
    if not copies:
        return sessions_in(logs, named) if logs else ({}, ())
    held, lost = sessions_in([_local(copies, log) for log in logs], [_local(copies, log) for log in named])
    known = {id(session): session for sessions in held.values() for session in sessions}
    by_url = {name: _renamed(session, partial(_url, copies)) for name, session in known.items()}
    held = {_url(copies, log): [by_url[id(session)] for session in sessions] for log, sessions in held.items()}
    return held, {_url(copies, path) for path in lost}


def _renamed(session: Found, name: Callable[[str], str]) -> Found:
    tellers = {stream: list(map(name, files)) for stream, files in session.tellers.items()}
    return replace(session, files=list(map(name, session.files)), tellers=tellers)


def _local(copies: "tuple[Copy, ...]", file: str) -> str:
    """Where the file is to be read."""
    return next((copy.local(file) for copy in copies if copy.holds(file)), file)


def _url(copies: "tuple[Copy, ...]", file: str) -> str:
    return next((name for copy in copies if (name := copy.named(file)) != file), file)


def holds_calls(path: str) -> bool:
    """Whether the first record is a recorded call: no agent's log has such."""
    if is_database(path):
        return False
    for records in (read_lines(path, _GLANCE), read_records(path)):  # a document over many lines is read whole
        first = next((record for record in records if isinstance(record, Record)), None)
        if first is None:
            return False
        try:
            return is_recorded(first.data)
        except Unreadable:
            if not first.data.lstrip().startswith((b"{", b"[")):
                return False
    return False


def read_unit(unit: Unit) -> Iterator[Conversation | Note]:
    """The conversations in it, and notes on what was not understood."""
    if unit.found is not None:
        yield from _read_session(unit, unit.found)
        return
    exchanges: list[Exchange] = []
    for item in read_exchanges(unit.path):
        if isinstance(item, Note):
            yield item
        elif not BESIDE.search(item.path):
            exchanges.append(item)
    for name, calls in split(exchanges, scenario_of(unit.path)):
        agent = calls[0].wire if is_implied(calls[0]) else agent_of(calls[0])
        if unit.agent in (None, agent):
            yield _conversation(unit, name, scenario_of(unit.path), agent, calls)


def _read_session(unit: Unit, found: Found) -> Iterator[Conversation | Note]:
    exchanges: list[Exchange] = []
    if unit.copies:
        found = _renamed(found, partial(_local, unit.copies))
    for item in calls_of(found):
        if isinstance(item, Note):
            yield replace(item, origin=replace(item.origin, file=_url(unit.copies, item.origin.file)))
        else:
            exchanges.append(item)
    if exchanges:
        project = found.facts.project
        scenario = PurePath(project.replace("\\", "/")).name if project else found.facts.agent
        yield _conversation(unit, found.id, scenario, found.facts.agent, exchanges)


def _conversation(
    unit: Unit, session: str, scenario: str, agent: str | None, exchanges: list[Exchange]
) -> Conversation:
    ordered = in_time_order(exchanges)
    began = next((exchange.timestamp for exchange in ordered if exchange.timestamp is not None), None)
    day = day_of(unit.path, unit.root)
    if day is None and began is not None:
        day = datetime.fromtimestamp(began / 1000, UTC).date().isoformat()
    return Conversation(session, unit.path, day, scenario, agent, ordered)
