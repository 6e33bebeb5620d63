"""Events → digests: what the list of sessions shows, without the events themselves."""

import os
from array import array
from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b

import msgspec
from msgspec import Struct

from unspool.errors import InputNotFound
from unspool.ingest.logs import open_log
from unspool.model import MAIN, Event, Facts, Note
from unspool.model.event import (
    AgentMessage,
    Compacted,
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
    beside: list[str] = []
    """Other files that were read with it: a database's own log, or what a reader names."""
    stamp: str = ""
    """Of all of them, from before they were read."""
    events: int = 0
    notes: dict[str, int] = {}
    """How many of each kind."""
    reasons: dict[str, int] = {}
    """The commonest reasons."""


class _Counter:
    """One stream, while its events pass by."""

    __slots__ = ("calls", "digest", "events", "spent", "stepped", "time", "tools", "used")

    def __init__(self) -> None:
        self.digest = StreamDigest()
        self.events = self.tools = 0
        self.time: str | None = None
        """Of the last event: those of one record share theirs."""
        self.used: dict[str | None, list[int]] = {}
        """For each model its calls and tokens, in the order of `Tokens`."""
        self.calls = array("Q")
        self.spent: list[int] = []
        self.stepped = False
        """Whether the turn at hand has a step; a turn without one is none."""

    def see(self, event: Event) -> None:
        content, time = event.content, event.timestamp
        self.events += 1
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
            self._count(content)
        elif isinstance(content, User) or (isinstance(content, AgentMessage) and event.stream_id != MAIN):
            self.digest.prompt = self.digest.prompt or content.text.strip()[:_PROMPT]
            self.stepped = False
        elif kind is SlashCommand or kind is Compacted:
            self.stepped = False
        if time is not self.time and time is not None:
            self.time, digest = time, self.digest
            if digest.end is None or time > digest.end:
                digest.end = time
            if digest.start is None or time < digest.start:
                digest.start = time

    def _count(self, used: TokenUsage) -> None:
        sums = self.used.get(used.model)
        if sums is None:
            sums = self.used[used.model] = [0, 0, 0, 0, 0, 0]
        sums[0] += 1
        sums[1] += used.input
        sums[2] += used.cache_read
        sums[3] += used.cache_write
        sums[4] += used.output
        sums[5] += used.reasoning
        if used.response_id is not None and used.request_id is not None:
            request = "" if len(used.response_id) >= _UNIQUE else used.request_id
            name = f"{used.response_id}/{request}".encode("utf-8", "surrogatepass")
            self.calls.frombytes(blake2b(name, digest_size=8).digest())
            self.spent += (used.input, used.cache_read, used.cache_write, used.output, used.reasoning)

    def _step(self) -> None:
        self.stepped = True
        self.digest.turns += 1

    def done(self) -> StreamDigest:
        self.digest.events, self.digest.tools = self.events, self.tools
        shares = {model: Share(calls, Tokens(*sums)) for model, (calls, *sums) in self.used.items()}
        self.digest.tokens = sum((share.tokens for share in shares.values()), Tokens())
        self.digest.models = {model: share for model, share in shares.items() if model}
        if self.spent:
            self.digest.calls, self.digest.spent = self.calls.tobytes(), msgspec.msgpack.encode(self.spent)
        return self.digest


def digest_file(path: str) -> FileDigest:
    """What the file holds; of a file that no reader claims, only that; of one that cannot be read, why."""
    try:
        return _digest(path)
    except InputNotFound as error:
        return FileDigest(None, reasons={f"unreadable: {error}": 1})


def _digest(path: str) -> FileDigest:
    ahead = f"{path}-wal"
    own, stamps = stamp([path]), {ahead: stamp([ahead])}  # what is written while we read will be read next time
    log = open_log(path)
    if log is None:  # the first tables of a database stand in its write-ahead log alone
        return FileDigest(None, beside=[ahead], stamp=f"{own},{stamps[ahead]}" if own else "")
    beside = [*([ahead] if log.reader.rows else ()), *log.reader.beside(path)]
    before = ",".join([own, *(stamps.get(other) or stamp([other]) for other in beside)])
    digest = digest_events(log.reader.name, log, log.sessions)
    digest.stamp, digest.beside = before if own else "", beside
    return digest


def stamp(paths: Iterable[str]) -> str:
    """Sizes and times of files: another stamp, another content."""
    parts = []
    for path in paths:
        try:
            facts = os.stat(path)  # noqa: PTH116  # thousands of files: making a Path costs more than asking
        except OSError:
            parts.append("")
        else:
            parts.append(f"{facts.st_size}.{facts.st_mtime_ns}")
    return ",".join(parts)


def digest_events(reader: str, items: Iterable[Event | Note], facts: dict[str, Facts]) -> FileDigest:
    """`facts` is looked at when all items have passed."""
    streams: dict[tuple[str, str], _Counter] = {}
    kinds: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    events = 0
    session = stream = counter = None
    for item in items:
        if isinstance(item, Note):
            kinds[item.kind] += 1
            reasons[f"{item.kind}: {item.reason}"] += 1
            continue
        events += 1
        if item.session_id != session or item.stream_id != stream or counter is None:
            session, stream = item.session_id, item.stream_id
            counter = streams.get((session, stream))
            if counter is None:
                counter = streams[session, stream] = _Counter()
        counter.see(item)
    sessions: dict[str, Digest] = {name: Digest(known, {}) for name, known in facts.items()}
    for (session, stream), counter in streams.items():
        agent = next(iter(facts.values())).agent if facts else READERS[reader].agent
        digest = sessions.setdefault(session, Digest(Facts(agent, session), {}))
        digest.streams[stream] = counter.done()
    told = [digest for digest in sessions.values() if digest.streams]
    return FileDigest(reader, told, [], "", events, dict(kinds), dict(reasons.most_common(_REASONS)))
