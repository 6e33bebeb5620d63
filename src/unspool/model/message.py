"""A message: role and ordered blocks, named by the hash of its meaning."""

from typing import Literal, TypeAlias

from msgspec import Struct

from unspool.model.blocks import Block, Extra, Text
from unspool.model.identity import identity, text_identity

Role: TypeAlias = Literal["system", "user", "assistant"]
Form: TypeAlias = Literal["blocks", "string", "none"]


class Message(Struct, frozen=True, gc=False, omit_defaults=True):
    id: str
    """See `identity`. Made by `message()`; never set by hand."""
    role: Role
    blocks: tuple[Block, ...]
    form: Form = "blocks"
    """How the source wrote the content: a list of blocks, one string, or null. Not hashed."""
    extra: Extra = None


def message(role: Role, blocks: tuple[Block, ...], form: Form = "blocks", extra: Extra = None) -> Message:
    return Message(identity(role, blocks), role, blocks, form, extra)


def text_message(role: Role, text: str, extra: Extra = None) -> Message:
    """A message of one text, written as a string."""
    return Message(text_identity(role, text), role, (Text(text),), "string", extra)
