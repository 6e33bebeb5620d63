"""Document 003: the nine steps from a session's entries to one record, with sessions that try each of them."""

import json
from typing import Any

import pytest

from seeds.sessions import Message, Squash, entry, tool, turns

# 1 to 3: entries are read, cleaned up and validated


@pytest.mark.parametrize(
    "bad",
    ["{torn", "", "null", "[]", '"text"', "{}", '{"request": null}', '{"request": {"messages": null}}'],
)
def test_step_1_a_bad_line_costs_no_other(bad: str, squash: Squash) -> None:
    record = squash.log(entry(1, turns(1)), bad, entry(2, turns(3), "No.")).record()
    assert [message["content"] for message in record["messages"]] == ["Turn 0", "Turn 1", "Turn 2", "No."]


def test_step_2_clean_up_is_optional_and_comes_before_all_else(squash: Squash) -> None:
    noise = {"role": "user", "content": "<info-msg>\nIt is 9:41.\n</info-msg>"}
    long, short = entry(1, [*turns(1), noise, noise], "Late."), entry(2, turns(3), "On time.")
    squash.log(long, short)
    assert squash.record()["messages"][-1]["content"] == "On time."
    squash.log(entry(1, [*turns(1), noise, noise, noise], "Late."), short)
    assert squash.record()["messages"][-1]["content"] == "Late."
    assert squash.record("--clean-up", "goose")["messages"][-1]["content"] == "On time."


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        pytest.param({"timestamp": "2026-05-04T07:59:59Z"}, "time", id="time goes back"),
        pytest.param({"session_id": "mill-2"}, "session-id", id="another session id"),
    ],
)
def test_step_3_an_invalid_session_gives_no_record_and_costs_no_other(
    change: dict[str, Any], rule: str, squash: Squash
) -> None:
    squash.log(entry(1, turns(1)), {**entry(2, turns(3)), **change})
    squash.log(entry(1, turns(1), "Other."), name="2026-05-04/barn.jsonl")
    (record,) = squash.run()["2026-05-04.jsonl"]
    assert record["messages"][-1]["content"] == "Other."
    findings = json.loads((squash.out / "integrity-report.json").read_bytes())["findings"]
    assert ("ERROR", rule) in [(finding["severity"], finding["rule"]) for finding in findings]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"timestamp": "2026-05-04T08:00:01Z"}, id="equal times"),
        pytest.param({"timestamp": None}, id="no time"),
        pytest.param({"session_id": None}, id="no session id"),
    ],
)
def test_step_3_what_is_missing_or_equal_is_no_fault(change: dict[str, Any], squash: Squash) -> None:
    record = squash.log(entry(1, turns(1)), {**entry(2, turns(3), "No."), **change}).record()
    assert len(record["messages"]) == 4


# 3 and 4: the longest entry, and the last of them


@pytest.mark.parametrize(
    ("counts", "chosen"),
    [
        pytest.param([1, 3, 5], 3, id="growing"),
        pytest.param([1, 3, 2, 3, 1], 4, id="cut behind the last of the longest"),
        pytest.param([1, 5, 3], 2, id="cut once"),
        pytest.param([5, 1, 5], 3, id="a dip in the middle"),
        pytest.param([3, 3], 2, id="equal"),
        pytest.param([9, 3, 5], 1, id="never as long again"),
        pytest.param([1], 1, id="one"),
    ],
)
def test_steps_3_and_4_trailing_shorter_entries_are_cut(counts: list[int], chosen: int, squash: Squash) -> None:
    squash.log(*(entry(place, turns(count), f"Answer {place}") for place, count in enumerate(counts, 1)))
    record = squash.record()
    assert record["messages"] == [*turns(counts[chosen - 1]), {"role": "assistant", "content": f"Answer {chosen}"}]
    assert ("cut off" in squash.report() or "truncated" in squash.report()) is (chosen < len(counts))


# 5 to 7: messages, the final answer, roles

CALL = {"id": "c1", "type": "function", "function": {"name": "hours", "arguments": '{"day":  "Monday"}'}}


def test_steps_5_and_7_messages_are_the_requests_without_nulls_and_developer_is_system(squash: Squash) -> None:
    messages: list[Message] = [
        {"role": "developer", "content": "Be brief.", "name": None},
        {"role": "user", "content": [{"type": "text", "text": "Wann?"}], "own": 1},
        {"role": "assistant", "content": None, "tool_calls": [CALL], "refusal": None},
        {"role": "tool", "content": "9 to 5", "tool_call_id": "c1"},
    ]
    record = squash.log(entry(1, messages, {"role": "assistant", "content": "At nine.", "audio": None})).record()
    assert record["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Wann?"}], "own": 1},
        {"role": "assistant", "tool_calls": [CALL]},
        {"role": "tool", "content": "9 to 5", "tool_call_id": "c1"},
        {"role": "assistant", "content": "At nine."},
    ]


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        pytest.param({"choices": []}, None, id="no choices"),
        pytest.param({}, None, id="empty"),
        pytest.param(None, None, id="null"),
        pytest.param(
            {"choices": [{"message": {"role": "assistant", "content": text}} for text in ("First.", "Second.")]},
            "First.",
            id="two choices",
        ),
        pytest.param({"choices": [{"message": {"role": "developer", "content": "Hm."}}]}, "Hm.", id="another role"),
    ],
)
def test_step_6_the_first_choice_is_the_answer_if_there_is_one(
    response: Any, answer: str | None, squash: Squash
) -> None:
    record = squash.log(entry(1, turns(1), response=response)).record()
    assert [message["content"] for message in record["messages"]] == ["Turn 0", *([answer] if answer else [])]


# 8: tools


def test_step_8_tools_are_those_of_all_kept_entries_and_the_first_definition_wins(squash: Squash) -> None:
    flat = {"name": "flat", "description": "d", "parameters": {"type": "object", "properties": {}, "required": []}}
    squash.log(
        entry(1, turns(1), request={"tools": [tool("hours"), flat]}),
        entry(2, turns(3), request={"tools": [tool("hours", "new"), tool("price")]}),
        entry(3, turns(1), request={"tools": [tool("cut off")]}),
    )
    assert squash.record()["tools"] == [tool("hours")["function"], flat, tool("price")["function"]]
    last = squash.record("--tools-from", "last")["tools"]
    assert last == [tool("hours", "new")["function"], tool("price")["function"]]


@pytest.mark.parametrize("tools", [None, []])
def test_step_8_no_tools_are_an_empty_list(tools: Any, squash: Squash) -> None:
    record = squash.log(entry(1, turns(1), request={} if tools is None else {"tools": tools})).record()
    assert record["tools"] == []
    assert list(record) == ["messages", "tools"]


# 9: calls in the text


def called(content: Any, *arguments: Any) -> Message:
    calls = [
        {"id": f"c{place}", "type": "function", "function": {"name": "hours", "arguments": value}}
        for place, value in enumerate(arguments, 1)
    ]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def inlined(written: str) -> str:
    return f'<tool_call>{{"name": "hours", "arguments": {written}}}</tool_call>'


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param(called(None, '{"day":"Monday"}'), inlined('{"day": "Monday"}'), id="a JSON string is parsed"),
        pytest.param(called(None, {"day": "Monday"}), inlined('{"day": "Monday"}'), id="an object"),
        pytest.param(called(None, "Monday {"), inlined('"Monday {"'), id="no JSON stays a text"),
        pytest.param(called(None, ""), inlined('""'), id="empty"),
        pytest.param(called(None, None), inlined("null"), id="null"),
        pytest.param(called(None, "42"), inlined("42"), id="a number"),
        pytest.param(called(None, '{"day": "Müllerstag"}'), inlined('{"day": "Müllerstag"}'), id="not ASCII"),
        pytest.param(called("I look.", "{}"), f"I look.\n{inlined('{}')}", id="text before"),
        pytest.param(called(None, "{}", "[]"), f"{inlined('{}')}\n{inlined('[]')}", id="two calls"),
        pytest.param(
            called([{"type": "text", "text": "I "}, {"type": "text", "text": "look."}], "{}"),
            f"I look.\n{inlined('{}')}",
            id="text in parts",
        ),
    ],
)
def test_step_9_calls_become_text(message: Message, expected: str, squash: Squash) -> None:
    result = {"role": "tool", "tool_call_id": "c1", "content": "9 to 5"}
    squash.log(entry(1, [*turns(1), message, result]))
    assert squash.record("-j")["messages"][1:3] == [
        {"role": "assistant", "content": expected},
        {"role": "tool", "content": '<tool_result tool_call_id="c1">9 to 5</tool_result>'},
    ]
    unchanged = {key: value for key, value in message.items() if value is not None}
    assert squash.record()["messages"][1:3] == [unchanged, result]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        pytest.param(
            {"content": "", "tool_call_id": "c1"}, '<tool_result tool_call_id="c1"></tool_result>', id="empty"
        ),
        pytest.param(
            {"content": [{"type": "text", "text": "9 to 5"}], "tool_call_id": "c1"},
            '<tool_result tool_call_id="c1">9 to 5</tool_result>',
            id="a list",
        ),
        pytest.param({"content": "9 to 5"}, "9 to 5", id="without an id it stays"),
    ],
)
def test_step_9_results_become_text(result: Message, expected: str, squash: Squash) -> None:
    squash.log(entry(1, [*turns(1), called(None, "{}"), {"role": "tool", **result}]))
    assert squash.record("-j")["messages"][2]["content"] == expected


# Calls of another API become the same record


def test_schemas_of_gemini_are_valid_json_schema(squash: Squash) -> None:
    list_ = {"type": "ARRAY", "items": {"type": "INTEGER"}}
    parameters = {"type": "OBJECT", "properties": {"day": {"type": "STRING"}, "hours": list_}}
    request = {
        "contents": [{"role": "user", "parts": [{"text": "When?"}]}],
        "tools": [{"functionDeclarations": [{"name": "hours", "description": "d", "parameters": parameters}]}],
    }
    answer = {"candidates": [{"content": {"role": "model", "parts": [{"text": "At nine."}]}}]}
    squash.log({"id": "g1", "timestamp": "2026-05-04T08:00:00Z", "request": request, "response": answer})
    record = squash.record()
    assert [message["content"] for message in record["messages"]] == ["When?", "At nine."]
    (definition,) = record["tools"]
    assert definition["parameters"]["type"] == "object"
    assert definition["parameters"]["properties"] == {
        "day": {"type": "string"},
        "hours": {"type": "array", "items": {"type": "integer"}},
    }
