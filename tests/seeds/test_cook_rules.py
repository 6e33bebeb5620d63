"""Document 000: how a format is detected, the fields of the output, times, deduplication and parents."""

import json
from typing import Any

import pytest

from conftest import Run, Write
from seeds.records import (
    BLOCKS,
    HOURS,
    MODEL,
    NINE,
    OPENAI_CALL,
    OVER,
    QUESTION,
    STARTED,
    STOPPED,
    THOUGHT,
    TOOL_RESULT,
    TOOL_USE,
    claude_events,
    grown,
    message,
    record,
    started,
    without_ids,
)

# Which format a record has

IN_CLAUDE = [{"role": "assistant", "content": [TOOL_USE]}, {"role": "user", "content": [TOOL_RESULT]}]


@pytest.mark.parametrize(
    "event",
    ["message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop"],
)
def test_rule_1_an_event_of_claudes(event: str, cook: Any) -> None:
    events = {each["type"]: each for each in (STARTED, started(0, type="text", text=""), STOPPED, OVER)}
    events["content_block_delta"] = grown(0, "text_delta", text="At nine.")
    graph = cook(record({"stream": True, "sse_lines": claude_events(events[event])}, messages=[QUESTION]))
    assert graph.requests[0]["format"] == "claude"


@pytest.mark.parametrize("answer", [BLOCKS, NINE, {}], ids=["claude answer", "openai answer", "no answer"])
@pytest.mark.parametrize(
    ("request_", "roles"),
    [
        pytest.param(
            {"system": [{"type": "text", "text": "Be brief."}], "messages": [QUESTION]},
            ["system", "user"],
            id="rule 2: system is a list",
        ),
        pytest.param(
            {"tools": [{"name": "hours", "input_schema": HOURS}], "messages": [QUESTION]},
            ["user"],
            id="rule 3: first tool has input_schema",
        ),
        pytest.param({"messages": [QUESTION, IN_CLAUDE[0]]}, ["user", "tool_use"], id="rule 4: tool_use"),
        pytest.param(
            {"messages": [QUESTION, *IN_CLAUDE]}, ["user", "tool_use", "tool_result"], id="rule 4: tool_result"
        ),
        pytest.param(
            {"messages": [QUESTION, {"role": "assistant", "content": [THOUGHT]}]},
            ["user", "thinking"],
            id="rule 4: thinking",
        ),
    ],
)
def test_rules_2_to_4_hold_whatever_the_answer_is(
    request_: dict[str, Any], roles: list[str], answer: dict[str, Any], cook: Any
) -> None:
    graph = cook(record(answer, **request_))
    assert [each["role"] for each in graph.prompts()] == roles
    assert graph.requests[0]["format"] == "claude"
    if answer:
        assert without_ids(graph.answers()) == [message("assistant", "At nine.")]


def test_otherwise_it_is_openai(cook: Any) -> None:
    assert cook(record(messages=[QUESTION])).requests[0]["format"] == "openai"


@pytest.mark.parametrize("format_", ["openai", "claude"])
def test_the_format_can_be_named(format_: str, unspool: Run, write: Write) -> None:
    path = write(record({}, messages=[QUESTION]))
    (request,) = json.loads(unspool("cook", path, "-q", "--format", format_).stdout)["requests"]
    assert request["format"] == format_


# The output


def test_fields_of_the_output(cook: Any) -> None:
    tools = [{"type": "function", "function": {"name": "hours", "description": "", "parameters": HOURS}}]
    graph = cook(record(messages=[QUESTION], tools=tools))
    assert list(graph.value)[:3] == ["messages", "tools", "requests"]
    assert list(graph.prompts()[0]) == ["id", "role", "content", "tool_calls", "tool_use_id", "is_error"]
    assert list(graph.tools[0])[:4] == ["id", "name", "description", "parameters"]
    first = "id parent_id timestamp request_messages response_messages model tools duration_ms".split()
    assert list(graph.requests[0])[: len(first)] == first
    assert [graph.requests[0][key] for key in first] == [
        *("rec-1", None, 1777881600000, ["m0"], ["m1"], MODEL, ["t0"], 1200),
    ]


@pytest.mark.parametrize(
    ("time", "milliseconds"),
    [
        ("2026-05-04T08:00:00Z", 1777881600000),
        ("2026-05-04T10:00:00+02:00", 1777881600000),
        ("2026-05-04T08:00:00.0019Z", 1777881600001),
        ("2026-05-04T08:00:00.999999Z", 1777881600999),
        ("2026-05-04T08:00:00.725900+00:00", 1777881600725),
    ],
)
def test_times_are_whole_milliseconds_never_later_than_they_were(time: str, milliseconds: int, cook: Any) -> None:
    (request,) = cook({**record(messages=[QUESTION]), "timestamp": time}).requests
    assert request["timestamp"] == milliseconds


def test_equal_messages_and_tools_are_there_once_and_children_name_their_parents(cook: Any) -> None:
    tools = [{"name": "hours", "description": "", "input_schema": HOURS}]
    answer = {"role": "assistant", "content": [{"type": "text", "text": "At nine."}]}
    first = record(BLOCKS, messages=[QUESTION], tools=tools)
    second = {
        **record(BLOCKS, messages=[QUESTION, answer, {"role": "user", "content": "Sure?"}], tools=tools),
        "id": "rec-2",
    }
    second["timestamp"] = "2026-05-04T08:01:00Z"
    graph = cook(first, second)
    assert [(request["id"], request["parent_id"]) for request in graph.requests] == [
        ("rec-1", None),
        ("rec-2", "rec-1"),
    ]
    assert [request["request_messages"] for request in graph.requests] == [["m0"], ["m0", "m1", "m2"]]
    assert [request["response_messages"] for request in graph.requests] == [["m1"], ["m1"]]
    assert len(graph.tools) == 1


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"role": "assistant", "content": "Nine?"}, id="role"),
        pytest.param({"role": "user", "content": "Nine!"}, id="content"),
        pytest.param({"role": "assistant", "content": "Nine?", "tool_calls": [OPENAI_CALL]}, id="tool_calls"),
        pytest.param({"role": "tool", "content": "Nine?", "tool_call_id": "call_h1"}, id="tool_use_id"),
    ],
)
def test_messages_that_differ_in_one_field_are_two(other: dict[str, Any], cook: Any) -> None:
    assert len(cook(record(messages=[{"role": "user", "content": "Nine?"}, other])).prompts()) == 2
    assert len({each["id"] for each in cook(record(messages=[QUESTION, QUESTION, other])).prompts()}) == 2


def test_several_parts_of_a_response(cook: Any) -> None:
    graph = cook(record({"content": [THOUGHT, *BLOCKS["content"]]}, messages=[QUESTION]))
    assert [each["role"] for each in graph.answers()] == ["thinking", "assistant"]
