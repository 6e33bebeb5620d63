"""A line of recorded traffic, decoded as deep as needed and no deeper.

    {"id": …, "request": {"model": …, "messages": [▒▒▒, ▒▒▒, …]}, "response": {"choices": [▒▒▒]}}
                                                    └── still bytes ──┘                └ bytes ┘

One scan gives every key of the record, of its request and of its response; lists and objects inside those stay raw.
"""

from typing import Any, TypeAlias

import msgspec
from msgspec import Raw

from unspool.dialect import Body, Scalar
from unspool.sources.jsontext import loads_or_text

Envelope: TypeAlias = dict[str, Body | list[Raw] | Scalar]

_SAID = ('"messages"', '"contents"', '"input"', '"prompt"')
open_envelope = msgspec.json.Decoder(Envelope).decode


def is_text_of_call(request: Any) -> bool:
    """Whether a recorder kept a request as the text that was sent."""
    return isinstance(request, str) and request.lstrip().startswith("{") and any(key in request for key in _SAID)


def plain(value: Any) -> Any:
    """A value of an envelope without bytes in it. Never keep a Raw: it holds its whole line."""
    match value:
        case Raw():
            return loads_or_text(bytes(value))
        case list():
            return [plain(inner) for inner in value]
        case dict():
            return {key: plain(inner) for key, inner in value.items()}
    return value
