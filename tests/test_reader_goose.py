"""What the generic tests of readers cannot ask of Goose's: that tokens add up, however a session was kept."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from test_readers import FOLDERS, laid_out
from told import contents_of
from unspool.dialect import Record
from unspool.ingest.logs import open_log
from unspool.model import Event, Origin
from unspool.model.event import (
    AgentMessage,
    AgentSpawn,
    Notification,
    Said,
    TokenUsage,
    ToolCall,
    ToolOutput,
    TurnEnd,
    User,
)
from unspool.readers import READERS


@pytest.mark.parametrize("case", sorted((FOLDERS / "goose").glob("*.sql")), ids=lambda case: case.stem)
def test_the_calls_add_up_to_what_the_session_says(case: Path, tmp_path: Path) -> None:
    (file,) = laid_out(case, tmp_path)
    log = open_log(str(file))
    assert log is not None
    spent: dict[str, list[int]] = {}
    for event in log:
        if isinstance(event, Event) and isinstance(usage := event.content, TokenUsage):
            session = event.session_id if event.stream_id == "main" else event.stream_id.removeprefix("agent:")
            sums = spent.setdefault(session, [0, 0])
            sums[0] += usage.input + usage.cache_read + usage.cache_write
            sums[1] += usage.output
    query = "SELECT id, accumulated_input_tokens, accumulated_output_tokens FROM sessions"
    with closing(sqlite3.connect(file)) as database:
        said = {session: [given, output] for session, given, output in database.execute(query)}
    assert spent == {session: sums for session, sums in said.items() if any(sums)}


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("The user has declined to run this tool. Stop.", True),
        ("Let the user know the tool call was skipped in goose chat mode. Go on.", True),
        ("The user has declined.", False),
    ],
)
def test_a_call_that_nobody_ran_is_no_success(text: str, refused: bool, tmp_path: Path) -> None:
    answer = {"status": "success", "value": [{"type": "text", "text": text}]}
    message = {"role": "user", "created": 1, "content": [{"type": "toolResponse", "id": "c", "toolResult": answer}]}
    (tmp_path / "a.jsonl").write_text(json.dumps(message) + "\n")
    log = open_log(str(tmp_path / "a.jsonl"))
    assert log is not None
    (event,) = (item for item in log if isinstance(item, Event))
    assert event.content == ToolOutput("c", text, refused, interrupted=refused)


def test_the_model_of_a_stream_and_what_went_wrong_in_it(tmp_path: Path) -> None:
    """Also of tools whose calls and outputs are not wrapped."""
    asked = {"type": "toolRequest", "id": "c", "toolCall": {"name": "shell", "arguments": {"command": "boil"}}}
    contents = [
        ("assistant", {"type": "text", "text": "Hm"}),
        ("assistant", asked),
        ("user", {"type": "toolResponse", "id": "c", "toolResult": "hot"}),
        ("assistant", {"type": "error", "kind": "other", "message": "no water"}),
    ]
    about = {"metadata": {"inference": {"provider": "p", "requestedModel": "kettle", "resolvedModel": "kettle-2"}}}
    lines = [
        {"type": "message", "message": {"id": str(at), "role": role, "created": 1, "content": [block], **about}}
        for at, (role, block) in enumerate(contents)
    ]
    end = {"type": "complete", "total_tokens": 3, "input_tokens": 2, "output_tokens": 1}
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, [*lines, end])))
    log = open_log(str(tmp_path / "a.jsonl"))
    assert log is not None
    items = list(log)
    assert all(isinstance(item, Event) for item in items)
    said, call, result, wrong, used, _ = (item.content for item in items if isinstance(item, Event))
    assert isinstance(call, ToolCall)
    assert (said, call.kind, result) == (Said("Hm"), "execute", ToolOutput("c", "hot", False))
    assert (wrong, used) == (Notification("no water", "error"), TokenUsage("kettle-2", 2, 0, 0, 1, 0, apart=True))


def test_a_run_is_complete_though_it_failed(tmp_path: Path) -> None:
    """Goose says `complete` at the end of every run, behind errors too."""
    said = {"role": "assistant", "created": 1, "content": [{"type": "text", "text": "Hm"}]}
    failed, over = {"type": "error", "error": "rate limit"}, {"type": "complete", "total_tokens": 3}
    lines = [{"type": "message", "message": said}, failed, over, over, failed]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    ends = contents_of(tmp_path / "a.jsonl", TurnEnd)
    lost = TurnEnd("failed", text="rate limit")
    assert ends == [lost, TurnEnd("completed"), lost]


def test_an_export_may_keep_its_totals_in_an_object(tmp_path: Path) -> None:
    said = {"role": "assistant", "created": 1, "content": [{"type": "text", "text": "Hm"}]}
    total = {"input_tokens": 10, "output_tokens": 4, "total_tokens": 14, "cache_read_input_tokens": 3}
    last = {"input_tokens": 2, "output_tokens": 1, "total_tokens": 3}
    session = {"id": "s", "working_dir": "/w", "name": "n", "usage": last, "accumulated_usage": total}
    (tmp_path / "s.json").write_text(json.dumps({**session, "conversation": [said]}))
    used = contents_of(tmp_path / "s.json", TokenUsage)
    assert used == [TokenUsage(None, 7, 3, 0, 4, 0, apart=True)]


def test_closing_twice_counts_once(tmp_path: Path) -> None:
    (file,) = laid_out(FOLDERS / "goose_jsonl" / "session.jsonl", tmp_path)
    log = open_log(str(file))
    assert log is not None
    list(log)
    assert list(log._decoder.close()) == []


def test_places_heed_the_environment(tmp_path: Path) -> None:
    reader = READERS["goose"]
    assert [str(place.folder) for place in reader.places({"GOOSE_PATH_ROOT": "/g"}, tmp_path)] == ["/g/data/sessions"]
    first = next(iter(reader.places({}, tmp_path)))
    assert first.folder == tmp_path / ".local/share/goose/sessions"
    assert tmp_path / ".goose/sessions" in [place.folder for place in READERS["goose_jsonl"].places({}, tmp_path)]


def test_what_is_meant_for_the_model_alone_or_granted_is_no_prompt(tmp_path: Path) -> None:
    hint = {"type": "text", "text": "It is noon.", "annotations": {"audience": ["assistant"]}}
    granted = {"actionType": "toolConfirmationResponse", "id": "c", "permission": "allow_once"}
    declined = {"actionType": "elicitationResponse", "id": "e", "user_data": None, "action": "decline"}
    contents = [
        [hint, {"type": "text", "text": "When is tea?"}],
        [{"type": "actionRequired", "data": granted}],
        [{"type": "actionRequired", "data": declined}],
    ]
    lines = [json.dumps({"role": "user", "created": at, "content": content}) for at, content in enumerate(contents, 1)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    log = open_log(str(tmp_path / "a.jsonl"))
    assert log is not None
    assert [item.content for item in log if isinstance(item, Event)] == [
        Notification("It is noon.", "context"),
        User("When is tea?"),
        Notification("permission: allow_once", "info"),
        User("decline"),
    ]


def test_calls_that_come_after_the_rest_was_told_are_part_of_it(tmp_path: Path) -> None:
    used = {"metadata": {"usage": {"input_tokens": 6, "output_tokens": 3}}}
    records = [
        {"working_dir": "/w", "description": "Tea", "accumulated_input_tokens": 8, "accumulated_output_tokens": 4},
        {"role": "user", "created": 1, "content": [{"type": "text", "text": "Tea"}]},
        {"role": "assistant", "created": 2, "content": [{"type": "text", "text": "Hot"}], **used},
    ]
    path = str(tmp_path / "a.jsonl")
    decoder = READERS["goose_jsonl"].decoder(path)
    sums = [0, 0]
    for number, record in enumerate(records, 1):
        line = json.dumps(record).encode()
        for item in (*decoder.feed(Record(line, Origin(path, number, 0, len(line)))), *decoder.close()):
            if isinstance(item, Event) and isinstance(item.content, TokenUsage):
                sums[0] += item.content.input
                sums[1] += item.content.output
    assert sums == [8, 4]


def _delegated(agent: str) -> list[dict[str, Any]]:
    """The call that gave work to a sub-agent, and what came of it."""
    call = {"status": "success", "value": {"name": "delegate", "arguments": {"instructions": "Count the geese"}}}
    result = {"content": [{"type": "text", "text": "Nine."}], "_meta": {"subagent_session_id": agent}}
    return [
        {"role": "user", "created": 1767225601, "content": [{"type": "text", "text": "How many?"}]},
        {"role": "assistant", "created": 1767225602, "content": [{"type": "toolRequest", "id": "c", "toolCall": call}]},
        {
            "role": "user",
            "created": 1767225609,
            "content": [{"type": "toolResponse", "id": "c", "toolResult": {"status": "success", "value": result}}],
        },
    ]


_COUNTING = [
    {"role": "user", "created": 1767225603, "content": [{"type": "text", "text": "Count the geese"}]},
    {"role": "assistant", "created": 1767225608, "content": [{"type": "text", "text": "Nine."}]},
]


def _streams(file: Path) -> tuple[list[str], list[tuple[str, str]], list[AgentSpawn]]:
    """The sessions of a log, what was said in which stream of it, and who was started."""
    log = open_log(str(file))
    assert log is not None
    found = [item for item in log if isinstance(item, Event)]
    said = [(event.stream_id, event.type) for event in found if isinstance(event.content, User | AgentMessage | Said)]
    return list(log.sessions), said, [event.content for event in found if isinstance(event.content, AgentSpawn)]


_COUNTED = [("main", "user"), ("agent:20260101_2", "agent_message"), ("agent:20260101_2", "message")]


@pytest.mark.parametrize("parent", [None, ", parent_session_id TEXT"], ids=["older", "since"])
def test_the_result_of_a_call_says_whose_sub_agent_it_was(parent: str | None, tmp_path: Path) -> None:
    file = tmp_path / "sessions.db"
    with closing(sqlite3.connect(file)) as database:
        columns = "id TEXT, name TEXT, session_type TEXT, working_dir TEXT, created_at TEXT"
        database.execute(f"CREATE TABLE sessions ({columns}{parent or ''})")
        database.execute(
            "CREATE TABLE messages (id INTEGER PRIMARY KEY, message_id TEXT, session_id TEXT, role TEXT, "
            "content_json TEXT, created_timestamp INTEGER)"
        )
        for session, name, kind in (("20260101_1", "Geese", "user"), ("20260101_2", "Count", "sub_agent")):
            row = (session, name, kind, "/w", "2026-01-01 00:00:00")
            database.execute(
                "INSERT INTO sessions (id, name, session_type, working_dir, created_at) VALUES (?, ?, ?, ?, ?)", row
            )
        for session, messages in (("20260101_1", _delegated("20260101_2")), ("20260101_2", _COUNTING)):
            for message in messages:
                told = session, message["role"], json.dumps(message["content"]), message["created"]
                database.execute(
                    "INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES (?, ?, ?, ?)", told
                )
        database.commit()
    assert _streams(file) == (["20260101_1"], _COUNTED, [AgentSpawn("20260101_2", "c", description="Count")])


def test_an_export_holds_its_sub_agents(tmp_path: Path) -> None:
    agent = {"id": "20260101_2", "working_dir": "/w", "name": "Count", "conversation": _COUNTING}
    session = {"id": "20260101_1", "working_dir": "/w", "name": "Geese", "conversation": _delegated("20260101_2")}
    file = tmp_path / "export.json"
    file.write_text(json.dumps({**session, "child_sessions": [agent, 7]}))
    assert _streams(file) == (["20260101_1"], _COUNTED, [AgentSpawn("20260101_2", "c", description="Count")])
