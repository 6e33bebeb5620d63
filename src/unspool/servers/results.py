"""What a tool gave back → a result in the model."""

from collections.abc import Iterator
from typing import Any

from unspool.model import Block, Document, Other, Text, ToolResult, ToolUse
from unspool.sources.jsontext import dumps
from unspool.sources.values import listing, mapping, string, text_of
from unspool.wires.values import medium_of


def read_result(call: ToolUse, value: dict[str, Any]) -> ToolResult:
    """`content` is for the model. `structuredContent` is kept beside it, and stands in for it where there is none."""
    content = tuple(block for part in listing(value.get("content")) for block in _blocks(mapping(part)))
    structured = value.get("structuredContent")
    if not content and structured is not None:
        content = (Text(dumps(structured)),)
    extra = {"structured": structured} if structured is not None else None
    return ToolResult(call.id, content, is_error=bool(value.get("isError")), name=call.name, extra=extra)


def failed(call: ToolUse, why: str, outcome: str = "error") -> ToolResult:
    """outcome: error, timeout, denied, cancelled."""
    return ToolResult(call.id, (Text(why),), is_error=True, name=call.name, extra={"outcome": outcome})


def _blocks(part: dict[str, Any]) -> Iterator[Block]:
    kind = string(part.get("mimeType"))
    match part:
        case {"type": "text", "text": str(text)}:
            yield Text(text)
        case {"type": "image" | "audio", "data": str(data)}:
            yield Document(medium_of(kind), "base64", data, kind)
        case {"type": "resource", "resource": dict(resource)}:
            yield _resource(resource)
        case {"type": "resource_link", "uri": str(uri)}:
            name = text_of(part.get("name"))
            yield Text(f"[{name}]({uri})" if name else uri)
        case _:
            yield Other(text_of(part.get("type")) or "content", part)


def _resource(resource: dict[str, Any]) -> Block:
    uri, kind = string(resource.get("uri")), string(resource.get("mimeType"))
    if isinstance(text := resource.get("text"), str):
        return Document("document", "text", text, kind or "text/plain", uri)
    return Document(medium_of(kind), "base64", text_of(resource.get("blob")), kind, uri)
