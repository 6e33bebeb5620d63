"""A context → the body of a request to Anthropic Messages; its stream's events → what to show."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from unspool.dialect import Asking, Piece, Speaker
from unspool.model import Block, Compaction, Context, Document, Other, Text, Thinking, Tool, ToolResult, ToolUse
from unspool.sources.values import mapping, string, text_of
from unspool.transforms.json_schema import without
from unspool.wires.calls import Entry, fit_name, in_words
from unspool.wires.history import choice_of, searches, settle
from unspool.wires.schemas import whole

_MAX_TOKENS = 32_000
"""The API wants a limit; every model that is still served can write as much."""
_SEARCH, _OLD_SEARCH = "web_search_20260318", "web_search_20250305"
_DEFINED = re.compile(r"_20\d{6}$")
_OLD_MODELS = re.compile(r"claude-(?:3|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8}|-latest)?$)")
"""Those that take only the older search."""
_CHOICES = {"auto": {"type": "auto"}, "none": {"type": "none"}, "required": {"type": "any"}}


def prepare(context: Context, tools: Sequence[Tool], asking: Asking) -> dict[str, Any]:
    entries = settle(context, asking)
    system = [part for entry in entries if entry.role == "system" for part in _content(entry)]
    said = [(entry.role, _content(entry)) for entry in entries if entry.role != "system"]
    _limit_marks([*system, *(part for _, content in said for part in content)], asking.abilities.cache_marks)
    body: dict[str, Any] = {"model": asking.model} if asking.model else {}
    body |= {"max_tokens": asking.max_tokens or _MAX_TOKENS, "stream": True}
    if system:
        body["system"] = system
    body["messages"] = _together(said)
    offered = [_tool(tool, asking) for tool in tools]
    if searches(context, tools, asking):
        offered.append({"type": asking.search_tool or _search_for(asking.model or ""), "name": "web_search"})
    if offered:
        body["tools"] = offered
        if choice := choice_of(context, tools, asking):
            body["tool_choice"] = _CHOICES.get(choice) or {"type": "tool", "name": choice}
    return body | asking.settings


def _search_for(model: str) -> str:
    return _OLD_SEARCH if _OLD_MODELS.search(model) else _SEARCH


def _together(said: list[tuple[str, list[dict[str, Any]]]]) -> list[dict[str, Any]]:
    """Where a system prompt stood between two messages of one role, they are neighbours now."""
    messages: list[dict[str, Any]] = []
    for role, content in said:
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += content
        else:
            messages.append({"role": role, "content": content})
    return messages


def _content(entry: Entry) -> list[dict[str, Any]]:
    return [part for block in entry.blocks for part in _parts(block)]


def _limit_marks(parts: list[dict[str, Any]], most: int) -> None:
    """The last ones count: each stands for all that comes before it."""
    marked = [part for part in parts if "cache_control" in part]
    for part in marked[: max(len(marked) - most, 0)]:
        del part["cache_control"]


def _parts(block: Block) -> Iterator[dict[str, Any]]:
    extra = mapping(block.extra)
    mark = {"cache_control": extra["cache_control"]} if extra.get("cache_control") else {}
    match block:
        case Text():
            cited = {"citations": list(block.citations)} if block.citations else {}
            yield {"type": "text", "text": block.text, **cited, **mark}
        case Thinking(redacted=True, encrypted=str(data)):
            yield {"type": "redacted_thinking", "data": data}
        case Thinking():
            yield {"type": "thinking", "thinking": block.text, "signature": block.signature}
        case Document():
            if block.medium == "image" and block.name:
                yield {"type": "text", "text": f"{block.name}:"}  # images have no title
            yield {**_document(block), **mark}
        case ToolUse():
            kind = extra.get("type") or ("server_tool_use" if block.server_side else "tool_use")
            arguments = {"input": block.text} if block.arguments is None else block.arguments
            yield {"type": kind, "id": block.id, "name": block.name, "input": arguments, **mark}
        case ToolResult():
            yield {**_result(block), **mark}
        case Compaction():
            kept = {"encrypted_content": block.encrypted} if block.encrypted else {}
            kept |= {key: extra[key] for key in ("signature", "tool_changes") if key in extra}
            yield {"type": "compaction", "content": block.text or None, **kept, **mark}  # null: it did not come about
        case Other():
            yield block.value if isinstance(block.value, dict) else {"type": "text", "text": in_words(block)}


def _result(block: ToolResult) -> dict[str, Any]:
    extra = mapping(block.extra)
    content: Any = [part for inner in block.content for part in _parts(inner)]
    if extra.get("form") == "object" and content:  # a server tool's one result, or why it failed
        content = content[0]
    result: dict[str, Any] = {"type": extra.get("type") or "tool_result", "tool_use_id": block.call_id}
    if content:
        result["content"] = content
    if block.is_error is not None and not block.server_side:
        result["is_error"] = block.is_error
    return result


def _document(block: Document) -> dict[str, Any]:
    source: dict[str, Any]
    match block.source:
        case "text":
            source = {"type": "text", "media_type": "text/plain", "data": block.data}
        case "url":
            source = {"type": "url", "url": block.data}
        case "file":
            source = {"type": "file", "file_id": block.data}
        case _:
            source = {"type": "base64", "media_type": block.media_type, "data": block.data}
    if block.medium == "image" and block.source != "text":
        return {"type": "image", "source": source}
    return {"type": "document", "source": source, **({"title": block.name} if block.name else {})}


def _tool(tool: Tool, asking: Asking) -> dict[str, Any]:
    """Of those that the API itself defines (`bash_20250124`), what was said of them: they have no schema."""
    extra = mapping(tool.extra)
    if _DEFINED.search(text_of(extra.get("type"))):
        return {**extra, "name": tool.name}
    about = {"description": tool.description} if tool.description else {}
    schema = whole(without(tool.parameters, asking.abilities.schema_without))
    return {"name": fit_name(tool.name, asking), **about, "input_schema": {"type": "object", **schema}}


def show(event: Any) -> Iterator[Piece]:
    match mapping(event):
        case {"type": "content_block_start", "content_block": dict(block)}:
            kind = text_of(block.get("type"))
            text = string(block.get("text")) or string(block.get("thinking"))
            yield Piece(kind, string(block.get("name")), string(block.get("id")), text)
        case {"type": "content_block_delta", "delta": dict(delta)}:
            for key in ("text", "thinking", "partial_json"):
                if text := string(delta.get(key)):
                    yield Piece(content=text)


speaker = Speaker(prepare, show)
