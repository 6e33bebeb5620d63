"""The contracts between the parts: what a record is, and what a wire must know."""

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from msgspec import Raw, Struct

from unspool.model import Message, Origin, Response, Tool

Scalar: TypeAlias = str | int | float | bool | None
Body: TypeAlias = dict[str, list[Raw] | dict[str, Raw] | Scalar]
"""A JSON object, decoded one level deep: lists and objects inside it are still bytes."""


class Record(Struct, frozen=True):
    """One raw unit of a foreign file, and where it stood."""

    data: bytes
    origin: Origin


class Signs(Struct, frozen=True):
    """What tells one wire's traffic from another's, before anything is decoded."""

    path: str
    """Of the URL, where the record names one."""
    request: Body
    tools: bytes
    """The tool definitions, one after another."""
    response: Any
    """The response body, decoded; of a stream, its first event."""


class Folded(Struct):
    """A stream put together again: the body that the same call would have given without streaming."""

    body: dict[str, Any]
    complete: bool
    error: Any = None
    unknown: tuple[str, ...] = ()
    """Types of events that we do not know."""


class Wire(Struct, frozen=True):
    """One API dialect. Every function takes any JSON value and never raises: what it cannot read it keeps."""

    name: str
    claims: Callable[[Signs], int]
    """How strongly the signs speak for this wire; the strongest claim wins, 0 is none."""
    tool_marks: tuple[bytes, ...]
    """Bytes that only this wire's tool definitions hold: looked for where no claim is strong."""
    marks: re.Pattern[bytes] | None
    """Bytes that only items of this wire hold: looked for where nothing else is strong."""
    heads: tuple[str, ...]
    """Keys of the request whose value is one message: the system prompt."""
    items: str
    """The key of the request whose value is the list of messages."""
    decode: Callable[[str, Any], Message]
    """One item, by the key it stood under. Pure: the same value gives the same message."""
    tools: Callable[[Any], Iterable[Tool]]
    """One element of the tools array; Gemini keeps several tools in one."""
    tool_keys: tuple[str, ...]
    answer: Callable[[dict[str, Any]], Response]
    fold: Callable[[Iterable[Any]], Folded]


PATH, SHAPE, HINT = 8, 3, 1
"""Weights of claims: what the URL says, what the shape of a body says, what a name suggests."""
