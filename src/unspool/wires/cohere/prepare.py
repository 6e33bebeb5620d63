"""A context → the body of a request to Cohere Chat; its stream's events → what to show."""

from collections.abc import Iterator, Sequence
from typing import Any

from unspool.dialect import Asking, Piece, Speaker
from unspool.model import Block, Context, Document, Text, Thinking, Tool, ToolResult, ToolUse
from unspool.sources.values import mapping, string
from unspool.wires.calls import Entry, fit_name
from unspool.wires.chat_form import spoken, written_call, written_result
from unspool.wires.cohere.decode import PLAN
from unspool.wires.history import as_text, choice_of, data_url, searches, settle
from unspool.wires.schemas import whole, without


def prepare(context: Context, tools: Sequence[Tool], asking: Asking) -> dict[str, Any]:
    searches(context, tools, asking)
    body: dict[str, Any] = {"model": asking.model} if asking.model else {}
    body["stream"] = True
    if asking.max_tokens:
        body["max_tokens"] = asking.max_tokens
    body["messages"] = [message for entry in settle(context, asking) for message in _messages(entry)]
    offered = {fit_name(tool.name, asking): _tool(tool, asking) for tool in tools}
    if offered:
        choice = choice_of(context, tools, asking)
        if choice in offered:  # by name there is no choice: so it gets no other
            body |= {"tools": [offered[choice]], "tool_choice": "REQUIRED"}
        else:
            body["tools"] = list(offered.values())
            if choice in ("none", "required"):
                body["tool_choice"] = choice.upper()
    return body | asking.settings


def _messages(entry: Entry) -> Iterator[dict[str, Any]]:
    """Each result is a message of its own; what else the entry holds comes behind them."""
    for block in entry.blocks:
        if isinstance(block, ToolResult):
            yield written_result(block)
    rest = [block for block in entry.blocks if not isinstance(block, ToolResult)]
    if entry.role == "assistant":
        yield _assistant(rest)
    elif rest:
        yield {"role": entry.role, "content": _content(rest)}


def _content(blocks: Sequence[Block]) -> Any:
    parts = [part for block in blocks for part in _parts(block)]
    return parts[0]["text"] if len(parts) == 1 and parts[0]["type"] == "text" else parts


def _assistant(blocks: Sequence[Block]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant"}
    said = [block for block in blocks if not isinstance(block, ToolUse)]
    calls = [written_call(block) for block in blocks if isinstance(block, ToolUse)]
    plans = [block.text for block in said if isinstance(block, Text) and (calls or block.extra == PLAN)]
    if calls:
        message["tool_calls"] = calls
        if plans:
            message["tool_plan"] = "".join(plans)
    rest = [block for block in said if not (isinstance(block, Text) and calls)]
    if rest:
        message["content"] = _content(rest)
    return message


def _parts(block: Block) -> Iterator[dict[str, Any]]:
    match block:
        case Document(source="text"):
            yield {"type": "text", "text": as_text(block)}
        case Document():
            if block.name:
                yield {"type": "text", "text": f"{block.name}:"}
            yield {"type": "image_url", "image_url": {"url": data_url(block)}}
        case Thinking():
            yield {"type": "thinking", "thinking": block.text}
        case _:
            yield {"type": "text", "text": spoken(block)}


def _tool(tool: Tool, asking: Asking) -> dict[str, Any]:
    about = {"description": tool.description} if tool.description else {}
    schema = whole(without(tool.parameters, asking.abilities.schema_without))
    return {"type": "function", "function": {"name": fit_name(tool.name, asking), **about, "parameters": schema}}


def show(event: Any) -> Iterator[Piece]:
    event = mapping(event)
    said = mapping(mapping(event.get("delta")).get("message"))
    match event.get("type"):
        case "content-delta" | "content-start":
            content = mapping(said.get("content"))
            for key in ("thinking", "text"):
                if text := string(content.get(key)):
                    yield Piece(key, content=text)
        case "tool-plan-delta":
            if text := string(said.get("tool_plan")):
                yield Piece("text", content=text)
        case "tool-call-start" | "tool-call-delta":
            call = mapping(said.get("tool_calls"))
            function = mapping(call.get("function"))
            if name := string(function.get("name")):
                yield Piece("tool_use", name, string(call.get("id")))
            if text := string(function.get("arguments")):
                yield Piece(content=text)


speaker = Speaker(prepare, show)
