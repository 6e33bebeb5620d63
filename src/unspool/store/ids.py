"""SCRU128 ids of turns: sorted by time as text, in one order whichever process made them."""

import re
import time
from secrets import randbits

from scru128 import Scru128Id, new

_SHAPE = re.compile(r"[0-9A-Za-z]{25}")
_DAY = 86_400_000


def parse(text: str) -> str | None:
    """The id as we write it, whichever case it is given in; None for what is none."""
    if not _SHAPE.fullmatch(text):
        return None
    try:
        return str(Scru128Id.from_str(text))
    except ValueError:  # more than 128 bits
        return None


def time_of_id(turn: str) -> int:
    """When it was made: milliseconds since 1970."""
    return int(Scru128Id.from_str(turn).timestamp)


def horizon() -> str:
    """An id later than this is no clock's that we go by: then ours would run ahead for ever."""
    now = time.time_ns() // 1_000_000
    return str(Scru128Id.from_fields(now + _DAY, 0, 0, 0))


def next_id(last: str | None) -> str:
    """A new id behind the last one: within the same millisecond, and after a clock was set back, it is counted up."""
    fresh = new()
    if last is not None and fresh <= (before := Scru128Id.from_str(last)):
        fresh = Scru128Id((((int(before) >> 32) + 1) << 32) | randbits(32))
    return str(fresh)
