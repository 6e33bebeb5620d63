"""A turn: a stored step of a conversation that we hold ourselves. It points to its message and to what it continues."""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from unspool.model.blocks import Extra
from unspool.model.exchange import Stop, Usage
from unspool.model.message import Message, Role

Status: TypeAlias = Literal["complete", "interrupted", "error"]


class Answer(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """How an assistant's turn came about: what the provider said beside the message."""

    provider: str | None = None
    """The provider's name in the configuration."""
    api: str | None = None
    """The wire that the message was generated with: thinking and signatures go back to it alone."""
    model: str | None = None
    requested: str | None = None
    """The model that was asked for, where the provider names another."""
    response_id: str | None = None
    stop: Stop | None = None
    usage: Usage | None = None
    cost: float | None = None
    """US dollars."""
    status: Status = "complete"
    error: str | None = None
    started: int | None = None
    """Milliseconds since 1970, as the two below."""
    first: int | None = None
    """When the first piece came."""
    ended: int | None = None
    extra: Extra = None


class About(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a turn has beside its message."""

    continues: tuple[str, ...] = ()
    """Ids of turns; in a draft also bookmarks, or the beginnings of ids."""
    inherited: dict[str, Any] = {}
    """Options that hold from here on: a delta. Null takes one away again."""
    head: str | None = None
    """The bookmark that was moved here when the turn was stored."""
    cache: bool = False
    """The provider is asked to cache what was said up to here."""
    type: Literal["document"] | None = None
    content_type: str | None = None
    document_name: str | None = None
    original_path: str | None = None
    file_size: int | None = None
    answer: Answer | None = None
    origin: Extra = None
    """Where an imported turn came from."""


class Turn(About, frozen=True, omit_defaults=True, kw_only=True):
    """As it is stored, and never changed again."""

    id: str
    """SCRU128, in small letters."""
    role: Role
    message: str
    """The hash that the message is kept by."""


class Draft(About, frozen=True, omit_defaults=True):
    """A turn that is to be stored. `head` is a bookmark to make, or to move here."""

    message: Message
