"""The sessions on this machine, or in given files: each once, whichever files it is spread over."""

from collections.abc import Callable, Iterable

import msgspec
from msgspec import Struct

from unspool.errors import SessionNotFound
from unspool.ingest.digests import FileDigest, unpacked
from unspool.model import MAIN, Facts
from unspool.model.event import RateLimitState
from unspool.model.session import Digest, Share, StreamDigest, Tokens

LATEST = "latest"
_numbers = msgspec.msgpack.Decoder(list[int | float]).decode
_COUNTS = len(Tokens.__struct_fields__)
_NONE = msgspec.msgpack.encode([])
_NEVER = "~"
"""Behind any time."""
_NOTHING = Tokens()


class Found(Struct):
    """A session and the files that hold it."""

    facts: Facts
    streams: dict[str, StreamDigest]
    files: list[str]
    """Those with its main stream first."""
    tellers: dict[str, list[str]] = {}
    """Of each stream the files that tell it, one after another: see `_join`."""
    copied: Tokens = _NOTHING
    """What those of its calls used that were counted elsewhere: see `_settle_copies`."""
    copied_cost_usd: float = 0.0
    """The agent's own estimate of what those calls cost."""

    @property
    def id(self) -> str:
        return self.facts.id

    @property
    def start(self) -> str | None:
        starts = [stream.start for stream in self.streams.values() if stream.start]
        if self.facts.started:
            starts.append(self.facts.started)
        return min(starts) if starts else None

    @property
    def end(self) -> str | None:
        ends = [stream.end for stream in self.streams.values() if stream.end]
        return max(ends) if ends else None

    @property
    def tokens(self) -> Tokens:
        first, *others = [stream.tokens for stream in self.streams.values()]
        used = sum(others, first)
        return used if self.copied == _NOTHING else used - self.copied

    @property
    def rate_limits(self) -> list[RateLimitState]:
        """The newest state of each of the provider's limits."""
        states = [state for stream in self.streams.values() for state in stream.rate_limits]
        states.sort(key=lambda state: state.timestamp or "")
        return list({state.limit: state for state in states}.values())

    @property
    def tools(self) -> int:
        return sum([stream.tools for stream in self.streams.values()])

    @property
    def turns(self) -> int:
        return self._first.turns

    @property
    def prompt(self) -> str | None:
        """What was asked first; for a session without a main stream, what its first agent was asked."""
        return self._first.prompt

    @property
    def model(self) -> str | None:
        """The one that answered most often."""
        used = self._first.models
        if len(used) > 1:
            return max(used, key=lambda name: used[name].calls)
        return next(iter(used), self.facts.model)

    @property
    def _first(self) -> StreamDigest:
        return self.streams.get(MAIN) or next(iter(self.streams.values()))


def gather(files: Iterable[tuple[str, FileDigest]]) -> list[Found]:
    """The sessions of these files, newest first."""
    pieces = [(path, digest) for path, file in files for digest in file.sessions]
    pieces.sort(key=lambda piece: MAIN not in piece[1].streams)
    told: dict[tuple[str, str], list[tuple[str, Digest]]] = {}
    for piece in pieces:
        told.setdefault((piece[1].facts.agent, piece[1].facts.id), []).append(piece)
    found = {name: _joined(parts) for name, parts in told.items()}
    _adopt(found)
    _settle_copies(found.values())
    return sorted(found.values(), key=lambda session: (session.end or "", session.id), reverse=True)


def _joined(pieces: list[tuple[str, Digest]]) -> Found:
    """A session out of what files tell of it: mostly one does."""
    path, digest = pieces[0]
    if len(pieces) == 1:
        return Found(digest.facts, dict(digest.streams), [path], {stream: [path] for stream in digest.streams})
    session = Found(digest.facts, {}, [], {})
    for path, part in sorted(pieces, key=_begins):
        _join(session, [path], part.streams, {stream: [path] for stream in part.streams})
    return session


def _begins(piece: tuple[str, Digest]) -> tuple[bool, str]:
    """What tells of the main stream first, and then as it happened, so that each part finds the one before it; at last
    what has no times."""
    streams = piece[1].streams
    return MAIN not in streams, min((stream.start or _NEVER for stream in streams.values()), default=_NEVER)


def _join(session: Found, files: list[str], streams: dict[str, StreamDigest], tellers: dict[str, list[str]]) -> None:
    """A stream may go on in another file, where one begins after the other ended. Else it is told twice, as an agent is
    in its own log and in its master's: the fuller telling counts."""
    for name, told in streams.items():
        known, others = session.streams.get(name), session.tellers.get(name, [])
        if known is not None and _goes_on(known, told):
            session.streams[name], session.tellers[name] = _one_after(known, told), others + tellers[name]
        elif known is not None and _goes_on(told, known):
            session.streams[name], session.tellers[name] = _one_after(told, known), tellers[name] + others
        elif known is None or told.events > known.events:
            session.streams[name], session.tellers[name] = told, tellers[name]
    session.files = list(dict.fromkeys([*session.tellers.get(MAIN, ()), *session.files, *files]))


def _goes_on(one: StreamDigest, other: StreamDigest) -> bool:
    return one.end is not None and other.start is not None and one.end < other.start


def _one_after(one: StreamDigest, other: StreamDigest) -> StreamDigest:
    """What two parts of a stream tell together."""
    return StreamDigest(
        one.events + other.events,
        one.turns + other.turns,
        one.tools + other.tools,
        one.tokens + other.tokens,
        {
            model: one.models.get(model, Share()) + other.models.get(model, Share())
            for model in [*one.models, *other.models]
        },
        one.unnamed + other.unnamed,
        one.prompt or other.prompt,
        one.start,
        other.end,
        one.calls + other.calls,
        msgspec.msgpack.encode([number for part in (one, other) for number in _numbers(part.spent or _NONE)]),
        list({state.limit: state for state in [*one.rate_limits, *other.rate_limits]}.values()),
    )


def _adopt(found: dict[tuple[str, str], Found]) -> None:
    """An agent's agents name it as their session: they belong to the session that it belongs to."""
    home = {
        (agent, stream.removeprefix("agent:")): name
        for name, session in found.items()
        for agent in [session.facts.agent]
        for stream in session.streams
        if stream != MAIN
    }
    for name in [name for name, session in found.items() if MAIN not in session.streams]:
        above, seen = name, {name}
        while above in home and home[above] not in seen:
            above = home[above]
            seen.add(above)
        if above != name and above in found:
            orphan = found.pop(name)
            _join(found[above], orphan.files, orphan.streams, orphan.tellers)


def _settle_copies(sessions: Iterable[Found]) -> None:
    """A session that was forked or resumed may hold the other one's calls as its own, and so may an agent that was
    given all that its master said: in a project, each counts once.

    It counts where it was made: in the session that began first, or, because a copy begins where the other did, in
    that which ended first; in a session, in its main stream.
    """
    projects: dict[tuple[str, str | None], list[Found]] = {}
    for session in sessions:
        if any(stream.calls for stream in session.streams.values()):
            projects.setdefault((session.facts.agent, session.facts.project), []).append(session)
    for project in projects.values():
        if len(project) == 1 and len(project[0].streams) == 1:
            continue
        made: set[int] = set()
        for session in sorted(project, key=lambda session: (session.start or "", session.end or "", session.id)):
            for _, stream in sorted(session.streams.items(), key=lambda named: named[0] != MAIN):
                calls = memoryview(stream.calls).cast("Q")
                own = set(calls)
                if copies := own & made:
                    used, cost = _spent(stream, calls, copies)
                    session.copied += used
                    session.copied_cost_usd += cost
                made |= own


def _spent(stream: StreamDigest, calls: Iterable[int], wanted: set[int]) -> tuple[Tokens, float]:
    """Return the tokens that the wanted calls of a stream used, and the agent's own estimate of their cost."""
    numbers = iter(_numbers(stream.spent)) if stream.spent else iter(())
    rows = zip(calls, zip(*[numbers] * (_COUNTS + 1), strict=True), strict=True)
    found = [used for call, used in rows if call in wanted]
    tokens = sum((Tokens(*map(int, used[:_COUNTS])) for used in found), Tokens())
    return tokens, sum(float(used[_COUNTS]) for used in found)


def pick(sessions: list[Found], name: str) -> Found:
    """Return the session with this id, or the only one whose id begins so, or the newest for `latest`.

    If two agents have a session with the same id, return the newest.
    """
    if not sessions:
        told = "" if name == LATEST else f"{name!r} is no file, and there is "
        raise SessionNotFound(f"{told}no session on this machine: see `unspool sources` for where we look")
    if name == LATEST:
        return sessions[0]
    exact = next((session for session in sessions if session.id == name), None)
    if exact is not None:
        return exact
    matches = [session for session in sessions if session.id.startswith(name)]
    if len(matches) == 1:
        return matches[0]
    if not matches:
        raise SessionNotFound(f"{name!r} is no file, and no session's id begins so: see `unspool sessions`")
    ids = ", ".join([*(session.id for session in matches[:5]), *(["…"] if len(matches) > 5 else [])])
    raise SessionNotFound(f"{name!r} is the beginning of {len(matches)} sessions' ids: {ids}")


Seen = Callable[[str], None]


def digests(
    files: list[str],
    read: Callable[[list[str]], Iterable[tuple[str, bytes]]],
    seen: Seen = lambda _path: None,
) -> list[tuple[str, FileDigest]]:
    """What each file holds: from the cache, or read now, in whichever order that is done."""
    from unspool.ingest.cache import DigestCache

    cache = DigestCache()
    known = {path: digest for path in files if (digest := cache.get(path)) is not None}
    for path in known:
        seen(path)
    for path, packed in read([path for path in files if path not in known]):
        digest = known[path] = unpacked(packed)
        if digest.stamp:  # what could not be read may be read the next time
            cache.put(path, packed)
        seen(path)
    cache.save()
    return [(path, known[path]) for path in files]
