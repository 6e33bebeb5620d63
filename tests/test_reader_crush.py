"""What the generic tests of readers cannot ask of Crush's: where its databases lie, and what they keep packed."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import zstandard

from test_readers import FOLDERS, laid_out
from told import contents_of, events_of
from unspool.ingest.logs import open_log
from unspool.ingest.originals import Originals
from unspool.model import Event, Note
from unspool.model.event import TokenUsage, ToolOutput
from unspool.readers import READERS


def test_parts_may_be_packed(tmp_path: Path) -> None:
    """They say the same, and an event still leads to its row; of what is damaged only itself is lost."""
    (file,) = laid_out(FOLDERS / "crush" / "session.sql", tmp_path)
    said = [event.content for event in events_of(file)]
    with closing(sqlite3.connect(file)) as database, database:
        for key, parts in list(database.execute("SELECT id, parts FROM messages")):
            database.execute("UPDATE messages SET parts = ? WHERE id = ?", (zstandard.compress(parts.encode()), key))
    log = open_log(str(file))
    assert log is not None
    events = [item for item in log if isinstance(item, Event)]
    assert [event.content for event in events] == said
    assert Originals(log).payload(events[0])["parts"][0]["data"] == {"text": "Say hello."}
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE messages SET parts = substr(parts, 1, 20) WHERE id = 'm6'")
    log = open_log(str(file))
    assert log is not None
    items = list(log)
    assert [item.reason for item in items if isinstance(item, Note)] == ["a message whose packed parts are damaged"]
    assert [item.content for item in items if isinstance(item, Event)] == [one for one in said if one != said[-2]]


def test_a_call_that_was_not_allowed_did_not_end(tmp_path: Path) -> None:
    (file,) = laid_out(FOLDERS / "crush" / "session.sql", tmp_path)
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE messages SET parts = replace(parts, 'not found', 'User denied permission')")
    results = contents_of(file, ToolOutput)
    assert [(result.is_error, result.interrupted) for result in results] == [
        (False, False),
        (True, True),
        (False, False),
    ]


def test_the_project_is_the_folder_around_it(tmp_path: Path) -> None:
    folder = tmp_path / "shop" / ".crush"
    folder.mkdir(parents=True)
    (file,) = laid_out(FOLDERS / "crush" / "session.sql", folder)
    log = open_log(str(file))
    assert log is not None
    list(log)
    assert [facts.project for facts in log.sessions.values()] == [str(tmp_path / "shop")]


def test_projects_are_those_that_crush_lists(tmp_path: Path) -> None:
    listed = tmp_path / ".local/share/crush/projects.json"
    listed.parent.mkdir(parents=True)
    projects = [{"path": "/home/me/shop", "data_dir": "/home/me/shop/.crush"}, {"path": "/x"}, "odd"]
    listed.write_text(json.dumps({"projects": projects}))
    places = list(READERS["crush"].places({}, tmp_path))
    assert [place.folder for place in places] == [tmp_path / ".crush", Path("/home/me/shop/.crush")]
    listed.write_text("torn")
    assert [place.folder for place in READERS["crush"].places({}, tmp_path)] == [tmp_path / ".crush"]


def test_a_model_that_asks_others_is_told_by_who_answered(tmp_path: Path) -> None:
    (file,) = laid_out(FOLDERS / "crush" / "session.sql", tmp_path)
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("ALTER TABLE messages ADD COLUMN prism_model_id TEXT")
        database.execute("UPDATE messages SET model = 'prism', prism_model_id = 'sonnet-9' WHERE role = 'assistant'")
    log = open_log(str(file))
    assert log is not None
    used = [item.content for item in log if isinstance(item, Event) and isinstance(item.content, TokenUsage)]
    assert used
    assert {usage.model for usage in used} == {"sonnet-9"}
    assert {facts.model for facts in log.sessions.values()} == {"sonnet-9"}
