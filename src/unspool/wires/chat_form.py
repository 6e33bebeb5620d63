"""Calls and results as OpenAI's chat form writes them. Cohere writes them the same way."""

from typing import Any

from unspool.model import Block, Document, Text, ToolResult, ToolUse
from unspool.sources.jsontext import dumps
from unspool.wires.calls import in_words
from unspool.wires.history import as_text


def spoken(block: Block) -> str:
    return block.text if isinstance(block, Text) else in_words(block)


def written_call(block: ToolUse) -> dict[str, Any]:
    arguments = dumps(block.arguments) if block.text is None else block.text
    return {"id": block.id, "type": "function", "function": {"name": block.name, "arguments": arguments}}


def written_result(block: ToolResult) -> dict[str, Any]:
    """That a tool failed has no field here: it is said in words."""
    text = "\n".join(as_text(inner) if isinstance(inner, Document) else spoken(inner) for inner in block.content)
    if block.is_error and not text.lower().startswith("error"):
        text = f"Error: {text}" if text else "Error"
    return {"role": "tool", "tool_call_id": block.call_id, "content": text}
