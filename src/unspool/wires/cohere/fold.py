"""A stream of Cohere's events → the answer that the same call would have given without streaming."""

from collections.abc import Iterable
from typing import Any

from unspool.dialect import Folded
from unspool.sources.values import count, listing, mapping, text_of
from unspool.wires.values import kind_of

EVENTS = frozenset(
    "message-start content-start content-delta content-end tool-plan-delta tool-call-start tool-call-delta "
    "tool-call-end citation-start citation-end message-end debug".split()
)


def fold(events: Iterable[Any]) -> Folded:
    body: dict[str, Any] = {}
    folded = Folded(body, complete=False)
    message: dict[str, Any] = {}
    parts: dict[int, dict[str, Any]] = {}
    calls: dict[int, dict[str, Any]] = {}
    unknown: set[str] = set()
    for each in events:
        if isinstance(each, str):
            continue
        event = mapping(each)
        if isinstance(event.get("event_type"), str):
            folded.complete = _first(body, event)
            continue
        kind, index, delta = text_of(event.get("type")), count(event.get("index")), mapping(event.get("delta"))
        said = mapping(delta.get("message"))
        match kind:
            case "message-start":
                body.update({key: value for key, value in event.items() if key not in ("type", "delta")})
                message.update(said)
            case "content-start" | "content-delta":
                _grow(parts.setdefault(index, {}), mapping(said.get("content")))
            case "tool-plan-delta":
                message["tool_plan"] = text_of(message.get("tool_plan")) + text_of(said.get("tool_plan"))
            case "tool-call-start" | "tool-call-delta":
                _call(calls.setdefault(index, {}), mapping(said.get("tool_calls")))
            case "citation-start":
                message.setdefault("citations", []).append(said.get("citations"))
            case "message-end":
                folded.complete = True
                body.update(delta)
                if delta.get("error"):
                    folded.error = event
            case "content-end" | "tool-call-end" | "citation-end" | "debug":
                continue
            case _ if event.get("error") or (event.get("message") and not kind):
                folded.error = event
            case _:
                unknown.add(kind_of(each))
    if parts:
        message["content"] = [_typed(parts[number]) for number in sorted(parts)]
    if calls:
        message["tool_calls"] = [calls[number] for number in sorted(calls)]
    if message:
        body["message"] = message
    folded.unknown = tuple(sorted(unknown))
    return folded


def _first(body: dict[str, Any], event: dict[str, Any]) -> bool:
    """An event of version 1; whether it is the last one, which holds the whole answer."""
    match event["event_type"], event:
        case "stream-start", _:
            body["generation_id"] = event.get("generation_id")
        case "text-generation", {"text": str(text)}:
            body["text"] = text_of(body.get("text")) + text
        case "tool-calls-generation" | "citation-generation", _:
            for key in ("tool_calls", "citations"):
                body[key] = [*listing(body.get(key)), *listing(event.get(key))]
        case "stream-end", _:
            body.update(mapping(event.get("response")), finish_reason=event.get("finish_reason"))
            return True
    return False


def _grow(part: dict[str, Any], content: dict[str, Any]) -> None:
    for key, value in content.items():
        grows = key in ("text", "thinking") and isinstance(value, str)
        part[key] = text_of(part.get(key)) + value if grows else value


def _typed(part: dict[str, Any]) -> dict[str, Any]:
    """A part whose beginning is missing, and without the empty text that some begin with."""
    kind = part.get("type") or ("thinking" if part.get("thinking") else "text")
    kept = {key: value for key, value in part.items() if value != "" or key == kind}
    return {"type": kind, kind: "", **kept} if kind in ("text", "thinking") else kept


def _call(call: dict[str, Any], delta: dict[str, Any]) -> None:
    function = {**mapping(call.get("function"))}
    for key, value in mapping(delta.get("function")).items():
        function[key] = text_of(function.get(key)) + text_of(value) if key == "arguments" else value
    call.update({key: value for key, value in delta.items() if key != "function"})
    call["function"] = function
