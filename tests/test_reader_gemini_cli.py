"""Gemini CLI: what comes out of a log that grows, what is counted, and what is looked for beside it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from told import events_of, tokens_of
from unspool.dialect import Record
from unspool.ingest.heads import head_of
from unspool.ingest.logs import open_log
from unspool.ingest.originals import Originals
from unspool.model import Event, Note, Origin
from unspool.model.event import Notification, Said, TokenUsage, ToolCall, ToolOutput, User
from unspool.readers import READERS, gemini_cli
from unspool.readers.gemini_cli import shapes
from unspool.readers.genai import outcome, usage_of
from unspool.sources.records import read_lines

FOLDER = Path(__file__).parent / "readers" / "gemini_cli"
CASES = sorted(FOLDER.glob("*.jsonl"))


def told(items: list[Event | Note]) -> list[Any]:
    return [(item.key, item.before, item.timestamp, item.content) for item in items if isinstance(item, Event)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_pause_between_two_lines_tells_nothing_twice(case: Path) -> None:
    """After a pause the words may come once more if they grew; all else comes once."""
    records = [record for record in read_lines(str(case)) if isinstance(record, Record)]
    whole = {event.key for event in events_of(case)}
    for pause in range(1, len(records)):
        decoder = gemini_cli.reader.decoder(str(case))
        items: list[Event | Note] = []
        for at, record in enumerate(records):
            items += decoder.feed(record)
            if at == pause:
                items += decoder.close()
        items += decoder.close()
        found = [item for item in items if isinstance(item, Event)]
        keys = [event.key for event in found]
        assert len(set(keys)) == len(keys)
        assert {key for key in keys if ":message" not in key} >= {key for key in whole if ":message" not in key}
        assert tokens_of(found) == tokens_of(events_of(case))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_line_that_is_put_into_shape_by_hand_says_the_same(case: Path) -> None:
    decoder = gemini_cli.reader.decoder(str(case))
    records = [record for record in read_lines(str(case)) if isinstance(record, Record)]
    items = [item for record in records for item in decoder.feed(record)]
    assert told([*items, *decoder.close()]) == told(list(events_of(case)))


def document() -> dict[str, Any]:
    """A session that is one document, without what is odd in it."""
    session: dict[str, Any] = json.loads((FOLDER.with_name("gemini_cli_json") / "session.json").read_bytes())
    session["messages"] = [message for message in session["messages"] if isinstance(message, dict)]
    return session


def test_a_document_that_is_put_into_shape_by_hand_says_the_same() -> None:
    session, origin = document(), Origin("session.json", 1, 0, 0)
    values = [session, *shapes.decode_document(json.dumps(session).encode())]
    by_hand, by_shape = (gemini_cli.document.decoder("session.json").feed(Record(b"", origin, each)) for each in values)
    assert told(list(by_shape)) == told(list(by_hand)) != []


def test_a_folder_of_documents_is_read_as_each_of_them_by_itself(tmp_path: Path) -> None:
    """The first is decoded whole, to know whose it is; those behind it by their shape."""
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path in paths:
        path.write_text(json.dumps(document(), indent=2), encoding="utf-8")
    first, second = (told(list(events_of(path))) for path in paths)
    assert first == second != []
    log = open_log(str(paths[1]))
    assert log is not None
    originals = Originals(log)
    events = [item for item in log if isinstance(item, Event)]
    assert all("timestamp" in originals.payload(event) for event in events), "each has the message that it came from"


def test_reading_again_gives_the_same_keys() -> None:
    case = FOLDER / "growing.jsonl"
    assert told(list(events_of(case))) == told(list(events_of(case)))


def test_what_was_rewound_stays_counted() -> None:
    events = events_of(FOLDER / "rewind.jsonl")
    assert tokens_of(events) == 56 + 69 + 62
    assert sum(isinstance(event.content, User) for event in events) == 3


def test_a_compressed_history_is_not_said_again() -> None:
    events = events_of(FOLDER / "compressed.jsonl")
    assert [event.content.text for event in events if isinstance(event.content, User)] == [
        "Read the whole book.",
        "Who is in it?",
        "And how does it end?",
    ]
    assert [event.content.text for event in events if isinstance(event.content, Said)] == ["Done.", "A fox.", "Well."]
    assert sum(isinstance(event.content, ToolCall) for event in events) == 1


def test_the_last_words_count_and_what_changes_later_is_context() -> None:
    events = events_of(FOLDER / "last_words.jsonl")
    words = [event.content for event in events if not isinstance(event.content, TokenUsage)]
    assert words == [
        User("Draft a title."),
        Said("A title"),
        User("Fine."),
        Said("Thanks."),
        Notification("Draft a title, edited.", "context"),
        Notification("A title, edited", "context"),
    ]


def test_every_call_is_answered_once() -> None:
    events = events_of(FOLDER / "growing.jsonl")
    calls = [event.content.provider_call_id for event in events if isinstance(event.content, ToolCall)]
    answers = [event.content.provider_call_id for event in events if isinstance(event.content, ToolOutput)]
    assert calls == answers == ["glob-1"]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((100, 50, 25, 5, 0, 130), (50, 50, 30, 5)),  # Google: thoughts beside the candidates
        ((100, 0, 25, 5, 0, 125), (100, 0, 25, 5)),  # OpenAI: thoughts among them
        ((100, 20, 5, 2, 30, 137), (110, 20, 7, 2)),  # the tool's prompt beside the prompt
        ((100, 20, 5, 2, 30, 107), (80, 20, 7, 2)),  # the tool's prompt in it
        ((100, 0, 5, 0, 0, None), (100, 0, 5, 0)),
        ((10, 50, 5, 0, 0, 15), (0, 10, 5, 0)),
    ],
)
def test_the_total_tells_what_the_numbers_mean(counts: Any, expected: tuple[int, ...]) -> None:
    usage = usage_of("m", counts)
    assert usage is not None
    assert (usage.input, usage.cache_read, usage.output, usage.reasoning) == expected


def test_a_call_without_tokens_is_no_call() -> None:
    assert usage_of("m", (0, 0, 0, 0, 0, 0)) is None


def test_what_nobody_can_count_to_is_no_count() -> None:
    usage = usage_of("m", (10**30, "7", 5, None, -1, 10**30))
    assert usage is not None
    assert (usage.input, usage.output) == (0, 5)


def test_a_session_that_was_resumed_is_read_once(tmp_path: Path) -> None:
    shutil.copy(FOLDER.parent / "gemini_cli_json" / "session.json", tmp_path)
    assert events_of(tmp_path / "session.json")
    shutil.copy(FOLDER / "growing.jsonl", tmp_path / "session.jsonl")
    assert not events_of(tmp_path / "session.json")
    assert list(gemini_cli.document.beside(str(tmp_path / "session.json"))) == [str(tmp_path / "session.jsonl")]


def test_an_output_that_was_cut_is_found_beside_the_log(tmp_path: Path) -> None:
    folder = tmp_path / ".gemini" / "tmp" / "work"
    kept = folder / "tool-outputs" / "session-1" / "shell_1.txt"
    kept.parent.mkdir(parents=True)
    kept.write_text("all of it")
    (folder / "chats").mkdir()
    log = folder / "chats" / "session-1.jsonl"
    output = "Output too large.\nFor full output see: /home/me/.gemini/tmp/srv/tool-outputs/session-1/shell_1.txt\n…"
    call = {"id": "c", "name": "run_shell_command", "args": {"command": "x"}, "status": "success", "result": output}
    header = {"sessionId": "s", "projectHash": "h"}
    message = {"id": "g", "type": "gemini", "content": "", "toolCalls": [call]}
    log.write_text("\n".join(map(json.dumps, (header, message))))
    [answer] = [event.content for event in events_of(log) if isinstance(event.content, ToolOutput)]
    assert answer.full_output == "all of it"


@pytest.mark.parametrize("case", ["edited.jsonl", "growing.jsonl"])
def test_the_payload_is_the_message_that_an_event_came_from(case: str) -> None:
    lines = (FOLDER / case).read_text().splitlines()
    for event in events_of(FOLDER / case):
        payload = gemini_cli.reader.payload(gemini_cli.reader.unfold(json.loads(lines[event.origin.line - 1])), event)
        assert "$set" not in payload or event.type == "summary"


def test_the_payload_of_a_document_is_one_message() -> None:
    case = FOLDER.parent / "gemini_cli_json" / "session.json"
    value = json.loads(case.read_text())
    for event in events_of(case):
        assert event.key.startswith((gemini_cli.document.payload(value, event)["id"], "wf-1"))


def test_places_follow_the_environment() -> None:
    reader = gemini_cli.reader
    [place, _] = reader.places({}, Path("/home/me"))
    assert place.folder == Path("/home/me/.gemini/tmp")
    [place, _] = reader.places({"GEMINI_CLI_HOME": "/data"}, Path("/home/me"))
    assert place.folder == Path("/data/.gemini/tmp")


def test_a_first_record_that_we_do_not_know_hides_nothing(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_text('{"version": 9}\n' + (FOLDER / "rewind.jsonl").read_text())
    assert [reader.name for reader in READERS.values() if reader.claims(head_of(str(log)))] == ["gemini_cli"]
    assert len(events_of(log)) == len(events_of(FOLDER / "rewind.jsonl"))


def test_sub_agents_are_kin() -> None:
    [session] = (FOLDER / "subagent").rglob("session-*.jsonl")
    [agent] = (FOLDER / "subagent").rglob("inv-2.jsonl")
    assert list(gemini_cli.reader.kin(str(session))) == [str(agent)]
    assert list(gemini_cli.reader.kin(str(agent))) == []


@pytest.mark.parametrize(
    ("output", "failed"),
    [
        ("<untrusted_context>\nOutput: no such file\nExit Code: 1\nProcess Group PGID: 42\n</untrusted_context>", True),
        ("Output: Exit Code: 7 is what it prints\nProcess Group PGID: 42", False),
        ("Output: the log says\nExit Code: 2\nand goes on\nProcess Group PGID: 42", False),
        ("Output: a\nError: 2 tests failed\nProcess Group PGID: 42", False),
        ("Output: the radio\nSignal: strong\nand clear", False),
        ("Output: (empty)\nError: (none)\nExit Code: (none)\nSignal: 15\nProcess Group PGID: 42", True),
        ("Output: (empty)\nError: (none)\nExit Code: 0\nSignal: 0\nBackground PIDs: (none)", False),
        ("Output: a\nError: (none)\nExit Code: 3\nSignal: (none)\nProcess Group PGID: 42\n\nA notice.", True),
        ("Command was automatically cancelled because it exceeded the timeout of 5.0 minutes without output.", True),
        ("Command timed out after 3000ms before it could complete. Below is the output:\nhello", True),
    ],
)
def test_how_a_command_ended_stands_behind_its_output(output: str, failed: bool) -> None:
    answer = {"functionResponse": {"id": "c", "name": "run_shell_command", "response": {"output": output}}}
    assert outcome([answer]) == (output, failed)


def test_a_call_that_was_not_allowed_is_told_as_interrupted(tmp_path: Path) -> None:
    refused = {"error": "[Operation Cancelled] Reason: User denied execution."}
    failed = {"error": "File not found"}
    calls = [
        {
            "id": name,
            "name": "read_file",
            "args": {"file_path": "a"},
            "status": status,
            "result": [{"functionResponse": {"id": name, "name": "read_file", "response": response}}],
        }
        for name, status, response in (("c1", "cancelled", refused), ("c2", "error", failed))
    ]
    message = {"id": "m", "type": "gemini", "timestamp": "2026-03-01T10:00:00.000Z", "content": "", "toolCalls": calls}
    document = {"sessionId": "s", "projectHash": "p", "startTime": "2026-03-01T10:00:00.000Z", "messages": [message]}
    path = tmp_path / "session-1.json"
    path.write_text(json.dumps(document))
    results = [event.content for event in events_of(path) if isinstance(event.content, ToolOutput)]
    assert [(result.is_error, result.interrupted) for result in results] == [(True, True), (True, False)]
