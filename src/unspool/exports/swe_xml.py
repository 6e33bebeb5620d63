"""`swe-xml`: the form of SWE-smith's trajectories. A line a record: messages, `instance_id`, `resolved` and more.

A call is text: `<function=name>`, then a `<parameter=key>value</parameter>` on each line. Tools are described in the
system prompt. What tools gave is said by the user. Whether the task was solved no log tells: `resolved` is null.
"""

import re
from typing import Any

from unspool.exports.content import Call, Said, count_marks, fenced, functions_of, objects_only, said, text_of
from unspool.exports.training import Encoded, Format, Losses, Options, alone, listed
from unspool.model.record import TrainingRecord
from unspool.sources.jsontext import dumps
from unspool.sources.values import mapping, string
from unspool.sources.values import text_of as as_text

_TAGS = re.compile(r"<(?=/?(?:function|parameter)[=>])")
_PROMPT = """\
You may call these functions:

{functions}

To call one, write it in this form, behind any other text:

<function=name>
<parameter=key>value</parameter>
</function>"""


def encode(record: TrainingRecord, _options: Options) -> Encoded:
    losses = Losses()
    messages: list[dict[str, str]] = []
    before: Said | None = None
    for one in said(record, losses):
        content = _content(one, losses)
        if one.role == "tool" and before is not None and before.role == "tool":  # parallel calls
            messages[-1]["content"] += f"\n\n{content}"
        else:
            messages.append({"role": "user" if one.role == "tool" else one.role, "content": content})
        before = one
    if tools := functions_of(record, losses):
        prompt = _PROMPT.format(functions="\n\n".join(_described(tool) for tool in tools))
        if messages and messages[0]["role"] == "system":
            messages[0]["content"] += f"\n\n{prompt}"
        else:
            messages.insert(0, {"role": "system", "content": prompt})
    count_marks(record, losses)
    row = {
        "messages": messages,
        "instance_id": record.scenario or record.session,
        "resolved": None,
        "model": record.model or "",
        "traj_id": record.id or record.session,
    }
    return Encoded(record, [row] if record.turns else [], losses)


def columns(_options: Options) -> dict[str, str]:
    texts = dict.fromkeys(("instance_id", "model", "traj_id"), "dtype: string")
    return {"messages": listed("role", "content"), "resolved": "dtype: bool", **texts}


def _content(one: Said, losses: Losses) -> str:
    text = text_of(one, losses)
    if one.role != "assistant":
        losses["error mark"] += bool(one.message.get("is_error"))
        losses["id of a result"] += one.role == "tool" and one.answers is not None
        return text
    losses["thinking"] += bool(one.thoughts)
    text = fenced(text, _TAGS, losses)
    calls = "\n".join(_called(call, losses) for call in objects_only(one, losses))
    return "\n\n".join(piece for piece in (text, calls) if piece)


def _called(call: Call, losses: Losses) -> str:
    values = (
        f"<parameter={key}>{fenced(value if isinstance(value, str) else dumps(value), _TAGS, losses)}</parameter>"
        for key, value in call.value.items()
    )
    return "\n".join([f"<function={call.name}>", *values, "</function>"])


def _described(tool: dict[str, Any]) -> str:
    parameters = mapping(tool.get("parameters"))
    required = parameters.get("required")
    lines = [f"{tool['name']}: {string(tool.get('description')) or ''}".rstrip(": ")]
    for key, schema in mapping(parameters.get("properties")).items():
        facts = [as_text(mapping(schema).get("type"))] if mapping(schema).get("type") else []
        if isinstance(required, list) and key in required:
            facts.append("required")
        about = f" ({', '.join(facts)})" if facts else ""
        lines.append(f"  {key}{about}: {string(mapping(schema).get('description')) or ''}".rstrip(": "))
    return "\n".join(lines)


form = Format(".jsonl", alone(encode), columns=columns)
