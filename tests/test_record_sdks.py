"""The official SDKs through `unspool record`: they get what they get without it, and cooking gives what they saw."""

import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from providers import ARGUMENTS, TEXT, handle
from recorders import Running, recording, records, upstream
from unspool.jobs.cook import cook

with warnings.catch_warnings():  # of their own dependencies
    warnings.simplefilter("ignore")
    anthropic = pytest.importorskip("anthropic")
    openai = pytest.importorskip("openai")
    genai = pytest.importorskip("google.genai")

PROMPT = "Jaka pogoda w Łodzi? ☔"
KEY = "not-" + "a-key"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}


def claude(url: str, stream: bool) -> Any:
    with anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0) as client:
        asked: dict[str, Any] = {
            "model": "claude-test",
            "max_tokens": 99,
            "messages": [{"role": "user", "content": PROMPT}],
        }
        asked["tools"] = [{"name": "weather", "input_schema": SCHEMA}]
        if not stream:
            return client.messages.create(**asked).model_dump(mode="json")
        with client.messages.stream(**asked) as events:
            return events.get_final_message().model_dump(mode="json")


def chat(url: str, stream: bool) -> Any:
    with openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
        asked: dict[str, Any] = {"model": "gpt-test", "messages": [{"role": "user", "content": PROMPT}]}
        asked["tools"] = [{"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}]
        if not stream:
            return client.chat.completions.create(**asked).model_dump(mode="json")
        return [chunk.model_dump(mode="json") for chunk in client.chat.completions.create(**asked, stream=True)]


def responses(url: str, stream: bool) -> Any:
    with openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
        asked: dict[str, Any] = {"model": "gpt-test", "input": PROMPT}
        asked["tools"] = [{"type": "function", "name": "weather", "parameters": SCHEMA, "strict": False}]
        if not stream:
            return client.responses.create(**asked).model_dump(mode="json")
        return [event.model_dump(mode="json") for event in client.responses.create(**asked, stream=True)]


def gemini(url: str, stream: bool) -> Any:
    client = genai.Client(api_key=KEY, http_options={"base_url": url})
    declared = [{"function_declarations": [{"name": "weather", "parameters": {"type": "OBJECT", "properties": {}}}]}]
    asked = {"model": "gemini-test", "contents": PROMPT, "config": {"tools": declared}}
    if not stream:
        answers = [client.models.generate_content(**asked)]
    else:
        answers = list(client.models.generate_content_stream(**asked))
    told = [answer.model_dump(mode="json", exclude={"sdk_http_response"}) for answer in answers]
    client.close()
    return told


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[str, Running, Path]]:
    """The upstream's own address, a recorder in front of it, and its trace."""
    trace = tmp_path / "trace.jsonl"
    with upstream(handle) as server, recording(trace, server.url) as recorder:
        yield server.url, recorder, trace


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("ask", [claude, chat, responses, gemini])
def test_clients_see_no_difference_and_cooking_sees_the_same(
    running: tuple[str, Running, Path], ask: Callable[[str, bool], Any], stream: bool
) -> None:
    direct, recorder, trace = running
    assert ask(recorder.url, stream) == ask(direct, stream)
    recorder.stop()
    (record,) = records(trace)
    assert KEY not in trace.read_text()
    assert (record["status"], record["interrupted"], record["error"]) == (200, False, None)
    assert bool((record["response"] or {}).get("stream")) is stream
    cooked = cook(trace)
    assert cooked.notes == []
    (request,) = cooked.requests
    texts = {message.id: message for message in cooked.messages}
    assert texts[request.request_messages[-1]].content == PROMPT
    said = [texts[name] for name in request.response_messages]
    assert "".join(message.content or "" for message in said) == TEXT
    (call,) = [call for message in said for call in message.tool_calls or []]
    assert call.name == "weather"
    given: Any = call.arguments
    assert (json.loads(given) if isinstance(given, str) else given) == ARGUMENTS
    assert [tool.name for tool in cooked.tools] == ["weather"]
