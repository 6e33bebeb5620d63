"""Read JSON text that others wrote: strictly first, then with the faults that real files have."""

import json
import math
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
    """The same JSON, valid: for NaN, huge numbers, control characters, lone surrogates, bytes that are no UTF-8."""
    text = data if isinstance(data, str) else bytes(data).decode("utf-8", "replace")
    value = json.loads(text, strict=False, parse_constant=str, parse_float=_finite)
    mended = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return mended.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def dumps(value: Any) -> str:
    """Compact JSON text."""
    return msgspec.json.encode(value).decode()


def _finite(written: str) -> float | str:
    number = float(written)
    return number if math.isfinite(number) else written
