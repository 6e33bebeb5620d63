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
from told import read_log
from unspool.dialect import Record
from unspool.ingest.heads import head_of
from unspool.ingest.logs import open_log
from unspool.ingest.originals import Originals
from unspool.model import Event, Note, Origin
from unspool.model.event import (
    AgentSpawn,
    Compacted,
    Notification,
    Said,
    TokenUsage,
    ToolCall,
    ToolOutput,
    TurnEnd,
    User,
)
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


def test_a_database_in_use_is_read_with_what_was_just_written_and_left_alone(tmp_path: Path) -> None:
    (file,) = laid_out(FOLDERS / "opencode" / "session.sql", tmp_path)
    message, part = json.dumps({"role": "user"}), json.dumps({"type": "text", "text": "Written this moment."})
    command = [sys.executable, "-c", WRITER, str(file), message, part]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in (file, Path(f"{file}-wal"))}
        events, notes = read_log(file)
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
    results = [event.content for event in read_log(file)[0] if isinstance(event.content, ToolOutput)]
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
    events, notes = read_log(file)
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
    kept = {event.key for event in read_log(file)[0]}
    lines = []
    with closing(sqlite3.connect(file)) as database:
        query = "SELECT id, message_id, data FROM part WHERE message_id = 'msg_02'"
        parts = database.execute(query).fetchall()
    for part in parts:
        inner = {"id": part[0], "messageID": part[1], "sessionID": "ses_1", **json.loads(part[2])}
        lines.append(json.dumps({"type": "text", "timestamp": 1, "sessionID": "ses_1", "part": inner}))
    live = tmp_path / "stdout.jsonl"
    live.write_text("\n".join(lines))
    printed = {event.key for event in read_log(live)[0]}
    assert printed
    assert printed <= kept


def test_files_of_messages_and_parts_are_read_with_their_session_alone(tmp_path: Path) -> None:
    files = laid_out(FOLDERS / "opencode_tree" / "session", tmp_path)
    reader = READERS["opencode_tree"]
    assert all(reader.claims(head_of(str(file))) for file in files)
    assert [read_log(file)[0] for file in files if "session" not in file.parts[-3]] == [[]] * (len(files) - 2)
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
    assert read_log(session)[0] == []


@pytest.mark.parametrize(
    ("title", "told"), [("New session - 2026-03-01T10:00:00.123Z", None), ("New session", "New session")]
)
def test_a_session_without_a_title_of_its_own_has_none(tmp_path: Path, title: str, told: str | None) -> None:
    path = tmp_path / "storage" / "session" / "p" / "ses_1.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"id": "ses_1", "title": title, "version": "1", "time": {"created": 1}}))
    log = open_log(str(path))
    assert log is not None
    list(log)
    assert log.sessions["ses_1"].title == told


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
    events, notes = read_log(tmp_path / "a.json")
    assert [event.type for event in events] == ["user", "notification", "tool_call", "tool_result"]
    assert [event.content for event in events[:2]] == [User("! boil"), Notification("hot", "context")]
    assert notes == []


def test_a_call_that_was_stopped_did_not_end(tmp_path: Path) -> None:
    stopped = {"status": "error", "input": {}, "error": "Tool execution aborted", "metadata": {"interrupted": True}}
    part = {"id": "prt_1", "type": "tool", "callID": "c", "tool": "bash", "state": stopped}
    message = {"info": {"id": "msg_1", "sessionID": "ses_1", "role": "assistant"}, "parts": [part]}
    (tmp_path / "a.json").write_text(json.dumps([message]))
    events, _ = read_log(tmp_path / "a.json")
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
    events, notes = read_log(path)
    assert [event.type for event in events] == ["token_usage", "message", "turn_end"]
    assert (events[1].content, notes) == (Said("Hot."), [])


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
        ("compaction", {"status": "completed", "reason": "auto", "summary": "", "recent": "", "providerContext": {}}),
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
    events, notes = read_log(path)
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
        Compacted("", "auto"),
        TurnEnd("completed"),
        TurnEnd("interrupted"),
    ]


def test_places_heed_the_environment(tmp_path: Path) -> None:
    reader = READERS["opencode"]
    given = {"XDG_DATA_HOME": "/data", "OPENCODE_DB": "/elsewhere/own.db", "KILO_DB": "mine.db", "MIMOCODE_HOME": "/m"}
    places = list(reader.places(given, tmp_path))
    assert [(str(place.folder), place.patterns[0]) for place in places][:3] == [
        ("/elsewhere", "own.db"),
        ("/data/kilo", "mine.db"),
        ("/data/opencode", "opencode*.db"),
    ]
    assert str(places[-1].folder) == "/m/data"
    assert next(place.folder for place in READERS["opencode_tree"].places({}, tmp_path)) == (
        tmp_path / ".local/share/opencode"
    )


SESSIONS = "(id, parent_id, fork_session_id, directory, title, version, model, time_created)"
WHOLE = "(id, session_id, type, seq, time_created, data)"
ANSWER = {
    "model": {"id": "sonnet-9", "providerID": "acme"},
    "tokens": {"input": 5, "output": 2, "reasoning": 0, "cache": {"read": 0, "write": 0}},
}


def whole(text: str, at: int, **more: Any) -> str:
    return json.dumps({**ANSWER, "content": [{"type": "text", "text": text}], "time": {"created": at}, **more})


def test_sessions_of_version_2_have_a_table_of_their_own_and_forks_pay_nothing_again(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    aborted = {"error": {"type": "aborted", "message": "Step interrupted"}}
    picture = {"data": "QUJD", "mime": "image/png", "source": {"type": "inline"}, "name": "a.png"}
    notes_file = {"data": "QUJD", "mime": "text/plain", "source": {"type": "inline"}, "mention": {"text": "@a.txt"}}
    rows = [
        ("msg_1", "ses_b", "user", 0, 1002, json.dumps({"text": "Look at @a.txt", "files": [picture, notes_file]})),
        ("msg_2", "ses_b", "assistant", 1, 1003, whole("Seen.", 1003, **aborted)),
        ("msg_3", "ses_b", "idle", 2, 1004, json.dumps({"outcome": "interrupted", "time": {"created": 1004}})),
        ("msg_9_1", "ses_a", "assistant", 1, 1003, whole("Seen.", 1003)),
        ("msg_9_2", "ses_a", "assistant", 3, 2001, whole("Once more.", 2001)),
        ("msg_9_3", "ses_a", "compaction", 4, 2002, json.dumps({"status": "running", "summary": "So far"})),
    ]
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"CREATE TABLE session_v2 {SESSIONS}")
        database.execute(f"CREATE TABLE session_message {WHOLE}")
        sessions = [("ses_b", None, 1001, None), ("ses_a", "ses_b", 2000, "Fork")]
        for key, fork, created, title in sessions:
            row = (key, None, fork, "/w", title, "2.0.3", json.dumps(ANSWER["model"]), created)
            database.execute("INSERT INTO session_v2 VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        database.executemany("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?)", rows)
    log = open_log(str(path))
    assert log is not None
    assert log.reader.name == "opencode"
    events = [item for item in log if isinstance(item, Event)]
    assert [(event.session_id, event.content) for event in events] == [
        ("ses_a", Said("Seen.")),
        ("ses_a", Said("Once more.")),
        ("ses_a", TokenUsage("sonnet-9", 5, 0, 0, 2, 0)),
        ("ses_b", User("Look at @a.txt\n[image: image/png, 3 bytes]")),
        ("ses_b", Said("Seen.")),
        ("ses_b", TokenUsage("sonnet-9", 5, 0, 0, 2, 0)),
        ("ses_b", TurnEnd("interrupted", text="Step interrupted")),
    ]
    assert (log.sessions["ses_a"].parent, log.sessions["ses_b"].parent) == ("ses_b", None)
    assert (log.sessions["ses_a"].title, log.sessions["ses_b"].project) == ("Fork", "/w")


def test_what_version_2_copied_is_told_once_and_what_it_went_on_with_is_told(tmp_path: Path) -> None:
    (path,) = laid_out(FOLDERS / "opencode" / "older_database.sql", tmp_path)
    before, _ = read_log(path)
    rows = [
        ("msg_21", "ses_1", "user", 0, 1767225600010, json.dumps({"text": "Count to two."})),
        ("msg_x1", "ses_1", "synthetic", 1, 1767225600010, json.dumps({"text": "Copied context."})),
        ("msg_22", "ses_1", "assistant", 2, 1767225600100, whole("One. Two.", 1767225600100)),
        ("msg_24", "ses_1", "user", 3, 1767225600900, json.dumps({"text": "And three?"})),
    ]
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"CREATE TABLE session_v2 {SESSIONS}")
        database.execute(f"CREATE TABLE session_message {WHOLE}")
        row = ("ses_1", None, None, "/home/me/shop", "Counting", "2.0.3", None, 1767225600000)
        database.execute("INSERT INTO session_v2 VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        database.executemany("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?)", rows)
    log = open_log(str(path))
    assert log is not None
    events = [item for item in log if isinstance(item, Event)]
    assert [event.content for event in events] == [*(event.content for event in before), User("And three?")]
    assert log.sessions["ses_1"].title == "Counting"


def test_what_version_2_prints_pairs_its_calls(tmp_path: Path) -> None:
    time = {"start": 1767225600000, "end": 1767225600010}
    told = {"metadata": {"exit": 2, "truncated": False}, "content": [{"type": "text", "text": "no"}]}
    state = {"status": "completed", "input": {"command": "make"}, "output": "no", "metadata": told, "time": time}
    part = {"partID": "prt_1", "messageID": "msg_1", "type": "tool", "id": "call_1", "tool": "shell", "state": state}
    late = {**part, "partID": "prt_2", "id": "call_2", "state": {**state, "metadata": {"metadata": {"timeout": True}}}}
    lines = [{"type": "tool_use", "timestamp": 1, "sessionID": "ses_1", "part": each} for each in (part, late)]
    path = tmp_path / "stdout.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    calls = [event.content for event in read_log(path)[0]]
    assert [content.provider_call_id for content in calls if isinstance(content, ToolCall)] == ["call_1", "call_2"]
    assert [content for content in calls if isinstance(content, ToolOutput)] == [
        ToolOutput("call_1", "no", True),
        ToolOutput("call_2", "no", True),
    ]


def test_an_export_of_version_2(tmp_path: Path) -> None:
    stopped = {"status": "error", "input": {"id": "tea"}, "error": {"type": "tool.interrupted", "message": "Stopped"}}
    partly = {**stopped, "content": [{"type": "text", "text": "half of it"}]}
    tool = {"type": "tool", "id": "c", "name": "skill", "state": partly, "time": {"created": 1003}}
    info = {"id": "ses_1", "location": {"directory": "/w"}, "title": "Tea", "time": {"created": 1000, "updated": 1}}
    messages = [
        {"id": "msg_1", "type": "user", "text": "Make tea.", "time": {"created": 1001}},
        {"id": "msg_2", "type": "assistant", **ANSWER, "content": [tool], "time": {"created": 1002}},
    ]
    path = tmp_path / "tea.json"
    path.write_text(json.dumps({"info": info, "messages": messages}))
    log = open_log(str(path))
    assert log is not None
    assert log.reader.name == "opencode_export"
    contents = [item.content for item in log if isinstance(item, Event)]
    assert contents[0] == User("Make tea.")
    call = contents[1]
    assert isinstance(call, ToolCall)
    assert call.kind == "agent"
    assert contents[2:] == [
        ToolOutput("c", "Stopped\nhalf of it", True, interrupted=True),
        TokenUsage("sonnet-9", 5, 0, 0, 2, 0),
    ]
    assert (log.sessions["ses_1"].project, log.sessions["ses_1"].title) == ("/w", "Tea")
