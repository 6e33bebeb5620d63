"""What a log tells, read as the commands read it."""

from pathlib import Path
from typing import TypeVar

from unspool.ingest.logs import open_log
from unspool.model import Event, Note
from unspool.model.event import TokenUsage

Told = TypeVar("Told")


def read_log(path: Path) -> tuple[list[Event], list[Note]]:
    log = open_log(str(path))
    assert log is not None
    items = list(log)
    return [item for item in items if isinstance(item, Event)], [item for item in items if isinstance(item, Note)]


def events_of(path: Path) -> list[Event]:
    return read_log(path)[0]


def contents_of(path: Path, kind: type[Told]) -> list[Told]:
    """Of the events of this kind."""
    return [event.content for event in events_of(path) if isinstance(event.content, kind)]


def tokens_of(events: list[Event]) -> int:
    used = [event.content for event in events if isinstance(event.content, TokenUsage)]
    return sum(usage.input + usage.cache_read + usage.cache_write + usage.output for usage in used)
