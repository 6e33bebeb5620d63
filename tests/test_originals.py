"""What events came from is read again once, however many events there are and in whichever order they come."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from test_readers import cases, opened
from unspool.dialect import Head, Record
from unspool.ingest.logs import OpenLog, open_log
from unspool.ingest.originals import Originals
from unspool.model import Event, Note

MANY = 60


class Counting:
    """A log whose reader counts how often its records are gone through, and how often one is unfolded."""

    def __init__(self, path: Path) -> None:
        log = open_log(str(path))
        assert log is not None
        self._reader = log.reader
        self.read = self.unfolded = 0
        counted = structs.replace(log.reader, unfold=self._unfold, rows=self._rows if log.reader.rows else None)
        self.log = OpenLog(str(path), counted, Head(str(path), document=log.document))

    def _unfold(self, value: Any) -> Any:
        self.unfolded += 1
        return self._reader.unfold(value)

    def _rows(self, path: str) -> Iterator[Record | Note]:
        self.read += 1
        assert self._reader.rows is not None
        return self._reader.rows(path)

    def payloads(self) -> list[Any]:
        events = [item for item in self.log if isinstance(item, Event)]
        originals = Originals(self.log)
        self.read = self.unfolded = 0
        return [originals.payload(event) for event in events]


def database(path: Path, script: str, rows: dict[str, list[tuple[Any, ...]]]) -> Path:
    made = sqlite3.connect(path)
    made.executescript(script)
    for table, values in rows.items():
        made.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values[0]))})", values)
    made.commit()
    made.close()
    return path


def test_a_thread_of_zed_is_unpacked_once(tmp_path: Path) -> None:
    messages = [{"User": {"id": str(number), "content": [{"Text": f"prompt {number}"}]}} for number in range(MANY)]
    thread = json.dumps({"messages": messages, "version": "0.3.0"}).encode()
    script = "CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT, updated_at TEXT, data_type TEXT, data BLOB)"
    row = ("a", "A thread", "2026-03-01T10:00:00Z", "json", thread)
    counting = Counting(database(tmp_path / "threads.db", script, {"threads": [row]}))
    assert counting.payloads() == messages
    assert (counting.read, counting.unfolded) == (1, 1)


def test_rows_that_events_look_back_to_are_kept(tmp_path: Path) -> None:
    """Crush counts a session when its messages are over, from the session's row: far above them."""
    script = (
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, prompt_tokens INTEGER, "
        "completion_tokens INTEGER, created_at INTEGER);"
        "CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, model TEXT, "
        "created_at INTEGER);"
    )
    parts = json.dumps([{"type": "text", "data": {"text": "Ask"}}])
    sessions = [(f"s{number}", None, "A title", 10, 1, 1) for number in range(MANY)]
    messages = [(f"m{number}", f"s{number}", "user", parts, "", 1) for number in range(MANY)]
    rows: dict[str, list[tuple[Any, ...]]] = {"sessions": [*sessions], "messages": [*messages]}
    counting = Counting(database(tmp_path / "crush.db", script, rows))
    tables = [payload["table"] for payload in counting.payloads()]
    assert tables.count("sessions") == tables.count("messages") == MANY
    assert counting.read == 1


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (
            {
                "info": {"id": "ses_1", "directory": "/w", "version": "1"},
                "messages": [
                    {
                        "info": {"id": f"msg_{number}", "role": "user", "sessionID": "ses_1"},
                        "parts": [{"id": f"prt_{number}", "type": "text", "text": "Ask"}],
                    }
                    for number in range(MANY)
                ],
            },
            "opencode_export",
        ),
        (
            {
                "id": "1",
                "working_dir": "/w",
                "conversation": [
                    {"id": f"m{number}", "role": "user", "created": 1, "content": [{"type": "text", "text": "Ask"}]}
                    for number in range(MANY)
                ],
            },
            "goose_export",
        ),
    ],
    ids=["opencode", "goose"],
)
def test_a_document_is_gone_through_once(document: dict[str, Any], expected: str, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(document, indent=1))
    counting = Counting(path)
    assert counting.log.reader.name == expected
    assert counting.payloads() == document.get("messages", document.get("conversation"))
    assert counting.unfolded == 1


def test_every_reader_gives_a_payload_for_every_event_whatever_the_order(tmp_path: Path) -> None:
    for number, case in enumerate(cases()):
        home = tmp_path / str(number)
        home.mkdir()
        for log in opened(case, home):
            events = [item for item in log if isinstance(item, Event)]
            forward = Originals(log)
            payloads = [forward.payload(event) for event in events]
            backward = Originals(log)
            assert payloads[::-1] == [backward.payload(event) for event in events[::-1]]
