"""The limit for the size of one record: a line, a document, a row of a database.

Without it, one line of a small compressed file could take all memory.
"""

import os
import re
from functools import lru_cache

from unspool.errors import UnspoolError
from unspool.model import Note, Origin

VARIABLE = "UNSPOOL_MAX_RECORD"
DEFAULT = "512MB"
_SMALLEST = 1 << 20
_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_FACTORS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def max_record() -> int:
    """Return the bytes that one record may have after decompression, as $UNSPOOL_MAX_RECORD sets it."""
    return _bytes_of(os.environ.get(VARIABLE) or DEFAULT)


@lru_cache(maxsize=4)
def _bytes_of(text: str) -> int:
    try:
        return size_of(text)
    except ValueError as error:
        raise UnspoolError(f"{VARIABLE}: {error}") from error


def size_of(text: str) -> int:
    """Return the bytes that a size such as 512MB or 2G stands for. Raise ValueError for anything else."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a size such as {DEFAULT} or 2GB")
    size = int(float(match[1]) * _FACTORS[match[2].upper()])
    if size < _SMALLEST:
        raise ValueError(f"{text!r} is too small: a record may have at least 1MB")
    return size


def too_large(what: str, size: int) -> str:
    """Format the reason for leaving out what is too large: the limit, how much was read, and how to raise it."""
    limit = megabytes(max_record())
    return (
        f"{what} is larger than the limit of {limit} for one record ({megabytes(size)} were read): "
        f"raise it with --max-record or {VARIABLE}"
    )


def too_large_note(what: str, origin: Origin) -> Note:
    """Return the note for a record that is too large. The size of its origin is what was read of it."""
    return Note("unreadable", too_large(what, origin.size), origin)


def megabytes(size: int) -> str:
    """Format a size, in megabytes or bytes."""
    return f"{size / (1 << 20):,.0f} MB" if size >= 1 << 20 else f"{size:,} bytes"
