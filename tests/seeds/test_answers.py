"""Document 002: the streams of five providers, and Responses, as one normalised answer."""

import json
from typing import Any

import pytest

from conftest import Run

Events = list[dict[str, Any]]


def chat(*deltas: dict[str, Any], reason: str, **usage: Any) -> Events:
    first = {"id": "a-1", "model": "tin-2"}
    pieces = [{**first, "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    end = {**first, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    return [*pieces, end, {**first, "choices": [], "usage": usage}]


def messages(*blocks: tuple[dict[str, Any], dict[str, Any]], reason: str) -> Events:
    usage = {"input_tokens": 7, "output_tokens": 1, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 4}
    message = {"id": "a-1", "type": "message", "role": "assistant", "model": "tin-2", "content": [], "usage": usage}
    events: Events = [{"type": "message_start", "message": message}]
    for index, (block, delta) in enumerate(blocks):
        events += [
            {"type": "content_block_start", "index": index, "content_block": block},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    last = {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}}
    return [*events, last, {"type": "message_stop"}]


def cohere(*events: tuple[str, dict[str, Any]], reason: str) -> Events:
    usage = {"tokens": {"input_tokens": 7, "output_tokens": 5}}
    return [
        {"type": "message-start", "id": "a-1", "delta": {"message": {"role": "assistant"}}},
        *({"type": kind, "index": 0, "delta": {"message": message}} for kind, message in events),
        {"type": "message-end", "delta": {"finish_reason": reason, "usage": usage}},
    ]


def gemini(*parts: dict[str, Any]) -> Events:
    usage = {"promptTokenCount": 11, "cachedContentTokenCount": 4, "candidatesTokenCount": 5}
    facts = {"responseId": "a-1", "modelVersion": "tin-2", "usageMetadata": usage}
    pieces: Events = [{**facts, "candidates": [{"content": {"role": "model", "parts": [part]}}]} for part in parts]
    pieces[-1]["candidates"][0]["finishReason"] = "STOP"
    return pieces


def responses(item: dict[str, Any]) -> Events:
    details = {"input_tokens_details": {"cached_tokens": 4}, "output_tokens_details": {"reasoning_tokens": 0}}
    whole = {"id": "a-1", "object": "response", "model": "tin-2", "status": "completed", "output": [item]}
    usage = {"input_tokens": 11, "output_tokens": 5, "total_tokens": 16, **details}
    place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    texts = [part["text"] for part in item.get("content", ())]
    return [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {**item, **({"content": []} if texts else {})},
        },
        *({"type": "response.output_text.delta", **place, "delta": text} for text in texts),
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {**whole, "usage": usage}},
    ]


CHAT_USAGE = {"prompt_tokens": 11, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4}}
ARGUMENTS = '{"place": "mill"}'
CALL = {"id": "tu_1", "type": "function", "function": {"name": "look", "arguments": ARGUMENTS}}
TEXT_ITEM = {
    "type": "message",
    "id": "m-1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "It is open.", "annotations": []}],
}
CALL_ITEM = {"type": "function_call", "id": "f-1", "call_id": "tu_1", "name": "look", "arguments": ARGUMENTS}
TEXTS: dict[str, Events] = {
    "anthropic": messages(
        ({"type": "text", "text": ""}, {"type": "text_delta", "text": "It is open."}), reason="end_turn"
    ),
    "openai": chat({"role": "assistant", "content": "It is "}, {"content": "open."}, reason="stop", **CHAT_USAGE),
    "cerebras": chat({"role": "assistant", "content": "It is open."}, reason="stop", **CHAT_USAGE),
    "openai-responses": responses(TEXT_ITEM),
    "gemini": gemini({"text": "It is "}, {"text": "open."}),
    "cohere": cohere(
        ("content-start", {"content": {"type": "text", "text": ""}}),
        ("content-delta", {"content": {"text": "It is open."}}),
        ("content-end", {}),
        reason="COMPLETE",
    ),
}
CALLS: dict[str, Events] = {
    "anthropic": messages(
        (
            {"type": "tool_use", "id": "tu_1", "name": "look", "input": {}},
            {"type": "input_json_delta", "partial_json": ARGUMENTS},
        ),
        reason="tool_use",
    ),
    "openai": chat({"role": "assistant", "tool_calls": [{"index": 0, **CALL}]}, reason="tool_calls", **CHAT_USAGE),
    "cerebras": chat({"role": "assistant", "tool_calls": [{"index": 0, **CALL}]}, reason="tool_calls", **CHAT_USAGE),
    "openai-responses": responses(CALL_ITEM),
    "gemini": gemini({"functionCall": {"id": "tu_1", "name": "look", "args": {"place": "mill"}}}),
    "cohere": cohere(
        ("tool-call-start", {"tool_calls": {**CALL, "function": {"name": "look", "arguments": ""}}}),
        ("tool-call-delta", {"tool_calls": {"function": {"arguments": ARGUMENTS}}}),
        ("tool-call-end", {}),
        reason="TOOL_CALL",
    ),
}


@pytest.fixture
def read(unspool: Run) -> Any:
    def read(provider: str, events: Events) -> dict[str, Any]:
        data = b"".join(json.dumps(event).encode() + b"\n" for event in events)
        done = unspool("response", provider, "--json", stdin=data)
        assert done.returncode == 0, done.stderr.decode()
        message: dict[str, Any] = json.loads(done.stdout)["message"]
        return message

    return read


@pytest.mark.parametrize("provider", TEXTS)
def test_an_answer_in_words(provider: str, read: Any) -> None:
    message = read(provider, TEXTS[provider])
    assert message["role"] == "assistant"
    assert message["content"] == [{"type": "text", "text": "It is open."}]
    assert message["stop_reason"] == "end_turn"
    assert message["model"] == (None if provider == "cohere" else "tin-2")  # Cohere's stream names no model
    cached = 0 if provider == "cohere" else 4
    written = 2 if provider == "anthropic" else 0
    counts = (message["usage"][f"{name}_tokens"] for name in ("input", "output"))
    assert tuple(counts) == (7, 5)
    assert message["usage"]["cache_read_input_tokens"] == cached
    assert message["usage"]["cache_creation_input_tokens"] == written


@pytest.mark.parametrize("provider", CALLS)
def test_an_answer_that_calls_a_tool(provider: str, read: Any) -> None:
    message = read(provider, CALLS[provider])
    (block,) = message["content"]
    assert {key: block[key] for key in ("type", "id", "name", "input")} == {
        "type": "tool_use",
        "id": "tu_1",
        "name": "look",
        "input": {"place": "mill"},
    }
    assert message["stop_reason"] == "tool_use"


@pytest.mark.parametrize("provider", TEXTS)
def test_each_event_adds_to_what_is_shown(provider: str, unspool: Run) -> None:
    data = b"".join(json.dumps(event).encode() + b"\n" for event in TEXTS[provider])
    done = unspool("response", provider, "--stream", "--json", stdin=data)
    pieces = [json.loads(line) for line in done.stdout.splitlines()]
    assert "".join(piece.get("content", "") for piece in pieces) == "It is open."
    assert pieces[0]["type"] == "text"
