import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unspool.transforms.inline import inline, normal, parse

IMAGE = {"type": "image_url", "image_url": {"url": "data:,"}}


def call(arguments: Any = "{}", name: Any = "f", **rest: Any) -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}, **rest}


def assistant(content: Any, *calls: Any, **rest: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls), **rest}


def result(content: Any, call_id: Any = "c1", **rest: Any) -> dict[str, Any]:
    return {"role": "tool", "content": content, "tool_call_id": call_id, **rest}


def text(*parts: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": part} for part in parts]


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        ('{"a": 1}', '{"a": 1}'),
        ('{"a":1,"b":[true,null]}', '{"a": 1, "b": [true, null]}'),
        ({"a": 1}, '{"a": 1}'),
        ('{"ż": "ó"}', '{"ż": "ó"}'),
        ("not json {", '"not json {"'),
        ("", '""'),
        (None, "null"),
        ("42", "42"),
        ('"hi"', '"hi"'),
        ('{"a": NaN}', '"{\\"a\\": NaN}"'),
        ('{"a": 1e999}', '"{\\"a\\": 1e999}"'),
        ({"a": float("nan")}, '{"a": "nan"}'),
        ('{"a": 1, "a": 2}', '"{\\"a\\": 1, \\"a\\": 2}"'),
        ('{"a": "</tool_call>"}', '{"a": "\\u003c/tool_call>"}'),
        ('{"a": "<b>\\\\<tool_result"}', '{"a": "<b>\\\\\\u003ctool_result"}'),
        ('{"a": "\\ud800"}', '{"a": "\\ud800"}'),
    ],
)
def test_arguments_are_written_as_values(arguments: Any, written: str) -> None:
    (made,) = inline([assistant(None, call(arguments))])
    assert made == {"role": "assistant", "content": f'<tool_call>{{"name": "f", "arguments": {written}}}</tool_call>'}
    made["content"].encode()
    json.loads(written)


CALL = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'


@pytest.mark.parametrize(
    ("message", "content"),
    [
        (assistant("Hello", call()), f"Hello\n{CALL}"),
        (assistant(" Hello ", call()), f"Hello \n{CALL}"),
        (assistant("", call(), call()), f"{CALL}\n{CALL}"),
        (assistant("  ", call()), CALL),
        (assistant(text("a", "b"), call()), f"ab\n{CALL}"),
        (assistant([*text("a"), IMAGE, *text("b")], call()), [*text(f"ab\n{CALL}"), IMAGE]),
        (assistant([IMAGE], call()), [*text(CALL), IMAGE]),
        (
            assistant("", {"id": "x", "type": "custom", "custom": {"name": "f", "input": "i"}}),
            '<tool_call>{"type": "custom", "custom": {"name": "f", "input": "i"}}</tool_call>',
        ),
        (
            assistant("", call(name=5)),
            '<tool_call>{"type": "function", "function": {"name": 5, "arguments": "{}"}}</tool_call>',
        ),
        (
            assistant("", {"id": "x", "function": {"name": "f"}}),
            '<tool_call>{"name": "f", "arguments": null}</tool_call>',
        ),
        (assistant("say <tool_call>", call()), f"say &lt;tool_call>\n{CALL}"),
        (assistant("say &lt;/tool_call>", call()), f"say &amp;lt;/tool_call>\n{CALL}"),
        (result("res"), '<tool_result tool_call_id="c1">res</tool_result>'),
        (result(None), '<tool_result tool_call_id="c1"></tool_result>'),
        (result(text("a", "b")), '<tool_result tool_call_id="c1">ab</tool_result>'),
        (result([IMAGE, *text("a")]), [*text('<tool_result tool_call_id="c1">a</tool_result>'), IMAGE]),
        (result("</tool_result>"), '<tool_result tool_call_id="c1">&lt;/tool_result></tool_result>'),
        (result("x", '"<&>'), '<tool_result tool_call_id="&quot;&lt;&amp;&gt;">x</tool_result>'),
    ],
)
def test_calls_and_results_are_written_as_text(message: dict[str, Any], content: Any) -> None:
    (made,) = inline([message | {"name": "n", "reasoning_content": "r"}])
    assert made == {"role": message["role"], "content": content, "name": "n", "reasoning_content": "r"}


@pytest.mark.parametrize(
    "message",
    [
        assistant("x"),
        assistant(text("a", "b")),
        {"role": "assistant", "content": text("a"), "tool_calls": None},
        {"role": "tool", "content": "x"},
        result("x", ""),
        result("x", None),
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "x"},
        {"role": "user", "content": "what does <tool_call> mean?"},
        {"role": "system", "content": "<tool_result"},
    ],
)
def test_other_messages_are_left_alone(message: dict[str, Any]) -> None:
    assert inline([message])[0] is message
    assert parse([message])[0] is message
    assert normal([message])[0] is message


def test_calls_get_the_ids_of_the_results_that_follow() -> None:
    messages = [
        assistant("", call(), call(), call()),
        result("x", "b"),
        result("y", "a"),
        {"role": "user"},
        result("z"),
    ]
    for made in (parse(inline(messages)), normal(messages)):
        assert [each["id"] for each in made[0]["tool_calls"]] == ["b", "a", None]
        assert made[1:] == messages[1:]


def test_results_stand_as_their_calls_do_however_they_came() -> None:
    one, two = ({**call(name=name), "id": name} for name in ("one", "two"))
    messages = [assistant("", one, two), result("2", "two"), result("1", "one"), {"role": "user", "content": "x"}]
    assert [each["content"] for each in parse(inline(messages))[1:]] == ["1", "2", "x"]
    for made in (parse(inline(messages)), normal(messages)):
        told = [(each["id"], each["function"]["name"]) for each in made[0]["tool_calls"]]
        assert told == [("one", "one"), ("two", "two")]


def test_text_that_inline_cannot_have_made_is_left_alone() -> None:
    for content in ("<tool_call>{}", "<tool_call>{</tool_call>", f"{CALL} and more", "<tool_result>x</tool_result>"):
        for role in ("assistant", "tool"):
            assert parse([{"role": role, "content": content}]) == [{"role": role, "content": content}]


TAGS = [
    "<tool_call>",
    "</tool_call>",
    "<tool_result",
    "</tool_result>",
    "&lt;tool_call>",
    "&amp;",
    "&",
    "<",
    "lt;",
    "tool_call>",
]
TEXT = st.lists(st.sampled_from([*TAGS, "\n", " ", '"', "\\", "\\u003c"]) | st.text(max_size=3), max_size=8).map(
    "".join
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
ARGUMENTS = JSON | JSON.map(json.dumps) | TEXT
PARTS = st.lists(st.sampled_from([IMAGE]) | TEXT | TEXT.map(lambda each: {"type": "text", "text": each}), max_size=4)
CONTENT = st.none() | TEXT | PARTS
IDS = st.sampled_from(["c1", "c2", ""]) | TEXT | st.none()
CALLS = (
    st.builds(call, ARGUMENTS, TEXT | st.integers())
    | st.fixed_dictionaries({"name": TEXT, "arguments": ARGUMENTS})
    | JSON
)
ROLES = st.sampled_from(["user", "assistant", "tool", "system"])
MESSAGES = st.lists(
    st.builds(lambda content, calls: assistant(content, *calls), CONTENT, st.lists(CALLS, max_size=3))
    | st.builds(result, CONTENT, IDS)
    | st.fixed_dictionaries({"role": ROLES}, optional={"content": CONTENT}),
    max_size=5,
)


@settings(max_examples=500)
@given(MESSAGES)
def test_inlined_messages_can_be_read_again(messages: list[dict[str, Any]]) -> None:
    before = repr(messages)
    made = inline(messages)
    assert parse(made) == normal(messages)
    assert repr(messages) == before
    for message in made:
        if message["role"] == "assistant" and isinstance(content := message.get("content"), str):
            assert content.count("<tool_call>") == content.count("</tool_call>")
