"""Codex: tokens, copied histories, calls that wait, and the places of its logs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from told import events_of
from unspool.dialect import Record
from unspool.exports.events import body
from unspool.ingest.logs import open_log
from unspool.model import Event, Note, Origin
from unspool.model.action import FileWrite
from unspool.model.event import AgentMessage, Notification, Said, TokenUsage, ToolCall, ToolOutput, User
from unspool.readers import READERS

FIXTURES = Path(__file__).parent / "readers" / "codex"
LOGS = sorted(FIXTURES.rglob("*.jsonl"))
ROLLOUTS = [path for path in LOGS if path.name != "session_index.jsonl"]
THREAD = "019c0001-0000-7000-8000-000000000001"


def fed(lines: list[dict[str, Any]], reader: str = "codex") -> list[list[Event | Note]]:
    """What each line gave, and what the end."""
    decoder = READERS[reader].decoder("rollout.jsonl")
    given = []
    for number, line in enumerate(lines, 1):
        data = json.dumps(line).encode()
        given.append(list(decoder.feed(Record(data, Origin("rollout.jsonl", number, 0, len(data))))))
    return [*given, list(decoder.close())]


def events(lines: list[dict[str, Any]]) -> list[Event]:
    return [item for items in fed(lines) for item in items if isinstance(item, Event)]


def line(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-31T12:00:00.000Z", "type": kind, "payload": payload}


def header(**more: Any) -> dict[str, Any]:
    return line("session_meta", id=THREAD, timestamp="2026-01-31T12:00:00.000Z", source="cli", **more)


def usage(given: int, cached: int, output: int, reasoning: int = 0) -> dict[str, int]:
    return {
        "input_tokens": given,
        "cached_input_tokens": cached,
        "output_tokens": output,
        "reasoning_output_tokens": reasoning,
        "total_tokens": given + output,
    }


def counted(total: dict[str, int] | None, last: dict[str, int] | None = None) -> dict[str, Any]:
    return line("event_msg", type="token_count", info={"total_token_usage": total, "last_token_usage": last})


def spoken(role: str, text: str) -> dict[str, Any]:
    return line("response_item", type="message", role=role, content=[{"type": "input_text", "text": text}])


def sums(told: list[Event]) -> tuple[int, int, int, int]:
    """As Codex counts: all input, of which cached; all output, of which reasoning."""
    used = [event.content for event in told if isinstance(event.content, TokenUsage)]
    return (
        sum(one.input + one.cache_read + one.cache_write for one in used),
        sum(one.cache_read for one in used),
        sum(one.output for one in used),
        sum(one.reasoning for one in used),
    )


def test_the_sum_is_the_last_total() -> None:
    call = usage(1000, 600, 50, 20)
    twice = usage(2000, 1200, 100, 40)
    told = events([header(), counted(call, call), counted(call, call), counted(twice, call), counted(twice, call)])
    assert sums(told) == (2000, 1200, 100, 40)
    assert sum(isinstance(event.content, TokenUsage) for event in told) == 2  # two calls of the same size


def test_a_total_that_begins_anew_is_added() -> None:
    first, full = usage(1000, 0, 50), {**usage(0, 0, 0), "total_tokens": 258400}
    again = usage(700, 0, 20)
    told = events([header(), counted(first, first), counted(full, None), counted(again, again)])
    assert sums(told) == (1700, 0, 70, 0)
    resumed = usage(3000, 0, 80)  # larger than before, but it is its own last call
    assert sums(events([header(), counted(first, first), counted(resumed, resumed)])) == (4000, 0, 130, 0)


def test_a_total_that_comes_late_is_none_that_begins_anew() -> None:
    totals = [(100_000, 4000), (103_000, 3000), (101_500, 1500), (104_000, 1000)]
    told = events([header(), *(counted(usage(total, 0, 0), usage(last, 0, 0)) for total, last in totals)])
    assert sums(told)[0] == 104_000


def test_without_a_total_each_call_counts_once() -> None:
    one, two = usage(1000, 0, 50), usage(1200, 0, 60)
    assert sums(events([header(), counted(None, one), counted(None, one), counted(None, two)])) == (2200, 0, 110, 0)


def test_what_was_copied_is_not_counted() -> None:
    copied, own = usage(5000, 4000, 100), usage(5600, 4500, 120)
    lines = [
        header(forked_from_id="another"),
        line("session_meta", id="another"),
        counted(copied, copied),
        line("event_msg", type="task_started", turn_id="019c0002-0000-7000-8000-000000000001"),
        counted(copied, copied),
        counted(own, usage(600, 500, 20)),
    ]
    assert sums(events(lines)) == (600, 500, 20, 0)


def test_nothing_that_was_copied_is_told_again() -> None:
    for name in ("fork.jsonl", "fork_restamped.jsonl"):
        told = [event.content for event in events_of(FIXTURES / name)]
        assert [content.text for content in told if isinstance(content, User)] == ["And now?"]


def test_a_copy_that_keeps_its_times_ends_where_the_thread_began() -> None:
    """Also without ids of turns, and where the answer comes at once."""
    child = {"subagent": {"thread_spawn": {"parent_thread_id": "root"}}}
    start = {"id": "child", "timestamp": "2026-01-31T12:00:00.000Z", "source": child}
    lines = [
        line("session_meta", **start),
        {**line("session_meta", id="root", source="cli"), "timestamp": "2026-01-31T11:00:00.000Z"},
        {**spoken("user", "copied"), "timestamp": "2026-01-31T11:00:01.000Z"},
        {**spoken("user", "own"), "timestamp": "2026-01-31T12:00:00.500Z"},
        {**spoken("assistant", "so too"), "timestamp": "2026-01-31T12:00:01.000Z"},
    ]
    assert [event.content for event in events(lines)] == [AgentMessage("own"), Said("so too")]


def test_who_forks_may_ask_at_once() -> None:
    """Without ids of turns a copy ends where time passes: before a prompt, or before the answer to one."""
    lines = [
        header(),
        line("session_meta", id="another"),
        spoken("user", "Theirs."),
        spoken("assistant", "An answer."),
        line("event_msg", type="turn_aborted", reason="interrupted"),
        spoken("user", "Mine."),
        line("event_msg", type="user_message", message="Mine."),
    ]
    for at, one in enumerate(lines):
        one["timestamp"] = f"2026-01-31T12:00:00.{at:03}Z"
    answer = {**spoken("assistant", "Yours."), "timestamp": "2026-01-31T12:00:09.000Z"}
    told = [event.content for event in events([*lines, answer]) if isinstance(event.content, User | Said)]
    assert told == [User("Mine."), Said("Yours.")]


@pytest.mark.parametrize("path", ROLLOUTS, ids=lambda path: path.name)
def test_a_log_that_grows_tells_the_same(path: Path) -> None:
    """What is told of a beginning is the beginning of what is told of the whole."""
    whole = list(_records(path))
    told = [_named(item) for item in _decoded(whole, close=True)]
    for size in range(len(whole)):
        begun = [_named(item) for item in _decoded(whole[:size], close=False)]
        assert begun == told[: len(begun)]


@pytest.mark.parametrize("path", ROLLOUTS, ids=lambda path: path.name)
def test_every_result_has_its_call(path: Path) -> None:
    told = [item.content for item in _decoded(list(_records(path)), close=True) if isinstance(item, Event)]
    calls = {content.provider_call_id for content in told if isinstance(content, ToolCall)}
    results = [content.provider_call_id for content in told if isinstance(content, ToolOutput)]
    assert {result for result in results if result is not None} <= calls
    assert len(results) == len(set(results))


def test_only_patches_wait_where_the_log_tells_of_no_other_deeds() -> None:
    script = line("response_item", type="custom_tool_call", call_id="c1", name="exec", input="text(1);")
    patch = line("response_item", type="custom_tool_call", call_id="c2", name="apply_patch", input="*** Begin Patch")
    given = fed([header(), script, patch])
    assert [len(items) for items in given] == [0, 1, 0, 1]
    given = fed([{**header(), "ordinal": 0}, script, patch])
    assert [len(items) for items in given] == [0, 0, 0, 2]


def test_a_packed_log_is_read(tmp_path: Path) -> None:
    packed = tmp_path / "rollout-2026-01-31T12-00-00-x.jsonl.zst"
    packed.write_bytes(zstandard.compress((FIXTURES / "echoes.jsonl").read_bytes()))
    log = open_log(str(packed))
    assert log is not None
    assert log.reader.name == "codex"
    assert sums([event for event in log if isinstance(event, Event)]) == (3100, 1800, 130, 40)


def test_places() -> None:
    places = list(READERS["codex"].places({}, Path("/home/me")))
    assert [str(place.folder) for place in places] == ["/home/me/.codex/sessions", "/home/me/.codex/archived_sessions"]
    places = list(READERS["codex"].places({"CODEX_HOME": "/data/codex"}, Path("/home/me")))
    assert [str(place.folder) for place in places] == ["/data/codex/sessions", "/data/codex/archived_sessions"]


def test_the_payload_is_what_stands_in_the_envelope() -> None:
    said = line("response_item", type="message", role="user", content=[{"type": "input_text", "text": "Hello"}])
    event = events([header(), said])[0]
    payload = READERS["codex"].payload
    assert payload(said, event) == said["payload"]
    assert payload(said["payload"], event) == said["payload"]
    assert payload(7, event) == 7


def _records(path: Path) -> Iterator[Record]:
    log = open_log(str(path))
    assert log is not None
    yield from (record for record in log.records() if isinstance(record, Record))


def _decoded(records: list[Record], close: bool) -> list[Event | Note]:
    decoder = READERS["codex"].decoder("rollout.jsonl")
    items = [item for record in records for item in decoder.feed(record)]
    return [*items, *decoder.close()] if close else items


def _named(item: Event | Note) -> Any:
    return (item.session_id, item.key, body(item)) if isinstance(item, Event) else (item.kind, item.origin.line)


def test_items_without_an_id_are_told_one_by_one(tmp_path: Path) -> None:
    item = {
        "type": "command_execution",
        "command": "ls",
        "aggregated_output": "a",
        "exit_code": 0,
        "status": "completed",
    }
    started = {**item, "status": "in_progress"}
    lines = [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "item.started", "item": started},
        {"type": "item.completed", "item": item},
        {"type": "item.completed", "item": {**item, "id": ""}},
    ]
    log = tmp_path / "run.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    opened = open_log(str(log))
    assert opened is not None
    contents = [event.content for event in opened if isinstance(event, Event)]
    calls = [content.provider_call_id for content in contents if isinstance(content, ToolCall)]
    results = [content.provider_call_id for content in contents if isinstance(content, ToolOutput)]
    assert len(set(calls)) == 2
    assert calls == results


LETTER = "Message Type: NEW_TASK\nTask name: /root/scout\nSender: /root\nPayload:\nLook at the ridge"


def said(role: str, text: str, **more: Any) -> dict[str, Any]:
    part = {"type": "output_text" if role == "assistant" else "input_text", "text": text}
    return line("response_item", type="message", role=role, content=[part], **more)


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_what_another_agent_wrote_is_neither_a_prompt_nor_the_models(role: str) -> None:
    [told] = events([header(), said(role, LETTER)])
    assert told.content == AgentMessage(LETTER, "/root", "/root/scout")


def test_a_person_may_paste_such_a_letter() -> None:
    typed = {"internal_chat_message_metadata_passthrough": {"content_item_kinds": ["user.text"]}}
    [told] = events([header(), said("user", LETTER, **typed)])
    assert told.content == User(LETTER)
    [told] = events([header(), said("user", "Message Type: is that a field?")])
    assert told.content == User("Message Type: is that a field?")


def test_a_warning_of_the_program_is_no_prompt() -> None:
    warning = "Warning: Your account was flagged for potentially high-risk activity and routed elsewhere"
    [told] = events([header(), said("user", warning)])
    assert told.content == Notification(warning, "context")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("Reply with the word ALPHA", "Reply with the word ALPHA"),
        ("ALPHA", "ALPHA"),
        ("gAAAAAB" + "x" * 93, "[encrypted: 100 characters]"),
        ("c" * 64, "[encrypted: 64 characters]"),
    ],
)
def test_a_letter_that_is_not_encrypted_is_read(given: str, shown: str) -> None:
    content = [{"type": "input_text", "text": "Payload:"}, {"type": "encrypted_content", "encrypted_content": given}]
    letter = line("response_item", type="agent_message", author="/root", recipient="/root/a", content=content)
    [told] = events([header(), letter])
    assert told.content == AgentMessage(f"Payload:\n{shown}", "/root", "/root/a")


def test_a_recorded_call_without_a_name_is_counted_once() -> None:
    first, second = usage(100, 0, 10), usage(50, 0, 5)
    records = [line("token_usage_record", usage=first), line("token_usage_record", usage=second)]
    told = events([header(), records[0], counted(first, first), records[1], counted(usage(150, 0, 15), second)])
    assert sums(told) == (150, 0, 15, 0)


def test_a_log_in_pages_tells_the_deeds_of_its_scripts_also_without_ordinals() -> None:
    script = line(
        "response_item", type="custom_tool_call", name="exec", input="await tools.apply_patch(p)", call_id="c"
    )
    changes = {"/w/a.txt": {"type": "add", "content": "one\n"}}
    done = {"type": "FileChange", "id": "exec-1", "changes": changes, "status": "completed"}
    output = line("response_item", type="custom_tool_call_output", call_id="c", output="Script completed\nOutput:\n")
    told = events(
        [header(history_mode="paginated"), script, line("event_msg", type="item_completed", item=done), output]
    )
    call = told[0].content
    assert isinstance(call, ToolCall)
    assert call.actions == (FileWrite("/w/a.txt", "one\n"),)


CITED = "Done.\n\n<oai-mem-citation>\nMEMORY.md:1-2\n</oai-mem-citation>"
PROPOSED = "Look:\n<proposed_plan>\n- go\n</proposed_plan>\nAgreed?"


@pytest.mark.parametrize(("whole", "shown"), [(CITED, "Done.\n\n"), (PROPOSED, "Look:\nAgreed?"), (PROPOSED, PROPOSED)])
@pytest.mark.parametrize("is_item", [True, False])
@pytest.mark.parametrize("first", [0, 1])
def test_what_the_model_hid_is_missing_in_the_echo(whole: str, shown: str, is_item: bool, first: int) -> None:
    echo = line("event_msg", type="agent_message", message=shown)
    if is_item:
        item = {"type": "AgentMessage", "id": "m", "content": [{"type": "Text", "text": shown}]}
        echo = line("event_msg", type="item_completed", item=item)
    lines = [said("assistant", whole), echo]
    told = events([header(), lines[first], lines[1 - first], said("user", "go on")])
    assert [event.content for event in told] == [Said(whole), User("go on")]


@pytest.mark.parametrize(
    "more",
    [
        {"source": {"internal": "guardian"}},
        {"source": {"subagent": {"other": "guardian"}}, "thread_source": "guardian_review"},
        {"source": "cli", "thread_source": "guardian_review"},
        {"source": "cli", "thread_source": "subagent"},
    ],
)
def test_a_thread_that_serves_another_is_a_stream_of_its_session(more: dict[str, Any]) -> None:
    parent = THREAD.replace("0001", "0000", 1)
    meta = header(parent_thread_id=parent)
    meta["payload"] |= more
    [told] = events([meta, said("assistant", "low risk")])
    assert (told.session_id, told.stream_id) == (parent, f"agent:{THREAD}")
