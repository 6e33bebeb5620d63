"""The list of sessions: all on this machine, or those in given files."""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Literal

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from unspool.engine.local import each, jobs_for
from unspool.errors import InputNotFound
from unspool.ingest.digests import FileDigest, packed_digest
from unspool.ingest.finding import meant, no_log
from unspool.ingest.sessions import Found, digests, gather
from unspool.model import Note, Origin
from unspool.model.event import RateLimitState
from unspool.model.session import Share, Tokens
from unspool.sources.files import legible
from unspool.sources.values import time_of
from unspool.transforms.prices import Cost, CostSum, rates_of

Seen = Callable[[str], None]


class SessionRow(Struct):
    """One session, as `unspool sessions --json` writes it."""

    id: str
    agent: str
    project: str | None
    start: str | None
    end: str | None
    duration: float | None
    """Seconds from the first event to the last."""
    prompt: str | None
    """What was asked first."""
    title: str | None
    model: str | None
    turns: int
    tools: int
    """Calls of tools, those of sub-agents too."""
    tokens: Tokens
    streams: list[str]
    files: list[str]
    branch: str | None
    version: str | None
    parent: str | None
    rate_limits: list[RateLimitState]
    """The newest word on each of the provider's limits, where the log has it."""
    cost: float | UnsetType | None = UNSET
    """US dollars, where that was asked for; None where no price is known."""
    priced: bool | UnsetType = UNSET
    """Whether the cost is of all that was used."""
    estimated: bool | UnsetType = UNSET
    """Whether some of the cost is the agent's own estimate, because there is no list price."""


class Filter(Struct, frozen=True):
    agent: str | None = None
    project: str | None = None
    since: int | None = None
    """Milliseconds since 1970."""
    until: int | None = None

    def keeps(self, session: Found) -> bool:
        if self.agent is not None and session.facts.agent != self.agent:
            return False
        if self.project is not None and not _inside(session.facts.project, self.project):
            return False
        if self.since is not None and ((end := time_of(session.end)) is None or end < self.since):
            return False
        return self.until is None or ((start := time_of(session.start)) is not None and start <= self.until)


ALL = Filter()


def find_sessions(
    paths: Sequence[str] = (),
    jobs: int | None = None,
    seen: Seen = lambda _path: None,
    near: Sequence[str] = (),
) -> tuple[list[Found], list[tuple[str, FileDigest]]]:
    """The sessions, newest first, and what each file holds. Files `near` are looked at too, if they are logs."""
    files, named = meant(paths)
    files += [path for path in near if path not in files]
    read = digests(files, partial(read_digests, jobs=jobs), seen)
    for path, digest in read:
        if digest.reader is None and path in named and (len(files) == 1 or not digest.is_lost):
            raise InputNotFound(_reason(digest)) if digest.is_lost else no_log(path)
    return gather(read), read


class SessionList(Struct):
    """The sessions to list, the ids of all sessions, and the files that cannot be read."""

    rows: list[SessionRow]
    """Newest first."""
    ids: list[str]
    """The ids of all sessions, listed or not: a prefix of an id must tell it from all of them."""
    lost: list[str]
    """Which files could not be read, with the reason."""


def list_sessions(
    paths: Sequence[str] = (),
    wanted: Filter = ALL,
    limit: int | None = None,
    jobs: int | None = None,
    seen: Seen = lambda _path: None,
    costs: bool = False,
) -> SessionList:
    """List the sessions that pass a filter."""
    found, read = find_sessions(paths, jobs, seen)
    kept = [session for session in found if wanted.keeps(session)][:limit]
    rows = list(map(row_of, kept))
    for row, session in zip(rows, kept, strict=True) if costs else ():
        cost = cost_of(session)
        row.cost, row.priced, row.estimated = cost.usd, cost.complete, cost.estimated
    return SessionList(rows, [session.id for session in found], lost_in(read))


def lost_in(read: Sequence[tuple[str, FileDigest]]) -> list[str]:
    """Which files could not be read, with the reason."""
    return [_reason(digest) for _, digest in read if digest.is_lost]


def notes_of_lost(read: Sequence[tuple[str, FileDigest]]) -> list[Note]:
    """Return a note for each file that could not be read."""
    notes: list[Note] = []
    for path, digest in read:
        if digest.is_lost:
            kind: Literal["internal", "unreadable"] = "internal" if "internal" in digest.notes else "unreadable"
            notes.append(Note(kind, _reason(digest).removeprefix(f"{legible(path)}: "), Origin(path, 0, 0, 0)))
    return notes


def _reason(digest: FileDigest) -> str:
    return next(iter(digest.reasons)).partition(": ")[2]


def row_of(session: Found) -> SessionRow:
    start, end = session.start, session.end
    first, last = time_of(start), time_of(end)
    facts = session.facts
    return SessionRow(
        id=session.id,
        agent=facts.agent,
        project=facts.project,
        start=start,
        end=end,
        duration=(last - first) / 1000 if first is not None and last is not None else None,
        prompt=session.prompt,
        title=facts.title,
        model=session.model,
        turns=session.turns,
        tools=session.tools,
        tokens=session.tokens,
        streams=list(session.streams),
        files=list(map(legible, session.files)),
        branch=facts.branch,
        version=facts.version,
        parent=facts.parent,
        rate_limits=session.rate_limits,
    )


def cost_of(session: Found) -> CostSum:
    """Return what a session cost. Calls whose model the log does not name count as the session's model.

    Where a model has no list price, the agent's own estimates count, as far as the log has them.
    """
    start = time_of(session.start)
    costs = CostSum.total(
        _cost_of_share(share, model, start)
        for stream in session.streams.values()
        for model, share in stream.shares(session.model)
        if share.tokens.total
    )
    if costs.usd is None:
        return costs
    copied = _list_price(session.copied, session.model, start)
    elsewhere = session.copied_cost_usd if copied is None else copied.total
    return replace(costs, usd=max(costs.usd - elsewhere, 0.0))


def _cost_of_share(share: Share, model: str | None, start: int | None) -> CostSum:
    estimate = share.cost_usd if share.estimated else None
    return CostSum.of(_list_price(share.tokens, model, start), estimate, share.estimated == share.calls)


def _list_price(tokens: Tokens, model: str | None, start: int | None) -> Cost | None:
    rates = rates_of(model, 0, start) if model else None  # a sum of many calls is no long prompt
    return None if rates is None else rates.cost(tokens.usage)


def read_digests(files: list[str], jobs: int | None) -> Iterator[tuple[str, bytes]]:
    """What each file holds. Several processes read the largest first, so that none is still at one in the end."""
    processes = jobs_for(files, jobs)
    todo = files if processes == 1 else sorted(files, key=_bytes_in, reverse=True)
    return zip(todo, each(packed_digest, todo, processes), strict=True)


def _bytes_in(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116  # thousands of files: making a Path costs more than asking
    except OSError:
        return 0


def _inside(project: str | None, folder: str) -> bool:
    """Whether the project is the folder or lies below it."""
    if project is None:
        return False
    inner, outer = project.replace("\\", "/").rstrip("/"), folder.replace("\\", "/").rstrip("/")
    return inner == outer or inner.startswith(f"{outer}/")
