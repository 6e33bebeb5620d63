"""`hermes`: the form that Nous Research's models were trained on. A line a record: its id, and conversations.

Tools stand in the system prompt, in `<tools>`; a call is JSON in `<tool_call>`, a result JSON in `<tool_response>`,
thinking in `<think>`. The tags stand on lines of their own. Parallel results are one turn.
"""

import re
from typing import Any

from unspool.exports.content import (
    Said,
    count_marks,
    fenced,
    fenced_json,
    functions_of,
    objects_only,
    said,
    text_of,
)
from unspool.exports.training import Encoded, Format, Losses, Options, alone, listed
from unspool.model.record import TrainingRecord

_TAGS = re.compile(r"<(?=/?(?:tools|tool_call|tool_response|think)>)")
_WHO = {"system": "system", "user": "human", "assistant": "gpt", "tool": "tool"}
_PROMPT = """\
You are a function calling AI model. The signatures of the functions that you may call are within <tools></tools> tags:
<tools>
{tools}
</tools>
For each function call return a JSON object with the function's name and arguments within <tool_call></tool_call> tags:
<tool_call>
{{"name": <function-name>, "arguments": <args-dict>}}
</tool_call>"""


def encode(record: TrainingRecord, _options: Options) -> Encoded:
    losses = Losses()
    turns: list[dict[str, Any]] = []
    for one in said(record, losses):
        value = _value(one, losses)
        if one.role == "tool" and turns and turns[-1]["from"] == "tool":
            turns[-1]["value"] += f"\n{value}"
        else:
            turns.append({"from": _WHO[one.role], "value": value})
    if tools := functions_of(record, losses):
        prompt = _PROMPT.format(tools=fenced_json([{"type": "function", "function": tool} for tool in tools], _TAGS))
        if turns and turns[0]["from"] == "system":
            turns[0]["value"] += f"\n\n{prompt}"
        else:
            turns.insert(0, {"from": "system", "value": prompt})
    count_marks(record, losses)
    row = {"id": record.id or record.session, "conversations": turns}
    return Encoded(record, [row] if record.turns else [], losses)


def columns(_options: Options) -> dict[str, str]:
    return {"id": "dtype: string", "conversations": listed("from", "value")}


def _value(one: Said, losses: Losses) -> str:
    text = text_of(one, losses)
    if one.role == "tool":
        losses["error mark"] += bool(one.message.get("is_error"))
        result = {"tool_call_id": one.answers, "name": one.name, "content": text}
        return f"<tool_response>\n{fenced_json(result, _TAGS)}\n</tool_response>"
    if one.role != "assistant":
        return text
    pieces = [fenced(text, _TAGS, losses)] if text else []
    if one.thoughts:
        pieces.insert(0, f"<think>\n{fenced(one.thoughts, _TAGS, losses)}\n</think>")
    for call in objects_only(one, losses):
        made = fenced_json({"name": call.name, "arguments": call.value}, _TAGS)
        pieces.append(f"<tool_call>\n{made}\n</tool_call>")
    return "\n".join(pieces)


form = Format(".jsonl", alone(encode), columns=columns)
