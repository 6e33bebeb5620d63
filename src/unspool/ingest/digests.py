"""Events → digests: what the list of sessions shows, without the events themselves."""

import os
from collections.abc import Iterable
from hashlib import blake2b

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from unspool.errors import FileFault, InputNotFound
from unspool.ingest.logs import open_log
from unspool.ingest.net import file_note
from unspool.model import MAIN, Event, Facts, Note, NoteKind
from unspool.model.event import (
    AgentMessage,
    Compacted,
    RateLimits,
    RateLimitState,
    Said,
    SlashCommand,
    Thinking,
    TokenUsage,
    ToolCall,
    ToolOutput,
    User,
)
from unspool.model.session import Digest, Share, StreamDigest, Tokens
from unspool.readers import READERS
from unspool.sources.files import legible
from unspool.sources.storage import stamp_of

_PROMPT = 300
"""Characters of the first prompt that are kept."""
_REASONS = 20
_UNIQUE = 20
"""Characters of an answer's id from which on no other bears it. A copy of it may be said to come of another request."""


class FileDigest(Struct):
    """What one file of an agent holds."""

    reader: str | None
    """None: no reader claims it."""
    sessions: list[Digest] = []
    beside: list[bytes] = []
    """Names of other files that were read with it: a database's own log, or what a reader names."""
    stamp: str = ""
    """Of all of them, from before they were read."""
    events: int = 0
    notes: dict[str, int] = {}
    """How many of each kind."""
    reasons: dict[str, int] = {}
    """The commonest reasons."""

    @property
    def is_lost(self) -> bool:
        """Whether the file could not be read, by whichever reader."""
        return self.reader is None and bool(self.reasons)


packed = msgspec.msgpack.Encoder().encode
unpacked = msgspec.msgpack.Decoder(FileDigest).decode


class _Counter:
    """One stream, while its events pass by."""

    __slots__ = ("end", "events", "limits", "prompt", "start", "stepped", "tools", "turns", "used")

    def __init__(self) -> None:
        self.events = self.turns = self.tools = 0
        self.used: list[TokenUsage] = []
        self.limits: dict[str | None, RateLimitState] = {}
        self.prompt: str | None = None
        self.start: str | None = None
        self.end: str | None = None
        self.stepped = False
        """Whether the turn at hand has a step; a turn without one is none."""

    def see(self, event: Event) -> None:
        self.events += 1
        content = event.content
        kind = content.__class__
        if kind is ToolOutput:
            pass
        elif kind is ToolCall:
            self.tools += 1
            if not self.stepped:
                self._step()
        elif kind is Said or kind is Thinking:
            if not self.stepped:
                self._step()
        elif isinstance(content, TokenUsage):
            self.used.append(content)
        elif isinstance(content, User) or (isinstance(content, AgentMessage) and event.stream_id != MAIN):
            self.prompt = self.prompt or content.text.strip()[:_PROMPT]
            self.stepped = False
        elif kind is SlashCommand or kind is Compacted:
            self.stepped = False
        elif isinstance(content, RateLimits):
            self.limits[content.limit] = RateLimitState(**asdict(content), timestamp=event.timestamp)
        time = event.timestamp
        if time is not self.end and time is not None:  # events of one record share theirs
            if self.start is None or self.end is None:
                self.start = self.end = time
            elif time > self.end:
                self.end = time
            elif time < self.start:
                self.start = time

    def _step(self) -> None:
        self.stepped = True
        self.turns += 1

    def done(self) -> StreamDigest:
        models = dict.fromkeys([used.model for used in self.used])
        shares = {model: _share([used for used in self.used if used.model == model]) for model in models}
        named = [used for used in self.used if used.response_id is not None and used.request_id is not None]
        return StreamDigest(
            self.events,
            self.turns,
            self.tools,
            sum([share.tokens for share in shares.values()], Tokens()),
            {model: share for model, share in shares.items() if model},
            sum([share for model, share in shares.items() if not model], Share()),
            self.prompt,
            self.start,
            self.end,
            b"".join(map(_hash, named)),
            msgspec.msgpack.encode([number for used in named for number in _numbers(used)]) if named else b"",
            list(self.limits.values()),
        )


def _share(calls: list[TokenUsage]) -> Share:
    return Share(
        len(calls),
        Tokens(
            sum([used.input for used in calls]),
            sum([used.cache_read for used in calls]),
            sum([used.cache_write for used in calls]),
            sum([used.output for used in calls]),
            sum([used.reasoning for used in calls]),
            sum([used.cache_write_1h for used in calls]),
        ),
        *_estimated(calls),
    )


def _estimated(calls: list[TokenUsage]) -> tuple[float, int]:
    """Return the sum of the agent's own estimates of the cost, and how many calls have one."""
    costs = [used.cost_usd for used in calls if used.cost_usd is not None]
    return sum(costs), len(costs)


def _numbers(used: TokenUsage) -> tuple[int | float, ...]:
    """Return a row of `StreamDigest.spent`."""
    return (
        used.input,
        used.cache_read,
        used.cache_write,
        used.output,
        used.reasoning,
        used.cache_write_1h,
        used.cost_usd or 0,
    )


def _hash(used: TokenUsage) -> bytes:
    """Of a call that has ids."""
    request = "" if len(used.response_id or "") >= _UNIQUE else used.request_id
    return blake2b(f"{used.response_id}/{request}".encode("utf-8", "surrogatepass"), digest_size=8).digest()


def digest_file(path: str) -> FileDigest:
    """Return the digest of a file. It may say only that no reader claims the file, or why it cannot be read."""
    try:
        return _digest(path)
    except FileFault as error:
        return _lost(error.kind, str(error))
    except InputNotFound as error:
        return _lost("unreadable", str(error))
    except Exception as error:
        note = file_note(error, path)
        return _lost(note.kind, f"{path}: {note.reason}")


def _lost(kind: NoteKind, reason: str) -> FileDigest:
    return FileDigest(None, notes={kind: 1}, reasons={legible(f"{kind}: {reason}"): 1})


def packed_digest(path: str) -> bytes:
    """The same, as it is kept and as it comes from another process."""
    return packed(digest_file(path))


def _digest(path: str) -> FileDigest:
    ahead = f"{path}-wal"
    own, stamps = stamp([path]), {ahead: stamp([ahead])}  # what is written while we read will be read next time
    log = open_log(path)
    if log is None:  # the first tables of a database stand in its write-ahead log alone
        return FileDigest(None, beside=[os.fsencode(ahead)], stamp=f"{own},{stamps[ahead]}" if own else "")
    beside = [*([ahead] if log.reader.rows else ()), *log.reader.beside(path)]
    before = ",".join([own, *(stamps.get(other) or stamp([other]) for other in beside)])
    digest = digest_events(log.reader.name, log, log.sessions)
    digest.stamp, digest.beside = before if own else "", list(map(os.fsencode, beside))
    return digest


def stamp(paths: Iterable[str | bytes]) -> str:
    """Return a text that changes with the content of these files."""
    parts = []
    for path in paths:
        try:
            facts = os.stat(path)  # noqa: PTH116  # thousands of files: making a Path costs more than asking
        except OSError:
            parts.append("")
        else:
            parts.append(stamp_of(facts))
    return ",".join(parts)


def digest_events(reader: str, items: Iterable[Event | Note], facts: dict[str, Facts]) -> FileDigest:
    """`facts` is looked at when all items have passed."""
    streams: dict[tuple[str, str], _Counter] = {}
    notes: dict[tuple[str, str], int] = {}
    session = stream = counter = None
    for item in items:
        if type(item) is not Event:  # isinstance takes thrice as long where it says no
            assert isinstance(item, Note)
            notes[item.kind, item.reason] = notes.get((item.kind, item.reason), 0) + 1
            continue
        if item.stream_id is not stream or item.session_id is not session or counter is None:
            session, stream = item.session_id, item.stream_id
            counter = streams.get((session, stream))
            if counter is None:
                counter = streams[session, stream] = _Counter()
        counter.see(item)
    sessions = {name: Digest(known, {}) for name, known in facts.items()}
    agent = next(iter(facts.values())).agent if facts else READERS[reader].agent
    for (session, stream), counter in streams.items():
        if session not in sessions:
            sessions[session] = Digest(Facts(agent, session), {})
        sessions[session].streams[stream] = counter.done()
    told = [digest for digest in sessions.values() if digest.streams]
    digest = FileDigest(reader, told, events=sum([counter.events for counter in streams.values()]))
    if notes:
        commonest = sorted(notes.items(), key=lambda told: -told[1])[:_REASONS]
        digest.reasons = {f"{kind}: {reason}": count for (kind, reason), count in commonest}
        for (kind, _), count in notes.items():
            digest.notes[kind] = digest.notes.get(kind, 0) + count
    return digest
