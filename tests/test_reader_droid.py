"""Droid's tokens stand beside its log, in sum, and grow."""

import json
from pathlib import Path
from typing import Any

import pytest

from unspool.dialect import Record
from unspool.ingest.heads import head_of
from unspool.model import Event, Origin
from unspool.model.event import Notification, Said, Thinking, TokenUsage
from unspool.readers.droid import reader
from unspool.readers.droid.texts import failed, typed


def test_tokens_that_were_added_since_count_once(tmp_path: Path) -> None:
    log, settings = tmp_path / "s.jsonl", tmp_path / "s.settings.json"
    decoder = reader.decoder(str(log))
    data = b'{"type":"session_start","id":"s","cwd":"/work"}'
    assert list(decoder.feed(Record(data, Origin(str(log), 1, 0, len(data))))) == []
    told = []
    for output in (5, 5, 12):
        settings.write_text(json.dumps({"model": "a", "tokenUsage": {"inputTokens": 3, "outputTokens": output}}))
        told += [item.content for item in decoder.close() if isinstance(item, Event)]
    assert told == [TokenUsage("a", 3, 0, 0, 5, 0, apart=True), TokenUsage("a", 0, 0, 0, 7, 0, apart=True)]
    assert list(reader.beside(str(log))) == [str(settings)]


def test_a_settings_file_that_is_torn_costs_only_itself(tmp_path: Path) -> None:
    (tmp_path / "s.settings.json").write_text('{"model": "a", "tok')
    decoder = reader.decoder(str(tmp_path / "s.jsonl"))
    assert list(decoder.close()) == []


@pytest.mark.parametrize(
    ("lines", "is_droids"),
    [
        ([{"type": "session_start", "id": "s", "title": "Mend it", "owner": "me"}], True),
        ([{"type": "session_start", "id": "s", "cwd": "/w"}, {"type": "message", "message": {"role": "user"}}], True),
        ([{"type": "session_start", "id": "s", "cwd": "/w", "model": "m"}, {"type": "user_message"}], False),
        ([{"type": "session_start", "id": "s", "name": "Push day"}, {"type": "set", "reps": 12}], False),
    ],
)
def test_others_begin_with_the_start_of_a_session_too(
    lines: list[dict[str, Any]], is_droids: bool, tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert reader.claims(head_of(str(log))) is is_droids


def test_reminders_are_no_typing() -> None:
    assert [content.type for content in typed("<system-reminder>a</system-reminder>")] == ["notification"]
    assert [content.type for content in typed("a <system-reminder>b</system-reminder> c")] == ["notification", "user"]


def test_what_failed() -> None:
    assert failed("Error: Command failed (exit code: 1)", None)
    assert failed("out\n[Process exited with code 3]", None)
    assert not failed("out\n[Process exited with code 0]", None)
    assert not failed("Error: Command failed", False)


def test_without_a_sum_of_its_own_what_its_agents_used_is_taken_off(tmp_path: Path) -> None:
    children = {"b": {"inputTokens": 30, "outputTokens": 4}, "c": {"inputTokens": 50, "outputTokens": 6}}
    settings = {
        "inclusiveTokenUsage": {"inputTokens": 100, "outputTokens": 12},
        "childInclusiveTokenUsageBySessionId": children,
    }
    (tmp_path / "s.settings.json").write_text(json.dumps(settings))
    (told,) = reader.decoder(str(tmp_path / "s.jsonl")).close()
    assert isinstance(told, Event)
    assert told.content == TokenUsage(None, 20, 0, 0, 2, 0, apart=True)


def test_an_answer_names_its_model_and_a_notice_is_neither_answer_nor_prompt(tmp_path: Path) -> None:
    decoder = reader.decoder(str(tmp_path / "s.jsonl"))
    start = {"type": "session_start", "id": "s", "title": "Is it wet?", "sessionTitle": "New Session", "cwd": "/w"}
    answer = {"role": "assistant", "content": [{"type": "text", "text": "Wet."}], "modelId": "big"}
    notices = [
        {"role": role, "content": [{"type": "text", "text": text}], "visibility": "user_only"}
        for role, text in (("assistant", "The provider is busy."), ("user", "Error: Connection error."))
    ]
    thought = {"chatCompletionReasoningField": "reasoning_content", "chatCompletionReasoningContent": "Rain?"}
    lines: list[dict[str, Any]] = [start, {"type": "message", "id": "m", "message": answer, **thought}]
    both = {"role": "assistant", "content": [{"type": "thinking", "thinking": "Rain."}]}
    lines.append({"type": "message", "id": "b", "message": both, **thought})
    lines += [{"type": "message", "id": f"n{at}", "message": notice} for at, notice in enumerate(notices)]
    told: list[Any] = []
    for number, line in enumerate(lines, 1):
        data = json.dumps(line).encode()
        told += decoder.feed(Record(data, Origin("s.jsonl", number, 0, len(data))))
    assert [item.content for item in told] == [
        Thinking("Rain?"),
        Said("Wet."),
        Thinking("Rain."),
        Notification("The provider is busy.", "info"),
        Notification("Error: Connection error.", "info"),
    ]
    assert [(facts.model, facts.title) for facts in decoder.sessions.values()] == [("big", "Is it wet?")]
