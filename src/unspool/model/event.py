"""Events: what happened in an agent's run, one after another, whatever the agent.

    {"id", "session_id", "parent_id", "timestamp", "stream_id", "type", "content", "metadata"}

is how an event is written. In memory it holds a key in place of its id: ids are hashes, and few are ever asked for.
"""

import hashlib
from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import force_setattr

from unspool.model.action import Action, Kind, Meaning, PlanItem
from unspool.model.exchange import CacheMiss
from unspool.model.note import Origin

Level: TypeAlias = Literal["info", "warning", "error", "context", "system"]
"""context: the model was shown it, but nobody typed it. system: a system prompt or a developer's instructions."""
MAIN = "main"
"""The stream of the agent itself; that of a sub-agent is `agent:<id>`."""


class User(Struct, frozen=True, gc=False, omit_defaults=True):
    """What a person said. Images and documents stand in the text as `[image: image/png, 1,234 bytes]`."""

    type: ClassVar = "user"
    text: str
    replaces: str | None = None
    """The id of the event whose place it takes, where the person went back: what came of that, the model forgot."""
    follows: str | None = None
    """The id of the event that it comes behind, where the person took up again what they had left."""


class Thinking(Struct, frozen=True, gc=False, omit_defaults=True):
    type: ClassVar = "thinking"
    text: str
    """Empty where only a signature or a cipher was kept."""


class Said(Struct, frozen=True, gc=False, omit_defaults=True):
    """What the model said."""

    type: ClassVar = "message"
    text: str


class ToolCall(Struct, frozen=True, gc=False):
    """A call of a tool. On paper: name, kind, arguments, provider_call_id and actions.

    What it means is worked out when it is first asked for: a list of sessions never asks.
    """

    type: ClassVar = "tool_call"
    name: str
    """As the agent calls it."""
    provider_call_id: str | None
    given: Any
    """The arguments as the agent wrote them, be it an object or a text. Not written out: they stand in the record."""
    told: Meaning | Callable[[str, Any], Meaning]
    """What the call means, or who can tell."""
    done: Callable[[], tuple[Action, ...]] | None = None
    """What it really did, if that became known and was not asked for yet."""
    hosted: bool = False
    """The provider did it, and the agent wrote it down when it was done: a result need not follow. Not written out."""

    @property
    def meaning(self) -> Meaning:
        told, done = self.told, self.done
        if not callable(told) and done is None:
            return told
        meaning = told(self.name, self.given) if callable(told) else told
        if done is not None:
            meaning = Meaning(meaning.kind, meaning.arguments, done())
            force_setattr(self, "done", None)
        force_setattr(self, "told", meaning)  # it says the same as before
        return meaning

    @property
    def kind(self) -> Kind:
        return self.meaning.kind

    @property
    def arguments(self) -> Any:
        """The fields of its kind, and what else it carried."""
        return self.meaning.arguments

    @property
    def actions(self) -> tuple[Action, ...]:
        """Where it did more than one thing, or more precisely than the arguments can say."""
        return self.meaning.actions

    @property
    def unread(self) -> bool:
        """What it means was not worked out yet, and comes of nothing but what it was given."""
        return self.done is None and callable(self.told)

    def did(self, actions: Callable[[], tuple[Action, ...]]) -> "ToolCall":
        """The same call, of which it became known what it really did."""
        return ToolCall(self.name, self.provider_call_id, self.given, self.told, actions, self.hosted)


class ToolOutput(Struct, frozen=True, gc=False, omit_defaults=True):
    type: ClassVar = "tool_result"
    provider_call_id: str | None
    output: str
    """As the model saw it."""
    is_error: bool
    full_output: str | None = None
    """All of it, where the model saw only the beginning and the agent kept the rest in a file beside its log."""
    interrupted: bool = False
    """The call did not come to its end: somebody stopped it, or did not allow it."""


class TokenUsage(Struct, frozen=True, gc=False, omit_defaults=True):
    """Tokens of one call to the model, all disjoint but `reasoning`, which is part of `output`: see `Usage`.

    The sum of a session's events is what the session used: a call that is reported twice gives one event, or a second
    one with only what was added.
    """

    type: ClassVar = "token_usage"
    model: str | None
    input: int
    cache_read: int
    cache_write: int
    output: int
    reasoning: int
    response_id: str | None = None
    """The provider's id of the answer, where the log has it."""
    request_id: str | None = None
    """The provider's id of the request, where the log has it: in a proxy's records it stands too."""
    apart: bool = False
    """It is no count of the call that it stands behind: the sum of a turn or a session, or what is left of one."""
    cache_write_1h: int = 0
    """Part of `cache_write`: tokens that are cached for an hour. 0 too where the log has no split."""
    cache_miss: CacheMiss | None = None
    """Why the cache was missed, where the provider says so and the log has it."""
    cost_usd: float | None = None
    """The agent's own estimate of the call's cost, where the log has one."""


class RateLimitWindow(Struct, frozen=True, gc=False, omit_defaults=True):
    """How much of a limit is used, which starts anew after some time."""

    name: str
    """As the provider calls it: `primary`, `secondary`."""
    used_percent: float | None = None
    window_minutes: int | None = None
    resets_at: int | None = None
    """Seconds since 1970, UTC."""


class RateLimits(Struct, frozen=True, gc=False, omit_defaults=True):
    """The account's rate limits, as the provider reported them. Emitted when they change."""

    type: ClassVar = "rate_limits"
    windows: tuple[RateLimitWindow, ...] = ()
    limit: str | None = None
    """The provider's id of the limit: an account may have several."""
    limit_name: str | None = None
    plan: str | None = None
    reached: str | None = None
    """Which limit was reached, in the provider's words."""
    credits: dict[str, Any] | None = None
    """Credits bought in addition to the plan, as the provider reports them."""


class RateLimitState(RateLimits, frozen=True, gc=False, omit_defaults=True):
    """The newest word on a limit in a session."""

    timestamp: str | None = None


class Notification(Struct, frozen=True, gc=False, omit_defaults=True):
    type: ClassVar = "notification"
    text: str
    level: Level


class SlashCommand(Struct, frozen=True, gc=False, omit_defaults=True):
    type: ClassVar = "slash_command"
    name: str
    """With its slash."""
    args: str | None = None


class QueueOperation(Struct, frozen=True, gc=False, omit_defaults=True):
    """Something that was typed while the agent was busy."""

    type: ClassVar = "queue_operation"
    operation: str
    text: str | None = None
    task_id: str | None = None


class Summary(Struct, frozen=True, gc=False, omit_defaults=True):
    """What the session was about, in the agent's words."""

    type: ClassVar = "summary"
    text: str
    replaces: str | None = None
    follows: str | None = None
    """As of a prompt, where it is of what the person left: the model is shown it before what they ask there."""


class Compacted(Struct, frozen=True, gc=False, omit_defaults=True):
    """From here on the model saw a summary in place of what came before."""

    type: ClassVar = "compaction"
    text: str = ""
    trigger: str | None = None
    tokens_before: int | None = None
    kept: str | None = None
    """The id of the first event that it still saw, and all behind it: it stood behind the summary."""
    prompts: tuple[str, ...] = ()
    """The ids of prompts that it still saw, and of what stood around them: all that stood before the summary."""


class Planned(Struct, frozen=True, gc=False, omit_defaults=True):
    """A plan that the agent holds outside of a tool call."""

    type: ClassVar = "plan"
    items: tuple[PlanItem, ...] = ()
    text: str | None = None


class AgentSpawn(Struct, frozen=True, gc=False, omit_defaults=True):
    """A sub-agent began; its events stand in the stream `agent:<agent_id>`."""

    type: ClassVar = "agent_spawn"
    agent_id: str
    provider_call_id: str | None = None
    """The tool call that asked for it."""
    agent_type: str | None = None
    description: str | None = None


class AgentMessage(Struct, frozen=True, gc=False, omit_defaults=True):
    """What one agent said to another."""

    type: ClassVar = "agent_message"
    text: str
    sender: str | None = None
    recipient: str | None = None


class ModelChange(Struct, frozen=True, gc=False, omit_defaults=True):
    type: ClassVar = "model_change"
    model: str
    previous: str | None = None


class TurnEnd(Struct, frozen=True, gc=False, omit_defaults=True):
    type: ClassVar = "turn_end"
    status: str
    """completed, interrupted or failed."""
    duration_ms: float | None = None
    text: str | None = None
    """Why it was interrupted or failed."""
    reason: str | None = None
    """The agent's own word for that: error_max_turns."""
    answer: str | None = None
    """What the agent gives as the outcome of a turn that went well."""
    api_ms: float | None = None
    """How long the model was waited for."""
    model_turns: int | None = None
    """How often the model was asked, as the agent counts it."""
    cost_usd: float | None = None
    """Of the run so far, as the agent reckons it; of recorded calls, at list prices."""
    denied: tuple[str, ...] = ()
    """Tools whose use was not allowed."""
    cost_is_partial: bool = False
    """The cost leaves out calls without a known price."""


Content: TypeAlias = (
    User
    | Thinking
    | Said
    | ToolCall
    | ToolOutput
    | TokenUsage
    | Notification
    | SlashCommand
    | QueueOperation
    | Summary
    | Compacted
    | Planned
    | AgentSpawn
    | AgentMessage
    | ModelChange
    | RateLimits
    | TurnEnd
)


class Event(Struct, frozen=True, gc=False, eq=False):
    session_id: str
    """The agent's own."""
    stream_id: str
    key: str
    """What names it in its session: the record's own id or line, and the part of the record."""
    before: str | None
    """The key of the event before it in its stream."""
    timestamp: str | None
    """UTC, `2026-01-02T03:04:05.678Z`; where the record has none, that of the one before it."""
    content: Content
    origin: Origin

    @property
    def type(self) -> str:
        return self.content.type

    @property
    def id(self) -> str:
        return id_of(self.session_id, self.key)

    @property
    def parent_id(self) -> str | None:
        """The event before it in its stream."""
        return None if self.before is None else id_of(self.session_id, self.before)


def id_of(session: str, key: str) -> str:
    """Of the event that has this key in its session."""
    return hashlib.sha256(f"{session}\n{key}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
