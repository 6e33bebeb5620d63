"""Amp's threads: where an event came from, and how a thread that is being written is read."""

import json
from pathlib import Path
from typing import Any

from unspool.dialect import Record
from unspool.exports.events import body
from unspool.model import Event, Origin
from unspool.readers.amp import reader

THREAD = json.loads((Path(__file__).parent / "readers" / "amp" / "thread.json").read_text())


def events(document: dict[str, Any]) -> list[Event]:
    found = reader.decoder("T-a.json").feed(Record(b"", Origin("T-a.json", 1, 0, 0), document))
    return [item for item in found if isinstance(item, Event)]


def test_an_event_leads_back_to_its_message() -> None:
    said = next(event for event in events(THREAD) if event.type == "message")
    assert reader.payload(THREAD, said) == THREAD["messages"][1]


def test_a_thread_that_grows_keeps_what_was_told() -> None:
    told = {event.key: body(event) for event in events(THREAD)}
    for length in range(len(THREAD["messages"])):
        part = {**THREAD, "messages": THREAD["messages"][:length], "usageLedger": {}, "queuedMessages": []}
        for event in events(part):
            assert told[event.key] == body(event)


def test_tokens_are_those_of_the_messages_and_of_the_ledger_where_they_are_silent() -> None:
    used = [event.content for event in events(THREAD) if event.type == "token_usage"]
    assert [(usage.input, usage.cache_read, usage.cache_write, usage.output) for usage in used] == [  # type: ignore[union-attr]
        (10, 100, 20, 40),
        (50, 100, 0, 40),
        (7, 0, 0, 3),
    ]


def test_places_are_those_of_each_system(tmp_path: Path) -> None:
    places = [str(place.folder) for place in reader.places({"APPDATA": "/roaming"}, tmp_path)]
    assert places[0] == str(tmp_path / ".local/share/amp/threads")
    assert "/roaming/Code/User/globalStorage/sourcegraph.amp/threads3" in places
