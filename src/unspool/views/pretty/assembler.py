"""Events → moments, live: which calls are open, whose they are, and what became of them.

A call is open from its event until its result. Any number may be open; parallel calls do not disturb each other. What
never gets a result is told when that is certain (its turn ended), or when it has taken long (an orphan, whose result
may still come).

Time is that of the records where they have their own, else that of their arrival; so the same stream gives the same
moments whether it is watched or replayed.
"""

from collections.abc import Iterator

from unspool.model import MAIN, Event, Facts
from unspool.model.event import (
    AgentMessage,
    AgentSpawn,
    Compacted,
    ModelChange,
    Notification,
    Planned,
    QueueOperation,
    RateLimits,
    Said,
    SlashCommand,
    Summary,
    Thinking,
    TokenUsage,
    ToolCall,
    ToolOutput,
    TurnEnd,
    User,
)
from unspool.model.session import Tokens
from unspool.sources.values import time_of
from unspool.views.pretty.moments import (
    Ended,
    Listed,
    Moment,
    Noticed,
    Prompted,
    Spoke,
    Started,
    Status,
    Thought,
    ToolEnded,
    ToolStarted,
)

ORPHAN_AFTER = 30.0
"""Seconds."""
NEW_TOOL = "Tool execution was interrupted by a new tool request"
NO_RESULT = "No result received within timeout period"
_WHY = {"failed": "the turn failed", "interrupted": "the turn was interrupted"}
_BRIEF = 0.005
"""Seconds between two arrivals that tell nothing: a file that is read at once."""
_DEEPEST = 32
"""Sub-agents of sub-agents; more is a ring."""
_REMEMBERED = 1000
"""Calls without a result that are remembered, in case that it comes late."""


class _Open:
    """A call that waits for its result."""

    __slots__ = ("alive", "arrived", "is_behind", "stamp", "start", "stream")

    def __init__(self, start: ToolStarted, stream: str, stamp: float | None, arrived: float) -> None:
        self.start, self.stream = start, stream
        self.stamp, self.arrived = stamp, arrived
        self.alive = 0.0
        """Seconds after its start at which its sub-agent was last heard of."""
        self.is_behind = False
        """Its records are so much older than others that came before it that their times tell nothing of its age."""


class Assembler:
    """Give it the events as they come, with the time of their arrival in seconds; it gives back moments."""

    def __init__(self, orphan_after: float = ORPHAN_AFTER, one_tool_at_a_time: bool = False) -> None:
        self._patience = orphan_after
        self._one_at_a_time = one_tool_at_a_time
        self._open: dict[str, _Open] = {}
        self._hosted: dict[str, _Open] = {}
        """Done by the provider; what was found may still be told."""
        self._lost: dict[str, _Open] = {}
        """Told as interrupted, orphaned or done; their results may come late."""
        self._calls: dict[str, str] = {}
        """Streams of sub-agents, and the calls that they work for."""
        self._model: str | None = None
        self._tokens = Tokens()
        self._stamp: float | None = None
        """The last time that a record told, and when that record came."""
        self._stamped = 0.0
        self._record: tuple[int, str | None] = (-1, None)
        self._own: float | None = None
        """The time of the record at hand, if it has its own."""
        self.result: Ended | None = None
        """How the last turn went, if anybody said; of one that goes on, nobody can."""

    def start(self, facts: Facts, agent: str) -> Started:
        self._model = facts.model
        if self.result is not None:  # of another run, which is over
            self._tokens = Tokens()
        return Started(agent, facts.id, facts.model, facts.project, facts.version, facts.tools)

    @property
    def due(self) -> float | None:
        """When, by the clock of arrivals, a call becomes an orphan if nothing comes."""
        if not self._open or self._patience <= 0:
            return None
        return min(self._arrives(open_) for open_ in self._open.values())

    def _arrives(self, open_: _Open) -> float:
        left = self._patience + open_.alive
        if open_.stamp is None or self._stamp is None or open_.is_behind:
            return open_.arrived + left
        return self._stamped + open_.stamp + left - self._stamp

    def tick(self, now: float) -> list[Moment]:
        """What became certain by the mere passing of time."""
        if not self._open or self._patience <= 0:
            return []
        late = [id_ for id_, open_ in self._open.items() if self._arrives(open_) <= now]
        return [self._lose(id_, "ORPHANED", NO_RESULT, self._patience) for id_ in late]

    def feed(self, event: Event, now: float) -> list[Moment]:
        self._clock(event, now)
        content, depth = event.content, self._depth(event.stream_id)
        moments: list[Moment] = self.tick(now) if self._open else []
        if self._hosted and not isinstance(content, ToolOutput | TokenUsage | RateLimits):
            moments += self._done_by_provider()
        if event.stream_id == MAIN and isinstance(content, Said | Thinking | ToolCall):
            self.result = None  # another turn follows
        elif event.stream_id != MAIN and self._open:
            self._is_alive(event.stream_id, now)
        match content:
            case ToolCall():
                moments += self._called(event, content, depth, now)
            case ToolOutput():
                moments.append(self._answered(event, content, depth, now))
            case Said(text=text):
                if text.strip():
                    moments.append(Spoke(text, depth))
            case Thinking(text=text):
                if text.strip():
                    moments.append(Thought(text, depth))
            case User(text=text):
                moments.append(Prompted(text, depth))
            case TokenUsage():
                self._tokens += Tokens.of(content)
                self._model = self._model or content.model
            case TurnEnd():
                moments += self._ended(event, content)
            case _:
                moments += self._aside(event, depth)
        return moments

    def close(self, now: float, reason: str = "the stream ended without its result") -> list[Moment]:
        """The stream is at its end: what is open will have no result."""
        moments = [*self.tick(now), *self._done_by_provider()]
        return moments + [self._lose(id_, "INTERRUPTED", reason, None) for id_ in list(self._open)]

    def _clock(self, event: Event, now: float) -> None:
        """Records without a time repeat the one before them: then their own time is not known."""
        line, told = self._record
        if event.origin.line == line and event.timestamp == told:
            return
        self._record = event.origin.line, event.timestamp
        self._own = None
        if event.timestamp is not None and event.timestamp != told:
            moment = time_of(event.timestamp)
            if moment is not None:
                self._own = moment / 1000
                if self._stamp is None or self._own >= self._stamp:
                    self._stamp, self._stamped = self._own, now

    def _depth(self, stream: str) -> int:
        if stream == MAIN:
            return 0
        call = self._calls.get(stream)
        above = (self._open.get(call) or self._lost.get(call)) if call is not None else None
        return above.start.depth + 1 if above is not None else 1

    def _is_alive(self, stream: str, now: float) -> None:
        """A sub-agent that works is no orphan, nor is whoever called it."""
        for _ in range(_DEEPEST):
            call = self._calls.get(stream)
            open_ = self._open.get(call) if call is not None else None
            if open_ is None:
                return
            open_.alive = self._since(open_, now) or 0.0
            stream = open_.stream

    def _since(self, open_: _Open, now: float) -> float | None:
        """Seconds since the call began; None if nobody can tell."""
        if open_.stamp is not None and self._own is not None:
            return max(0.0, self._own - open_.stamp)
        return seconds if (seconds := now - open_.arrived) >= _BRIEF else None

    def _called(self, event: Event, call: ToolCall, depth: int, now: float) -> Iterator[Moment]:
        if self._one_at_a_time:
            for id_ in [id_ for id_, open_ in self._open.items() if open_.stream == event.stream_id]:
                yield self._lose(id_, "INTERRUPTED", NEW_TOOL, None)
        start = ToolStarted(call.provider_call_id or event.key, call, depth, self._calls.get(event.stream_id))
        waiting = self._hosted if call.hosted else self._open
        waiting[start.id] = open_ = _Open(start, event.stream_id, self._own, now)
        open_.is_behind = self._patience > 0 and self._arrives(open_) <= now
        yield start

    def _answered(self, event: Event, result: ToolOutput, depth: int, now: float) -> ToolEnded:
        id_ = result.provider_call_id
        if id_ is None:  # that of the oldest call without an id
            nameless = (name for name, open_ in self._open.items() if open_.start.call.provider_call_id is None)
            id_ = next(nameless, event.key)
        open_ = self._open.pop(id_, None) or self._hosted.pop(id_, None) or self._lost.pop(id_, None)
        status: Status = "INTERRUPTED" if result.interrupted else "FAILED" if result.is_error else "COMPLETED"
        output = result.full_output or result.output
        if open_ is None:
            return ToolEnded(id_, None, status, output, None, None, depth, self._calls.get(event.stream_id))
        start = open_.start
        return ToolEnded(id_, start.call, status, output, None, self._since(open_, now), start.depth, start.parent)

    def _done_by_provider(self) -> list[Moment]:
        """The run goes on: nothing more is told of what was done on the provider's side."""
        done = [self._forget(id_, self._hosted).start for id_ in list(self._hosted)]
        return [ToolEnded(it.id, it.call, "COMPLETED", depth=it.depth, parent=it.parent) for it in done]

    def _lose(self, id_: str, status: Status, reason: str, seconds: float | None) -> ToolEnded:
        start = self._forget(id_, self._open).start
        return ToolEnded(id_, start.call, status, "", reason, seconds, start.depth, start.parent)

    def _forget(self, id_: str, waiting: dict[str, _Open]) -> _Open:
        """No longer waited for; its result may still come."""
        open_ = self._lost[id_] = waiting.pop(id_)
        if len(self._lost) > _REMEMBERED:
            del self._lost[next(iter(self._lost))]
        return open_

    def _ended(self, event: Event, end: TurnEnd) -> Iterator[Moment]:
        """The end of a turn ends all that it left open; that of a sub-agent's only its own."""
        mine = event.stream_id
        told = end.text or end.reason
        why = _WHY.get(end.status, "the turn ended without its result")
        for id_ in [id_ for id_, open_ in self._open.items() if mine in (MAIN, open_.stream)]:
            yield self._lose(id_, "INTERRUPTED", f"{why}: {told}" if told else why, None)
        if mine != MAIN:
            return
        seconds = None if end.duration_ms is None else end.duration_ms / 1000
        api = None if end.api_ms is None else end.api_ms / 1000
        succeeded = end.status == "completed"
        text = (end.answer if succeeded else told) or None
        reason = None if succeeded else end.reason or (end.status if end.status != "failed" else None)
        self.result = Ended(
            succeeded,
            text,
            reason,
            seconds,
            api,
            end.model_turns,
            end.cost_usd,
            self._model,
            self._tokens,
            end.denied,
            end.cost_is_partial or None,
        )
        yield self.result

    def _aside(self, event: Event, depth: int) -> Iterator[Moment]:
        match event.content:
            case AgentSpawn(agent_id=agent, provider_call_id=call):
                if call is not None:
                    self._calls[f"agent:{agent}"] = call
            case AgentMessage(text=text, sender=sender, recipient=recipient):
                if sender is None and event.stream_id != MAIN:
                    yield Prompted(text, depth)
                else:
                    names = " → ".join(filter(None, (sender, recipient)))
                    yield Noticed(f"{names or 'another agent'}: {text}", "info", depth)
            case SlashCommand(name=name, args=args):
                yield Prompted(f"{name} {args}" if args else name, depth)
            case Notification(text=text, level=level):
                if text.strip():
                    yield Noticed(text, level, depth)
            case Compacted(trigger=trigger, tokens_before=before):
                told = ["compacted", trigger, f"{before:,} tokens before" if before else None]
                yield Noticed(", ".join(filter(None, told)), "warning", depth)
            case Planned(items=items, text=text):
                yield Listed(items, text, depth)
            case ModelChange(model=model, previous=previous):
                yield Noticed(f"model: {previous + ' → ' if previous else ''}{model}", "info", depth)
            case Summary(text=text):
                yield Noticed(f"summary: {text}", "info", depth)
            case QueueOperation(operation=operation, text=text):
                yield Noticed(f"queue: {operation} {text or ''}".rstrip(), "context", depth)
