"""Document 000: the input formats of `cook`, message by message, and responses, whole and streamed."""

from typing import Any

import pytest

from seeds.records import (
    BLOCKS,
    CALL,
    HOURS,
    NINE,
    OPENAI_CALL,
    OPENED,
    OVER,
    PICTURE,
    QUESTION,
    SOURCE,
    STARTED,
    STOPPED,
    THOUGHT,
    TOOL_RESULT,
    TOOL_USE,
    claude_events,
    data,
    delta,
    grown,
    message,
    piece,
    record,
    started,
    without_ids,
)

# The two input formats: every kind of message


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param({"role": "system", "content": "Be brief."}, [message("system", "Be brief.")], id="system"),
        pytest.param(QUESTION, [message("user", "When does the mill open?")], id="user"),
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
def test_openai_messages(source: dict[str, Any], expected: list[dict[str, Any]], cook: Any) -> None:
    called = {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]}
    before = [called] if source["role"] == "tool" else []
    graph = cook(record(messages=[*before, source]))
    assert graph.requests[0]["format"] == "openai"
    assert without_ids(graph.prompts()[len(before) :]) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
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
def test_claude_messages(source: dict[str, Any], expected: list[dict[str, Any]], cook: Any) -> None:
    graph = cook(record(BLOCKS, system=[], messages=[source]))
    assert graph.requests[0]["format"] == "claude"
    assert without_ids(graph.prompts()) == expected


@pytest.mark.parametrize(("failed", "is_error"), [(False, False), (True, True), (None, False)])
def test_claude_tool_results(failed: bool | None, is_error: bool, cook: Any) -> None:
    source = {key: value for key, value in {**TOOL_RESULT, "is_error": failed}.items() if value is not None}
    used = {"role": "assistant", "content": [TOOL_USE]}
    graph = cook(
        record(BLOCKS, messages=[used, {"role": "user", "content": [source, {"type": "text", "text": "So?"}]}])
    )
    expected = [message("tool_result", "9 to 5", tool_use_id="call_h1", is_error=is_error), message("user", "So?")]
    assert without_ids(graph.prompts()[1:]) == expected


def test_claude_system_blocks_are_messages(cook: Any) -> None:
    system = [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind."}]
    graph = cook(record(BLOCKS, system=system, messages=[QUESTION]))
    assert without_ids(graph.prompts()[:2]) == [message("system", "Be brief."), message("system", "Be kind.")]


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "hours", "description": "Opening hours", "parameters": HOURS}},
        {"name": "hours", "description": "Opening hours", "input_schema": HOURS},
    ],
    ids=["openai", "claude"],
)
def test_tool_definitions(tool: dict[str, Any], cook: Any) -> None:
    graph = cook(record(NINE if "function" in tool else BLOCKS, messages=[QUESTION], tools=[tool]))
    fields = {"id": "t0", "name": "hours", "description": "Opening hours", "parameters": HOURS}
    assert {key: graph.tools[0][key] for key in fields} == fields
    assert graph.requests[0]["tools"] == ["t0"]


# Responses, whole and streamed


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
                STARTED,
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
                STARTED,
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
    graph = cook(record({"stream": True, "sse_lines": response} if streamed else response, messages=[QUESTION]))
    assert without_ids(graph.answers()) == expected
    assert graph.requests[0]["stream"] is streamed


def test_streams_name_their_id_model_and_stop_reason(cook: Any) -> None:
    first = {"id": "c-1", "model": "tin-2", **delta(role="assistant", content="Yes.")}
    openai = data(first, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, "[DONE]")
    claude = claude_events(STARTED, started(0, type="text", text="Yes."), STOPPED, OVER)
    graph = cook(
        *(
            {**record({"stream": True, "sse_lines": lines}, messages=[QUESTION]), "id": name}
            for name, lines in (("o", openai), ("c", claude))
        )
    )
    keys = ("response_id", "response_model", "stop_reason")
    facts = {request["id"]: tuple(request[key] for key in keys) for request in graph.requests}
    assert facts == {"o": ("c-1", "tin-2", "end_turn"), "c": ("msg_m1", "tin-2", "end_turn")}
