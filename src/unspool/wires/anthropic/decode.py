"""Anthropic messages, content blocks, tools, usage → the model."""

import re
from collections.abc import Iterator
from typing import Any

from unspool.model import (
    Block,
    Compaction,
    Document,
    Extra,
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
from unspool.sources.prompt_cache import cache_miss_of, hour_long
from unspool.sources.values import count, listing, mapping, string, text_of
from unspool.wires.anthropic import converse
from unspool.wires.values import arguments_of, content_of, leftover, medium_of, misfits, other, stop_of

# Kept raw on purpose: they change what the model may do, or show what a tool found, and have no counterpart elsewhere.
_KNOWN = frozenset(
    [
        "search_result",
        "tool_reference",
        "tool_addition",
        "tool_removal",
        "fallback",
        "web_search_result",
        "web_fetch_result",
        "mcp_tool_listing",
        "browser_state",
    ]
)
# Typed tools that the client runs; every other tool with a dated type runs at Anthropic.
_CLIENT_TOOLS = ("bash_", "text_editor_", "computer_", "memory_", "browser_")
_DATED = re.compile(r"_20\d{6}$")
_STOPS: dict[str, StopReason] = {
    "end_turn": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "stop_sequence": "stop_sequence",
    "refusal": "refusal",
    "pause_turn": "pause",
    "model_context_window_exceeded": "context_exceeded",
    "compaction": "pause",
    "guardrail_intervened": "refusal",
    "content_filtered": "refusal",
    "malformed_model_output": "error",
    "malformed_tool_use": "error",
}


def decode(slot: str, value: Any) -> Message:
    if slot == "system":
        return _message("system", value, None)
    if isinstance(value, str):
        return _message("user", value, None)
    if not isinstance(value, dict):
        return Message("user", (other(value),))
    match value:
        case {"role": ("user" | "assistant" | "system") as role, "content": content, **rest}:
            return _message(role, content, rest or None)
        case {"content": content, **rest}:
            return _message("user", content, rest)
        case {"role": "system", "output_config": dict()}:  # nobody says anything: how to answer from here on
            return Message("system", (Other("output_config", value, known=True),))
    return Message("user", (other(value),))


def _message(role: Role, content: Any, extra: Extra) -> Message:
    blocks, form = content_of(content, block_of)
    said = tuple([block for block in blocks if type(block) is not Other or block.kind != converse.MARK])
    if len(said) < len(blocks):  # what is marked means the same
        extra = {**(extra or {}), "content": content}
    return Message(role, said, form, extra)


def block_of(value: Any) -> Block:
    """One content block, of a request or of a response."""
    if isinstance(value, str):
        return Text(value)
    if not isinstance(value, dict):
        return other(value)
    match value:
        case {"type": "text", "text": str(text), "citations": list(citations), **rest}:
            return Text(text, citations=tuple(citations), extra=rest or None)
        case {"type": "text", "text": str(text), **rest}:
            return Text(text, extra=rest or None)
        case {"type": "thinking", "thinking": str(text), **rest}:
            signature = string(rest.pop("signature", None))
            return Thinking(text, signature, extra=rest or None)
        case {"type": "redacted_thinking", "data": str(data), **rest}:
            return Thinking("", encrypted=data, redacted=True, extra=rest or None)
        case {"type": ("tool_use" | "server_tool_use" | "mcp_tool_use") as kind, **rest}:
            return _tool_use(kind, rest)
        case {"type": str(kind), "tool_use_id": _} if kind.endswith("tool_result"):
            return _tool_result(kind, value)
        case {"type": "tool_result"}:
            return _tool_result("tool_result", value)
        case {"type": ("image" | "document" | "file"), "source": dict()}:
            return _document(value)
        case {"type": "container_upload", "file_id": str(file_id), **rest}:
            return Document("document", "file", file_id, extra={"type": "container_upload", **rest})
        case {"type": "compaction", **rest}:
            encrypted = string(rest.pop("encrypted_content", None))
            return Compaction(text_of(rest.pop("content", None)), encrypted, rest or None)
        case {"text": str(text), **rest} if "type" not in value:
            return Text(text, extra=rest or None)
        case {"type": str(kind)} if kind in _KNOWN or kind.endswith(("_result", "_result_error")):
            return Other(kind, value, known=True)
    return converse.block_of(value) or other(value) if "type" not in value else other(value)


def _tool_use(kind: str, rest: dict[str, Any]) -> ToolUse:
    arguments, text = arguments_of(rest.get("input"))
    extra = leftover(rest, "id", "name", "input") or {}
    if kind != "tool_use":
        extra["type"] = kind
    server_side = kind != "tool_use"
    return ToolUse(string(rest.get("id")), text_of(rest.get("name")), arguments, text, server_side, extra=extra or None)


def _tool_result(kind: str, value: dict[str, Any]) -> ToolResult:
    content, failed = value.get("content"), value.get("is_error")
    extra = leftover(value, "type", "tool_use_id", "content", "is_error") or {}
    blocks, form = content_of(content, block_of)
    if form == "string":
        extra["form"] = form
    match content:
        case {"type": str(inner)}:  # a server tool's one result, or why it failed
            blocks, extra["form"] = (Other(inner, content, known=True),), "object"
            failed = True if inner.endswith("_error") else failed
    if kind != "tool_result":
        extra["type"] = kind
    is_error = failed if isinstance(failed, bool) else None
    extra |= misfits(value, is_error=bool)
    server_side = kind != "tool_result"
    return ToolResult(string(value.get("tool_use_id")), blocks, is_error, server_side=server_side, extra=extra or None)


def _document(value: dict[str, Any]) -> Document:
    source, extra = value["source"], leftover(value, "type", "source", "title")
    name = string(value.get("title"))
    medium = "image" if value["type"] == "image" else medium_of(string(source.get("media_type")))
    media_type = string(source.get("media_type"))
    match source:
        case {"type": ("base64" | "text") as kind, "data": str(data)}:
            return Document(medium, kind, data, media_type, name, extra=extra)
        case {"type": "url", "url": str(url)}:
            return Document(medium, "url", url, media_type, name, extra=extra)
        case {"type": "file", "file_id": str(file_id)}:
            return Document(medium, "file", file_id, media_type, name, extra=extra)
        case {"type": "content", "content": content}:  # text cut into pieces for citations
            text = content if isinstance(content, str) else dumps(content)
            return Document(medium, "text", text, media_type, name, extra={**(extra or {}), "source": source})
    return Document(medium, "none", "", media_type, name, extra={**(extra or {}), "source": source})


def tools(value: Any) -> Iterator[Tool]:
    if (tool := converse.tool_of(mapping(value))) is not None:
        yield tool
        return
    match mapping(value):
        case {"name": str(name), **rest}:
            kind = text_of(rest.get("type"))
            schema = mapping(rest.get("input_schema"))
            server_side = _at_provider(kind)
            extra = {
                **(leftover(rest, "description", "input_schema") or {}),
                **misfits(rest, input_schema=dict),
            } or None
            yield Tool(name, text_of(rest.get("description")), schema, server_side, extra)
        case {"type": str(kind), **rest}:  # an MCP toolset has no name of its own
            yield Tool(text_of(rest.get("mcp_server_name")) or kind, "", {}, _at_provider(kind), value)


def _at_provider(kind: str) -> bool:
    dated = _DATED.search(kind) or kind.startswith(("tool_search_tool", "mcp_toolset"))
    return bool(dated) and not kind.startswith(_CLIENT_TOOLS)


def answer(body: dict[str, Any]) -> Response:
    messages: tuple[Message, ...] = ()
    body = converse.plain(body)
    for key in ("content", "completion"):  # the latter from before the Messages API
        if key in body:
            messages = (decode("messages", {"role": "assistant", "content": body[key]}),)
    return Response(
        messages,
        id=string(body.get("id")),
        model=string(body.get("model")),
        stop=stop_of(body.get("stop_reason"), _STOPS, body.get("stop_details") or body.get("stop_sequence")),
        usage=usage_of(body.get("usage")),
        cache_miss=cache_miss_of(body.get("diagnostics")),
        extra=_about(body),
    )


def _about(body: dict[str, Any]) -> Extra:
    usual = {"role": "assistant", "type": "message"}
    known = [key for key, value in usual.items() if body.get(key) == value]
    rest = leftover(body, "content", "completion", "id", "model", "usage", "stop_reason", *known) or {}
    return {**rest, **misfits(body, usage=dict)} or None


def usage_of(raw: Any) -> Usage | None:
    """Anthropic's input excludes what the cache read or wrote: our form already."""
    if not isinstance(raw, dict):
        return None
    if "inputTokens" in raw:
        return converse.usage_of(raw)
    counted = [_counted(raw)]
    told = list(map(mapping, listing(raw.get("iterations"))))
    steps = [_counted(step) for step in told if step.get("type") != "advisor_message"]  # another model's
    if any(step.get("type") == "compaction" for step in told):  # a summary on the way is counted nowhere else
        counted = steps
    given, read, written, output, lasting = map(sum, zip(*counted, strict=True))
    # At the end of a stream only the steps say for how long it was written.
    lasting = max(lasting, min(sum(step[-1] for step in steps), written))
    thought = count(mapping(raw.get("output_tokens_details")).get("thinking_tokens"))
    return Usage(given, read, written, output, thought, lasting, raw=raw)


def _counted(raw: dict[str, Any]) -> tuple[int, ...]:
    split = mapping(raw.get("cache_creation"))
    written = count(raw.get("cache_creation_input_tokens")) or sum(map(count, split.values()))
    return (
        count(raw.get("input_tokens")),
        count(raw.get("cache_read_input_tokens")),
        written,
        count(raw.get("output_tokens")),
        hour_long(split, written),
    )
