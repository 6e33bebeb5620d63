"""A context → the body of a request to OpenAI Responses; its stream's events → what to show.

Nothing is kept at the provider (`store` is false): reasoning comes back encrypted, and is sent again with its item.
"""

import re
from collections.abc import Iterator, Sequence, Set
from typing import Any

from unspool.dialect import Asking, Piece, Speaker
from unspool.model import Block, Compaction, Context, Document, Other, Text, Thinking, Tool, ToolResult, ToolUse
from unspool.sources.jsontext import dumps
from unspool.sources.values import listing, mapping, string, text_of
from unspool.transforms.json_schema import without
from unspool.wires.calls import Entry, fit_name, in_words, written_arguments
from unspool.wires.history import as_text, choice_of, data_url, searches, settle
from unspool.wires.schemas import whole

_NO_REASONING = re.compile(r"(?:^|/)(?:gpt-(?:3|4)|chatgpt-4)")
"""Models that refuse to be asked for their reasoning."""
_DEFINED = ("local_shell", "shell", "apply_patch", "computer", "computer_use_preview")
"""Tools that the API itself defines: the caller runs them, and they have no schema."""


def prepare(context: Context, tools: Sequence[Tool], asking: Asking) -> dict[str, Any]:
    entries = settle(context, asking)
    leading = next((number for number, entry in enumerate(entries) if entry.role != "system"), len(entries))
    body: dict[str, Any] = {"model": asking.model} if asking.model else {}
    body |= {"stream": True, "store": False}
    if not _NO_REASONING.search(asking.model or ""):
        body["include"] = ["reasoning.encrypted_content"]
    if asking.max_tokens:
        body["max_output_tokens"] = asking.max_tokens
    if instructions := "\n\n".join(as_text(block) for entry in entries[:leading] for block in entry.blocks):
        body["instructions"] = instructions
    calls = [block for entry in entries for block in entry.blocks if isinstance(block, ToolUse)]
    custom = {call.id for call in calls if _is_custom(call)}
    body["input"] = [item for entry in entries[leading:] for item in _items(entry, custom)]
    offered = [_tool(tool, asking) for tool in tools]
    if searches(context, tools, asking):
        offered.append({"type": asking.search_tool or "web_search"})
    if offered:
        body["tools"] = offered
        if choice := choice_of(context, tools, asking):
            plain = choice in ("auto", "none", "required")
            body["tool_choice"] = choice if plain else {"type": "function", "name": choice}
    return body | asking.settings


def _items(entry: Entry, custom: Set[str | None]) -> Iterator[dict[str, Any]]:
    if entry.role == "assistant":
        yield from _spoken(entry.blocks)
        return
    parts: list[dict[str, Any]] = []
    for block in entry.blocks:
        if isinstance(block, ToolResult):
            yield from _result(block, block.call_id in custom)
        else:
            parts += _parts(block)
    if parts:
        yield {"role": entry.role, "content": parts}


def _spoken(blocks: Sequence[Block]) -> Iterator[dict[str, Any]]:
    """What the model wrote. Texts of one item are one item again."""
    item: dict[str, Any] | None = None
    told = {block.id for block in blocks if isinstance(block, ToolUse) and block.server_side and not _is_item(block)}
    for block in blocks:
        about = mapping(mapping(block.extra).get("item"))
        if isinstance(block, Text) and about.get("id"):
            if item is None or item["id"] != about["id"]:
                item = {"type": "message", "role": "assistant", "status": "completed", **about, "content": []}
                yield item
            item["content"].append(_own_text(block))
            continue
        item = None
        if isinstance(block, ToolResult) and block.call_id in told:  # the call is told in words: so is what it gave
            yield {"role": "assistant", "content": in_words(block)}
        else:
            yield from _own(block)


def _is_custom(block: ToolUse) -> bool:
    """Whether it goes back as a call of free text: its result has to be of the same kind."""
    return mapping(block.extra).get("type") == "custom_tool_call"


def _is_item(block: ToolUse) -> bool:
    """Whether a call that the API ran itself can go back as the item that it was."""
    extra = mapping(block.extra)
    return isinstance(extra.get("raw"), dict) or bool(extra.get("type") == "web_search_call" and block.id)


def _own_text(block: Text) -> dict[str, Any]:
    if block.refusal:
        return {"type": "refusal", "refusal": block.text}
    return {"type": "output_text", "text": block.text, "annotations": list(block.citations)}


def _own(block: Block) -> Iterator[dict[str, Any]]:
    extra = mapping(block.extra)
    match block:
        case Thinking():
            kept = {key: extra[key] for key in ("id", "content") if extra.get(key)}
            summary = listing(extra.get("summary"))
            yield {"type": "reasoning", "summary": summary, **kept, "encrypted_content": block.encrypted}
        case ToolUse(server_side=True) | Compaction() if isinstance(extra.get("raw"), dict):
            yield extra["raw"]  # a call that the API ran itself, with its result
        case Compaction(encrypted=str(cipher)):
            kept = {"id": extra["id"]} if extra.get("id") else {}
            yield {"type": "compaction", **kept, "encrypted_content": cipher}
        case ToolUse(server_side=True) if extra.get("type") == "web_search_call" and block.id:
            status = extra.get("status") or "completed"
            yield {"type": "web_search_call", "id": block.id, "status": status, "action": block.arguments or {}}
        case ToolUse() if _is_custom(block):
            call = {"type": "custom_tool_call", "call_id": block.id, "name": block.name}
            yield {**call, "input": block.text or dumps(block.arguments)}
        case ToolUse(server_side=False):
            call = {"type": "function_call", "call_id": block.id, "name": block.name}
            yield {**call, "arguments": written_arguments(block)}
        case ToolResult():
            return  # stands in the item of its call
        case Other(value=dict(value)):
            yield value
        case _:
            yield {"role": "assistant", "content": as_text(block)}


def _result(block: ToolResult, custom: bool) -> Iterator[dict[str, Any]]:
    """That a tool failed has no field here: it is said in words."""
    parts = [part for inner in block.content for part in _parts(inner)]
    if block.is_error and not (parts and text_of(parts[0].get("text")).lower().startswith("error")):
        parts.insert(0, {"type": "input_text", "text": "Error:" if parts else "Error"})
    plain = all(part["type"] == "input_text" for part in parts)
    output: Any = "\n".join(part["text"] for part in parts) if plain else parts
    kind = "custom_tool_call_output" if custom else "function_call_output"
    yield {"type": kind, "call_id": block.call_id, "output": output}


def _parts(block: Block) -> Iterator[dict[str, Any]]:
    match block:
        case Document(source="text") | Text():
            yield {"type": "input_text", "text": as_text(block)}
        case Document(medium="image"):
            if block.name:
                yield {"type": "input_text", "text": f"{block.name}:"}  # images have no name
            detail = text_of(mapping(block.extra).get("detail")) or "auto"
            at = {"file_id": block.data} if block.source == "file" else {"image_url": data_url(block)}
            yield {"type": "input_image", "detail": detail, **at}
        case Document(source="file"):
            yield {"type": "input_file", "file_id": block.data}
        case Document(source="url"):
            yield {"type": "input_file", "file_url": block.data}
        case Document():
            yield {"type": "input_file", "filename": block.name or "document.pdf", "file_data": data_url(block)}
        case _:
            yield {"type": "input_text", "text": as_text(block)}


def _tool(tool: Tool, asking: Asking) -> dict[str, Any]:
    """Strict unless told otherwise, which few schemas of others can be."""
    about = {"description": tool.description} if tool.description else {}
    extra = mapping(tool.extra)
    if extra.get("type") in _DEFINED:
        return extra
    if extra.get("type") == "custom" and not tool.parameters:  # it is called with a text of a form of its own
        form = {"format": extra["format"]} if "format" in extra else {}
        return {"type": "custom", "name": fit_name(tool.name, asking), **about, **form}
    schema = whole(without(tool.parameters, asking.abilities.schema_without))
    return {
        "type": "function",
        "name": fit_name(tool.name, asking),
        **about,
        "parameters": schema,
        "strict": False,
    }


_DELTAS = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "text",
    "response.reasoning_text.delta": "thinking",
    "response.reasoning_summary_text.delta": "thinking",
}


def show(event: Any) -> Iterator[Piece]:
    match mapping(event):
        case {"type": str(kind), "delta": str(delta)} if kind in _DELTAS:
            yield Piece(_DELTAS[kind], content=delta)
        case {"type": "response.reasoning_summary_part.added", "summary_index": int(number)} if number > 0:
            yield Piece("thinking", content="\n\n")
        case {"type": "response.output_item.added", "item": {"type": str(kind), **item}} if kind.endswith("_call"):
            client = kind in ("function_call", "custom_tool_call")
            name = string(item.get("name")) or kind.removesuffix("_call")
            yield Piece("tool_use" if client else "server_tool_use", name, string(item.get("call_id")))
        case {
            "type": "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta",
            "delta": str(d),
        }:
            yield Piece(content=d)


speaker = Speaker(prepare, show)
