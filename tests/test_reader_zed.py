"""What the generic tests of readers cannot ask of Zed's: packed threads, and messages out of them."""

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import zstandard

from test_readers import FOLDERS, laid_out
from unspool.ingest.logs import open_log
from unspool.ingest.originals import Originals
from unspool.model import Event
from unspool.model.event import ToolOutput
from unspool.readers import READERS
from unspool.sources.files import Damaged, unpacked


def test_bytes_are_unpacked_by_what_they_are() -> None:
    text = b"the same " * 1000
    assert unpacked(text) == unpacked(gzip.compress(text)) == unpacked(zstandard.compress(text)) == text
    assert unpacked(zstandard.compress(b"a") + zstandard.compress(b"b")) == b"ab"
    for packed in (gzip.compress(text)[:-5], zstandard.compress(text)[:-5]):
        with pytest.raises(Damaged):
            unpacked(packed)


@pytest.mark.parametrize(
    ("tool", "text", "is_error", "failed", "stopped"),
    [
        ("read_file", "Tool canceled by user", True, True, True),
        ("read_file", "Permission to run tool denied by user", True, True, True),
        ("read_file", 'Command "x" is what the file says', False, False, False),
        ("terminal", 'Command "make" failed with exit code 2.\n\n```\nno rule\n```', False, True, False),
        ("terminal", "The user stopped this command. No output was captured.", False, True, True),
        ("terminal", "```\nfine\n```", False, False, False),
    ],
)
def test_how_a_call_ended(tmp_path: Path, tool: str, text: str, is_error: bool, failed: bool, stopped: bool) -> None:
    result = {"tool_use_id": "c", "tool_name": tool, "is_error": is_error, "content": [{"Text": text}]}
    thread = {"version": "0.3.0", "title": "t", "messages": [{"Agent": {"content": [], "tool_results": {"c": result}}}]}
    with closing(sqlite3.connect(tmp_path / "threads.db")) as database, database:
        database.execute("CREATE TABLE threads (id, summary, updated_at, data_type, data)")
        row = ("a", "t", "2026-01-02T03:04:05Z", "json", json.dumps(thread).encode())
        database.execute("INSERT INTO threads VALUES (?, ?, ?, ?, ?)", row)
    log = open_log(str(tmp_path / "threads.db"))
    assert log is not None
    (event,) = (item for item in log if isinstance(item, Event))
    assert event.content == ToolOutput("c", text, failed, interrupted=stopped)


@pytest.mark.parametrize("case", ["thread.sql", "packed.sql", "sub_agents.sql", "older_threads.sql"])
def test_an_event_comes_from_its_message(case: str, tmp_path: Path) -> None:
    (file,) = laid_out(FOLDERS / "zed" / case, tmp_path)
    log = open_log(str(file))
    assert log is not None
    originals = Originals(log)
    for event in (item for item in log if isinstance(item, Event)):
        came_from = originals.payload(event)
        number = event.key.split(":")[1]
        assert ("messages" in came_from) is not number.isdecimal()


@pytest.mark.parametrize(("order", "first"), [("1,0", "/b"), ("0,1", "/a"), ("", "/a"), (None, "/a"), ("0,1,2", "/a")])
def test_the_first_folder_is_that_of_the_window_and_not_of_the_alphabet(
    order: str | None, first: str, tmp_path: Path
) -> None:
    (file,) = laid_out(FOLDERS / "zed" / "thread.sql", tmp_path)
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE threads SET folder_paths = '/a\n/b', folder_paths_order = ?", (order,))
    log = open_log(str(file))
    assert log is not None
    list(log)
    assert {facts.project for facts in log.sessions.values()} == {first}


def test_places_are_those_of_each_system(tmp_path: Path) -> None:
    given = {"XDG_DATA_HOME": "/data", "LOCALAPPDATA": "/local"}
    assert [str(place.folder.relative_to("/")) for place in READERS["zed"].places(given, Path("/home"))] == [
        "data/zed/threads",
        "home/Library/Application Support/Zed/threads",
        "local/Zed/threads",
        "home/.var/app",
    ]
    thread = tmp_path / ".var/app/dev.zed.Zed/data/zed/threads/threads.db"
    thread.parent.mkdir(parents=True)
    thread.touch()
    *_, packed = READERS["zed"].places({}, tmp_path)
    assert list(packed.folder.glob(packed.patterns[0])) == [thread]
