"""Read JSON text that others wrote: strictly first, then with the faults that real files have."""

import json
from typing import Any

import msgspec

strict = msgspec.json.Decoder().decode

Unreadable = (msgspec.DecodeError, ValueError, RecursionError)
"""What `loads` raises; bytes that are no UTF-8 are a ValueError."""


def loads(data: bytes | str) -> Any:
    """The value, mending what `mend` can mend."""
    try:
        return strict(data)
    except Unreadable:
        return strict(mend(data))


def loads_or_text(data: bytes) -> Any:
    """The value; what is beyond mending as the text that it is."""
    try:
        return loads(data)
    except Unreadable:
        return data.decode("utf-8", "replace")


def mend(data: bytes | str) -> bytes:
    """The same JSON, valid: for NaN, control characters in strings, lone surrogates and bytes that are no UTF-8."""
    text = data if isinstance(data, str) else bytes(data).decode("utf-8", "replace")
    value = json.loads(text, strict=False, parse_constant=str)
    mended = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return mended.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
