"""What squash reports of ordinary data, and the schemas of the tools that it exports."""

import csv
import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from conftest import Run, Write
from unspool.transforms.json_schema import as_json_schema

JSON_FORMS = ("messages", "openai", "hf", "axolotl", "sharegpt", "atif")
PLACE: dict[str, Any] = {
    "name": "find_place",
    "description": "Finds a place.",
    "parameters": {
        "type": "OBJECT",
        "properties": {
            "type": {"type": "STRING", "enum": ["OBJECT", "STRING"], "format": "enum"},
            "near": {
                "type": "OBJECT",
                "nullable": True,
                "properties": {"names": {"type": "ARRAY", "minItems": "1", "items": {"type": "STRING"}}},
            },
            "limit": {"anyOf": [{"type": "INTEGER"}, {"type": ["NUMBER", "NULL"]}, {"type": "TYPE_UNSPECIFIED"}]},
        },
        "required": ["type"],
        "propertyOrdering": ["type", "near", "limit"],
    },
}
SPELLED = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": ["OBJECT", "STRING"], "format": "enum"},
        "near": {
            "type": "object",
            "nullable": True,
            "properties": {"names": {"type": "array", "minItems": 1, "items": {"type": "string"}}},
        },
        "limit": {"anyOf": [{"type": "integer"}, {"type": ["number", "null"]}, {}]},
    },
    "required": ["type"],
    "propertyOrdering": ["type", "near", "limit"],
}


def gemini() -> dict[str, Any]:
    call = {"functionCall": {"name": "find_place", "args": {"type": "park"}}}
    contents = [
        {"role": "user", "parts": [{"text": "Find it"}]},
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [{"functionResponse": {"name": "find_place", "response": {"result": "Here"}}}]},
    ]
    answer = {"content": {"role": "model", "parts": [{"text": "It is here."}]}, "finishReason": "STOP"}
    return {
        "id": "g1",
        "timestamp": "2026-03-02T10:00:00Z",
        "path": "/v1beta/models/gemini-x:generateContent",
        "request": {"contents": contents, "tools": [{"functionDeclarations": [PLACE]}]},
        "response": {"candidates": [answer]},
    }


def chat(number: int, *messages: Any, tools: Any = ()) -> dict[str, Any]:
    return {
        "timestamp": f"2026-03-02T10:00:0{number}Z",
        "session_id": "s1",
        "request": {"model": "m", "messages": list(messages), "tools": list(tools)},
        "response": {"id": "r", "choices": [{"message": {"role": "assistant", "content": "Done"}}]},
    }


def function(name: str, parameters: Any = None) -> dict[str, Any]:
    schema = parameters or {"type": "object", "properties": {}}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def schemas(value: Any) -> list[Any]:
    """All schemas of tools in an exported value, also where they are JSON text."""
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        try:
            return schemas(json.loads(value))
        except ValueError:
            return []
    if isinstance(value, list):
        return [schema for inner in value for schema in schemas(inner)]
    if not isinstance(value, dict):
        return []
    own = value.get("parameters")
    found = [json.loads(own) if isinstance(own, str) else own] if own is not None and "name" in value else []
    return found + [schema for inner in value.values() for schema in schemas(inner)]


@pytest.mark.parametrize("form", [*JSON_FORMS, "hermes", "swe-xml"])
@pytest.mark.parametrize("strategy", ["snapshot", "tree"])
def test_exported_tools_are_described_in_json_schema(
    unspool: Run, write: Write, tmp_path: Path, form: str, strategy: str
) -> None:
    out = tmp_path / "out"
    done = unspool("squash", write(gemini()), "-o", out, "--to", form, "--strategy", strategy)
    assert done.returncode == 0, done.stderr
    report = json.loads((out / "summary.json").read_bytes())
    assert report["integrity"]["errors"] == 0
    (name,) = report["records_by_file"]
    written = (out / name).read_text()
    assert not re.search(r'"type": ?"[A-Z]|\([A-Z]{4,}', written.replace("\\", ""))
    if form in JSON_FORMS:
        found = schemas(json.loads(written))
        assert found == [SPELLED]
        import_module("jsonschema").Draft202012Validator.check_schema(found[0])
    else:  # tools are described within a text
        assert re.search(r'"type": "object"|type \(string', written.replace("\\", ""))


def test_capitals_in_a_session_file_become_small(unspool: Run, write: Write, tmp_path: Path) -> None:
    tools = [function("shout", PLACE["parameters"]), function("plain")]
    log = write(chat(0, {"role": "user", "content": "Hi"}, tools=tools))
    assert unspool("squash", log, "-o", tmp_path / "out").returncode == 0
    (record,) = map(json.loads, (tmp_path / "out/2026-03-02.jsonl").read_text().splitlines())
    assert record["tools"] == [{"name": "shout", "parameters": SPELLED}, tools[1]["function"]]


def test_a_schema_keeps_what_is_data() -> None:
    schema = {
        "type": "object",
        "properties": {"type": {"type": "string"}, "minItems": {"type": "STRING"}},
        "default": {"type": "OBJECT"},
        "enum": [{"type": "ARRAY"}],
    }
    assert as_json_schema(schema) == schema | {
        "properties": {"type": {"type": "string"}, "minItems": {"type": "string"}},
    }


def findings(out: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((out / "integrity-report.json").read_bytes())["findings"]
    return found


@pytest.mark.parametrize("more", [(), ("--shards", "3")])
def test_a_fact_is_reported_once_with_its_number(unspool: Run, write: Write, tmp_path: Path, more: Any) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "sh", "arguments": "{}"}}
    made = [{"role": "user", "content": "Make it"}, {"role": "assistant", "tool_calls": [call]}]
    (tmp_path / "logs").mkdir()
    empty = {"role": "tool", "tool_call_id": "c1", "content": ""}
    logs = {
        "a-chat": chat(0, {"role": "user", "content": "Hi"}),
        "b-chat": chat(0, {"role": "user", "content": "Ho"}),
        "c-mkdir": chat(0, *made, empty, tools=[function("sh")]),
        "d-bad": chat(0, *made, {**empty, "content": '{"error": "no"}'}, tools=[function("sh")]),
    }
    for name, entry in logs.items():
        write(entry, name=f"logs/{name}.jsonl")
    out = tmp_path / "out"
    done = unspool("squash", tmp_path / "logs", "-o", out, *more)
    assert (done.returncode, b"integrity: 1 error, 0 warnings" in done.stderr) == (0, True), done.stderr
    assert [(row["severity"], row["rule"], row.get("count")) for row in findings(out)] == [
        ("ERROR", "result", None),
        ("INFO", "no-tools", 2),
        ("INFO", "empty-result", 1),
    ]
    first, *facts, summary = (out / "integrity-report.txt").read_text().splitlines()
    assert first.startswith("ERROR\tsession=d-bad\t")
    assert [line.split("\t")[:2] for line in facts] == [["INFO", "session=a-chat"], ["INFO", "session=c-mkdir"]]
    assert facts[0].endswith("(2 times, first here)")
    assert summary == "Integrity summary: errors=1 warnings=0 total=1 infos=2"
    assert json.loads((out / "summary.json").read_bytes())["integrity"] == {"errors": 1, "warnings": 0, "infos": 2}


def test_definitions_are_counted_by_name(unspool: Run, write: Write, tmp_path: Path) -> None:
    hello = {"role": "user", "content": "Hi"}
    (tmp_path / "logs").mkdir()
    for name, tools in (("one", "ab"), ("two", "bc"), ("three", "ab")):
        write(chat(0, hello, tools=map(function, tools)), name=f"logs/{name}.jsonl")
    out = tmp_path / "out"
    assert unspool("squash", tmp_path / "logs", "-o", out).returncode == 0
    with (out / "tool-usage.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert (row["session_count"], row["tool_definition_count"]) == ("3", "3")
