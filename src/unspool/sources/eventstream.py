"""Amazon's event streams (`application/vnd.amazon.eventstream`), in which Bedrock answers: binary frames of JSON.

    length of all (4) · length of the headers (4) · checksum (4) · headers · JSON · checksum (4)

A header says which kind of event it is. Claude's own events come inside a `chunk`, as base64.
"""

import base64
import binascii
import struct
import zlib
from collections.abc import Iterator
from typing import Any

from unspool.sources.jsontext import Unreadable, loads

_PRELUDE = struct.Struct(">III")
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Bytes of a header's value, by its type; texts (7) and bytes (6) say their length."""


def is_event_stream(data: bytes) -> bool:
    """Whether a frame begins here: its first checksum fits."""
    return len(data) >= _PRELUDE.size and zlib.crc32(data[:8]) == _PRELUDE.unpack_from(data)[2]


def frames(data: bytes) -> Iterator[Any]:
    """The events of the frames that are whole, each in the form that the same API has for it elsewhere."""
    at = 0
    while is_event_stream(data[at : at + _PRELUDE.size]):
        length, headed, _ = _PRELUDE.unpack_from(data, at)
        if length < _PRELUDE.size + headed + 4 or at + length > len(data):
            return
        start = at + _PRELUDE.size
        yield from _event(_headers(data[start : start + headed]), data[start + headed : at + length - 4])
        at += length


def _headers(data: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    while at < len(data):
        name = data[at + 1 : at + 1 + data[at]].decode("utf-8", "replace")
        at += 1 + data[at]
        kind = data[at] if at < len(data) else 0
        at += 1
        size = _SIZES.get(kind)
        if size is None:
            size, at = int.from_bytes(data[at : at + 2], "big"), at + 2
        if kind == 7:
            found[name] = data[at : at + size].decode("utf-8", "replace")
        at += size
    return found


def _event(headers: dict[str, str], payload: bytes) -> Iterator[Any]:
    try:
        value = loads(payload) if payload else {}
        if isinstance(value, dict) and isinstance(inner := value.get("bytes"), str):
            yield loads(base64.b64decode(inner))
            return
    except (*Unreadable, binascii.Error):
        value = payload.decode("utf-8", "replace")
    if kind := headers.get(":event-type"):
        yield {kind: value}
    else:
        about = value if isinstance(value, dict) else {"message": value}
        failed = headers.get(":exception-type") or headers.get(":error-code") or "error"
        yield {"type": "error", "error": {"type": failed, "message": headers.get(":error-message"), **about}}
