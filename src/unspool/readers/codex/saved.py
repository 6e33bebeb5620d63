"""The first Codex, in spring 2025, wrote a conversation as one document, anew whenever something was said:

{"session": {"timestamp", "id", "instructions"}, "items": [{"type": "message", …}, …]}
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from unspool.dialect import Record
from unspool.model import Event, Facts, Note, Origin
from unspool.model.event import Notification
from unspool.readers.codex.items import Items
from unspool.readers.codex.thread import Thread
from unspool.sources.values import listing, mapping, string, text_of


class Saved:
    def __init__(self, path: str) -> None:
        self._path = path
        self._thread = Thread(Path(path).stem)
        self._log = self._thread.log
        self._items = Items(self._thread)

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> Iterable[Event | Note]:
        log, document = self._log, self._log.value(record)
        if not isinstance(document, dict):
            log.note("skipped", "no conversation")
            return log.take()
        header = mapping(document.get("session"))
        log.session = self._thread.id = string(header.get("id")) or log.session
        log.at(header.get("timestamp"))
        log.facts.started = log.time
        if text := text_of(header.get("instructions")):
            self._thread.outbox.say(Notification(text, "system"), "instructions")
        for number, item in enumerate(listing(document.get("items")), 1):
            log.origin = Origin(self._path, number, 0, 0)
            if isinstance(item, dict):
                self._items.read(item)
            else:
                log.note("odd", "an item that is no object")
        return log.take()

    def close(self) -> Iterable[Event | Note]:
        self._thread.outbox.close()
        return self._log.take()


def is_saved(document: Any) -> bool:
    match document:
        case {"session": {"id": str(), "timestamp": _, **header}, "items": list(items)}:
            return "instructions" in header or any("type" in mapping(item) for item in items[:5])
    return False
