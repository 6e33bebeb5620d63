"""Where we look for each agent's logs, and what there is."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from msgspec import Struct

from unspool.ingest.digests import FileDigest
from unspool.ingest.finding import below, state_of
from unspool.ingest.finding import places as all_places
from unspool.ingest.sessions import digests, gather
from unspool.jobs.sessions import read_digests
from unspool.readers import READERS
from unspool.sources.files import legible


class PlaceSeen(Struct):
    folder: str
    patterns: list[str]
    exists: bool
    readable: bool
    """Whether it can be looked into, if it is there."""
    files: int


class SourceSeen(Struct):
    """One agent, as `unspool sources --json` writes it."""

    agent: str
    title: str
    places: list[PlaceSeen]
    files: int = 0
    bytes: int = 0
    sessions: int = 0
    oldest: str | None = None
    newest: str | None = None
    unclaimed: list[str] = []
    """Files that are there but are no log of it."""
    notes: dict[str, int] = {}
    """What could not be read in the others, by reason."""


def sources(jobs: int | None = None, seen: Callable[[str], None] = lambda _path: None) -> list[SourceSeen]:
    """Every agent that we know, whether it was here or not."""
    places: dict[str, list[tuple[PlaceSeen, list[str]]]] = {reader.agent: [] for reader in READERS.values()}
    for reader, folder, patterns in all_places():
        files = list(dict.fromkeys(below(folder, patterns)))
        state = state_of(folder)
        found = PlaceSeen(str(folder), list(patterns), state != "absent", state != "closed", len(files))
        places[reader.agent].append((found, files))
    every = list(dict.fromkeys(path for told in places.values() for _, files in told for path in files))
    read = dict(digests(every, partial(read_digests, jobs=jobs), seen))
    titles = {reader.agent: reader.title for reader in reversed(list(READERS.values()))}
    return [_source(agent, titles[agent], told, read) for agent, told in places.items()]


def _source(
    agent: str, title: str, places: list[tuple[PlaceSeen, list[str]]], read: dict[str, FileDigest]
) -> SourceSeen:
    files = list(dict.fromkeys(path for _, paths in places for path in paths))
    own = [(path, read[path]) for path in files if _agent(read[path]) == agent]
    sessions = gather(own)
    source = SourceSeen(agent, title, [place for place, _ in places], len(own), sessions=len(sessions))
    source.bytes = sum(Path(path).stat().st_size for path, _ in own)
    source.unclaimed = [legible(path) for path in files if read[path].reader is None and not read[path].is_lost]
    times = [time for session in sessions for time in (session.start, session.end) if time]
    source.oldest, source.newest = min(times, default=None), max(times, default=None)
    reasons: dict[str, int] = {}
    for digest in (read[path] for path in files if _agent(read[path]) in (agent, None)):
        for reason, number in digest.reasons.items():
            reasons[reason] = reasons.get(reason, 0) + number
    source.notes = reasons
    return source


def _agent(digest: FileDigest) -> str | None:
    return None if digest.reader is None else READERS[digest.reader].agent
