"""Invented traffic, short to write: `call("u1")` is a record, "s:" a system prompt, "a1" an answer, "t:1" a result."""

import json
from itertools import count
from typing import Any

_numbers = count()


def said(text: str) -> dict[str, Any]:
    """A message by its first letters: s: system, a assistant, c: a tool call with that id, t: its result, else user."""
    match text.split(":", 1):
        case ["s", rest]:
            return {"role": "system", "content": rest}
        case ["c", call]:
            function = {"name": "run", "arguments": json.dumps({"n": call})}
            calls = [{"id": call, "type": "function", "function": function}]
            return {"role": "assistant", "content": None, "tool_calls": calls}
        case ["t", call]:
            return {"role": "tool", "tool_call_id": call, "content": f"result of {call}"}
        case _:
            return {"role": "assistant" if text.startswith("a") else "user", "content": text}


def call(*messages: str, answer: str | None = None, error: str | None = None, **more: Any) -> dict[str, Any]:
    """One recorded chat call; calls follow one another in time."""
    number = next(_numbers)
    response = None
    if answer is not None:
        response = {"choices": [{"index": 0, "message": said(answer), "finish_reason": "stop"}]}
    request = {
        "model": more.pop("model", "m"),
        "messages": [said(text) for text in messages],
        **more.pop("request", {}),
    }
    return {
        "id": more.pop("id", f"q{number}"),
        "timestamp": 1_700_000_000 + number,
        "duration_ms": 5,
        "request": request,
        "response": response,
        "error": error,
        **more,
    }
