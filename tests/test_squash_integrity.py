"""Integrity, rule by rule, and the numbers of the tool-usage report."""

from typing import Any

import pytest

from unspool.transforms.integrity import check
from unspool.transforms.traces import continues, role_of
from unspool.transforms.usage import ToolUsage, usage_of

PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
GOOD: dict[str, Any] = {"name": "f", "description": "d", "parameters": PARAMETERS}
USER = {"role": "user", "content": "q"}


def call(name: Any = "f", key: str = "c1") -> dict[str, Any]:
    return {"id": key, "type": "function", "function": {"name": name, "arguments": "{}"}}


def asks(*calls: Any) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": list(calls)}


def gives(content: Any, key: Any = "c1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": key, "content": content}


def found(messages: list[Any], tools: Any = (GOOD,), inlined: Any = None) -> list[tuple[str, str]]:
    return [(finding.severity, finding.rule) for finding in check(messages, tools, inlined)]


def test_nothing_is_wrong_with_a_good_record() -> None:
    assert found([USER, asks(call()), gives("done"), {"role": "assistant", "content": "a"}]) == []


@pytest.mark.parametrize(
    ("tool", "rules"),
    [
        (5, [("ERROR", "tool-definition")]),
        ({"name": "f"}, [("ERROR", "tool-parameters")]),
        ({"name": "f", "parameters": {}}, [("ERROR", "tool-parameters")] * 2),
        ({**GOOD, "parameters": {**PARAMETERS, "required": None}}, [("ERROR", "tool-parameters")]),
        ({"name": "f", "parameters": {"type": "object", "properties": {}}}, []),
        ({**GOOD, "strict": True}, [("WARNING", "tool-keys")]),
        (
            {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "array"}}}},
            [("WARNING", "tool-array")],
        ),
    ],
)  # fmt: skip
def test_tool_definitions(tool: Any, rules: list[tuple[str, str]]) -> None:
    assert found([USER], [tool]) == rules


@pytest.mark.parametrize(
    ("messages", "rules"),
    [
        ([], [("ERROR", "no-messages")]),
        ([USER, {"role": "assistant", "tool_calls": {}}], [("ERROR", "tool-calls")]),
        ([USER, asks({"id": "c1"}), gives("x")], [("ERROR", "tool-calls")]),
        ([USER, asks(call("")), gives("x")], [("ERROR", "tool-calls")]),
        ([USER, asks(call())], [("INFO", "ends-with-call")]),
        ([USER, asks(call()), USER], [("ERROR", "no-result")]),
        ([USER, asks(call(), call(key="c2")), gives("x")], [("WARNING", "no-result")]),
        ([USER, asks(call()), gives("")], [("INFO", "empty-result")]),
        (
            [USER, asks(call(), call(key="c2")), gives('{"error": 1}'), gives("", "c2")],
            [("WARNING", "result"), ("INFO", "empty-result")],
        ),
        ([USER, asks(call()), gives(None)], [("ERROR", "result")]),
        ([USER, asks(call()), gives(" ")], []),
        ([USER, asks(call()), gives('{"a": [{"ERROR": "x"}]}')], [("ERROR", "result")]),
        ([USER, asks(call()), gives('{"missing": 3}')], [("ERROR", "result")]),
        ([USER, asks(call()), gives('{"error": null, "timeout": 0}')], []),
        ([USER, asks(call()), gives("Error: boom")], []),
        ([USER, asks(call()), gives("{error}")], []),
        (
            [USER, asks(call(), call(key="c2")), gives('{"error": 1}'), gives("fine", "c2")],
            [("WARNING", "result")],
        ),
        ([USER, asks(call(), call(key="c2")), gives("fine")], [("WARNING", "no-result")]),
        (
            [USER, asks(call()), gives('{"error": 1}'), asks(call(key="c2")), gives("fine", "c2")],
            [("ERROR", "result")],
        ),
        ([USER, asks(call()), gives("x"), gives("x", "c9")], [("ERROR", "result-id")]),
        ([USER, asks(call()), gives("x"), gives("x", None)], [("ERROR", "result-id")]),
        ([USER, gives("an orphan")], [("ERROR", "result-id")]),
        ([USER, {"role": "assistant", "function_call": {"name": "f"}}], [("ERROR", "function-call")]),
        ([USER, {"role": "assistant", "content": "context limit was reached"}], [("WARNING", "context-limit")]),
    ],
)
def test_messages(messages: list[Any], rules: list[tuple[str, str]]) -> None:
    assert found(messages) == rules


def test_a_chat_needs_no_tools_but_calls_do() -> None:
    assert found([USER], []) == [("INFO", "no-tools")]
    assert found([USER, asks(call()), gives("x")], []) == [("ERROR", "no-tools")]


def test_a_tool_that_the_provider_runs_has_no_schema() -> None:
    (finding,) = check([USER], [{"type": "web_search"}, {"type": "web_fetch", "name": "web_fetch"}])
    assert (finding.severity, finding.rule, finding.count) == ("INFO", "hosted-tool", 2)


def test_facts_are_counted_within_a_record() -> None:
    messages = [USER, asks(call(), call(key="c2")), gives(""), gives("", "c2"), {"role": "assistant", "content": "a"}]
    (finding,) = check(messages, [GOOD])
    assert (finding.rule, finding.count) == ("empty-result", 2)


def test_an_agents_log_has_no_definitions_of_tools_and_that_is_no_fault_of_the_record() -> None:
    (finding,) = check([USER], [], logged=True)
    assert (finding.severity, finding.rule) == ("INFO", "no-tools")
    assert "log" in finding.message
    assert list(check([USER], [GOOD], logged=True)) == []


@pytest.mark.parametrize(
    ("message", "bad"),
    [
        ({"role": "assistant", "content": "<tool_call>{}</tool_call>"}, False),
        ({"role": "assistant", "content": "<tool_call>{}"}, True),
        ({"role": "assistant", "content": "x", "tool_calls": [call()]}, True),
        ({"role": "assistant", "content": "x", "tool_calls": []}, False),
        ({"role": "tool", "content": '<tool_result tool_call_id="c">x</tool_result>'}, False),
        ({"role": "tool", "content": "x"}, True),
    ],
)
def test_tags(message: dict[str, Any], bad: bool) -> None:
    assert found([USER], inlined=[message]) == ([("ERROR", "tags")] if bad else [])


@pytest.mark.parametrize(
    ("before", "after", "so"),
    [
        ("S U", "S U Ac U", True),
        ("S U Ac", "S U", False),
        ("U Ac At T", "U Act T U", True),
        ("U Act T", "U Ac At T", False),
        ("U Ac", "U Act", False),
        ("", "U", True),
        ("U Ac At", "U Act", True),
    ],
)
def test_traces(before: str, after: str, so: bool) -> None:
    assert continues(before.split(), after.split()) is so


def test_roles() -> None:
    result = {"type": "tool_result"}
    messages: list[dict[str, Any]] = [
        {"role": "developer"},
        USER,
        {"role": "user", "content": [result]},
        {"role": "user", "content": [result, {"type": "text"}]},
        {"role": "assistant", "content": "x", "tool_calls": [1]},
        asks(call()),
        {"role": "assistant", "content": ""},
        gives("x"),
    ]
    assert [role_of(message) for message in messages] == ["S", "U", "R", "U", "Act", "At", "A", "T"]


def test_usage_counts_runs_and_calls() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "system"},
        USER,
        asks(call(), call()),
        gives("x"),
        {"role": "assistant", "function_call": {"name": "f"}},
        USER,
        {"role": "assistant", "content": "<tool_call>1</tool_call><tool_call>2</tool_call>"},
        USER,
        {"role": "assistant", "content": "a"},
    ]
    tools = [GOOD, GOOD, {"type": "web_search"}]
    assert usage_of(messages, tools) == ToolUsage(5, 3, 3, 2, ("f", "web_search"))
