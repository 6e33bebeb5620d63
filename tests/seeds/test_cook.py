"""Document 000: the input formats of `cook`, its output, and the rules between them."""

import json
from typing import Any

import msgspec
import pytest

import unspool
from conftest import Run, Write

MODEL = "tin-1"
ASKED = {"role": "user", "content": "When does the mill open?"}
NINE = {"choices": [{"message": {"role": "assistant", "content": "At nine.", "tool_calls": None}}]}
BLOCKS = {"content": [{"type": "text", "text": "At nine."}]}
HOURS = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
CALL = {"name": "hours", "arguments": {"day": "Monday"}, "id": "call_h1"}


def record(response: Any = None, **request: Any) -> dict[str, Any]:
    return {
        "id": "rec-1",
        "timestamp": "2026-05-04T08:00:00Z",
        "duration_ms": 1200,
        "request": {"model": MODEL, **request},
        "response": NINE if response is None else response,
        "error": None,
    }


class Graph:
    """What `cook` made of some records."""

    def __init__(self, cooked: unspool.Cooked) -> None:
        self.value: dict[str, Any] = json.loads(msgspec.json.encode(cooked))
        self.requests, self.tools = self.value["requests"], self.value["tools"]
        self._messages = {message["id"]: message for message in self.value["messages"]}

    def asked(self, place: int = 0) -> list[dict[str, Any]]:
        return [self._messages[name] for name in self.requests[place]["request_messages"]]

    def answered(self, place: int = 0) -> list[dict[str, Any]]:
        return [self._messages[name] for name in self.requests[place]["response_messages"]]


@pytest.fixture
def cook(write: Write) -> Any:
    def run(*records: dict[str, Any]) -> Graph:
        return Graph(unspool.cook(write(*records)))

    return run


def message(role: str, content: str = "", **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "tool_calls": None, "tool_use_id": None, "is_error": None, **more}


def without_ids(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in each.items() if key != "id"} for each in messages]


# The two input formats: every kind of message

OPENAI_CALL = {
    "id": "call_h1",
    "type": "function",
    "function": {"name": "hours", "arguments": '{"day": "Monday"}'},
}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}
SOURCE = {"type": "base64", "media_type": "image/png", "data": "QUJD"}
THOUGHT = {"type": "thinking", "thinking": "Look it up.", "signature": ""}
TOOL_USE = {"type": "tool_use", "id": "call_h1", "name": "hours", "input": {"day": "Monday"}}
TOOL_RESULT = {"type": "tool_result", "tool_use_id": "call_h1", "content": "9 to 5", "is_error": False}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({"role": "system", "content": "Be brief."}, [message("system", "Be brief.")], id="system"),
        pytest.param(ASKED, [message("user", "When does the mill open?")], id="user"),
        pytest.param(
            {"role": "user", "content": [{"type": "text", "text": "What is this?"}, PICTURE]},
            [message("user", "What is this?"), message("user", "[image]")],
            id="user with image",
        ),
        pytest.param({"role": "assistant", "content": "At nine."}, [message("assistant", "At nine.")], id="assistant"),
        pytest.param(
            {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]},
            [message("tool_use", tool_calls=[CALL])],
            id="assistant with calls",
        ),
        pytest.param(
            {"role": "tool", "tool_call_id": "call_h1", "content": "9 to 5"},
            [message("tool_result", "9 to 5", tool_use_id="call_h1", is_error=False)],
            id="tool",
        ),
    ],
)
def test_openai_messages(given: dict[str, Any], expected: list[dict[str, Any]], cook: Any) -> None:
    called = {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]}
    before = [called] if given["role"] == "tool" else []
    graph = cook(record(messages=[*before, given]))
    assert graph.requests[0]["format"] == "openai"
    assert without_ids(graph.asked()[len(before) :]) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(
            {"role": "user", "content": [{"type": "text", "text": "When?"}]},
            [message("user", "When?")],
            id="user blocks",
        ),
        pytest.param({"role": "user", "content": "When?"}, [message("user", "When?")], id="user string"),
        pytest.param(
            {"role": "user", "content": [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]},
            [message("user", "One."), message("user", "Two.")],
            id="each text block is a message",
        ),
        pytest.param(
            {"role": "user", "content": [{"type": "text", "text": "What?"}, {"type": "image", "source": SOURCE}]},
            [message("user", "What?"), message("user", "[image]")],
            id="user with image",
        ),
        pytest.param(
            {"role": "assistant", "content": [{"type": "text", "text": "At nine."}]},
            [message("assistant", "At nine.")],
            id="assistant",
        ),
        pytest.param(
            {"role": "assistant", "content": [THOUGHT, {"type": "text", "text": "At nine."}]},
            [message("thinking", "Look it up."), message("assistant", "At nine.")],
            id="assistant with thinking",
        ),
        pytest.param(
            {"role": "assistant", "content": [THOUGHT, TOOL_USE]},
            [message("thinking", "Look it up."), message("tool_use", tool_calls=[CALL])],
            id="assistant with tool use",
        ),
        pytest.param(
            {"role": "assistant", "content": [TOOL_USE, {**TOOL_USE, "id": "call_h2"}]},
            [message("tool_use", tool_calls=[CALL, {**CALL, "id": "call_h2"}])],
            id="tool uses are collected",
        ),
    ],
)
def test_claude_messages(given: dict[str, Any], expected: list[dict[str, Any]], cook: Any) -> None:
    graph = cook(record(BLOCKS, system=[], messages=[given]))
    assert graph.requests[0]["format"] == "claude"
    assert without_ids(graph.asked()) == expected


@pytest.mark.parametrize(("failed", "is_error"), [(False, False), (True, True), (None, False)])
def test_claude_tool_results(failed: bool | None, is_error: bool, cook: Any) -> None:
    given = {key: value for key, value in {**TOOL_RESULT, "is_error": failed}.items() if value is not None}
    used = {"role": "assistant", "content": [TOOL_USE]}
    graph = cook(record(BLOCKS, messages=[used, {"role": "user", "content": [given, {"type": "text", "text": "So?"}]}]))
    expected = [message("tool_result", "9 to 5", tool_use_id="call_h1", is_error=is_error), message("user", "So?")]
    assert without_ids(graph.asked()[1:]) == expected


def test_claude_system_blocks_are_messages(cook: Any) -> None:
    system = [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind."}]
    graph = cook(record(BLOCKS, system=system, messages=[ASKED]))
    assert without_ids(graph.asked()[:2]) == [message("system", "Be brief."), message("system", "Be kind.")]


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "hours", "description": "Opening hours", "parameters": HOURS}},
        {"name": "hours", "description": "Opening hours", "input_schema": HOURS},
    ],
    ids=["openai", "claude"],
)
def test_tool_definitions(tool: dict[str, Any], cook: Any) -> None:
    graph = cook(record(NINE if "function" in tool else BLOCKS, messages=[ASKED], tools=[tool]))
    fields = {"id": "t0", "name": "hours", "description": "Opening hours", "parameters": HOURS}
    assert {key: graph.tools[0][key] for key in fields} == fields
    assert graph.requests[0]["tools"] == ["t0"]


# Responses, whole and streamed


def data(*events: dict[str, Any] | str) -> list[str]:
    return [f"data: {event if isinstance(event, str) else json.dumps(event)}" for event in events]


def delta(**more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": more}]}


OPENED = {"id": "c-1", "model": "tin-2", **delta(role="assistant")}


def piece(index: int, **more: Any) -> dict[str, Any]:
    return {"index": index, **more}


def claude_events(*events: dict[str, Any]) -> list[str]:
    return [line for event in events for line in (f"event: {event['type']}", *data(event))]


def started(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def grown(index: int, kind: str, **more: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **more}}


BEGUN = {"type": "message_start", "message": {"id": "msg_m1", "model": "tin-2"}}
STOPPED = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
OVER = {"type": "message_stop"}


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        pytest.param(NINE, [message("assistant", "At nine.")], id="openai"),
        pytest.param(
            {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]}}]},
            [message("tool_use", tool_calls=[CALL])],
            id="openai with calls",
        ),
        pytest.param(BLOCKS, [message("assistant", "At nine.")], id="claude"),
        pytest.param(
            {"content": [THOUGHT, TOOL_USE]},
            [message("thinking", "Look it up."), message("tool_use", tool_calls=[CALL])],
            id="claude with tool use",
        ),
        pytest.param(
            data(OPENED, delta(content="At "), delta(content="nine."), "[DONE]"),
            [message("assistant", "At nine.")],
            id="openai stream: content is concatenated",
        ),
        pytest.param(
            data(
                OPENED,
                delta(tool_calls=[piece(1, id="call_h2", function={"name": "hours", "arguments": '{"day": '})]),
                delta(tool_calls=[piece(0, id="call_h1", function={"name": "hours", "arguments": '{"da'})]),
                delta(tool_calls=[piece(1, function={"arguments": '"Friday"}'})]),
                delta(tool_calls=[piece(0, function={"arguments": 'y": "Monday"}'})]),
                "[DONE]",
            ),
            [
                message(
                    "tool_use", tool_calls=[CALL, {"name": "hours", "arguments": {"day": "Friday"}, "id": "call_h2"}]
                )
            ],
            id="openai stream: calls are accumulated by index",
        ),
        pytest.param(
            claude_events(
                BEGUN,
                started(0, type="text", text=""),
                grown(0, "text_delta", text="At "),
                grown(0, "text_delta", text="nine."),
                {"type": "content_block_stop", "index": 0},
                STOPPED,
                OVER,
            ),
            [message("assistant", "At nine.")],
            id="claude stream: text_delta",
        ),
        pytest.param(
            claude_events(
                BEGUN,
                started(0, type="thinking", thinking=""),
                grown(0, "thinking_delta", thinking="Look "),
                grown(0, "thinking_delta", thinking="it up."),
                started(1, type="tool_use", id="call_h1", name="hours", input={}),
                grown(1, "input_json_delta", partial_json='{"day": '),
                grown(1, "input_json_delta", partial_json='"Monday"}'),
                {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
                OVER,
            ),
            [message("thinking", "Look it up."), message("tool_use", tool_calls=[CALL])],
            id="claude stream: thinking_delta and input_json_delta",
        ),
    ],
)
def test_responses(response: Any, expected: list[dict[str, Any]], cook: Any) -> None:
    streamed = isinstance(response, list)
    graph = cook(record({"stream": True, "sse_lines": response} if streamed else response, messages=[ASKED]))
    assert without_ids(graph.answered()) == expected
    assert graph.requests[0]["stream"] is streamed


def test_streams_name_their_id_model_and_stop_reason(cook: Any) -> None:
    first = {"id": "c-1", "model": "tin-2", **delta(role="assistant", content="Yes.")}
    openai = data(first, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, "[DONE]")
    claude = claude_events(BEGUN, started(0, type="text", text="Yes."), STOPPED, OVER)
    graph = cook(
        *(
            {**record({"stream": True, "sse_lines": lines}, messages=[ASKED]), "id": name}
            for name, lines in (("o", openai), ("c", claude))
        )
    )
    keys = ("response_id", "response_model", "stop_reason")
    told = {request["id"]: tuple(request[key] for key in keys) for request in graph.requests}
    assert told == {"o": ("c-1", "tin-2", "end_turn"), "c": ("msg_m1", "tin-2", "end_turn")}


# Which format a record has

IN_CLAUDE = [{"role": "assistant", "content": [TOOL_USE]}, {"role": "user", "content": [TOOL_RESULT]}]


@pytest.mark.parametrize(
    "event",
    ["message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop"],
)
def test_rule_1_an_event_of_claudes(event: str, cook: Any) -> None:
    events = {each["type"]: each for each in (BEGUN, started(0, type="text", text=""), STOPPED, OVER)}
    events["content_block_delta"] = grown(0, "text_delta", text="At nine.")
    graph = cook(record({"stream": True, "sse_lines": claude_events(events[event])}, messages=[ASKED]))
    assert graph.requests[0]["format"] == "claude"


@pytest.mark.parametrize("answer", [BLOCKS, NINE, {}], ids=["claude answer", "openai answer", "no answer"])
@pytest.mark.parametrize(
    ("request_", "roles"),
    [
        pytest.param(
            {"system": [{"type": "text", "text": "Be brief."}], "messages": [ASKED]},
            ["system", "user"],
            id="rule 2: system is a list",
        ),
        pytest.param(
            {"tools": [{"name": "hours", "input_schema": HOURS}], "messages": [ASKED]},
            ["user"],
            id="rule 3: first tool has input_schema",
        ),
        pytest.param({"messages": [ASKED, IN_CLAUDE[0]]}, ["user", "tool_use"], id="rule 4: tool_use"),
        pytest.param({"messages": [ASKED, *IN_CLAUDE]}, ["user", "tool_use", "tool_result"], id="rule 4: tool_result"),
        pytest.param(
            {"messages": [ASKED, {"role": "assistant", "content": [THOUGHT]}]},
            ["user", "thinking"],
            id="rule 4: thinking",
        ),
    ],
)
def test_rules_2_to_4_hold_whatever_the_answer_is(
    request_: dict[str, Any], roles: list[str], answer: dict[str, Any], cook: Any
) -> None:
    graph = cook(record(answer, **request_))
    assert [each["role"] for each in graph.asked()] == roles
    assert graph.requests[0]["format"] == "claude"
    if answer:
        assert without_ids(graph.answered()) == [message("assistant", "At nine.")]


def test_otherwise_it_is_openai(cook: Any) -> None:
    assert cook(record(messages=[ASKED])).requests[0]["format"] == "openai"


@pytest.mark.parametrize("format_", ["openai", "claude"])
def test_the_format_can_be_named(format_: str, unspool: Run, write: Write) -> None:
    path = write(record({}, messages=[ASKED]))
    (request,) = json.loads(unspool("cook", path, "-q", "--format", format_).stdout)["requests"]
    assert request["format"] == format_


# The output


def test_fields_of_the_output(cook: Any) -> None:
    tools = [{"type": "function", "function": {"name": "hours", "description": "", "parameters": HOURS}}]
    graph = cook(record(messages=[ASKED], tools=tools))
    assert list(graph.value)[:3] == ["messages", "tools", "requests"]
    assert list(graph.asked()[0]) == ["id", "role", "content", "tool_calls", "tool_use_id", "is_error"]
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
    (request,) = cook({**record(messages=[ASKED]), "timestamp": time}).requests
    assert request["timestamp"] == milliseconds


def test_equal_messages_and_tools_are_there_once_and_children_name_their_parents(cook: Any) -> None:
    tools = [{"name": "hours", "description": "", "input_schema": HOURS}]
    said = {"role": "assistant", "content": [{"type": "text", "text": "At nine."}]}
    first = record(BLOCKS, messages=[ASKED], tools=tools)
    second = {
        **record(BLOCKS, messages=[ASKED, said, {"role": "user", "content": "Sure?"}], tools=tools),
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
    assert len(cook(record(messages=[{"role": "user", "content": "Nine?"}, other])).asked()) == 2
    assert len({each["id"] for each in cook(record(messages=[ASKED, ASKED, other])).asked()}) == 2


def test_several_parts_of_a_response(cook: Any) -> None:
    graph = cook(record({"content": [THOUGHT, *BLOCKS["content"]]}, messages=[ASKED]))
    assert [each["role"] for each in graph.answered()] == ["thinking", "assistant"]
