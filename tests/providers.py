"""A scripted upstream that speaks four APIs, streamed and not: a sentence, and a call of a tool."""

import json
from typing import Any

from recorders import Connection, body, chunked

TEXT = "Zażółć gęślą jaźń: 東京は晴れ ☀"
ARGUMENTS = {"city": "Łódź", "days": 2}
Events = list[tuple[str | None, dict[str, Any]]]


def handle(connection: Connection) -> None:
    while True:
        head, data = connection.request()
        path = head.split()[1].decode()
        request = json.loads(data)
        if "/messages" in path:
            answer, events = anthropic()
        elif path.endswith("/chat/completions"):
            answer, events = chat()
        elif path.endswith("/responses"):
            answer, events = responses()
        else:
            answer, events = gemini()
        if request.get("stream") or "streamGenerateContent" in path:
            last = [b"data: [DONE]\n\n"] if path.endswith("/chat/completions") else []
            connection.send(*chunked(*map(_event, events), *last))
        else:
            connection.send(body(json.dumps(answer, ensure_ascii=False).encode(), "application/json; charset=utf-8"))


def _event(named: tuple[str | None, dict[str, Any]]) -> bytes:
    name, data = named
    first = f"event: {name}\n" if name else ""
    return f"{first}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def anthropic() -> tuple[dict[str, Any], Events]:
    usage = {"input_tokens": 12, "output_tokens": 7}
    message: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test"}
    message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    tool = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": ARGUMENTS}
    events: Events = [("message_start", {"type": "message_start", "message": message})]
    pieces = [{"type": "text_delta", "text": half} for half in _halves(TEXT)]
    more = [{"type": "input_json_delta", "partial_json": half} for half in _halves(json.dumps(ARGUMENTS))]
    blocks = (({"type": "text", "text": ""}, pieces), ({**tool, "input": {}}, more))
    for index, (block, deltas) in enumerate(blocks):
        named = {"index": index}
        begin = {"type": "content_block_start", **named, "content_block": block}
        events.append(("content_block_start", begin))
        events += [("content_block_delta", {"type": "content_block_delta", **named, "delta": each}) for each in deltas]
        events.append(("content_block_stop", {"type": "content_block_stop", **named}))
    end = {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": usage}
    events += [("message_delta", end), ("message_stop", {"type": "message_stop"})]
    return {**message, "content": [{"type": "text", "text": TEXT}, tool], "stop_reason": "tool_use"}, events


def chat() -> tuple[dict[str, Any], Events]:
    usage = {"prompt_tokens": 12, "completion_tokens": 7, "total_tokens": 19}
    call = {"id": "call_x1", "type": "function", "function": {"name": "weather", "arguments": json.dumps(ARGUMENTS)}}
    message = {"role": "assistant", "content": TEXT, "tool_calls": [call]}
    facts = {"id": "chatcmpl-1", "created": 1, "model": "gpt-test"}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    one, other = _halves(TEXT)
    begun = {"index": 0, **call, "function": {"name": "weather", "arguments": ""}}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": one}, {"content": other}, {"tool_calls": [begun]}]
    deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": h}}]} for h in _halves(json.dumps(ARGUMENTS))]
    chunk = {**facts, "object": "chat.completion.chunk"}
    events: Events = [(None, {**chunk, "choices": [{"index": 0, "delta": delta}]}) for delta in deltas]
    events.append((None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}))
    events.append((None, {**chunk, "choices": [], "usage": usage}))
    return {**facts, "object": "chat.completion", "choices": [choice], "usage": usage}, events


def responses() -> tuple[dict[str, Any], Events]:
    part = {"type": "output_text", "text": TEXT, "annotations": []}
    message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_x1", "name": "weather", "status": "completed"}
    call["arguments"] = json.dumps(ARGUMENTS)
    usage: dict[str, Any] = {"input_tokens": 12, "output_tokens": 7, "total_tokens": 19}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    whole: dict[str, Any] = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-test"}
    whole |= {"status": "completed", "output": [message, call], "usage": usage, "tools": [], "tool_choice": "auto"}
    whole |= {"parallel_tool_calls": True, "error": None, "incomplete_details": None, "metadata": {}}
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    steps: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": {**message, "content": []}},
        {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
        *({"type": "response.output_text.delta", **place, "delta": half, "logprobs": []} for half in _halves(TEXT)),
        {"type": "response.output_text.done", **place, "text": TEXT, "logprobs": []},
        {"type": "response.content_part.done", **place, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": message},
        {"type": "response.output_item.added", "output_index": 1, "item": {**call, "arguments": ""}},
        {"type": "response.output_item.done", "output_index": 1, "item": call},
        {"type": "response.completed", "response": whole},
    ]
    return whole, [(step["type"], {**step, "sequence_number": at}) for at, step in enumerate(steps)]


def gemini() -> tuple[dict[str, Any], Events]:
    usage = {"promptTokenCount": 12, "candidatesTokenCount": 7, "totalTokenCount": 19}
    call = {"functionCall": {"id": "call_x1", "name": "weather", "args": ARGUMENTS}}

    def piece(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
        candidate = {"index": 0, "content": {"role": "model", "parts": [*parts]}, **more}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-test"}

    one, other = _halves(TEXT)
    whole = piece({"text": TEXT}, call, finishReason="STOP")
    return whole, [
        (None, piece({"text": one})),
        (None, piece({"text": other})),
        (None, piece(call, finishReason="STOP")),
    ]
