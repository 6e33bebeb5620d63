"""Identity: SHA-256 over the canonical bytes of a message's meaning.

Canonical bytes are fields in a fixed order, each written `<length>:<UTF-8 bytes>`, so no text can imitate a field's
end; JSON values have sorted keys and no spaces. Part of the meaning are the role and, of each block in order:

    text          text, refusal
    thinking      text; encrypted only where there is no text
    document      medium, source, data, media_type, name
    tool_use      id, name, arguments (or the text, where they are no object), server_side
    tool_result   call_id, content, is_error (not saying is not failing), server_side
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

_canonical_json = msgspec.json.Encoder(order="sorted").encode


def identity(role: str, blocks: Sequence[Block]) -> str:
    """The 64 hexadecimal digits that name a message with this meaning."""
    parts = [role.encode()]
    for block in blocks:
        _write(block, parts)
    return hashlib.sha256(b"".join([b"%d:%b" % (len(part), part) for part in parts])).hexdigest()


def text_identity(role: str, text: str) -> str:
    """`identity` of a message that is one text: most messages of all traffic, so worth being fast."""
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.sha256(b"%d:%b4:text%d:%b" % (len(role), role.encode(), len(data), data)).hexdigest()


def fingerprint(value: Any) -> str:
    """SHA-256 of a JSON value, whatever the order of its keys."""
    return hashlib.sha256(_canonical_json(value)).hexdigest()


def _write(block: Block, parts: list[bytes]) -> None:
    match block:
        case Text():
            parts += (b"refusal" if block.refusal else b"text", _bytes(block.text))
        case Thinking():
            parts += (b"thinking", _bytes(block.text or block.encrypted))
        case Document():
            parts += (b"document", block.medium.encode(), block.source.encode(), _bytes(block.data))
            parts += (_bytes(block.media_type), _bytes(block.name))
        case ToolUse():
            arguments = _bytes(block.text) if block.arguments is None else _canonical_json(block.arguments)
            parts += (b"server_tool_use" if block.server_side else b"tool_use", _bytes(block.id), _bytes(block.name))
            parts.append(arguments)
        case ToolResult():
            parts += (b"server_tool_result" if block.server_side else b"tool_result", _bytes(block.call_id))
            parts += (b"error" if block.is_error else b"", b"%d" % len(block.content))
            for inner in block.content:
                _write(inner, parts)
        case Compaction():
            parts += (b"compaction", _bytes(block.text), _bytes(block.encrypted))
        case Other():
            parts += (b"other", _bytes(block.kind), _canonical_json(block.value))


def _bytes(text: str | None) -> bytes:
    # A lone surrogate can reach us through Python's own JSON reader; it must not stop the hashing.
    return text.encode("utf-8", "surrogatepass") if text else b""
