"""Cursor: what a path says, times in prompts, texts that come twice, and logs that grow."""

import json
from pathlib import Path

import pytest

from told import contents_of
from unspool.dialect import Head, Reader, Record
from unspool.ingest.heads import head_of
from unspool.model import Event
from unspool.model.event import Said, ToolOutput, TurnEnd
from unspool.readers import claude_code, cursor
from unspool.readers.cursor.places import project_in, whereabouts
from unspool.readers.cursor.prompts import parted
from unspool.sources.records import read_lines

FOLDER = Path(__file__).parent / "readers"
ID = "0b6f2c1e-4a77-4d0b-9c55-3f1f0a6b7c01"


def events_of(reader: Reader, path: Path, lines: int | None = None) -> list[Event]:
    decoder = reader.decoder(str(path))
    records = [record for record in read_lines(str(path)) if isinstance(record, Record)]
    items = [item for record in records[:lines] for item in decoder.feed(record)]
    return [item for item in (*items, *decoder.close()) if isinstance(item, Event)]


@pytest.mark.parametrize(
    ("path", "session", "agent"),
    [
        (f"/h/projects/home-ada/agent-transcripts/{ID}.jsonl", ID, None),
        (f"/h/projects/home-ada/agent-transcripts/{ID}/{ID}.jsonl", ID, None),
        (f"/h/projects/home-ada/agent-transcripts/{ID}/transcript.jsonl", ID, None),
        (f"/h/projects/home-ada/agent-transcripts/{ID}/subagents/s1.jsonl", ID, "s1"),
        ("chat.txt", "chat", None),
    ],
)
def test_the_path_says_whose_transcript_it_is(path: str, session: str, agent: str | None) -> None:
    where = whereabouts(path)
    assert (where.session, where.agent) == (session, agent)
    assert where.dashes == ("home-ada" if path.startswith("/") else None)


def test_the_project_is_a_folder_that_a_call_leads_through() -> None:
    assert project_in({"path": "/home/ada/my-app.io/src/a.py"}, "home-ada-my-app-io") == "/home/ada/my-app.io"
    assert project_in({"paths": ["C:\\Users\\ada\\app\\a.py"]}, "C-Users-ada-app") == "C:\\Users\\ada\\app"
    assert project_in({"path": "/home/ada/other/a.py", "note": "home/ada/my-app"}, "home-ada-my-app") is None
    assert project_in(["/home/ada"], "home-ada") is None


def test_times_in_prompts() -> None:
    assert parted("<timestamp>Sunday, Sep 20, 2026, 12:31 AM (UTC+3)</timestamp>hi").time == "2026-09-20T00:31:00+03:00"
    assert parted("<timestamp>Monday, Aug 3, 2026, 10:52 PM (UTC-4:30)</timestamp>").time == "2026-08-03T22:52:00-04:30"
    assert parted("<timestamp>Monday, Aug 3, 2026, 10:52 PM (UTC)</timestamp>").time == "2026-08-03T22:52:00+00:00"
    assert parted("<timestamp>Foo 99, 2026</timestamp>hi") == parted("hi")


@pytest.mark.parametrize(
    ("text", "typed", "shown"),
    [
        (
            "[Image]\n[Image]\n<image_files>\nSaved:\n1. /w/a b.png\n2. C:\\c.png\n\nRead them.\n</image_files>\n"
            "<timestamp>Sunday, Sep 20, 2026, 12:31 AM (UTC+3)</timestamp>\n<user_query>\nlook\n</user_query>",
            ("look", "[image: /w/a b.png]", "[image: C:\\c.png]"),
            "<image_files>\nSaved:\n1. /w/a b.png\n2. C:\\c.png\n\nRead them.\n</image_files>",
        ),
        ("[Image]\n<image_files>x.png</image_files>", ("[image]",), "<image_files>x.png</image_files>"),
        ("[Image]\n<user_query>this</user_query>", ("this", "[image]"), ""),
        ("<attached_files>\na\n</attached_files>\nread", ("read",), "<attached_files>\na\n</attached_files>"),
        ("<b>why</b> is it bold?", ("<b>why</b> is it bold?",), ""),
        ("<hint>stay</hint>", (), "<hint>stay</hint>"),
    ],
)
def test_what_was_typed_and_what_stands_around_it(text: str, typed: tuple[str, ...], shown: str) -> None:
    prompt = parted(text)
    assert (prompt.typed, prompt.shown) == (typed, shown)


def test_a_turn_that_ended_without_a_word_did_not_fail(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    said = {"role": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}}
    ends = [
        {"type": "turn_ended"},
        {"type": "turn_ended", "error": "limit"},
        {"type": "turn_ended", "status": "aborted"},
        {"type": "turn_ended", "status": "error", "error": "User aborted request"},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in (said, *ends)))
    statuses = [end.status for end in contents_of(path, TurnEnd)]
    assert statuses == ["completed", "failed", "interrupted", "interrupted"]


def test_what_was_said_in_chunks_is_said_once() -> None:
    texts = [
        event.content.text
        for event in events_of(cursor.stream, FOLDER / "cursor_stream/chunks.jsonl")
        if isinstance(event.content, Said)
    ]
    assert texts == ["One, two.", "Three."]


@pytest.mark.parametrize("case", ["cursor/words.jsonl", "cursor_text/marks.txt", "cursor_stream/tools.jsonl"])
def test_events_stay_the_same_while_a_log_grows(case: str) -> None:
    path = FOLDER / case
    reader = {"cursor": cursor.reader, "cursor_text": cursor.text, "cursor_stream": cursor.stream}[path.parent.name]
    whole = [(event.key, event.before, event.content) for event in events_of(reader, path)]
    for lines in range(1, sum(1 for _ in read_lines(str(path)))):
        part = [(event.key, event.before, event.content) for event in events_of(reader, path, lines)]
        assert part[:-1] == whole[: max(0, len(part) - 1)]


def test_claude_code_and_cursor_do_not_take_each_others_streams() -> None:
    own = {"type": "system", "subtype": "init", "apiKeySource": "env", "session_id": "s", "model": "m", "cwd": "/"}
    assert cursor.stream.claims(Head("-", lines=(own,)))
    assert not cursor.stream.claims(Head("-", lines=({**own, "tools": ["Bash"], "uuid": "u"},)))
    for path in (FOLDER / "cursor_stream").glob("*.json*"):
        if not path.name.endswith(".golden.json"):
            assert not claude_code.stream.claims(head_of(str(path)))


def test_what_a_sub_agent_said_is_the_result_of_the_call(tmp_path: Path) -> None:
    steps = [{"toolCall": {}}, {"assistantMessage": {"text": "Nine geese."}}, {"assistantMessage": {"text": "No owl."}}]
    lines = [
        {
            "type": "tool_call",
            "subtype": "completed",
            "call_id": f"c{number}",
            "session_id": "s",
            "tool_call": {"taskToolCall": {"args": {"prompt": "Count"}, "result": {"success": success}}},
        }
        for number, success in enumerate(
            [
                {"conversationSteps": steps, "agentId": "a-1", "durationMs": "42"},
                {"conversationSteps": [{"toolCall": {}}], "resultSuffix": "agentId: a-2"},
            ]
        )
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    told = [result.output for result in contents_of(tmp_path / "a.jsonl", ToolOutput)]
    assert told == ["Nine geese.\nNo owl.", "agentId: a-2"]
