"""An exchange: one API call, request and response, whatever the provider."""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from unspool.model.blocks import Extra
from unspool.model.message import Message
from unspool.model.note import Origin
from unspool.model.tool import Tool

StopReason: TypeAlias = Literal[
    "end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal", "pause", "context_exceeded", "error", "other"
]


class Usage(Struct, frozen=True, gc=False, omit_defaults=True):
    """Tokens of one call in one neutral form: input, cache_read, cache_write and output are disjoint.

    Anthropic's input excludes cached tokens; OpenAI's and Gemini's include them; Gemini's candidates exclude thoughts.
    Here `input` never holds a cached token and `output` always holds the reasoning:
    whole prompt = input + cache_read + cache_write.
    """

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0
    """Part of `output`."""
    cache_write_1h: int = 0
    """Part of `cache_write`: tokens that the provider keeps for an hour or longer. The other part has its shortest
    lifetime: five minutes at Anthropic. Where the provider reports no split, this is 0."""
    input_audio: int = 0
    """Part of `input`: sound, which has a price of its own."""
    output_audio: int = 0
    """Part of `output`."""
    raw: Extra = None
    """What the provider sent."""


class CacheMiss(Struct, frozen=True, gc=False, omit_defaults=True):
    """The provider's own answer to why a prompt was not served from its cache."""

    reason: str
    """In the provider's words: `messages_changed`, `tools_changed`, `unavailable`, …"""
    tokens: int | None = None
    """Missed tokens, as the provider estimates them."""


class Stop(Struct, frozen=True, gc=False, omit_defaults=True):
    reason: StopReason
    raw: str
    details: Any = None


class Response(Struct, frozen=True, gc=False, omit_defaults=True):
    messages: tuple[Message, ...] = ()
    """The answer: one message in most APIs, an item each in OpenAI Responses."""
    alternatives: tuple[tuple[Message, ...], ...] = ()
    """Further choices where the request asked for several."""
    id: str | None = None
    model: str | None = None
    stop: Stop | None = None
    usage: Usage | None = None
    cache_miss: CacheMiss | None = None
    cost_usd: float | None = None
    """The agent's own estimate of the cost in US dollars, where its log has one."""
    stream: bool = False
    interrupted: bool = False
    """The stream ended before the provider said that it was over."""
    extra: Extra = None
    wire: str | None = None
    """The dialect of the answer, if it is not that of the request: gateways mix APIs."""


class Failure(Struct, frozen=True, gc=False, omit_defaults=True):
    message: str
    """In words, for people."""
    raw: Any
    """As it stood: text, an object, an HTTP error body or an SSE error event."""


class Exchange(Struct, frozen=True, gc=False, omit_defaults=True):
    origin: Origin
    wire: str
    """The name of the dialect of the request."""
    messages: tuple[Message, ...] = ()
    tools: tuple[Tool, ...] = ()
    response: Response = Response()
    failure: Failure | None = None
    id: str | None = None
    model: str | None = None
    timestamp: int | None = None
    """Start of the call, milliseconds since 1970 UTC."""
    duration_ms: float | None = None
    status: int | None = None
    path: str = ""
    """Of the URL, where it was recorded; without the query, which may hold a key."""
    settings: dict[str, Any] = {}
    """All other keys of the request: temperature, tool choice, metadata, …"""
    extra: Extra = None
    """All other keys of the record."""

    @property
    def answer_wire(self) -> str:
        """The name of the dialect of the answer."""
        return self.response.wire or self.wire
