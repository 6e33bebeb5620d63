"""A context: the messages that a model is to answer, and what was set for it."""

from typing import Any

from msgspec import Struct

from unspool.model.message import Message


class Said(Struct, frozen=True, gc=False):
    """One message of a context, and where it came from.

    Thinking and signatures mean something only to whoever wrote them: so it is kept who that was.
    """

    message: Message
    turn: str | None = None
    """Of the thread that it is a turn of."""
    cache: bool = False
    """The provider is asked to keep everything up to here at hand."""
    api: str | None = None
    """The wire of the model that wrote it; None where nobody knows."""
    provider: str | None = None
    model: str | None = None


class Context(Struct, frozen=True, gc=False):
    messages: tuple[Said, ...] = ()
    options: dict[str, Any] = {}
    """`provider_ptr`, `servers`, `search`, `tool_mode`; others are kept."""
