"""A context → the body of a request to Cohere Chat; its stream's events → what to show."""

from collections.abc import Iterator, Sequence
from typing import Any

from unspool.dialect import Asking, Piece, Speaker
from unspool.model import Block, Context, Document, Text, Thinking, Tool, ToolUse
from unspool.sources.values import mapping, string
from unspool.wires.calls import fit_name
from unspool.wires.chat_form import content_of, shown_call, written_call, written_messages, written_tool
from unspool.wires.cohere.decode import PLAN
from unspool.wires.history import as_text, choice_of, data_url, searches, settle


def prepare(context: Context, tools: Sequence[Tool], asking: Asking) -> dict[str, Any]:
    searches(context, tools, asking)
    body: dict[str, Any] = {"model": asking.model} if asking.model else {}
    body["stream"] = True
    if asking.max_tokens:
        body["max_tokens"] = asking.max_tokens
    body["messages"] = written_messages(settle(context, asking), _parts, _assistant)
    offered = {fit_name(tool.name, asking): written_tool(tool, asking) for tool in tools}
    if offered:
        choice = choice_of(context, tools, asking)
        if choice in offered:  # by name there is no choice: so it gets no other
            body |= {"tools": [offered[choice]], "tool_choice": "REQUIRED"}
        else:
            body["tools"] = list(offered.values())
            if choice in ("none", "required"):
                body["tool_choice"] = choice.upper()
    return body | asking.settings


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
        message["content"] = content_of(rest, _parts)
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
            yield {"type": "text", "text": as_text(block)}


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
            yield from shown_call(said.get("tool_calls"))


speaker = Speaker(prepare, show)
