"""Times of entries, to the microsecond: order is what validation asks for."""

from datetime import UTC, datetime, timedelta
from typing import Any

from unspool.sources.values import time_of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def moment(value: Any) -> tuple[int | None, str | None]:
    """Microseconds since 1970, and the day as it was written there. A time without a zone is UTC."""
    if isinstance(value, str):
        try:
            written = datetime.fromisoformat(value.strip())
            aware = written if written.tzinfo else written.replace(tzinfo=UTC)
            return (aware - _EPOCH) // _MICROSECOND, written.date().isoformat()
        except (ValueError, OverflowError):
            pass
    known = time_of(value)
    if known is None:
        return None, None
    return known * 1000, (_EPOCH + timedelta(milliseconds=known)).date().isoformat()
