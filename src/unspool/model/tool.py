"""A tool definition, as a request offers it to the model."""

from typing import Any

from msgspec import Struct

from unspool.model.blocks import Extra


class Tool(Struct, frozen=True, gc=False, omit_defaults=True):
    name: str
    description: str = ""
    parameters: dict[str, Any] = {}
    """A JSON Schema."""
    server_side: bool = False
    """The provider runs it."""
    extra: Extra = None
