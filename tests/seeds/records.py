"""Invented records of document 000's two formats, and what `cook` makes of them in a form that is easy to compare."""

import json
from typing import Any

import msgspec

import unspool

MODEL = "tin-1"
QUESTION = {"role": "user", "content": "When does the mill open?"}
NINE = {"choices": [{"message": {"role": "assistant", "content": "At nine.", "tool_calls": None}}]}
BLOCKS = {"content": [{"type": "text", "text": "At nine."}]}
HOURS = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
CALL = {"name": "hours", "arguments": {"day": "Monday"}, "id": "call_h1"}


def record(response: Any = None, **request: Any) -> dict[str, Any]:
    return {
        "id": "rec-1",
        "timestamp": "2026-05-04T08:00:00Z",
        "duration_ms": 1200,
        "request": {"model": MODEL, **request},
        "response": NINE if response is None else response,
        "error": None,
    }


class Graph:
    """What `cook` made of some records."""

    def __init__(self, cooked: unspool.Cooked) -> None:
        self.value: dict[str, Any] = json.loads(msgspec.json.encode(cooked))
        self.requests, self.tools = self.value["requests"], self.value["tools"]
        self._messages = {message["id"]: message for message in self.value["messages"]}

    def prompts(self, place: int = 0) -> list[dict[str, Any]]:
        return [self._messages[name] for name in self.requests[place]["request_messages"]]

    def answers(self, place: int = 0) -> list[dict[str, Any]]:
        return [self._messages[name] for name in self.requests[place]["response_messages"]]


def message(role: str, content: str = "", **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "tool_calls": None, "tool_use_id": None, "is_error": None, **more}


def without_ids(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in each.items() if key != "id"} for each in messages]


OPENAI_CALL = {
    "id": "call_h1",
    "type": "function",
    "function": {"name": "hours", "arguments": '{"day": "Monday"}'},
}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}
SOURCE = {"type": "base64", "media_type": "image/png", "data": "QUJD"}
THOUGHT = {"type": "thinking", "thinking": "Look it up.", "signature": ""}
TOOL_USE = {"type": "tool_use", "id": "call_h1", "name": "hours", "input": {"day": "Monday"}}
TOOL_RESULT = {"type": "tool_result", "tool_use_id": "call_h1", "content": "9 to 5", "is_error": False}


def data(*events: dict[str, Any] | str) -> list[str]:
    return [f"data: {event if isinstance(event, str) else json.dumps(event)}" for event in events]


def delta(**more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": more}]}


OPENED = {"id": "c-1", "model": "tin-2", **delta(role="assistant")}


def piece(index: int, **more: Any) -> dict[str, Any]:
    return {"index": index, **more}


def claude_events(*events: dict[str, Any]) -> list[str]:
    return [line for event in events for line in (f"event: {event['type']}", *data(event))]


def started(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def grown(index: int, kind: str, **more: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **more}}


STARTED = {"type": "message_start", "message": {"id": "msg_m1", "model": "tin-2"}}
STOPPED = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
OVER = {"type": "message_stop"}
