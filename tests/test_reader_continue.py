"""Continue: what was used, and whose sessions are not its own."""

import json
from pathlib import Path

from told import contents_of
from unspool.dialect import Head
from unspool.ingest.logs import open_log
from unspool.model import Event
from unspool.model.event import TokenUsage, ToolOutput
from unspool.readers import continue_dev

CASE = Path(__file__).parent / "readers/continue/indexed/0f1e.json"


def test_what_was_used_is_what_the_session_says() -> None:
    used = contents_of(CASE, TokenUsage)
    total = json.loads(CASE.read_text())["usage"]
    assert sum(usage.input + usage.cache_read + usage.cache_write for usage in used) == total["promptTokens"]
    assert sum(usage.output for usage in used) == total["completionTokens"]


def test_a_command_that_failed_did(tmp_path: Path) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "run_terminal_command", "arguments": "{}"}}
    for status, failed in (("Command completed", False), ("Command failed with exit code 1", True), (None, False)):
        output = [{"name": "Terminal", "content": "hot", "status": status}]
        state = {"toolCallId": "c", "toolCall": call, "status": "done", "output": output}
        item = {"message": {"role": "assistant", "content": ""}, "toolCallStates": [state]}
        (tmp_path / "a.json").write_text(json.dumps({"sessionId": "a", "workspaceDirectory": "/w", "history": [item]}))
        results = contents_of(tmp_path / "a.json", ToolOutput)
        assert results == [ToolOutput("c", "hot", failed)]


def test_a_model_has_its_own_name_and_not_the_one_that_somebody_gave_it(tmp_path: Path) -> None:
    asked = {"modelTitle": "My cheap one", "completionOptions": {"model": "heron-2-mini", "maxTokens": 9}}
    answer = {"message": {"role": "assistant", "content": "Two.", "usage": {"promptTokens": 5, "completionTokens": 1}}}
    history = [{"message": {"role": "user", "content": "1+1"}}, {**answer, "promptLogs": [asked]}]
    file = tmp_path / "a.json"
    file.write_text(json.dumps({"sessionId": "a", "workspaceDirectory": "/w", "history": history}))
    log = open_log(str(file))
    assert log is not None
    (usage,) = [event.content for event in log if isinstance(event, Event) and isinstance(event.content, TokenUsage)]
    assert (usage.model, log.sessions["a"].model) == ("heron-2-mini", "heron-2-mini")


def test_what_grew_out_of_it_is_not_its_own() -> None:
    document = json.loads(CASE.read_text())
    assert continue_dev.reader.claims(Head("a.json", document=document))
    assert continue_dev.reader.claims(Head("a.json", document={**document, "history": []}))
    kiro = {**document, "history": [{**document["history"][1], "executionId": "e1"}]}
    assert not continue_dev.reader.claims(Head("a.json", document=kiro))
    assert not continue_dev.reader.claims(Head("/x/kiro.kiroagent/workspace-sessions/a.json", document=document))
    assert not continue_dev.reader.claims(Head("sessions.json", document=[document]))


def test_the_index_of_a_folder_is_read_once_and_again_when_it_changes(tmp_path: Path) -> None:
    names = [f"session-{number}" for number in range(30)]
    message = {"message": {"role": "user", "content": "Ask"}}
    for name in names:
        session = {"sessionId": name, "workspaceDirectory": "/w", "history": [message]}
        (tmp_path / f"{name}.json").write_text(json.dumps(session))
    index = tmp_path / "sessions.json"

    def begun(year: int) -> set[str | None]:
        entries = [{"sessionId": name, "dateCreated": f"{year}-03-01T10:00:00Z"} for name in names]
        index.write_text(json.dumps(entries, indent=year - 2024))
        found = set()
        for name in names:
            log = open_log(str(tmp_path / f"{name}.json"))
            assert log is not None
            list(log)
            found.add(log.sessions[name].started)
        return found

    before = continue_dev._index.cache_info().misses
    assert begun(2025) == {"2025-03-01T10:00:00.000Z"}
    assert begun(2026) == {"2026-03-01T10:00:00.000Z"}
    assert continue_dev._index.cache_info().misses == before + 2
