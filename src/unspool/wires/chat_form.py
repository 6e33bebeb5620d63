"""Messages, tools, calls and results as OpenAI's chat form writes them. Cohere writes them the same way."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from unspool.dialect import Asking, Piece
from unspool.model import Block, Tool, ToolResult, ToolUse
from unspool.sources.values import mapping, string
from unspool.transforms.json_schema import without
from unspool.wires.calls import Entry, fit_name, written_arguments
from unspool.wires.history import as_text
from unspool.wires.schemas import whole

Parts: TypeAlias = Callable[[Block], Iterable[dict[str, Any]]]
"""How an API writes a block that is neither call nor result."""


def written_messages(
    entries: Iterable[Entry], parts: Parts, assistant: Callable[[Sequence[Block]], dict[str, Any]]
) -> list[dict[str, Any]]:
    """Each result is a message of its own; what else its entry holds comes behind them."""
    messages: list[dict[str, Any]] = []
    for entry in entries:
        messages += [written_result(block) for block in entry.blocks if isinstance(block, ToolResult)]
        rest = [block for block in entry.blocks if not isinstance(block, ToolResult)]
        if entry.role == "assistant":
            messages.append(assistant(rest))
        elif rest:
            messages.append({"role": entry.role, "content": content_of(rest, parts)})
    return messages


def content_of(blocks: Sequence[Block], parts: Parts) -> Any:
    """A text alone is a string."""
    written = [part for block in blocks for part in parts(block)]
    return written[0]["text"] if len(written) == 1 and written[0]["type"] == "text" else written


def written_call(block: ToolUse) -> dict[str, Any]:
    function = {"name": block.name, "arguments": written_arguments(block)}
    return {"id": block.id, "type": "function", "function": function}


def written_result(block: ToolResult) -> dict[str, Any]:
    """That a tool failed has no field here: it is said in words."""
    text = "\n".join(map(as_text, block.content))
    if block.is_error and not text.lower().startswith("error"):
        text = f"Error: {text}" if text else "Error"
    return {"role": "tool", "tool_call_id": block.call_id, "content": text}


def written_tool(tool: Tool, asking: Asking) -> dict[str, Any]:
    about = {"description": tool.description} if tool.description else {}
    schema = whole(without(tool.parameters, asking.abilities.schema_without))
    return {"type": "function", "function": {"name": fit_name(tool.name, asking), **about, "parameters": schema}}


def shown_call(value: Any) -> Iterator[Piece]:
    """What a stream tells of a call: its name, or more of its arguments."""
    call = mapping(value)
    function = mapping(call.get("function"))
    if name := string(function.get("name")):
        yield Piece("tool_use", name, string(call.get("id")))
    if text := string(function.get("arguments")):
        yield Piece(content=text)
