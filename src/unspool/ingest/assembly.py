"""Events → a session: streams of turns, turns of steps, each call together with its result.

A turn begins with what a person typed (in the stream of a sub-agent, with what another agent said), or with a summary
in place of what came before. A step is what came of one call to the model: it ends where the log counts the call's
tokens; in logs that count only turns or sessions, or nothing, where the model speaks again.
"""

from collections.abc import Iterable

from unspool.model import MAIN, Event, Facts
from unspool.model.event import (
    AgentMessage,
    AgentSpawn,
    Compacted,
    RateLimits,
    Said,
    SlashCommand,
    Thinking,
    TokenUsage,
    ToolCall,
    ToolOutput,
    TurnEnd,
    User,
)
from unspool.model.session import Call, Session, Step, Stream, Tokens, Turn


def assemble(facts: Facts, events: Iterable[Event]) -> Session:
    """One session. Events may come from several files, in any order of streams; each stream in its own order."""
    builders: dict[str, _Builder] = {}
    spawned: dict[str, AgentSpawn] = {}
    events = list(events)
    counting = {event.stream_id for event in events if type(event.content) is TokenUsage and not event.content.apart}
    for event in events:
        builder = builders.get(event.stream_id)
        if builder is None:
            builder = builders[event.stream_id] = _Builder(event, event.stream_id in counting)
        builder.add(event)
        if isinstance(event.content, AgentSpawn):
            spawned.setdefault(f"agent:{event.content.agent_id}", event.content)
    ordered = sorted(builders.values(), key=lambda builder: (builder.stream.name != MAIN, builder.start or ""))
    session = Session(facts, {builder.stream.name: builder.stream for builder in ordered})
    calls = {id_: call for builder in ordered for id_, call in builder.calls.items()}
    for name, spawn in spawned.items():
        if (stream := session.streams.get(name)) is not None:
            stream.agent_type, stream.description = spawn.agent_type, spawn.description
            if spawn.provider_call_id in calls:
                calls[spawn.provider_call_id].agents += (name,)
    return session


class _Builder:
    """One stream, while its events pass by."""

    def __init__(self, first: Event, counts: bool) -> None:
        self.stream = Stream(first.stream_id, [])
        self.start = first.timestamp
        self.calls: dict[str, Call] = {}
        self._step: Step | None = None
        self._closed = False
        self._kinds: set[type] = set()
        """What the step at hand is made of."""
        self._unanswered: set[int] = set()
        """Its calls without a result."""
        self._counts = counts
        """Whether this log counts the tokens of each call."""

    def add(self, event: Event) -> None:
        match event.content:
            case User() | SlashCommand() | Compacted():
                self._open(event)
            case AgentMessage() if not self.stream.is_main:
                self._open(event)
            case Thinking() | Said() | ToolCall():
                self._speak(event)
            case ToolOutput() as result:
                self._answer(event, result)
            case TokenUsage() as usage:
                self._count(usage)
            case RateLimits():
                pass  # of the account, not of the conversation
            case TurnEnd():
                self._aside(event)
                self._step = None
            case _:
                self._aside(event)

    def _open(self, event: Event) -> None:
        turns = self.stream.turns
        self._step = None
        fresh = turns and turns[-1].opening and not turns[-1].steps
        if fresh and isinstance(event.content, User) and not isinstance(turns[-1].opening[-1].content, User):
            turns[-1].opening.append(event)  # what a slash command stands for, or the prompt behind a summary
        else:
            turns.append(Turn([event], [], isinstance(event.content, Compacted)))

    def _turn(self) -> Turn:
        if not self.stream.turns:
            self.stream.turns.append(Turn([], []))
        return self.stream.turns[-1]

    def _current(self) -> Step:
        if self._step is None:
            self._step = Step([])
            self._turn().steps.append(self._step)
            self._closed, self._kinds, self._unanswered = False, set(), set()
        return self._step

    def _speak(self, event: Event) -> None:
        if self._step is not None and (self._closed or self._begins_anew(event)):
            self._step = None
        step = self._current()
        self._kinds.add(type(event.content))
        if isinstance(event.content, ToolCall):
            call = Call(event, event.content)
            step.items.append(call)
            self._unanswered.add(id(call))
            if event.content.provider_call_id is not None:
                self.calls[event.content.provider_call_id] = call
        else:
            step.items.append(event)

    def _begins_anew(self, event: Event) -> bool:
        """In logs that count no tokens: whether the model was called again."""
        called = not self._counts and ToolCall in self._kinds
        if isinstance(event.content, ToolCall):
            return called and not self._unanswered
        return called or type(event.content) in self._kinds

    def _answer(self, event: Event, result: ToolOutput) -> None:
        call = self.calls.get(result.provider_call_id or "")
        if call is not None and call.result is None:
            call.result, call.ended = result, event.timestamp
            self._unanswered.discard(id(call))
        else:  # of a call that this log does not have
            self._aside(event)

    def _count(self, usage: TokenUsage) -> None:
        step = self._current()
        step.tokens += Tokens.of(usage)
        step.model = usage.model or step.model
        self._closed = True

    def _aside(self, event: Event) -> None:
        """What belongs to no one: it is shown where it stands."""
        turn = self._turn()
        if self._step is not None:
            self._step.items.append(event)
        elif turn.steps:
            turn.steps[-1].items.append(event)
        else:
            turn.opening.append(event)
