"""What the generic tests of readers cannot ask of Goose's: that tokens add up, however a session was kept."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from test_readers import FOLDERS, laid_out
from told import contents_of
from unspool.dialect import Record
from unspool.ingest.logs import open_log
from unspool.model import Event, Origin
from unspool.model.event import Notification, Said, TokenUsage, ToolCall, ToolOutput, TurnEnd, User
from unspool.readers import READERS


@pytest.mark.parametrize("case", sorted((FOLDERS / "goose").glob("*.sql")), ids=lambda case: case.stem)
def test_the_calls_add_up_to_what_the_session_says(case: Path, tmp_path: Path) -> None:
    (file,) = laid_out(case, tmp_path)
    log = open_log(str(file))
    assert log is not None
    spent: dict[str, list[int]] = {}
    for event in log:
        if isinstance(event, Event) and isinstance(usage := event.content, TokenUsage):
            session = event.session_id if event.stream_id == "main" else event.stream_id.removeprefix("agent:")
            sums = spent.setdefault(session, [0, 0])
            sums[0] += usage.input + usage.cache_read + usage.cache_write
            sums[1] += usage.output
    query = "SELECT id, accumulated_input_tokens, accumulated_output_tokens FROM sessions"
    with closing(sqlite3.connect(file)) as database:
        said = {session: [given, output] for session, given, output in database.execute(query)}
    assert spent == {session: sums for session, sums in said.items() if any(sums)}


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("The user has declined to run this tool. Stop.", True),
        ("Let the user know the tool call was skipped in goose chat mode. Go on.", True),
        ("The user has declined.", False),
    ],
)
def test_a_call_that_nobody_ran_is_no_success(text: str, refused: bool, tmp_path: Path) -> None:
    answer = {"status": "success", "value": [{"type": "text", "text": text}]}
    message = {"role": "user", "created": 1, "content": [{"type": "toolResponse", "id": "c", "toolResult": answer}]}
    (tmp_path / "a.jsonl").write_text(json.dumps(message) + "\n")
    log = open_log(str(tmp_path / "a.jsonl"))
    assert log is not None
    (event,) = (item for item in log if isinstance(item, Event))
    assert event.content == ToolOutput("c", text, refused, interrupted=refused)


def test_the_model_of_a_stream_and_what_went_wrong_in_it(tmp_path: Path) -> None:
    """Also of tools whose calls and outputs are not wrapped."""
    asked = {"type": "toolRequest", "id": "c", "toolCall": {"name": "shell", "arguments": {"command": "boil"}}}
    contents = [
        ("assistant", {"type": "text", "text": "Hm"}),
        ("assistant", asked),
        ("user", {"type": "toolResponse", "id": "c", "toolResult": "hot"}),
        ("assistant", {"type": "error", "kind": "other", "message": "no water"}),
    ]
    about = {"metadata": {"inference": {"provider": "p", "requestedModel": "kettle", "resolvedModel": "kettle-2"}}}
    lines = [
        {"type": "message", "message": {"id": str(at), "role": role, "created": 1, "content": [block], **about}}
        for at, (role, block) in enumerate(contents)
    ]
    end = {"type": "complete", "total_tokens": 3, "input_tokens": 2, "output_tokens": 1}
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, [*lines, end])))
    log = open_log(str(tmp_path / "a.jsonl"))
    assert log is not None
    items = list(log)
    assert all(isinstance(item, Event) for item in items)
    said, call, result, wrong, used, _ = (item.content for item in items if isinstance(item, Event))
    assert isinstance(call, ToolCall)
    assert (said, call.kind, result) == (Said("Hm"), "execute", ToolOutput("c", "hot", False))
    assert (wrong, used) == (Notification("no water", "error"), TokenUsage("kettle-2", 2, 0, 0, 1, 0, apart=True))


def test_a_run_is_complete_though_it_failed(tmp_path: Path) -> None:
    """Goose says `complete` at the end of every run, behind errors too."""
    said = {"role": "assistant", "created": 1, "content": [{"type": "text", "text": "Hm"}]}
    failed, over = {"type": "error", "error": "rate limit"}, {"type": "complete", "total_tokens": 3}
    lines = [{"type": "message", "message": said}, failed, over, over, failed]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    ends = contents_of(tmp_path / "a.jsonl", TurnEnd)
    lost = TurnEnd("failed", text="rate limit")
    assert ends == [lost, TurnEnd("completed"), lost]


def test_an_export_may_keep_its_totals_in_an_object(tmp_path: Path) -> None:
    said = {"role": "assistant", "created": 1, "content": [{"type": "text", "text": "Hm"}]}
    total = {"input_tokens": 10, "output_tokens": 4, "total_tokens": 14, "cache_read_input_tokens": 3}
    last = {"input_tokens": 2, "output_tokens": 1, "total_tokens": 3}
    session = {"id": "s", "working_dir": "/w", "name": "n", "usage": last, "accumulated_usage": total}
    (tmp_path / "s.json").write_text(json.dumps({**session, "conversation": [said]}))
    used = contents_of(tmp_path / "s.json", TokenUsage)
    assert used == [TokenUsage(None, 7, 3, 0, 4, 0, apart=True)]


def test_closing_twice_counts_once(tmp_path: Path) -> None:
    (file,) = laid_out(FOLDERS / "goose_jsonl" / "session.jsonl", tmp_path)
    log = open_log(str(file))
    assert log is not None
    list(log)
    assert list(log._decoder.close()) == []


def test_places_heed_the_environment(tmp_path: Path) -> None:
    reader = READERS["goose"]
    assert [str(place.folder) for place in reader.places({"GOOSE_PATH_ROOT": "/g"}, tmp_path)] == ["/g/data/sessions"]
    first = next(iter(reader.places({}, tmp_path)))
    assert first.folder == tmp_path / ".local/share/goose/sessions"
    assert tmp_path / ".goose/sessions" in [place.folder for place in READERS["goose_jsonl"].places({}, tmp_path)]


def test_what_is_meant_for_the_model_alone_or_granted_is_no_prompt(tmp_path: Path) -> None:
    hint = {"type": "text", "text": "It is noon.", "annotations": {"audience": ["assistant"]}}
    granted = {"actionType": "toolConfirmationResponse", "id": "c", "permission": "allow_once"}
    declined = {"actionType": "elicitationResponse", "id": "e", "user_data": None, "action": "decline"}
    contents = [
        [hint, {"type": "text", "text": "When is tea?"}],
        [{"type": "actionRequired", "data": granted}],
        [{"type": "actionRequired", "data": declined}],
    ]
    lines = [json.dumps({"role": "user", "created": at, "content": content}) for at, content in enumerate(contents, 1)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    log = open_log(str(tmp_path / "a.jsonl"))
    assert log is not None
    assert [item.content for item in log if isinstance(item, Event)] == [
        Notification("It is noon.", "context"),
        User("When is tea?"),
        Notification("permission: allow_once", "info"),
        User("decline"),
    ]


def test_calls_that_come_after_the_rest_was_told_are_part_of_it(tmp_path: Path) -> None:
    used = {"metadata": {"usage": {"input_tokens": 6, "output_tokens": 3}}}
    records = [
        {"working_dir": "/w", "description": "Tea", "accumulated_input_tokens": 8, "accumulated_output_tokens": 4},
        {"role": "user", "created": 1, "content": [{"type": "text", "text": "Tea"}]},
        {"role": "assistant", "created": 2, "content": [{"type": "text", "text": "Hot"}], **used},
    ]
    path = str(tmp_path / "a.jsonl")
    decoder = READERS["goose_jsonl"].decoder(path)
    sums = [0, 0]
    for number, record in enumerate(records, 1):
        line = json.dumps(record).encode()
        for item in (*decoder.feed(Record(line, Origin(path, number, 0, len(line)))), *decoder.close()):
            if isinstance(item, Event) and isinstance(item.content, TokenUsage):
                sums[0] += item.content.input
                sums[1] += item.content.output
    assert sums == [8, 4]
