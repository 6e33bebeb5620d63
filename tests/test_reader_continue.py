"""Continue: what was used, and whose sessions are not its own."""

import json
from pathlib import Path

from unspool.dialect import Head
from unspool.ingest.logs import open_log
from unspool.model import Event
from unspool.model.event import TokenUsage
from unspool.readers import continue_dev

CASE = Path(__file__).parent / "readers/continue/indexed/0f1e.json"


def test_what_was_used_is_what_the_session_says() -> None:
    log = open_log(str(CASE))
    assert log is not None
    used = [item.content for item in log if isinstance(item, Event) and isinstance(item.content, TokenUsage)]
    total = json.loads(CASE.read_text())["usage"]
    assert sum(usage.input + usage.cache_read + usage.cache_write for usage in used) == total["promptTokens"]
    assert sum(usage.output for usage in used) == total["completionTokens"]


def test_what_grew_out_of_it_is_not_its_own() -> None:
    document = json.loads(CASE.read_text())
    assert continue_dev.reader.claims(Head("a.json", document=document))
    assert continue_dev.reader.claims(Head("a.json", document={**document, "history": []}))
    kiro = {**document, "history": [{**document["history"][1], "executionId": "e1"}]}
    assert not continue_dev.reader.claims(Head("a.json", document=kiro))
    assert not continue_dev.reader.claims(Head("/x/kiro.kiroagent/workspace-sessions/a.json", document=document))
    assert not continue_dev.reader.claims(Head("sessions.json", document=[document]))
