"""Cohere messages, parts, tools, usage → the model."""

from collections.abc import Iterator
from typing import Any

from unspool.model import (
    Block,
    Document,
    Message,
    Other,
    Response,
    Role,
    StopReason,
    Text,
    Thinking,
    Tool,
    ToolResult,
    ToolUse,
    Usage,
)
from unspool.sources.jsontext import dumps
from unspool.sources.values import count, listing, mapping, string, text_of
from unspool.wires.values import arguments_of, content_of, from_url, leftover, misfits, other, stop_of

PLAN = {"key": "tool_plan"}
"""What a text's `extra` says that was the plan beside the calls."""
_ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant", "chatbot": "assistant"}
_STOPS: dict[str, StopReason] = {
    "COMPLETE": "end_turn",
    "STOP_SEQUENCE": "stop_sequence",
    "MAX_TOKENS": "max_tokens",
    "TOOL_CALL": "tool_use",
    "ERROR": "error",
    "TIMEOUT": "error",
}


def decode(slot: str, value: Any) -> Message:
    if slot == "preamble":
        return _message("system", {"content": value}, {})
    if isinstance(value, str):
        return Message("user", (Text(value),), "string")
    match mapping(value):
        case {"tool_results": list(results), **rest}:
            return Message("user", tuple(map(_told, results)), "blocks", rest or None)
        case {"message": said, **rest} if "content" not in value:  # version 1
            return decode(slot, {"role": None, **rest, "content": said})
        case {"role": "tool", **rest}:
            return _result(rest)
        case {"role": str(role), **rest} if role.lower() in _ROLES:
            return _message(_ROLES[role.lower()], rest, {} if role in _ROLES else {"role": role})
        case {"content": _, "role": role, **rest}:
            return _message("user", {**rest, "content": value["content"]}, {} if role is None else {"role": role})
        case {"content": _}:
            return _message("user", value, {})
    return Message("user", (other(value),))


def _message(role: Role, value: dict[str, Any], extra: dict[str, Any]) -> Message:
    blocks, form = content_of(value.get("content"), part_of)
    found = [block for block in blocks if block != Text("")]
    if plan := string(value.get("tool_plan")):
        found.append(Text(plan, extra=dict(PLAN)))
    if citations := listing(value.get("citations")):
        found = _cited(found, citations)
    found += map(_call, listing(value.get("tool_calls")))
    extra |= leftover(value, "role", "content", "tool_plan", "tool_calls", "citations") or {}
    extra |= misfits(value, tool_plan=str, tool_calls=list, citations=list)
    return Message(role, tuple(found), form, extra or None)


def _cited(blocks: list[Block], citations: list[Any]) -> list[Block]:
    """Citations count the letters of one of the texts; most answers have one."""
    from msgspec.structs import replace

    last = next((number for number in reversed(range(len(blocks))) if isinstance(blocks[number], Text)), None)
    if last is None:
        return [*blocks, Other("citations", citations, known=True)]
    return [
        replace(block, citations=tuple(citations)) if number == last else block for number, block in enumerate(blocks)
    ]


def part_of(value: Any) -> Block:
    if isinstance(value, str):
        return Text(value)
    match mapping(value):
        case {"type": "text", "text": str(text), **rest}:
            return Text(text, extra=rest or None)
        case {"type": "thinking", "thinking": str(text), **rest}:
            return Thinking(text, extra=rest or None)
        case {"type": "image_url", "image_url": at, **rest}:
            url = at if isinstance(at, str) else mapping(at).get("url")
            if isinstance(url, str):
                kept = leftover(at, "url") if isinstance(at, dict) else {"bare": True}
                return from_url("image", url, {**rest, **(kept or {})} or None)
        case {"type": "document", "document": document, **rest}:
            return _document(document, rest)
    return other(value)


def _document(value: Any, rest: dict[str, Any]) -> Document:
    data = mapping(value).get("data", value)
    kept = {**rest, **(leftover(value, "data") or {})} if isinstance(value, dict) else rest
    text = data if isinstance(data, str) else dumps(data)
    return Document("document", "text", text, "text/plain" if isinstance(data, str) else "application/json", extra=kept)


def _result(value: dict[str, Any]) -> Message:
    blocks, form = content_of(value.get("content"), _given)
    extra = leftover(value, "tool_call_id", "content")
    return Message(
        "user", (ToolResult(string(value.get("tool_call_id")), blocks, extra=extra),), form, {"role": "tool"}
    )


def _given(value: Any) -> Block:
    """A part of a result. What a tool gave back is mostly written as a document, so that it can be cited."""
    block = part_of(value)
    if isinstance(block, Document) and block.source == "text":
        return Text(block.data, extra={**(block.extra or {}), "type": "document"})
    return block


def _told(value: Any) -> Block:
    """A result of version 1: {"call": {"name", "parameters"}, "outputs": […]}."""
    match mapping(value):
        case {"call": dict(call), "outputs": outputs, **rest}:
            extra = {**rest, **(leftover(call, "name") or {})}
            return ToolResult(None, (Text(dumps(outputs)),), None, string(call.get("name")), extra=extra or None)
    return other(value)


def _call(value: Any) -> Block:
    match mapping(value):
        case {"name": str(name), "parameters": parameters, **rest}:  # version 1
            arguments, text = arguments_of(parameters)
            return ToolUse(string(rest.get("id")), name, arguments, text, extra=leftover(rest, "id"))
        case {"function": dict(function), **rest}:
            arguments, text = arguments_of(function.get("arguments"))
            extra = {**_typed(rest), **(leftover(function, "name", "arguments") or {})}
            return ToolUse(string(rest.get("id")), text_of(function.get("name")), arguments, text, extra=extra or None)
    return Other("tool_call", value)


def _typed(rest: dict[str, Any]) -> dict[str, Any]:
    """What a call or a tool says of itself; that it is a function goes without saying."""
    kept = leftover(rest, "id") or {}
    return {key: value for key, value in kept.items() if (key, value) != ("type", "function")}


def tools(value: Any) -> Iterator[Tool]:
    match mapping(value):
        case {"function": dict(function), **rest}:
            extra = {
                **(leftover(function, "name", "description", "parameters") or {}),
                **_typed(rest),
            }
            extra |= misfits(function, parameters=dict)
            schema = mapping(function.get("parameters"))
            named, about = text_of(function.get("name")), text_of(function.get("description"))
            yield Tool(named, about, schema, extra=extra or None)
        case {"name": str(name), "parameter_definitions": _, **rest}:  # version 1
            yield Tool(name, text_of(rest.get("description")), {}, extra=leftover(value, "name", "description"))
        case {"type": str(kind)}:
            yield Tool(kind, "", {}, True, value)


def answer(body: dict[str, Any]) -> Response:
    if "generation_id" in body or "response_id" in body:
        body = _second(body)
    match body.get("message"):
        case dict(message):
            said: tuple[Message, ...] = (decode("messages", {**message, "role": "assistant"}),)
        case None | str():  # the words of an error
            said = ()
        case message:
            said = (Message("assistant", (other(message),)),)
    return Response(
        said,
        id=string(body.get("id")),
        stop=stop_of(body.get("finish_reason"), _STOPS),
        usage=usage_of(body.get("usage")),
        extra={**(leftover(body, "id", "message", "finish_reason", "usage") or {}), **misfits(body, usage=dict)}
        or None,
    )


def _second(body: dict[str, Any]) -> dict[str, Any]:
    """An answer of version 1 as version 2 would give it. It repeats all that was said before."""
    beside = ("text", "tool_calls", "citations", "meta", "response_id", "generation_id", "chat_history")
    said = {"content": body.get("text"), **{key: body[key] for key in ("tool_calls", "citations") if body.get(key)}}
    name = body.get("response_id") or body.get("generation_id")
    return {**(leftover(body, *beside) or {}), "id": name, "message": said, "usage": body.get("meta")}


def usage_of(raw: Any) -> Usage | None:
    """What is billed; `tokens` counts Cohere's own wrapping too, and stands in where nothing else does.

    The wrapping begins every prompt, so it is what a cache holds first: only what was cached beyond it was in the bill.
    """
    if not isinstance(raw, dict):
        return None
    whole = mapping(raw.get("tokens"))
    counted = mapping(raw.get("billed_units")) or whole
    prompt, cached = count(counted.get("input_tokens")), count(raw.get("cached_tokens"))
    wrapping = max(count(whole.get("input_tokens")) - prompt, 0)
    cached = min(cached, prompt + wrapping)
    fresh = prompt - max(cached - wrapping, 0)
    return Usage(input=fresh, cache_read=cached, output=count(counted.get("output_tokens")), raw=raw)
