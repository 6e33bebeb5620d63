"""A message: role and ordered blocks, named by the hash of its meaning."""

from typing import Literal, TypeAlias

from msgspec import Struct

from unspool.model.blocks import Block, Extra
from unspool.model.identity import identity

Role: TypeAlias = Literal["system", "user", "assistant"]
Form: TypeAlias = Literal["blocks", "string", "none"]


class Message(Struct, frozen=True, omit_defaults=True):
    id: str
    """See `identity`. Made by `message()`; never set by hand."""
    role: Role
    blocks: tuple[Block, ...]
    form: Form = "blocks"
    """How the source wrote the content: a list of blocks, one string, or null. Not hashed."""
    extra: Extra = None


def message(role: Role, blocks: tuple[Block, ...], form: Form = "blocks", extra: Extra = None) -> Message:
    return Message(identity(role, blocks), role, blocks, form, extra)
