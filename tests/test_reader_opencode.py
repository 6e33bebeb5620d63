"""What the generic tests of readers cannot ask of OpenCode's: databases in use, streams that go on, files beside."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from test_readers import FOLDERS, laid_out
from unspool.dialect import Record
from unspool.ingest.heads import head_of
from unspool.ingest.logs import open_log
from unspool.ingest.originals import Originals
from unspool.model import Event, Note, Origin
from unspool.model.event import AgentSpawn, Notification, Said, TokenUsage, ToolCall, ToolOutput, TurnEnd, User
from unspool.readers import READERS

WRITER = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("PRAGMA journal_mode = WAL")
database.execute("PRAGMA wal_autocheckpoint = 0")
database.execute("INSERT INTO message VALUES ('msg_99', 'ses_1', 1767225700000, ?)", (sys.argv[2],))
database.execute("INSERT INTO part VALUES ('prt_99', 'msg_99', 'ses_1', 1767225700000, ?)", (sys.argv[3],))
database.commit()
database.execute("INSERT INTO part VALUES ('prt_98', 'msg_99', 'ses_1', 1767225700000, '{}')")
print("ready", flush=True)
sys.stdin.read()
"""


def read(path: Path) -> tuple[list[Event], list[Note]]:
    log = open_log(str(path))
    assert log is not None
    items = list(log)
    return [item for item in items if isinstance(item, Event)], [item for item in items if isinstance(item, Note)]


def test_a_database_in_use_is_read_with_what_was_just_written_and_left_alone(tmp_path: Path) -> None:
    (file,) = laid_out(FOLDERS / "opencode" / "session.sql", tmp_path)
    message, part = json.dumps({"role": "user"}), json.dumps({"type": "text", "text": "Written this moment."})
    command = [sys.executable, "-c", WRITER, str(file), message, part]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in (file, Path(f"{file}-wal"))}
        events, notes = read(file)
        after = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in (file, Path(f"{file}-wal"))}
        writer.communicate("")
    assert events[-1].content == User("Written this moment.")  # and not what is not committed yet
    assert notes == []
    assert after == before


def test_an_output_that_was_too_long_is_read_whole(tmp_path: Path) -> None:
    (file,) = laid_out(FOLDERS / "opencode" / "session.sql", tmp_path)
    (tmp_path / "tool-output").mkdir()
    (tmp_path / "tool-output" / "tool_1").write_text("all of it")
    (tmp_path / "tool_2").write_text("of somebody else")
    database = sqlite3.connect(file)
    for name in ("/elsewhere/tool-output/tool_1", "/elsewhere/../tool_2"):
        told = {"output": "all…", "outputPath": name}
        state = {"status": "completed", "input": {}, "output": "all…", "metadata": told}
        part = json.dumps({"type": "tool", "tool": "bash", "callID": name, "state": state})
        database.execute("INSERT INTO part VALUES (?, 'msg_06', 'ses_1', 1, ?)", (name, part))
    database.commit()
    database.close()
    results = [event.content for event in read(file)[0] if isinstance(event.content, ToolOutput)]
    assert [result.full_output for result in results] == [None, None, "all of it"]


def test_a_database_without_some_tables_gives_no_notes(tmp_path: Path) -> None:
    file = tmp_path / "opencode.db"
    database = sqlite3.connect(file)
    database.executescript(
        "CREATE TABLE session (id TEXT, directory TEXT, title TEXT, time_created INTEGER);"
        "CREATE TABLE session_message (id TEXT, session_id TEXT, type TEXT, time_created INTEGER, data TEXT);"
        """INSERT INTO session_message VALUES ('m', 's', 'user', 1, '{"text": "Hello?"}');"""
    )
    database.close()
    events, notes = read(file)
    assert [event.content for event in events] == [User("Hello?")]
    assert notes == []


@pytest.mark.parametrize("at", range(1, 6))
def test_a_stream_that_stops_for_a_while_says_no_word_twice(at: int) -> None:
    lines = (FOLDERS / "opencode_stream" / "server_events.jsonl").read_bytes().splitlines()
    reader = READERS["opencode_stream"]
    decoder = reader.decoder("-")
    items: list[Event | Note] = []
    for number, line in enumerate(lines, 1):
        items += decoder.feed(Record(line, Origin("-", number, 0, len(line))))
        if number == 6 + at:
            items += decoder.close()
    items += decoder.close()
    events = [item for item in items if isinstance(item, Event)]
    assert len({event.key for event in events}) == len(events)
    assert "".join(event.content.text for event in events if isinstance(event.content, Said)) == "Hello."
    assert sum(event.content.input for event in events if isinstance(event.content, TokenUsage)) == 5


def test_what_is_printed_says_the_same_as_the_database(tmp_path: Path) -> None:
    """Ids are the same, so that a session that is found twice can be told to be one."""
    (file,) = laid_out(FOLDERS / "opencode" / "session.sql", tmp_path)
    kept = {event.key for event in read(file)[0]}
    lines = []
    with closing(sqlite3.connect(file)) as database:
        query = "SELECT id, message_id, data FROM part WHERE message_id = 'msg_02'"
        parts = database.execute(query).fetchall()
    for part in parts:
        inner = {"id": part[0], "messageID": part[1], "sessionID": "ses_1", **json.loads(part[2])}
        lines.append(json.dumps({"type": "text", "timestamp": 1, "sessionID": "ses_1", "part": inner}))
    live = tmp_path / "stdout.jsonl"
    live.write_text("\n".join(lines))
    printed = {event.key for event in read(live)[0]}
    assert printed
    assert printed <= kept


def test_files_of_messages_and_parts_are_read_with_their_session_alone(tmp_path: Path) -> None:
    files = laid_out(FOLDERS / "opencode_tree" / "session", tmp_path)
    reader = READERS["opencode_tree"]
    assert all(reader.claims(head_of(str(file))) for file in files)
    assert [read(file)[0] for file in files if "session" not in file.parts[-3]] == [[]] * (len(files) - 2)
    session = str(tmp_path / "storage/session/proj1/ses_1.json")
    assert len(list(reader.beside(session))) == 5
    assert list(reader.kin(session)) == [str(tmp_path / "storage/session/proj1/ses_2.json")]
    (log,) = (log for file in files if str(file) == session and (log := open_log(session)))
    spoken = next(event for event in log if isinstance(event, Event) and isinstance(event.content, Said))
    assert reader.payload(log.document, spoken)["id"] == "prt_3"


def test_a_tree_is_never_left(tmp_path: Path) -> None:
    outside = tmp_path / "message" / "msg_1.json"
    outside.parent.mkdir()
    outside.write_text(json.dumps({"id": "msg_1", "sessionID": "ses/../..", "role": "user", "parts": []}))
    session = tmp_path / "storage" / "session" / "p" / "a.json"
    session.parent.mkdir(parents=True)
    session.write_text(json.dumps({"id": "ses/../../message", "title": "", "version": "1", "time": {"created": 1}}))
    assert read(session)[0] == []


def test_an_event_of_an_export_comes_from_its_message(tmp_path: Path) -> None:
    (file,) = laid_out(FOLDERS / "opencode_export" / "with_children.json", tmp_path)
    log = open_log(str(file))
    assert log is not None
    events = [item for item in log if isinstance(item, Event)]
    payloads = [Originals(log).payload(event)["info"]["id"] for event in events]
    assert payloads == ["msg_1"] * 4 + ["msg_2"] + ["msg_3"] * 2


def test_a_command_of_the_persons_own_is_no_call_of_the_models(tmp_path: Path) -> None:
    """Its prompt says so, and its output stands in an answer that nobody gave; the next answer is the model's."""
    ran = {"status": "completed", "input": {"command": "boil"}, "output": "hot", "time": {"start": 2, "end": 3}}
    tool = {"type": "tool", "callID": "c", "tool": "bash", "state": ran}
    told = {"type": "text", "synthetic": True, "text": "The following tool was executed by the user"}
    messages: list[tuple[str, dict[str, Any]]] = [("user", told), ("assistant", tool), ("assistant", tool)]
    (tmp_path / "a.json").write_text(
        json.dumps(
            [
                {
                    "info": {"id": f"msg_{at}", "sessionID": "ses_1", "role": role},
                    "parts": [{"id": f"prt_{at}", **part}],
                }
                for at, (role, part) in enumerate(messages)
            ]
        )
    )
    events, notes = read(tmp_path / "a.json")
    assert [event.type for event in events] == ["user", "notification", "tool_call", "tool_result"]
    assert [event.content for event in events[:2]] == [User("! boil"), Notification("hot", "context")]
    assert notes == []


def test_a_call_that_was_stopped_did_not_end(tmp_path: Path) -> None:
    stopped = {"status": "error", "input": {}, "error": "Tool execution aborted", "metadata": {"interrupted": True}}
    part = {"id": "prt_1", "type": "tool", "callID": "c", "tool": "bash", "state": stopped}
    message = {"info": {"id": "msg_1", "sessionID": "ses_1", "role": "assistant"}, "parts": [part]}
    (tmp_path / "a.json").write_text(json.dumps([message]))
    events, _ = read(tmp_path / "a.json")
    assert events[1].content == ToolOutput("c", "Tool execution aborted", True, interrupted=True)


def test_what_is_printed_without_times_is_the_models(tmp_path: Path) -> None:
    """Newer versions print parts without ids and times, and say at last that they are done."""
    tokens = {"input": 5, "output": 2, "reasoning": 0, "cache": {"read": 1, "write": 0}}
    lines: list[dict[str, Any]] = [
        {"type": "step_start", "part": {"type": "step-start"}},
        {"type": "step_finish", "part": {"reason": "stop", "tokens": tokens}},
        {"type": "text", "part": {"type": "text", "text": "Hot."}},
        {"type": "done", "reason": "idle", "rejected": []},
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps({**line, "timestamp": 1, "sessionID": "ses_1"}) for line in lines))
    events, notes = read(path)
    assert [event.type for event in events] == ["token_usage", "turn_end", "message"]
    assert (events[2].content, notes) == (Said("Hot."), [])


def test_whole_messages_of_newer_versions(tmp_path: Path) -> None:
    state = {
        "status": "completed",
        "input": {"agent": "explore", "description": "d", "prompt": "p"},
        "content": [{"type": "text", "text": "found"}],
        "metadata": {"sessionID": "ses_2", "status": "completed"},
    }
    tools = [
        {"type": "tool", "id": "c", "name": "subagent", "state": state},
        {"type": "tool", "id": "d", "name": "shell", "state": {"status": "streaming", "input": '{"comm'}},
        {"type": "tool", "id": "e", "name": "shell", "state": {**state, "metadata": {"exit": 1}}},
    ]
    output = {"output": "clean", "cursor": 5, "size": 5, "truncated": False}
    retry = {"attempt": 2, "at": 9, "error": {"type": "overloaded", "message": "busy"}}
    messages = [
        ("shell", {"shellID": "sh_1", "command": "git status", "status": "exited", "exit": 0, "output": output}),
        ("skill", {"skill": "tea", "name": "tea", "text": "Boil first."}),
        ("location-switched", {"location": {"directory": "/w"}}),
        ("assistant", {"content": tools, "retry": retry}),
        ("compaction", {"status": "failed", "reason": "auto", "error": {"type": "x", "message": "too long"}}),
        ("idle", {"outcome": "succeeded"}),
        ("idle", {"outcome": "interrupted"}),
    ]
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE session (id, parent_id, directory, title, time_created)")
        database.execute("CREATE TABLE session_message (id, session_id, type, seq, data)")
        database.execute("INSERT INTO session VALUES ('ses_1', NULL, '/w', 't', 1), ('ses_2', 'ses_1', '/w', 'd', 2)")
        for seq, (kind, data) in enumerate(messages):
            row = (f"msg_{seq}", "ses_1", kind, seq, json.dumps(data))
            database.execute("INSERT INTO session_message VALUES (?, ?, ?, ?, ?)", row)
    events, notes = read(path)
    assert notes == []
    assert [event.content for event in events if not isinstance(event.content, ToolCall)] == [
        User("! git status"),
        Notification("clean", "context"),
        Notification("Boil first.", "context"),
        AgentSpawn("ses_2", "c", "explore", "d"),
        ToolOutput("c", "found", False),
        ToolOutput("e", "found", True),
        Notification("attempt 2 failed: busy", "warning"),
        Notification("too long", "error"),
        TurnEnd("completed"),
        TurnEnd("interrupted"),
    ]


def test_places_heed_the_environment(tmp_path: Path) -> None:
    reader = READERS["opencode"]
    places = list(reader.places({"XDG_DATA_HOME": "/data", "OPENCODE_DB": "/elsewhere/own.db"}, tmp_path))
    assert [(str(place.folder), place.patterns[0]) for place in places][:2] == [
        ("/elsewhere", "own.db"),
        ("/data/opencode", "opencode*.db"),
    ]
    assert next(place.folder for place in READERS["opencode_tree"].places({}, tmp_path)) == (
        tmp_path / ".local/share/opencode"
    )
