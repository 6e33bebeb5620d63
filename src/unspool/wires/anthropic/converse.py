"""Bedrock's Converse: Anthropic's messages with untyped blocks, `{"toolUse": {…}}`, and names in camelCase."""

from collections.abc import Callable
from typing import Any

from unspool.model import Block, Document, Medium, Other, Source, Text, Thinking, Tool, ToolResult, ToolUse, Usage
from unspool.sources.jsontext import dumps
from unspool.sources.values import count, listing, mapping, string, text_of
from unspool.wires.values import arguments_of, leftover, misfits, other

_MEDIA: dict[str, Medium] = {"image": "image", "video": "video", "audio": "audio", "document": "document"}
MARK = "cachePoint"
"""A block that says nothing: it marks how far the prompt is to be cached."""
_EVENTS = ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata")


def block_of(value: dict[str, Any]) -> Block | None:
    """A block that says by its one key what it is; None for any other."""
    for kind, read in _BLOCKS.items():
        if isinstance(inner := value.get(kind), dict):
            return read(inner, leftover(value, kind) or {})
    match value:
        case {"json": given, **rest}:
            return Text(dumps(given), extra={**rest, "json": given})
        case {"cachePoint": _}:
            return Other(MARK, value, known=True)
        case {"searchResult": dict()}:  # what the client found; Anthropic's `search_result`
            return Other("searchResult", value, known=True)
    return None


def _call(value: dict[str, Any], rest: dict[str, Any]) -> Block:
    arguments, text = arguments_of(value.get("input"))
    extra = {**rest, **(leftover(value, "toolUseId", "name", "input") or {})} or None
    at_provider = value.get("type") == "server_tool_use"
    return ToolUse(
        string(value.get("toolUseId")), text_of(value.get("name")), arguments, text, at_provider, extra=extra
    )


def _result(value: dict[str, Any], rest: dict[str, Any]) -> Block:
    content = value.get("content")
    parts = content if isinstance(content, list) else [] if content is None else [content]
    blocks = tuple([_part(part) for part in parts])
    extra = {**rest, **(leftover(value, "toolUseId", "content") or {})} or None
    failed = {"error": True, "success": False}.get(text_of(value.get("status")))
    at_provider = text_of(value.get("type")).endswith("_result")
    return ToolResult(string(value.get("toolUseId")), blocks, failed, server_side=at_provider, extra=extra)


def _part(value: Any) -> Block:
    if isinstance(value, str):
        return Text(value)
    match mapping(value):
        case {"text": str(text), **rest}:
            return Text(text, extra=rest or None)
    return block_of(mapping(value)) or other(value)


def _reasoning(value: dict[str, Any], rest: dict[str, Any]) -> Block:
    shown = mapping(value.get("reasoningText"))
    if isinstance(text := shown.get("text"), str):
        kept = {**rest, **(leftover(value, "reasoningText") or {}), **(leftover(shown, "text", "signature") or {})}
        return Thinking(text, string(shown.get("signature")), extra=kept or None)
    if isinstance(data := value.get("redactedContent"), str):
        kept = {**rest, **(leftover(value, "redactedContent") or {})}
        return Thinking("", encrypted=data, redacted=True, extra=kept or None)
    return Other("reasoningContent", {"reasoningContent": value, **rest})


def _document(medium: Medium) -> Callable[[dict[str, Any], dict[str, Any]], Block]:
    def read(value: dict[str, Any], rest: dict[str, Any]) -> Block:
        at, kind = mapping(value.get("source")), string(value.get("format"))
        place = string(mapping(at.get("s3Location")).get("uri"))
        sources: tuple[tuple[Source, Any], ...] = (
            ("base64", at.get("bytes")),
            ("url", place),
            ("text", at.get("text") or (dumps(at["content"]) if at.get("content") else None)),
        )
        source, data = next(((name, each) for name, each in sources if isinstance(each, str)), ("none", ""))
        kept = {**rest, **(leftover(value, "name", "format", *(("source",) if source != "none" else ())) or {})}
        media_type = kind and f"{'application' if medium == 'document' else medium}/{kind}"
        return Document(medium, source, data, media_type, string(value.get("name")), extra=kept or None)

    return read


def _cited(value: dict[str, Any], rest: dict[str, Any]) -> Block:
    text = "".join(text_of(mapping(part).get("text")) for part in listing(value.get("content")))
    kept = {**rest, **(leftover(value, "content", "citations") or {}), **misfits(value, content=list, citations=list)}
    return Text(text, citations=tuple(listing(value.get("citations"))), extra=kept or None)


def _guarded(value: dict[str, Any], rest: dict[str, Any]) -> Block:
    inner = value.get("text")
    text = inner if isinstance(inner, str) else mapping(inner).get("text")
    kept = {**rest, "guardContent": value}
    return Text(text, extra=kept) if isinstance(text, str) else Other("guardContent", kept, known=True)


_BLOCKS: dict[str, Callable[[dict[str, Any], dict[str, Any]], Block]] = {
    "toolUse": _call,
    "toolResult": _result,
    "reasoningContent": _reasoning,
    "citationsContent": _cited,
    "guardContent": _guarded,
    **{key: _document(medium) for key, medium in _MEDIA.items()},
}


def tool_of(value: dict[str, Any]) -> Tool | None:
    match value:
        case {"toolSpec": dict(spec), **rest}:
            schema = mapping(spec.get("inputSchema")).get("json")
            known = ("name", "description", *(("inputSchema",) if isinstance(schema, dict) else ()))
            extra = {**rest, **(leftover(spec, *known) or {})}
            about = text_of(spec.get("description"))
            return Tool(text_of(spec.get("name")), about, mapping(schema), extra=extra or None)
        case {"systemTool": dict(tool)}:
            return Tool(text_of(tool.get("name")), "", {}, True, value)
    return None


def plain(body: dict[str, Any]) -> dict[str, Any]:
    """An answer with its message where Anthropic has it."""
    message = mapping(mapping(body.get("output")).get("message"))
    if "content" not in message:
        return body
    rest = leftover(body, "output", "stopReason") or {}
    return {**rest, **message, "type": "message", "stop_reason": body.get("stopReason")}


def event_of(event: dict[str, Any]) -> dict[str, Any]:
    """An event of a stream as Anthropic would send it; as it is where it is none of Converse's."""
    kind = next((kind for kind in _EVENTS if isinstance(event.get(kind), dict)), None)
    if kind is None:
        broken = next((key for key in event if key.endswith("Exception")), None)
        return event if broken is None else {"type": "error", "error": {"type": broken, **mapping(event[broken])}}
    inner = event[kind]
    place = {"index": inner.get("contentBlockIndex")}
    match kind:
        case "messageStart":
            return {"type": "message_start", "message": inner}
        case "contentBlockStart":
            return {"type": "content_block_start", **place, "content_block": _started(mapping(inner.get("start")))}
        case "contentBlockDelta":
            return {"type": "content_block_delta", **place, "delta": _delta(mapping(inner.get("delta")))}
        case "contentBlockStop":
            return {"type": "content_block_stop", **place}
        case "messageStop":
            return {"type": "message_delta", "delta": {"stop_reason": inner.get("stopReason")}}
    return {"type": "message_stop", "metadata": inner}


def _started(start: dict[str, Any]) -> dict[str, Any]:
    """The block that begins: a call as Anthropic has it, all else as Converse has it in a body."""
    match start:
        case {"toolUse": dict(call)}:
            kind = "server_tool_use" if call.get("type") == "server_tool_use" else "tool_use"
            return {"type": kind, "id": call.get("toolUseId"), "name": call.get("name"), "input": {}}
    return dict(start)


def longer(block: dict[str, Any], delta: dict[str, Any]) -> bool:
    """Makes a block of Converse's own longer; False if it is none."""
    match delta:
        case {"toolResult": list(parts)}:
            result = block["toolResult"] = dict(mapping(block.get("toolResult")))
            result["content"] = [*listing(result.get("content")), *parts]
        case {"image": dict(image)}:
            block["image"] = {**mapping(block.get("image")), **image}
        case _:
            return False
    return True


def _delta(delta: dict[str, Any]) -> dict[str, Any]:
    match delta:
        case {"text": str(text)}:
            return {"type": "text_delta", "text": text}
        case {"toolUse": {"input": text}}:
            return {"type": "input_json_delta", "partial_json": text}
        case {"reasoningContent": {"text": str(text)}}:
            return {"type": "thinking_delta", "thinking": text}
        case {"reasoningContent": {"signature": str(text)}}:
            return {"type": "signature_delta", "signature": text}
        case {"reasoningContent": {"redactedContent": str(data)}}:
            return {"type": "redacted_delta", "data": data}
        case {"citation": citation}:
            return {"type": "citations_delta", "citation": citation}
    return {**delta, "type": "+".join(delta)}


def usage_of(raw: dict[str, Any]) -> Usage:
    """As Anthropic counts: the input excludes what the cache read and wrote."""
    read, written = (
        count(raw.get(f"cache{way}InputTokens")) or count(raw.get(f"cache{way}InputTokenCount"))
        for way in ("Read", "Write")
    )
    lasting = sum(
        count(mapping(each).get("inputTokens"))
        for each in listing(raw.get("cacheDetails"))
        if mapping(each).get("ttl") == "1h"
    )
    lasting = min(lasting, written)
    return Usage(count(raw.get("inputTokens")), read, written, count(raw.get("outputTokens")), 0, lasting, raw=raw)
