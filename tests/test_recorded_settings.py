"""What a recorded request set means the same to whoever is asked again."""

import json
import threading
from typing import Any

import pytest

from conftest import Run, Write
from contexts import environment
from model_server import ModelServer, Words
from unspool.jobs.recorded_settings import longest, tool_mode, untold

pytestmark = pytest.mark.usefixtures("home")


@pytest.mark.parametrize(
    ("settings", "mode"),
    [
        ({"tool_choice": {"type": "any"}}, "required"),
        ({"tool_choice": {"type": "tool", "name": "look"}}, "look"),
        ({"tool_choice": {"type": "none"}}, "none"),
        ({"tool_choice": "required"}, "required"),
        ({"tool_choice": {"type": "function", "function": {"name": "look"}}}, "look"),
        ({"tool_choice": {"type": "function", "name": "look"}}, "look"),
        ({"tool_choice": "NONE"}, "none"),
        ({"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}, "required"),
        ({"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["look"]}}}, "look"),
        ({"toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}}, "auto"),
        ({"tool_choice": {"type": "allowed_tools"}}, None),
        ({"tool_choice": 3}, None),
        ({}, None),
    ],
)
def test_how_tools_were_to_be_used(settings: dict[str, Any], mode: str | None) -> None:
    assert tool_mode(settings) == mode


def test_how_long_an_answer_might_be_and_what_is_left_out() -> None:
    assert longest({"max_tokens": 9}) == longest({"generationConfig": {"maxOutputTokens": 9}}) == 9
    assert longest({"max_tokens": "9"}) is longest({}) is None
    assert untold({"max_tokens": 9, "stream": True, "top_k": 3, "tool_choice": "auto"}) == ["top_k"]
    assert untold({"generationConfig": {"maxOutputTokens": 9, "temperature": 1}}) == ["temperature"]


def test_a_call_to_another_api_keeps_what_it_was_to_do(unspool: Run, write: Write) -> None:
    look = {"name": "look", "input_schema": {"type": "object"}}
    request = {
        "model": "claude-x",
        "max_tokens": 77,
        "temperature": 0.5,
        "tool_choice": {"type": "tool", "name": "look"},
    }
    request |= {"messages": [{"role": "user", "content": "Hi"}], "tools": [look]}
    said = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Ho"}]}
    path = write({"request": request, "response": said})
    with ModelServer() as at:
        done = unspool("replay", f"{path}#1", "-p", "openai/x", "--json", **environment(at.url))
    assert done.returncode == 0, done.stderr
    (body,) = at.bodies
    assert body["max_completion_tokens"] == 77
    assert body["tool_choice"] == {"type": "function", "function": {"name": "look"}}
    assert [tool["function"]["name"] for tool in body["tools"]] == ["look"]
    assert "openai/x is asked without temperature" in done.stderr.decode()
    assert json.loads(done.stdout)["replies"][0]["error"] is None


def test_several_are_asked_at_once(unspool: Run, write: Write) -> None:
    """Each waits until the other was asked too: that ends only if neither has to wait for the other's answer."""
    request = {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    path = write({"request": request, "response": {"type": "message", "role": "assistant", "content": []}})
    both = threading.Barrier(2)
    with ModelServer(Words("One.", meeting=both), Words("Two.", meeting=both)) as at:
        done = unspool("replay", f"{path}#1", "--model", "a", "--model", "b", "--json", **environment(at.url))
    assert done.returncode == 0, done.stderr
    replies = json.loads(done.stdout)["replies"]
    assert [reply["asked"] for reply in replies] == ["anthropic/a", "anthropic/b"]
    assert {reply["content"][0]["text"] for reply in replies} == {"One.", "Two."}


def test_what_the_provider_held_goes_to_another(unspool: Run, write: Write) -> None:
    """A call that only names what it goes on from: the file has the rest."""
    call = {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "call_1", "output": "Rain."}
    answer = {"object": "response", "id": "resp_1", "status": "completed", "output": [call]}
    first = {"request": {"model": "m", "instructions": "Be brief.", "input": "Oslo?"}, "response": answer}
    named: dict[str, Any] = {"model": "m", "previous_response_id": "resp_1"}
    second = {"request": {**named, "input": [result]}, "response": None}
    path = write(first, second)
    with ModelServer() as at:
        done = unspool("replay", f"{path}#2", "-p", "openai/x", "--json", **environment(at.url))
    assert done.returncode == 0, done.stderr
    said = [(message["role"], message["content"]) for message in at.bodies[0]["messages"]]
    assert said == [("system", "Be brief."), ("user", "Oslo?"), ("assistant", None), ("tool", "Rain.")]
    assert b"previous_response_id" not in done.stderr
    assert unspool("thread", "from", f"{path}#2", "-b", "oslo").returncode == 0
    turns = unspool("context", "list", "oslo", "--json").stdout.splitlines()
    assert [json.loads(turn)["role"] for turn in turns] == ["system", "user", "assistant", "user"]


def test_what_nobody_has_is_told(unspool: Run, write: Write) -> None:
    path = write({"request": {"model": "m", "previous_response_id": "resp_1", "input": "And Rome?"}, "response": None})
    with ModelServer() as at:
        done = unspool("replay", f"{path}#1", "-p", "openai/x", "--json", **environment(at.url))
    assert b"openai/x is asked without previous_response_id" in done.stderr
