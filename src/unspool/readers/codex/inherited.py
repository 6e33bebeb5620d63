"""What a fork or a sub-agent was given of another thread, and is sent with all that it says itself.

Its file begins with a copy of it, or names the file that holds it and the byte up to which it does (`history_base`).
"""

from collections.abc import Iterator
from glob import escape
from itertools import takewhile
from pathlib import Path
from typing import Any

from unspool.dialect import Record
from unspool.model import Event, Note, Origin
from unspool.readers.codex.reverted import kept_of
from unspool.readers.codex.rollout import Rollout
from unspool.sources.jsontext import Unreadable, loads
from unspool.sources.records import read_lines
from unspool.sources.values import mapping, text_of

_HOMES = ("sessions", "archived_sessions")


def inherited(path: str) -> Iterator[Event]:
    """Its events, as far as the files at hand tell them; those that were said first come first."""
    if not _header(path):
        return
    for file, end in reversed(_bases(path)):
        yield from _told(Rollout(file, follows=False), _before(end, file))
    copy = _Copy(path)
    yield from _told(copy, takewhile(lambda _: not copy.is_over, read_lines(path)))


class _Copy(Rollout):
    """Tells what a thread repeats of another, and not what it says itself."""

    def __init__(self, path: str) -> None:
        super().__init__(path, follows=False)

    @property
    def is_over(self) -> bool:
        """Nothing is repeated, or nothing any more. A header that follows the first may yet say that something is."""
        return self._header is not None and self._copied is None and self._log.origin.line > self._began

    def _inherit(self, origin: Origin, line: dict[str, Any]) -> None:
        if line.get("type") != "session_meta":
            here, self._log.origin = self._log.origin, origin
            self._read(line)
            self._log.origin = here

    def _tell_unsure(self) -> None:
        self._unsure.clear()


def _bases(path: str) -> list[tuple[str, int]]:
    """The file that a thread goes on from, with the byte at which it left it; the one that this goes on from, …"""
    found: dict[str, int] = {}
    file = path
    while (base := _base(file)) is not None and base[0] not in (path, *found):
        file, found[base[0]] = base
    return list(found.items())


def _base(path: str) -> tuple[str, int] | None:
    header = _header(path)
    base = mapping(header.get("history_base"))
    thread, end = text_of(base.get("thread_id")), base.get("end_byte_offset")
    if not thread or not isinstance(end, int):
        return None
    return kept_of(path, header) or next(((file, end) for file in _files(thread, Path(path))), None)


def _files(thread: str, path: Path) -> Iterator[str]:
    """Those of a thread: beside this file, or in whichever folder of the same home."""
    name = f"rollout-*[-_]{escape(thread)}.jsonl*"
    yield from map(str, sorted(path.parent.glob(name)))
    for home in [folder.parent for folder in path.parents if folder.name in _HOMES][:1]:
        for folder in _HOMES:
            yield from map(str, sorted((home / folder).rglob(name)))


def _before(end: int, file: str) -> Iterator[Record | Note]:
    return takewhile(lambda record: record.origin.offset < end, read_lines(file))


def _header(path: str) -> dict[str, Any]:
    """Of a file that can be read again, and is a log of lines with a payload: others repeat nothing."""
    first = next(read_lines(path), None) if Path(path).is_file() else None
    try:
        line = mapping(loads(first.data)) if isinstance(first, Record) else {}
    except Unreadable:
        return {}
    return mapping(line.get("payload")) if line.get("type") == "session_meta" else {}


def _told(rollout: Rollout, records: Iterator[Record | Note]) -> Iterator[Event]:
    for record in records:
        if isinstance(record, Record):
            yield from (item for item in rollout.feed(record) if isinstance(item, Event))
    yield from (item for item in rollout.close() if isinstance(item, Event))
