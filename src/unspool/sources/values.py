"""Reading values that others wrote and that may be anything: what wires and readers share."""

import re
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Annotated, Any, TypeAlias

from msgspec import Meta

from unspool.sources.jsontext import dumps

MOST = 1 << 53
Number: TypeAlias = Annotated[int, Meta(ge=0, lt=MOST)]
"""A number of things, as a Struct of somebody's records has it; see `count`."""
_UNITS = ((10**11, 1), (10**14, 10**3), (10**17, 10**6), (10**20, 10**9))
"""Seconds below 10¹¹ (the year 5138), then milliseconds, microseconds, nanoseconds: (limit, how many in a second)."""

_DIGITS = re.compile(r"\d{9,17}(\.\d+)?", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
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
    """Return a number unchanged, and None for any other value.

    True, False and NaN are not numbers, nor is anything too large to be a time, a duration or a price.
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and -MOST < value < MOST else None


def count(value: Any) -> int:
    """How many of something: 0 for what is no number, is below 0, or is too large to have been counted."""
    if value.__class__ is int:  # nearly always
        return value if 0 < value < MOST else 0
    return int(value) if isinstance(value, float) and 0 < value < MOST else 0


def time_of(value: Any) -> int | None:
    """Return a time in milliseconds since 1970, without smaller parts. Without a zone it is UTC; None for other values.

    Numbers count seconds, milliseconds, microseconds or nanoseconds, whichever gives a time before the year 5138.
    """
    match value:
        case bool():
            return None
        case int():
            return _since_epoch(value, value * 1000)
        case float():
            return _since_epoch(value, _thousandfold(repr(value))) if isfinite(value) else None
        case str():
            text = value.strip()
            try:
                return milliseconds(datetime.fromisoformat(text))
            except ValueError:
                return _since_epoch(float(text), _thousandfold(text)) if _DIGITS.fullmatch(text) else None
    return None


def _since_epoch(count: float, thousandfold: int) -> int | None:
    for limit, unit in _UNITS:
        if 0 < count < limit:
            return thousandfold // unit
    return None


def _thousandfold(digits: str) -> int:
    """Return a decimal number times 1,000, exactly as it is written, without what is left of its fraction.

    The same in floating point would turn 1771581600.999 into 1771581600998.
    """
    if "e" in digits:  # a float above 10¹⁶, which is whole, or below 0.0001
        return int(float(digits)) * 1000
    whole, _, fraction = digits.partition(".")
    return int(whole + fraction[:3].ljust(3, "0"))


def milliseconds(moment: datetime) -> int:
    """Return the last whole millisecond at or before a time, counted from 1970. A time without a zone is UTC.

    This is what JavaScript, Go and Java do: a time is never put later than it was.
    """
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH) // _MILLISECOND


def iso_time(time: int | None) -> str | None:
    """Return milliseconds since 1970 as `2026-01-02T03:04:05.678Z`; None for a year that a clock cannot show."""
    if time is None or not _FIRST <= time <= _LAST:
        return None
    return (_EPOCH + time * _MILLISECOND).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def clock(value: Any) -> str | None:
    """Return a time, whatever form it has, as `2026-01-02T03:04:05.678Z`."""
    return iso_time(time_of(value))


def placeholder(medium: str, media_type: str | None, data: Any) -> str:
    """What stands in a text in place of an image or a document: `[image: image/png, 1,234 bytes]`.

    `data` is base64. What is only named, by an address or a file, stands as `[image: https://…]`.
    """
    size = f"{len(data) * 3 // 4 - data[-2:].count('='):,} bytes" if isinstance(data, str) and data else None
    told = ", ".join(part for part in (media_type, size) if part)
    return f"[{medium}: {told}]" if told else f"[{medium}]"
