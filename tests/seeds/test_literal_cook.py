"""The examples of document 000, as they are written there, against what its tables say of them."""

import json
import re
from typing import Any

import pytest

from conftest import Run
from seeds.documents import example, needs_documents
from seeds.records import QUESTION, record

pytestmark = needs_documents

RECORDS = {"000-01": "openai", "000-11": "claude"}
OPENAI_MESSAGES = ("000-02", "000-03", "000-04", "000-05", "000-06", "000-07")
CLAUDE_MESSAGES = ("000-13", "000-14", "000-15", "000-16", "000-17", "000-18", "000-19")
TOOLS = ("000-08", "000-20")
RESPONSES = ("000-09", "000-10", "000-21", "000-22", "000-23")
SYSTEM = "000-12"
SHAPES = {"000-24": "graph", "000-25": "messages", "000-26": "tools", "000-27": "requests"}
PAIRS = {"000-28": "000-29", "000-30": "000-31"}
CONTRADICTIONS = {"000-29": {"call_abc": "call_0"}}
"""Values that no program can produce from the example's input, and ours: this input has no ids of calls."""
RUN = {*RECORDS, *OPENAI_MESSAGES, *CLAUDE_MESSAGES, *TOOLS, *RESPONSES, SYSTEM, *SHAPES, *PAIRS, *PAIRS.values()}

Fields = tuple[str, str, list[dict[str, Any]] | None, str | None]
"""Role, content, calls, and the call that is answered."""


def value(key: str) -> Any:
    return json.loads(example(key).text.replace("[...]", "[]"))


def fields(messages: list[dict[str, Any]]) -> list[Fields]:
    return [(each["role"], each["content"], each["tool_calls"], each["tool_use_id"]) for each in messages]


def openai_fields(source: dict[str, Any]) -> list[Fields]:
    """Return what the tables make of a message in OpenAI's format."""
    if calls := source.get("tool_calls"):
        named = [
            {"name": call["function"]["name"], "arguments": json.loads(call["function"]["arguments"]), "id": call["id"]}
            for call in calls
        ]
        return [("tool_use", source["content"] or "", named, None)]
    if source["role"] == "tool":
        return [("tool_result", source["content"], None, source["tool_call_id"])]
    if isinstance(source["content"], str):
        return [(source["role"], source["content"], None, None)]
    return [(source["role"], part.get("text", "[image]"), None, None) for part in source["content"]]


def claude_fields(source: dict[str, Any]) -> list[Fields]:
    """Return what the tables make of a message in Claude's format."""
    if isinstance(source["content"], str):
        return [(source["role"], source["content"], None, None)]
    fields_: list[Fields] = []
    for block in source["content"]:
        match block["type"]:
            case "text":
                fields_.append((source["role"], block["text"], None, None))
            case "image":
                fields_.append((source["role"], "[image]", None, None))
            case "thinking":
                fields_.append(("thinking", block["thinking"], None, None))
            case "tool_use":
                call = {"name": block["name"], "arguments": block["input"], "id": block["id"]}
                fields_.append(("tool_use", "", [call], None))
            case "tool_result":
                fields_.append(("tool_result", block["content"], None, block["tool_use_id"]))
    return fields_


@pytest.mark.parametrize(("key", "format_"), RECORDS.items())
def test_literal_records(key: str, format_: str, cook: Any) -> None:
    graph = cook(value(key))
    (request,) = graph.requests
    facts = {key: request[key] for key in ("id", "timestamp", "duration_ms", "model", "format")}
    source = value(key)
    assert facts == {
        **{key: source[key] for key in ("id", "duration_ms")},
        "timestamp": 1771581600000,
        "model": source["request"]["model"],
        "format": format_,
    }


@pytest.mark.parametrize("key", OPENAI_MESSAGES)
def test_literal_openai_messages(key: str, cook: Any) -> None:
    messages = [value("000-06"), value(key)] if key == "000-07" else [value(key)]  # a result needs its call
    assert fields(cook(record(messages=messages)).prompts()) == [
        part for each in messages for part in openai_fields(each)
    ]


@pytest.mark.parametrize("key", CLAUDE_MESSAGES)
def test_literal_claude_messages(key: str, cook: Any) -> None:
    messages = [value("000-19"), value(key)] if key == "000-16" else [value(key)]
    graph = cook(record({"content": []}, system=[], messages=messages))
    assert fields(graph.prompts()) == [part for each in messages for part in claude_fields(each)]


def test_the_literal_system_field(cook: Any) -> None:
    graph = cook(record({"content": []}, **value(SYSTEM), messages=[QUESTION]))
    texts = [block["text"] for block in value(SYSTEM)["system"]]
    assert fields(graph.prompts()[:-1]) == [("system", text, None, None) for text in texts]


@pytest.mark.parametrize("key", TOOLS)
def test_literal_tools(key: str, cook: Any) -> None:
    source = value(key)
    (tool,) = cook(record(messages=[QUESTION], tools=[source])).tools
    function = source.get("function", source)
    parameters = function.get("parameters") or function["input_schema"]
    assert (tool["name"], tool["description"], tool["parameters"]) == (
        function["name"],
        function["description"],
        parameters,
    )


@pytest.mark.parametrize("key", RESPONSES)
def test_literal_responses(key: str, cook: Any) -> None:
    source = value(key)
    graph = cook(record(source, messages=[QUESTION]))
    if "choices" in source:
        assert fields(graph.answers()) == openai_fields(source["choices"][0]["message"])
    elif "content" in source:
        assert fields(graph.answers()) == claude_fields({"role": "assistant", **source})
    else:
        events = [json.loads(line[6:]) for line in source["sse_lines"] if line.startswith("data: {")]
        texts = re.findall(r'"(?:content|text)": "((?:\\.|[^"\\])+)"', json.dumps(events))
        assert [each["content"] for each in graph.answers()] == ["".join(texts)]
        (request,) = graph.requests
        first = events[0].get("message", events[0])
        assert (request["response_id"], request["response_model"]) == (first["id"], first["model"])
        assert request["format"] == ("claude" if "message" in events[0] else "openai")


@pytest.mark.parametrize(("key", "part"), SHAPES.items())
def test_literal_output_shapes(key: str, part: str, cook: Any) -> None:
    """They are no JSON: of values there are types. Our objects begin with their keys, in their order."""
    names = re.findall(r'^  "(\w+)":', example(key).text, re.MULTILINE)
    graph = cook(record(messages=[QUESTION], tools=[value("000-08")]))
    ours = graph.value if part == "graph" else graph.value[part][0]
    assert list(ours)[: len(names)] == names


@pytest.mark.parametrize(("source", "expected"), PAIRS.items())
def test_literal_inputs_and_outputs(source: str, expected: str, unspool: Run) -> None:
    done = unspool("cook", "-", "-q", stdin=example(source).text.encode())
    text = example(expected).text
    for theirs, ours in CONTRADICTIONS.get(expected, {}).items():
        assert theirs not in example(source).text
        text = text.replace(theirs, ours)
    assert json.loads(done.stdout)["messages"][: len(json.loads(text))] == json.loads(text)
