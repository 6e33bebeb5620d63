"""The cooked form: each message and tool once, requests as lists of their ids.

The first fields of each, their order and spelling are those of the format as llm-path writes it; what we add stands
behind them.
"""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from unspool.model.exchange import CacheMiss, Usage
from unspool.model.note import Note, Origin

CookedRole: TypeAlias = Literal["system", "user", "assistant", "tool_use", "tool_result", "thinking"]
ParentReason: TypeAlias = Literal["continues", "retry", "edit", "compaction", "switch"]
VERSION = 1


class CookedCall(Struct, frozen=True, gc=False):
    name: str
    arguments: dict[str, Any]
    id: str | None


class CookedMessage(Struct, frozen=True, gc=False):
    id: str
    role: CookedRole
    content: str
    tool_calls: tuple[CookedCall, ...] | None = None
    tool_use_id: str | None = None
    is_error: bool | None = None


class CookedTool(Struct, frozen=True, gc=False):
    id: str
    name: str
    description: str
    parameters: dict[str, Any]
    is_server_side: bool


class CookedRequest(Struct, omit_defaults=True):
    id: str
    parent_id: str | None
    timestamp: int | None
    request_messages: list[str]
    response_messages: list[str]
    model: str | None
    tools: list[str]
    duration_ms: float | None
    parent_reason: ParentReason | None
    retry_of: str | None
    format: str
    status: int | None
    stream: bool
    interrupted: bool
    stop_reason: str | None
    raw_stop_reason: str | None
    usage: Usage | None
    error: Any
    response_id: str | None
    response_model: str | None
    alternatives: list[list[str]]
    origin: Origin
    cache_miss: CacheMiss | None = None
    cost_usd: float | None = None


class Cooked(Struct):
    messages: list[CookedMessage]
    tools: list[CookedTool]
    requests: list[CookedRequest]
    notes: list[Note]
    version: int = VERSION
