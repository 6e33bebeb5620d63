"""Pi's logs and its stream: what is told once, and what is whose."""

import json
from pathlib import Path
from typing import Any

import pytest

from unspool.dialect import Head, Record
from unspool.exports.events import body
from unspool.ingest.heads import head_of
from unspool.model import Event, Origin
from unspool.model.event import Compacted, Notification, TokenUsage, ToolOutput, User
from unspool.readers import READERS
from unspool.readers.pi import claims, claims_openclaw, claims_stream

CASES = sorted(
    path
    for name in ("pi", "openclaw", "pi_stream")
    for path in (Path(__file__).parent / "readers" / name).glob("*.jsonl")
)
CURRENT = "[Current message - respond to this]"
HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/work"}


def events(case: Path, pause_at: int | None = None) -> list[tuple[str, str, Any]]:
    decoder = READERS[case.parent.name].decoder(str(case))
    found: list[Any] = []
    for number, line in enumerate(case.read_bytes().splitlines(), 1):
        found += decoder.feed(Record(line, Origin(str(case), number, 0, len(line))))
        if number == pause_at:
            found += decoder.close()
    found += decoder.close()
    told = [item for item in found if isinstance(item, Event)]
    return sorted((event.key, event.type, body(event)) for event in told)


def told_by(reader: str, *lines: dict[str, Any]) -> list[Any]:
    decoder = READERS[reader].decoder("a.jsonl")
    told: list[Any] = []
    for number, line in enumerate(lines, 1):
        told += decoder.feed(Record(json.dumps(line).encode(), Origin("a.jsonl", number, 0, 0)))
    return told


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_a_pause_anywhere_changes_nothing(case: Path) -> None:
    whole = events(case)
    for line in range(1, len(case.read_bytes().splitlines())):
        assert events(case, line) == whole


def test_the_stream_and_the_log_of_a_run_tell_the_same_calls() -> None:
    told = [kind for _, kind, _ in events(next(case for case in CASES if case.parent.name == "pi_stream"))]
    assert told.count("tool_call") == told.count("tool_result") == 1
    assert told.count("token_usage") == 2


@pytest.mark.parametrize(
    ("details", "failed"),
    [
        ({"status": "completed", "exitCode": 0}, False),
        ({"status": "completed", "exitCode": 1}, True),
        ({"status": "error", "error": "no water"}, True),
        ({"status": "running", "exitCode": None}, False),
        (None, False),
    ],
)
def test_a_tool_that_worked_may_say_that_it_failed(details: Any, failed: bool) -> None:
    decoder = READERS["openclaw"].decoder("a.jsonl")
    message = {"role": "toolResult", "toolCallId": "c", "content": "hot", "isError": False, "details": details}
    line = json.dumps({"type": "message", "id": "a", "message": message}).encode()
    (event,) = (item for item in decoder.feed(Record(line, Origin("a.jsonl", 1, 0, 0))) if isinstance(item, Event))
    assert event.content == ToolOutput("c", "hot", failed)


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("System: [2026-01-02 UTC] Exec completed\nSystem: [2026-01-02 UTC] Hot\n\nboil", "boil"),
        ("System: [2026-01-02 UTC] Exec completed", None),
        ("Sender (untrusted metadata):\n```json\n{}\n```\n\nSystem: boil", "System: boil"),
        (f"[Chat messages since your last reply - for context]\nA: hi\n\n{CURRENT}\nB: boil", "B: boil"),
        ("Pre-compaction memory flush. Store it.", None),
        ("[Mon 2026-01-02 10:33 UTC] boil", "[Mon 2026-01-02 10:33 UTC] boil"),
    ],
)
def test_what_a_gateway_puts_before_a_prompt_was_not_typed(text: str, typed: str | None) -> None:
    decoder = READERS["openclaw"].decoder("a.jsonl")
    line = json.dumps({"type": "message", "id": "a", "message": {"role": "user", "content": text}}).encode()
    told = [item for item in decoder.feed(Record(line, Origin("a.jsonl", 1, 0, 0))) if isinstance(item, Event)]
    notices = [event.content for event in told if isinstance(event.content, Notification)]
    assert [event.content for event in told if isinstance(event.content, User)] == ([User(typed)] if typed else [])
    assert len(notices) == (text != typed)
    assert all(notice.level == "context" and text.startswith(notice.text) for notice in notices)


@pytest.mark.parametrize(
    ("about", "keys"),
    [
        ({}, ["a:usage", "b:usage"]),
        ({"parentSession": "/home/me/before.jsonl"}, ["b:usage"]),
        ({"branchedFrom": "/home/me/gone.jsonl"}, ["a:usage", "b:usage"]),
    ],
)
def test_what_a_fork_copied_is_paid_for_where_it_happened(
    about: dict[str, Any], keys: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("before.jsonl").touch()
    answer = {"role": "assistant", "content": [], "api": "a", "provider": "p", "usage": {"input": 1, "output": 1}}
    lines = [
        {**HEADER, **about},
        {"type": "message", "id": "a", "timestamp": "2026-03-01T09:00:00.000Z", "message": answer},
        {"type": "message", "id": "b", "timestamp": "2026-03-01T10:00:01.000Z", "message": answer},
    ]
    assert [event.key for event in told_by("pi", *lines)] == keys


def test_what_no_answer_took_is_paid_for_too() -> None:
    usage = {"input": 1, "output": 1}
    lines: list[dict[str, Any]] = [
        {"type": "model_change", "id": "a", "modelId": "m"},
        {"type": "usage", "id": "b", "kind": "cache_warm", "model": "n", "usage": usage},
        {"type": "compaction", "id": "c", "summary": "Tea.", "usage": usage},
        {"type": "branch_summary", "id": "d", "summary": "Tea.", "usage": usage},
        {"type": "message", "id": "e", "message": {"role": "toolResult", "toolCallId": "t", "usage": usage}},
        {"type": "context_edit", "id": "f", "targetId": "e", "replacement": None},
    ]
    own = {"results": [{"sessionFile": "/home/me/other.jsonl"}]}
    lines.append({"type": "message", "id": "g", "message": {**lines[4]["message"], "details": own}})
    told = told_by("pi", *lines)
    assert all(isinstance(item, Event) for item in told)
    used = [(event.key, event.content.model) for event in told if isinstance(event.content, TokenUsage)]
    assert used == [("b:usage", "n"), ("c:usage", "m"), ("d:usage", "m"), ("e:usage", None)]


def test_what_a_summary_took_is_told_by_the_stream_too() -> None:
    result = {"summary": "Tea.", "tokensBefore": 9, "usage": {"input": 1, "output": 1}}
    told = told_by("pi_stream", {"type": "compaction_end", "reason": "manual", "result": result})
    assert [type(event.content) for event in told] == [Compacted, TokenUsage]


def test_instructions_may_come_in_sections() -> None:
    lines: list[dict[str, Any]] = [
        {"content": "Serve tea.", "sections": {"kettle": "It is hot.", "milk": "There is some."}},
        {"content": "", "sections": {"milk": None}},
        {"content": "", "toolsAdded": [{"name": "pour"}]},
    ]
    told = told_by(
        "pi",
        *({"type": "message", "id": str(at), "message": {"role": "system", **line}} for at, line in enumerate(lines)),
    )
    assert [event.content for event in told] == [Notification("Serve tea.\n\nIt is hot.\n\nThere is some.", "system")]


@pytest.mark.parametrize("text", ["[Inter-session message] isUser=true\nBoil.", "[Inter-session message]"])
def test_only_what_no_person_wrote_is_an_agents_message(text: str) -> None:
    decoder = READERS["openclaw"].decoder("a.jsonl")
    line = json.dumps({"type": "message", "id": "a", "message": {"role": "user", "content": text}}).encode()
    (event,) = (item for item in decoder.feed(Record(line, Origin("a.jsonl", 1, 0, 0))) if isinstance(item, Event))
    assert event.content == User(text)


def test_a_path_alone_makes_no_log_one_of_openclaw() -> None:
    other = Head("/home/me/.openclaw/agents/main/sessions/a.jsonl", lines=({"type": "note"},))
    assert not claims_openclaw(other)
    mine = Head("/home/me/.openclaw/agents/main/sessions/a.jsonl", lines=(HEADER,))
    assert claims_openclaw(mine)
    assert not claims(mine)


def test_a_log_whose_header_is_torn_is_known_by_its_messages() -> None:
    message = {"role": "user", "content": "Hello", "timestamp": 1772359200000}
    head = Head("a.jsonl", lines=({"type": "novelty"}, {"type": "message", "message": message}))
    assert claims(head)
    assert not claims_stream(head)


def test_a_session_of_another_program_is_not_claimed(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    header = {"type": "session", "version": 0, "id": "s", "createdAt": 1783352228436, "cwd": "/w", "delegationDepth": 0}
    file.write_text(json.dumps(header) + '\n{"type":"turn/start","seq":1,"time":1,"data":{"turn":1}}\n')
    head = head_of(str(file))
    assert not any(claim(head) for claim in (claims, claims_openclaw, claims_stream))


def test_a_session_that_was_begun_anew_forgets_what_was_before() -> None:
    (event,) = told_by("openclaw", {"type": "reset", "id": "a", "reason": "daily"})
    assert isinstance(event, Event)
    assert event.content == Compacted(trigger="clear")
