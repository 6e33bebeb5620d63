"""OpenCode's server: whose its events are, and what it says in two languages."""

import json
from pathlib import Path

from unspool.ingest.heads import head_of
from unspool.ingest.logs import open_log
from unspool.model import Event
from unspool.model.event import Said
from unspool.readers import READERS


def test_a_session_that_its_server_tells_of_is_no_other_agents(tmp_path: Path) -> None:
    told = {"id": "ses_1", "directory": "/w", "time": {"created": 1767225600000}}
    for number, event in enumerate(
        [
            {"id": "evt_1", "type": "session.created", "properties": {"sessionID": "ses_1", "info": told}},
            {"id": "evt_1", "created": 1767225600000, "type": "session.created", "data": {"sessionID": "ses_1"}},
        ]
    ):
        file = tmp_path / f"{number}.jsonl"
        file.write_text(json.dumps(event))
        assert [reader.name for reader in READERS.values() if reader.claims(head_of(str(file)))] == ["opencode_stream"]


def test_what_a_server_says_in_both_languages_is_told_once(tmp_path: Path) -> None:
    said = {"id": "p", "messageID": "m", "sessionID": "s", "type": "text", "text": "Hoo.", "time": {"end": 2}}
    events = [
        {"type": "message.updated", "properties": {"info": {"id": "m", "sessionID": "s", "role": "assistant"}}},
        {
            "type": "session.next.text.ended",
            "properties": {"sessionID": "s", "assistantMessageID": "m", "text": "Hoo."},
        },
        {"type": "message.part.updated", "properties": {"part": said}},
        {"type": "session.turn.close", "properties": {"sessionID": "s", "reason": "completed"}},
    ]
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join(map(json.dumps, events)))
    log = open_log(str(file))
    assert log is not None
    assert [item.content if isinstance(item, Event) else item for item in log] == [Said("Hoo.")]
