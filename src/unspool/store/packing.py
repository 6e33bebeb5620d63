"""A message as it is kept: its JSON, with documents and long texts taken out as blobs, by their hashes.

What was taken out stands as `{"blob": HASH}`; data that was base64 is kept as the bytes that it means, and stands as
`{"base64": HASH}`. So a document that ten messages hold is kept once, under the hash of the file itself.
"""

import binascii
import hashlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from unspool.model import Message

LARGE = 16_384
"""Characters from which on a text is a blob of its own."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Message).decode
UNREADABLE = (msgspec.MsgspecError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What `unpack` raises for a damaged body."""
_BLOB, _BASE64 = "blob", "base64"


class Packed(Struct, frozen=True):
    hash: str
    body: bytes
    blobs: Mapping[str, bytes]
    """By hash; empty for nearly all messages."""


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def pack(message: Message) -> Packed:
    """How a source wrote a lone text, as a string or as a list, is not kept: it means the same."""
    message = replace(message, form="blocks")
    blobs: dict[str, bytes] = {}
    try:
        body = _encode(message)
    except (UnicodeEncodeError, OverflowError):
        message = msgspec.convert(_mended(msgspec.to_builtins(message)), Message)
        body = _encode(message)
    if len(body) >= LARGE or b'"type":"document"' in body:
        value = msgspec.to_builtins(message)
        for block in value["blocks"]:
            _take_out(block, blobs)
        if blobs:
            body = _encode(value)
    return Packed(digest(body), body, blobs)


def unpack(body: bytes, blob: Callable[[str], bytes]) -> Message:
    """`blob` gives what is kept under a hash."""
    try:
        return _decode(body)
    except msgspec.ValidationError:  # something was taken out
        value = msgspec.json.decode(body)
        for block in value["blocks"]:
            _put_back(block, blob)
        return msgspec.convert(value, Message)


def blobs_of(body: bytes) -> set[str]:
    """The hashes of what was taken out."""
    found: set[str] = set()

    def seen(hash_: str) -> bytes:
        found.add(hash_)
        return b""

    unpack(body, seen)
    return found


def _take_out(block: dict[str, Any], blobs: dict[str, bytes]) -> None:
    match block:
        case {"type": "document", "source": "base64", "data": str(data)} if data:
            raw = _plain(data)
            kept = data.encode() if raw is None else raw
            block["data"] = {_BLOB if raw is None else _BASE64: _put(kept, blobs)}
        case {"type": "document", "source": "text", "data": str(data)} if data:
            block["data"] = {_BLOB: _put(data.encode(), blobs)}
        case {"type": "text" | "thinking" | "compaction", "text": str(text)} if len(text) >= LARGE:
            block["text"] = {_BLOB: _put(text.encode(), blobs)}
        case {"type": "tool_result", "content": list(content)}:
            for inner in content:
                _take_out(inner, blobs)


def _put_back(block: dict[str, Any], blob: Callable[[str], bytes]) -> None:
    for key in ("data", "text"):
        match block.get(key):
            case {"blob": str(hash_)}:
                block[key] = blob(hash_).decode()
            case {"base64": str(hash_)}:
                block[key] = b64encode(blob(hash_)).decode()
    if block.get("type") == "tool_result":
        for inner in block["content"]:
            _put_back(inner, blob)


def _put(data: bytes, blobs: dict[str, bytes]) -> str:
    hash_ = digest(data)
    blobs[hash_] = data
    return hash_


def _plain(data: str) -> bytes | None:
    """What base64 means, if writing it again gives the same text."""
    try:
        raw = b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if b64encode(raw).decode() == data else None


def _mended(value: Any) -> Any:
    """Without what no JSON of ours can hold: half a character, a number beyond all bounds."""
    match value:
        case str():
            return value.encode("utf-8", "replace").decode() if not value.isascii() else value
        case bool():
            return value
        case int() if not -(2**63) <= value < 2**64:
            return str(value)
        case list() | tuple():
            return [_mended(each) for each in value]
        case dict():
            return {_mended(key): _mended(each) for key, each in value.items()}
    return value
