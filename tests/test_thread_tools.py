"""Tools that came with a recorded call go on with its thread."""

import json
from typing import Any

import pytest

from conftest import Run, Write
from test_thread_command import ROLES, SAMPLES, out, records

pytestmark = pytest.mark.usefixtures("home")


def test_a_recorded_call_goes_on_with_its_tools(unspool: Run) -> None:
    """Whoever is asked is told of them, and not to call what nobody here carries out."""
    trace = SAMPLES / "traces" / "trip-planner.jsonl"
    records(unspool, "thread", "from", f"{trace}#3", "-b", "trip")
    first, *later = records(unspool, "thread", "show", "trip")
    (tool,) = first["inherited"]["tools"]
    assert set(tool) == {"name", "description", "inputSchema"}
    assert not any(turn["inherited"] for turn in later)
    claude = json.loads(out(unspool, "request", "trip", "-p", "anthropic/x"))
    assert claude["tools"] == [
        {"name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"]}
    ]
    assert claude["tool_choice"] == {"type": "none"}
    gemini = json.loads(out(unspool, "request", "trip", "-p", "gemini/x"))
    assert gemini["tools"][0]["functionDeclarations"][0]["name"] == tool["name"]
    assert gemini["toolConfig"] == {"functionCallingConfig": {"mode": "NONE"}}
    context = out(unspool, "context", "resolve", "trip")
    again = unspool("request", "-", "-p", "anthropic/x", stdin=context.encode())
    assert json.loads(again.stdout) == claude
    shown = out(unspool, "thread", "show", "trip")
    assert "tools 1 definition" in shown
    assert "inputSchema" not in shown


def test_tools_that_change_are_kept_where_they_did(unspool: Run, write: Write) -> None:
    def call(*texts: str, tools: list[str]) -> dict[str, Any]:
        said = [{"role": role, "content": text} for role, text in zip(ROLES, texts, strict=False)]
        offered: list[dict[str, Any]] = [{"type": "web_search_20250305", "name": "web_search"}]
        offered += [{"name": name, "input_schema": {"type": "object"}, "cache_control": {}} for name in tools]
        body = {"model": "claude-x", "max_tokens": 9, "messages": said, "tools": offered}
        return {"request": body, "response": {"type": "message", "role": "assistant", "content": []}}

    path = write(call("a", tools=["look"]), call("a", "b", "c", tools=["look", "go"]), call("a", "b", "d", tools=[]))
    told = []
    for number in (1, 2, 3):
        records(unspool, "thread", "from", f"{path}#{number}", "-b", f"t{number}")
        options = json.loads(out(unspool, "context", "resolve", f"t{number}"))["options"]
        told.append([tool["name"] for tool in options.get("tools", [])])
        assert "cache_control" not in json.dumps(options)
    assert told == [["look"], ["look", "go"], []]


def test_tools_that_an_api_defines_itself_go_back_as_they_were(unspool: Run, write: Write) -> None:
    shell = {"type": "bash_20250124", "name": "bash"}
    patch = {"type": "custom", "name": "apply_patch", "description": "Change files", "format": {"type": "text"}}
    claude = {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}], "tools": [shell]}
    asked = [{"type": "message", "role": "user", "content": "Hi"}]
    codex = {"model": "m", "input": asked, "tools": [patch, {"type": "local_shell"}]}
    path = write(
        {"request": claude, "response": {"type": "message", "role": "assistant", "content": []}},
        {"request": codex, "response": {"object": "response", "output": []}},
    )
    told = (("anthropic", [shell]), ("openai-responses", [patch, {"type": "local_shell"}]))
    for number, (provider, tools) in enumerate(told, 1):
        name = records(unspool, "thread", "from", f"{path}#{number}")[0]["id"]
        assert json.loads(out(unspool, "request", name, "-p", f"{provider}/x"))["tools"] == tools


def test_the_same_words_with_other_tools_are_another_end_once(unspool: Run, write: Write) -> None:
    def call(tool: str) -> dict[str, Any]:
        said = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"}]
        offered = [{"type": "function", "function": {"name": tool, "parameters": {"type": "object"}}}]
        return {"request": {"model": "m", "messages": said, "tools": offered}, "response": {"choices": []}}

    path = write(call("look"), call("go"))
    made = [records(unspool, "thread", "from", f"{path}#{number}")[0] for number in (1, 2, 1, 2)]
    assert [each["new"] for each in made] == [2, 1, 0, 0]
    assert made[0]["turns"] == made[2]["turns"]
    assert made[1]["turns"] == made[3]["turns"] != made[0]["turns"]
