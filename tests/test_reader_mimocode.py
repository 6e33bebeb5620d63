"""MiMoCode, which is OpenCode's kin: sessions that it took over from other agents were paid for there."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from unspool.ingest.logs import open_log
from unspool.model import Event
from unspool.model.event import Said, TokenUsage

CLAUDE = "claude_import (source_uuid, session_id, time_imported, message_ids)"
EXTERNAL = "external_import (source, session_id, time_imported)"


@pytest.mark.parametrize(
    ("table", "row", "paid"),
    [
        (CLAUDE, ("u", "ses_1", 9000, '["msg_1"]'), [2000, 3000]),
        (CLAUDE, ("u", "ses_1", 2500, None), [3000]),
        (EXTERNAL, ("codex", "ses_1", 2000), [2000, 3000]),
        (EXTERNAL, ("codex", "ses_2", 9000), [1000, 2000, 3000]),
    ],
)
def test_what_was_imported_is_told_and_not_paid_for_again(
    tmp_path: Path, table: str, row: tuple[Any, ...], paid: list[int]
) -> None:
    path = tmp_path / "mimocode.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE session (id, parent_id, directory, title, version, time_created)")
        database.execute("CREATE TABLE message (id, session_id, time_created, data)")
        database.execute("CREATE TABLE part (id, message_id, data)")
        database.execute(f"CREATE TABLE {table}")
        database.execute("INSERT INTO session VALUES ('ses_1', NULL, '/w', 'Tea', '1.0.0', 500)")
        database.execute(f"INSERT INTO {table.partition(' ')[0]} VALUES ({', '.join('?' * len(row))})", row)
        for at in (1, 2, 3):
            told = {"role": "assistant", "time": {"created": at * 1000}, "modelID": "m", "tokens": {"input": at * 1000}}
            database.execute(
                "INSERT INTO message VALUES (?, 'ses_1', ?, ?)", (f"msg_{at}", at * 1000, json.dumps(told))
            )
            part = json.dumps({"type": "text", "text": "Tea."})
            database.execute("INSERT INTO part VALUES (?, ?, ?)", (f"prt_{at}", f"msg_{at}", part))
    events = [item.content for item in open_log(str(path)) or () if isinstance(item, Event)]
    assert [event.input for event in events if isinstance(event, TokenUsage)] == paid
    assert events.count(Said("Tea.")) == 3
