"""`axolotl`: for its `chat_template` type. A line a record: messages, each with `train`, and tools.

    datasets: [{path: …, type: chat_template, field_messages: messages, message_field_training: train}]

Arguments, and the parameters of tools, are JSON text, which axolotl reads: so they have one type, whatever tools take.
"""

from typing import Any

from unspool.exports.content import Said, content_of, functions_of, marked, objects_only, said
from unspool.exports.training import Encoded, Format, Losses, Options, alone
from unspool.model.record import TrainingRecord
from unspool.sources.jsontext import dumps
from unspool.sources.values import string

_FIELDS = ("type", "name", "description", "parameters")


def encode(record: TrainingRecord, _options: Options) -> Encoded:
    losses = Losses()
    whole = not marked(record)
    messages = [_message(one, whole, losses) for one in said(record, losses)]
    tools = [{"type": "function", "function": _tool(tool, losses)} for tool in functions_of(record, losses)]
    return Encoded(record, [{"messages": messages, "tools": tools or None}] if messages else [], losses)


def columns(_options: Options) -> dict[str, str]:
    return {"messages": "list: json", "tools": "list: json"}


def _tool(tool: dict[str, Any], losses: Losses) -> dict[str, str]:
    losses["field of a tool"] += sum(key not in _FIELDS for key in tool)
    parameters = dumps(tool.get("parameters") or {})
    return {"name": tool["name"], "description": string(tool.get("description")) or "", "parameters": parameters}


def _message(one: Said, whole: bool, losses: Losses) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": one.role,
        "content": content_of(one, losses, lambda url: {"type": "image", "url": url}),
        "train": one.role == "assistant" and (whole or one.turn.train),
    }
    if one.thoughts:
        message["reasoning_content"] = one.thoughts
    if one.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.json}}
            for call in objects_only(one, losses)
        ]
    if one.role == "tool":
        losses["error mark"] += bool(one.message.get("is_error"))
        message |= {"name": one.name or "", "tool_call_id": one.answers or ""}
    return message


form = Format(".jsonl", alone(encode), columns=columns)
