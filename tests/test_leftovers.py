"""Databases with many sessions, which are asked for one by one."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from entries import conversations
from unspool.ingest import leftovers
from unspool.ingest.conversations import Conversation
from unspool.ingest.logs import OpenLog, open_log

SESSIONS = 12
TABLES = """
CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT, time_created INTEGER);
CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
CREATE TABLE part (id TEXT, message_id TEXT, data TEXT);
"""


def say(database: sqlite3.Connection, session: int, place: int, text: str) -> None:
    role, time = ("assistant" if place % 2 else "user"), 1_772_445_600_000 + 1000 * session + place
    data = {"role": role, "time": {"created": time, "completed": time}, "modelID": "larch", "providerID": "grove"}
    if place % 2:
        data["tokens"] = {"input": 3, "output": 2, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    name = f"msg_{session:02}_{place}"
    database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (name, f"ses_{session:02}", time, json.dumps(data)))
    part = json.dumps({"type": "text", "text": text})
    database.execute("INSERT INTO part VALUES (?, ?, ?)", (f"prt_{name}", name, part))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Each third session is the sub-agent of the one before it."""
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(TABLES)
        for session in range(SESSIONS):
            parent = f"ses_{session - 1:02}" if session % 3 == 2 else None
            facts = f"ses_{session:02}", parent, "/home/ada/grove", "Trees", "1.2.0", 1_772_445_600_000 + session
            database.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?)", facts)
            for place, text in enumerate((f"Plant {session}", "Planted", "Water it", f"Watered {session}")):
                say(database, session, place, text)
    return path


def told(path: Path) -> dict[str, list[str]]:
    """Of each session, what its calls say last."""
    found = [item for item in conversations([str(path)]) if isinstance(item, Conversation)]
    return {each.session: [str(call.response.messages[0].blocks[0]) for call in each.exchanges] for each in found}


@pytest.mark.parametrize(("room", "reads"), [(50_000, 1), (40, 5), (1, SESSIONS)], ids=["all", "some", "one"])
def test_a_database_is_read_once_for_as_many_sessions_as_there_is_room(
    path: Path, room: int, reads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def counted(path: str) -> OpenLog | None:
        opened.append(path)
        return open_log(path)

    monkeypatch.setattr(leftovers, "open_log", counted)
    monkeypatch.setattr(leftovers, "_ROOM", room)
    found = told(path)
    assert len(opened) <= reads
    assert len(found) == SESSIONS - SESSIONS // 3
    for session, said in found.items():
        number = int(session.removeprefix("ses_"))
        of_agent = [number + 1] if number % 3 == 1 else []
        assert sum("Watered" in text for text in said) == 1 + len(of_agent)
        assert all(any(f"Watered {each}'" in text for text in said) for each in (number, *of_agent))


def test_what_was_written_since_is_read(path: Path) -> None:
    before = told(path)
    with closing(sqlite3.connect(path)) as database, database:
        say(database, 0, 4, "And the others?")
        say(database, 0, 5, "Watered, too")
    after = told(path)
    assert len(after["ses_00"]) == len(before["ses_00"]) + 1
