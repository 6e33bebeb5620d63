"""Lines of a log in which writes broke off: what is whole in them is read."""

import json
from pathlib import Path
from typing import Any

from calls import call
from unspool import cook
from unspool.ingest.logs import open_log
from unspool.ingest.originals import Originals
from unspool.model import Event, Note
from unspool.model.event import Said, User
from unspool.sources.jsontext import joined


def _line(number: int, kind: str, **data: object) -> str:
    when = f"2026-05-01T10:00:0{number}.000Z"
    return json.dumps({"type": kind, "data": data, "id": f"e{number}", "timestamp": when, "parentId": None})


START = _line(0, "session.start", sessionId="s", context={"cwd": "/work"})
ASKED = _line(1, "user.message", content="Is it } { or }{? Größe?", attachments=[])
SAID = _line(2, "assistant.message", content="Both.", toolRequests=[], outputTokens=5)
AGAIN = _line(3, "user.message", content="Why?")


def _read(path: Path, *lines: str) -> list[Event | Note]:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    log = open_log(str(path))
    assert log is not None
    return list(log)


def _told(items: list[Event | Note]) -> list[str]:
    said = [item.content for item in items if isinstance(item, Event)]
    return [content.text for content in said if isinstance(content, User | Said)]


def test_records_that_share_a_line_are_all_read(tmp_path: Path) -> None:
    items = _read(tmp_path / "events.jsonl", START, f"{ASKED}{SAID} {AGAIN}")
    assert _told(items) == ["Is it } { or }{? Größe?", "Both.", "Why?"]
    (note,) = [item for item in items if isinstance(item, Note)]
    assert (note.kind, note.origin.line) == ("repaired", 2)


def test_what_follows_a_torn_record_in_its_line_is_read(tmp_path: Path) -> None:
    items = _read(tmp_path / "events.jsonl", START, ASKED, SAID[: SAID.index("Both") + 2] + SAID, AGAIN)
    assert _told(items) == ["Is it } { or }{? Größe?", "Both.", "Why?"]
    assert [item.kind for item in items if isinstance(item, Note)] == ["unreadable"]


def test_the_record_of_each_event_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(f"{START}\n{ASKED}{SAID}\n", encoding="utf-8")
    log = open_log(str(path))
    assert log is not None
    events = [item for item in log if isinstance(item, Event) and item.type in ("user", "message")]
    originals = Originals(log)
    assert [originals.record(event) for event in events] == [json.loads(ASKED), json.loads(SAID)]


def test_records_without_a_name_keep_keys_of_their_own(tmp_path: Path) -> None:
    said = [json.dumps({"role": "assistant", "message": {"content": text}}) for text in ("one", "two", "three")]
    items = _read(tmp_path / "a.jsonl", said[0], said[1] + said[2])
    events = [item for item in items if isinstance(item, Event)]
    assert _told(items) == ["one", "two", "three"]
    assert len({event.key for event in events}) == 3
    assert all(event.before != event.key for event in events)


def test_parts_of_a_torn_record_are_no_records() -> None:
    torn = b'{"type":"message","content":[{"type":"text","text":"a"},{"type":"text","text":"b'
    assert joined(torn) == ([], False)
    whole = b'{"type":"end"}'
    assert joined(torn + whole) == ([(len(torn), len(torn) + len(whole))], False)
    assert joined(b'[1]{"a":1}') == ([], False)


CALLS = [json.dumps(call(f"u{n}", answer=f"a{n}", id=f"q{n}"), ensure_ascii=False) for n in range(4)]
TORN = json.dumps(call("Größe?", "a { or }{", id="torn"), ensure_ascii=False)[:-60]


def test_recorded_calls_that_share_a_line_are_all_read(write: Any) -> None:
    for text in (f"{CALLS[0]}{CALLS[1]} {CALLS[2]}\n{CALLS[3]}\n", f"{CALLS[0]}\n{CALLS[1]}{CALLS[2]}\n{CALLS[3]}"):
        cooked = cook(write(text))
        assert [request.id for request in cooked.requests] == ["q0", "q1", "q2", "q3"]
        assert [note.kind for note in cooked.notes] == ["repaired"]
        for request in cooked.requests:
            at = request.origin
            assert json.loads(text.encode()[at.offset : at.offset + at.size])["id"] == request.id


def test_a_recorded_call_behind_a_torn_one_is_read(write: Any) -> None:
    cooked = cook(write(f"{CALLS[0]}\n{TORN}{CALLS[1]}\n{TORN}\n{CALLS[2]}\n"))
    assert [request.id for request in cooked.requests] == ["q0", "q1", "q2"]
    assert [(note.kind, note.origin.line) for note in cooked.notes] == [("unreadable", 2), ("unreadable", 3)]


def test_files_of_windows_that_were_put_together_lose_no_line(write: Any) -> None:
    cooked = cook(write(f"\ufeff{CALLS[0]}\r\n\ufeff{CALLS[1]}\r\n{CALLS[2]}\r\n"))
    assert [request.id for request in cooked.requests] == ["q0", "q1", "q2"]
    assert [(note.kind, note.origin.line) for note in cooked.notes] == [("repaired", 2)]
