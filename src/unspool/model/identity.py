"""Identity: SHA-256 over the canonical bytes of a message's meaning.

Canonical bytes are compact JSON with sorted keys, `["user",["text","Hi"]]`: the role, then the meaning of each block:

    text          text, or refusal
    thinking      text; what is encrypted only where there is no text
    document      medium, source, data, media_type, name
    tool_use      id, name, arguments (or the text, where they are no object)
    tool_result   call_id, whether it failed (not saying is not failing), content
    compaction    text, encrypted
    other         kind, value

Not part of it: the parent, `extra`, citations, signatures, and whether a lone text was written as string or list. So a
moved cache mark, a dropped citation or other spacing in the arguments leaves a message what it is.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from unspool.model.blocks import Block, Compaction, Document, Other, Text, Thinking, ToolResult, ToolUse

_canonical = msgspec.json.Encoder(order="sorted").encode
_sha256 = hashlib.sha256


def identity(role: str, blocks: Sequence[Block]) -> str:
    """The 64 hexadecimal digits that name a message with this meaning."""
    return fingerprint([role, *map(_meaning, blocks)])


def fingerprint(value: Any) -> str:
    """SHA-256 of a JSON value, whatever the order of its keys."""
    try:
        data = _canonical(value)
    except UnicodeEncodeError:  # a lone surrogate, which only Python's own JSON reader lets through
        data = repr(value).encode()
    return _sha256(data).hexdigest()


def _meaning(block: Block) -> tuple[Any, ...]:
    match block:
        case Text():
            return "refusal" if block.refusal else "text", block.text
        case ToolUse():
            kind = "server_tool_use" if block.server_side else "tool_use"
            return kind, block.id, block.name, block.text if block.arguments is None else block.arguments
        case ToolResult():
            kind = "server_tool_result" if block.server_side else "tool_result"
            return kind, block.call_id, bool(block.is_error), *map(_meaning, block.content)
        case Thinking():
            return "thinking", block.text or block.encrypted
        case Document():
            return "document", block.medium, block.source, block.data, block.media_type, block.name
        case Compaction():
            return "compaction", block.text, block.encrypted
        case Other():
            return "other", block.kind, block.value
