"""Events of a stream → a message, and what to show of each, as gpt2099 makes it."""

import csv
import io
import uuid
from collections.abc import Iterable
from typing import Any

from unspool.errors import WrongContext
from unspool.sources.jsontext import Unreadable, dumps, strict
from unspool.sources.values import listing, mapping, text_of

_NO_TOKENS = {
    "input_tokens": 0,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 0,
}
_SILENT = ("message_start", "message_delta", "message_stop", "ping", "content_block_stop")


def aggregate(provider: str, events: Iterable[Any]) -> dict[str, Any]:
    """`{"message": {…}}`. Calls get an id of our making wherever gpt2099 makes one."""
    told = [mapping(event) for event in events]
    match provider:
        case "anthropic":
            return {"message": _anthropic(told)}
        case "gemini":
            return {"message": _gemini(told)}
        case "cohere":
            return {"message": _cohere(told)}
    return {"message": _chat(told)}


def _arguments(text: str) -> Any:
    if not text.strip():
        return {}
    try:
        return strict(text)
    except Unreadable as error:
        raise WrongContext(f"gpt2099 reads no arguments that are no JSON: {text[:80]!r}") from error


def _anthropic(events: list[dict[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {}
    block: dict[str, Any] = {}
    pieces: list[str] = []
    for event in events:
        match event.get("type"):
            case "message_start":
                message = {**mapping(event.get("message")), "content": []}
            case "content_block_start":
                block, pieces = dict(mapping(event.get("content_block"))), []
            case "content_block_delta":
                pieces.append(_anthropic_delta(mapping(event.get("delta")), event))
            case "content_block_stop":
                message.setdefault("content", []).append(_anthropic_block(block, pieces))
            case "message_delta":
                usage = {**mapping(message.get("usage")), **mapping(event.get("usage"))}
                message = {**message, **mapping(event.get("delta")), "usage": usage}
            case "message_stop" | "ping":
                continue
            case _:
                raise WrongContext(f"gpt2099 knows no event {dumps(event)[:80]}")
    return message


def _anthropic_delta(delta: dict[str, Any], event: dict[str, Any]) -> str:
    match delta.get("type"):
        case "text_delta":
            return text_of(delta.get("text"))
        case "input_json_delta":
            return text_of(delta.get("partial_json"))
        case "citations_delta":
            return ""
    raise WrongContext(f"gpt2099 knows no event {dumps(event)[:80]}")


def _anthropic_block(block: dict[str, Any], pieces: list[str]) -> dict[str, Any]:
    match block.get("type"):
        case "text":
            return {**block, "text": text_of(block.get("text")) + "".join(pieces)}
        case "tool_use" | "server_tool_use":
            return {**block, "input": _arguments("".join(pieces))}
        case "web_search_tool_result":
            return block
    raise WrongContext(f"gpt2099 knows no block of type {block.get('type')}")


def _message(model: Any, text: str, calls: list[dict[str, Any]], usage: dict[str, Any]) -> dict[str, Any]:
    said: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    return {
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": said + calls,
        "stop_reason": "tool_use" if calls else "end_turn",
        "usage": usage,
    }


def _chat(events: list[dict[str, Any]]) -> dict[str, Any]:
    model: Any = None
    text = ""
    calls: dict[Any, tuple[str, str]] = {}
    for event in events:
        model = model or event.get("model")
        delta = _chat_delta(event)
        text += text_of(delta.get("content"))
        for call in map(mapping, listing(delta.get("tool_calls"))):
            name, written = calls.get(call.get("index"), ("", ""))
            function = mapping(call.get("function"))
            calls[call.get("index")] = (
                text_of(function.get("name")) or name,
                written + text_of(function.get("arguments")),
            )
    made = [_made(name, _arguments(written)) for name, written in calls.values()]
    return _message(model, text, made, dict(_NO_TOKENS))


def _made(name: Any, given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": str(uuid.uuid4()), "name": name, "input": given}


def _chat_delta(event: dict[str, Any]) -> dict[str, Any]:
    choices = listing(event.get("choices"))
    return mapping(mapping(choices[0]).get("delta")) if choices else {}


def _cohere(events: list[dict[str, Any]]) -> dict[str, Any]:
    text, usage = "", dict(_NO_TOKENS)
    call: dict[str, Any] = {}
    for event in events:
        delta = mapping(event.get("delta"))
        said = mapping(delta.get("message"))
        made = mapping(said.get("tool_calls"))
        function = mapping(made.get("function"))
        match event.get("type"):
            case "content-delta":
                text += text_of(mapping(said.get("content")).get("text"))
            case "tool-call-start" if made:
                call = {"id": made.get("id"), "name": function.get("name"), "written": function.get("arguments") or ""}
            case "tool-call-delta":
                call["written"] = call.get("written", "") + text_of(function.get("arguments"))
            case "message-end":
                if billed := mapping(mapping(delta.get("usage")).get("billed_units")):
                    usage["input_tokens"] = billed.get("input_tokens") or 0
                    usage["output_tokens"] = billed.get("output_tokens") or 0
    calls = []
    if call.get("name"):
        given = _arguments(call["written"])
        calls = [{"type": "tool_use", "id": call["id"], "name": call["name"], "input": given}]
    return _message("cohere", text, calls, usage)


def _gemini(events: list[dict[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {"type": "message", "role": "assistant", "content": []}
    text = ""
    call: dict[str, Any] | None = None
    for event in events:
        if event.get("modelVersion") is not None:
            message["model"] = event["modelVersion"]
        for candidate in map(mapping, listing(event.get("candidates"))):
            for part in map(mapping, listing(mapping(candidate.get("content")).get("parts"))):
                text += text_of(part.get("text"))
                call = part.get("functionCall") or call
        if counted := mapping(event.get("usageMetadata")):
            asked, said = counted.get("promptTokenCount"), counted.get("candidatesTokenCount") or 0
            message["usage"] = {**_NO_TOKENS, "input_tokens": asked, "output_tokens": said}
    if text:
        message["content"].append({"type": "text", "text": text})
    if call is not None:
        message["content"].append(_made(call.get("name"), call.get("args")))
        message["stop_reason"] = "tool_use"
    return message


def stream(provider: str, event: Any) -> dict[str, Any] | None:
    """`{"type", "name"?, "id"?, "content"?}` where a block begins, `{"content"}` where it goes on; None for nothing."""
    told = mapping(event)
    match provider:
        case "anthropic":
            return _show_anthropic(told)
        case "gemini":
            return _show_gemini(told)
        case "cohere":
            return _show_cohere(told)
    delta = _chat_delta(told)
    if delta.get("content"):
        return {"type": "text", "content": delta["content"]}
    calls = listing(delta.get("tool_calls"))
    return _show_call(mapping(calls[0]) if calls else {})


def _show_call(call: dict[str, Any]) -> dict[str, Any] | None:
    function = mapping(call.get("function"))
    if function.get("name"):
        return {"type": "tool_use", "name": function["name"], "id": call.get("id")}
    return {"content": function["arguments"]} if function.get("arguments") else None


def _show_anthropic(event: dict[str, Any]) -> dict[str, Any] | None:
    match event:
        case {"type": str(kind)} if kind in _SILENT:
            return None
        case {"type": "content_block_start", "content_block": {"type": "text", "text": text}}:
            return {"type": "text", "content": text}
        case {
            "type": "content_block_start",
            "content_block": {"type": "tool_use" | "server_tool_use" as kind, "name": n},
        }:
            return {"type": kind, "name": n}
        case {"type": "content_block_start", "content_block": {"type": "web_search_tool_result", "content": found}}:
            return {"type": "web_search_tool_result", "content": _table(listing(found))}
        case {"type": "content_block_delta", "delta": {"type": "citations_delta"}}:
            return {}
        case {"type": "content_block_delta", "delta": dict(delta)}:
            return {"content": _anthropic_delta(delta, event)}
    raise WrongContext(f"gpt2099 knows no event {dumps(event)[:80]}")


def _table(rows: list[Any]) -> str:
    """Search results as CSV, without their cipher."""
    records = [{key: value for key, value in mapping(row).items() if key != "encrypted_content"} for row in rows]
    names = list(dict.fromkeys(name for record in records for name in record))
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([["" if record.get(name) is None else record[name] for name in names] for record in records])
    return written.getvalue()


def _show_gemini(event: dict[str, Any]) -> dict[str, Any] | None:
    candidates = listing(event.get("candidates"))
    parts = listing(mapping(mapping(candidates[0]).get("content")).get("parts")) if candidates else []
    part = mapping(parts[0]) if parts else {}
    for key, value in part.items():
        if key == "functionCall":
            return {"type": "tool_use", "name": mapping(value).get("name"), "content": mapping(value).get("args")}
        return {"type": key, "content": value}
    return None


def _show_cohere(event: dict[str, Any]) -> dict[str, Any] | None:
    said = mapping(mapping(event.get("delta")).get("message"))
    call = mapping(said.get("tool_calls"))
    match event.get("type"):
        case "content-delta":
            text = mapping(said.get("content")).get("text")
            return {"type": "text", "content": text} if text else None
        case "tool-call-start" if call:
            return {"type": "tool_use", "name": mapping(call.get("function")).get("name"), "id": call.get("id")}
        case "tool-call-delta":
            return _show_call({"function": {"arguments": mapping(call.get("function")).get("arguments")}})
    return None
