"""`hf`: what TRL and chat templates of transformers take. A line a record: messages and tools.

Arguments are objects, a result has its tool's `name`, thinking is `reasoning_content`, an image a part of type `image`.
TRL knows no mark for a single message: `Options.completions` gives a row `{prompt, completion, tools}` for each message
to train on instead.
"""

from typing import Any

from unspool.exports.content import Said, content_of, count_marks, functions_of, marked, objects_only, said
from unspool.exports.training import Encoded, Format, Losses, Options, alone
from unspool.model.record import TrainingRecord

_PLAIN = {"name": "", "description": ""}
"""What templates take for granted of a tool."""


def encode(record: TrainingRecord, options: Options) -> Encoded:
    losses = Losses()
    spoken = said(record, losses)
    messages = [_message(one, losses) for one in spoken]
    tools = [{"type": "function", "function": _PLAIN | tool} for tool in functions_of(record, losses)]
    if not options.completions:
        count_marks(record, losses)
        return Encoded(record, [{"messages": messages, "tools": tools}] if messages else [], losses)
    rows: list[dict[str, Any]] = []
    trained = _trained(record, spoken)
    for place in trained:
        if place and messages[place - 1]["role"] != "system":
            rows.append({"prompt": messages[:place], "completion": [messages[place]], "tools": tools})
        else:
            losses["answer without a prompt"] += 1
    return Encoded(record, rows, losses, None if rows else "no answer to train on")


def columns(options: Options) -> dict[str, str]:
    names = ("prompt", "completion", "tools") if options.completions else ("messages", "tools")
    return dict.fromkeys(names, "list: json")


def _trained(record: TrainingRecord, spoken: list[Said]) -> list[int]:
    whole = not marked(record)
    return [place for place, one in enumerate(spoken) if one.role == "assistant" and (whole or one.turn.train)]


def _message(one: Said, losses: Losses) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": one.role,
        "content": content_of(one, losses, lambda url: {"type": "image", "url": url}),
    }
    if one.thoughts:
        message["reasoning_content"] = one.thoughts
    if one.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.value}}
            for call in objects_only(one, losses)
        ]
    if one.role == "tool":
        losses["error mark"] += bool(one.message.get("is_error"))
        message |= {"name": one.name or ""} | ({"tool_call_id": one.answers} if one.answers else {})
    return message


form = Format(".jsonl", alone(encode), columns=columns)
