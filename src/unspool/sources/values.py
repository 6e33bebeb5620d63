"""Reading values that others wrote and that may be anything: what wires and readers share."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, TypeAlias

from msgspec import Meta

from unspool.sources.jsontext import dumps

MOST = 1 << 53
Number: TypeAlias = Annotated[int, Meta(ge=0, lt=MOST)]
"""A number of things, as a Struct of somebody's records has it; see `count`."""
_UNITS = ((10**11, 1), (10**14, 10**3), (10**17, 10**6), (10**20, 10**9))
"""Seconds below 10¹¹ (the year 5138), then milliseconds, microseconds, nanoseconds: (limit, how many in a second)."""

_FIRST, _LAST = -62_135_596_800_000, 253_402_300_799_999
"""What a clock can show: from the year 1 to the end of 9999."""


def text_of(value: Any) -> str:
    """A string as it is, nothing as nothing, anything else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else dumps(value)


def string(value: Any) -> str | None:
    """A string as it is, null as None, anything else as JSON: an id that is a number is still an id."""
    return value if value is None or isinstance(value, str) else dumps(value)


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def listing(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def number(value: Any) -> int | float | None:
    """A number as it is; None for all else, also for what is true or false."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def count(value: Any) -> int:
    """How many of something: 0 for what is no number, is below 0, or is too large to have been counted."""
    if value.__class__ is int:  # nearly always
        return value if 0 < value < MOST else 0
    return int(value) if isinstance(value, float) and 0 < value < MOST else 0


def time_of(value: Any) -> int | None:
    """Milliseconds since 1970. A time without a zone is UTC; None for what is no time."""
    match value:
        case bool():
            return None
        case int() | float():
            if value <= 0:
                return None
            for limit, unit in _UNITS:
                if value < limit:
                    return int(value * 1000 / unit) if unit > 1 else int(value * 1000)
            return None
        case str():
            text = value.strip()
            try:
                moment = datetime.fromisoformat(text)
            except ValueError:
                return time_of(float(text)) if re.fullmatch(r"\d{9,17}(\.\d+)?", text) else None
            return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    return None


def clock(value: Any) -> str | None:
    """The same time as `2026-01-02T03:04:05.678Z`."""
    time = time_of(value)
    if time is None or not _FIRST <= time <= _LAST:
        return None
    return datetime.fromtimestamp(time / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def placeholder(medium: str, media_type: str | None, data: Any) -> str:
    """What stands in a text in place of an image or a document: `[image: image/png, 1,234 bytes]`.

    `data` is base64. What is only named, by an address or a file, stands as `[image: https://…]`.
    """
    size = f"{len(data) * 3 // 4 - data[-2:].count('='):,} bytes" if isinstance(data, str) and data else None
    told = ", ".join(part for part in (media_type, size) if part)
    return f"[{medium}: {told}]" if told else f"[{medium}]"
