"""A message: role and ordered blocks."""

from typing import Literal, TypeAlias

from msgspec import Struct

from unspool.model.blocks import Block, Extra
from unspool.model.identity import identity

Role: TypeAlias = Literal["system", "user", "assistant"]
Form: TypeAlias = Literal["blocks", "string", "none"]


class Message(Struct, frozen=True, gc=False, eq=False, omit_defaults=True):
    """Two messages mean the same if their ids are equal; `==` asks whether they are one object."""

    role: Role
    blocks: tuple[Block, ...]
    form: Form = "blocks"
    """How the source wrote the content: a list of blocks, one string, or null. No part of the meaning."""
    extra: Extra = None

    @property
    def id(self) -> str:
        """The hash of its meaning: see `identity`. Computed when asked for."""
        return identity(self.role, self.blocks)
