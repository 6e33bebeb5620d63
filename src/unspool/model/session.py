"""A session: one run of one agent, told in full (`Session`) or in a row (`Digest`)."""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from unspool.model.event import MAIN, Event, RateLimitState, TokenUsage, ToolCall, ToolOutput
from unspool.model.exchange import Usage


class Facts(Struct, omit_defaults=True):
    """What a log says of its session beside the events. Filled as the log is read; the last word wins."""

    agent: str
    id: str
    project: str | None = None
    """The folder it ran in."""
    title: str | None = None
    model: str | None = None
    version: str | None = None
    """Of the agent."""
    branch: str | None = None
    started: str | None = None
    """Where the log says so beside its events."""
    parent: str | None = None
    """The session that this one is a sub-agent or a fork of, where it is not a stream of it."""
    tools: tuple[str, ...] = ()
    """Their names, where the log lists what the agent may use."""


class Tokens(Struct, frozen=True, gc=False):
    """The sums of a session's token_usage events."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0
    """Part of `output`."""
    cache_write_1h: int = 0
    """Part of `cache_write`: tokens that are cached for an hour."""

    @staticmethod
    def of(used: TokenUsage | Usage) -> "Tokens":
        """Return the tokens of one call."""
        return Tokens(used.input, used.cache_read, used.cache_write, used.output, used.reasoning, used.cache_write_1h)

    @property
    def usage(self) -> Usage:
        """The sum as if it were that of one call: so it can be priced."""
        return Usage(self.input, self.cache_read, self.cache_write, self.output, self.reasoning, self.cache_write_1h)

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(
            self.input + other.input,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.output + other.output,
            self.reasoning + other.reasoning,
            self.cache_write_1h + other.cache_write_1h,
        )

    def __sub__(self, other: "Tokens") -> "Tokens":
        return Tokens(
            self.input - other.input,
            self.cache_read - other.cache_read,
            self.cache_write - other.cache_write,
            self.output - other.output,
            self.reasoning - other.reasoning,
            self.cache_write_1h - other.cache_write_1h,
        )

    @property
    def total(self) -> int:
        """Reasoning is part of the output."""
        return self.input + self.cache_read + self.cache_write + self.output


class Share(Struct, frozen=True, gc=False):
    """What one model did of a stream."""

    calls: int = 0
    tokens: Tokens = Tokens()
    cost_usd: float = 0.0
    """The sum of the agent's own estimates, for the calls that have one."""
    estimated: int = 0
    """The number of calls with such an estimate."""

    def __add__(self, other: "Share") -> "Share":
        return Share(
            self.calls + other.calls,
            self.tokens + other.tokens,
            self.cost_usd + other.cost_usd,
            self.estimated + other.estimated,
        )


class StreamDigest(Struct):
    """What is worth knowing of one stream without reading it again."""

    events: int = 0
    turns: int = 0
    tools: int = 0
    tokens: Tokens = Tokens()
    models: dict[str, Share] = {}
    """Of the tokens whose model the log names."""
    unnamed: Share = Share()
    """The calls whose model the log does not name."""
    prompt: str | None = None
    start: str | None = None
    end: str | None = None
    calls: bytes = b""
    """Hashes of the calls to the model whose ids the log has, 8 bytes each: a copied session has them again."""
    spent: bytes = b""
    """The numbers of `Tokens` and the agent's own estimate of the cost, for each of these calls, as one MessagePack
    list. It is decoded only if a call was copied."""
    rate_limits: list[RateLimitState] = []
    """The newest state of each limit."""

    def shares(self, otherwise: str | None) -> Iterator[tuple[str | None, Share]]:
        """Yield each model with its share. Calls whose model the log does not name count as the other model's."""
        rest = self.tokens
        for model, share in self.models.items():
            yield model, share
            rest -= share.tokens
        if rest.total:
            yield otherwise, replace(self.unnamed, tokens=rest)


class Digest(Struct):
    """One session as one file has it."""

    facts: Facts
    streams: dict[str, StreamDigest]


class Call(Struct):
    """A tool call together with its result."""

    event: Event
    call: ToolCall
    result: ToolOutput | None = None
    ended: str | None = None
    """When the result came."""
    agents: tuple[str, ...] = ()
    """Streams of the sub-agents that it started."""


class Step(Struct):
    """What came of one call to the model, as far as the log tells: words, calls and their results."""

    items: list[Event | Call]
    tokens: Tokens = Tokens()
    model: str | None = None

    @property
    def status(self) -> str:
        """failed: a call did. in_progress: a call has no result. Else done."""
        calls = [item for item in self.items if isinstance(item, Call)]
        if any(call.result is not None and call.result.is_error for call in calls):
            return "failed"
        return "in_progress" if any(call.result is None for call in calls) else "done"


class Turn(Struct):
    """From one prompt to the next."""

    opening: list[Event]
    """The prompt: what was typed, or a slash command and what it stands for. Empty before the first one."""
    steps: list[Step]
    compacted: bool = False
    """It began with a summary of what came before."""


class Stream(Struct):
    name: str
    turns: list[Turn]
    agent_type: str | None = None
    description: str | None = None

    @property
    def is_main(self) -> bool:
        return self.name == MAIN


class Session(Struct):
    facts: Facts
    streams: dict[str, Stream]
    """The main one first, the others in the order of their start."""
