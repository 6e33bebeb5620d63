"""`sharegpt`: for LLaMA-Factory, with its `dataset_info.json`. A line a record: conversations, system and tools.

Its reader skips a row unless `human` or `observation` alternates with `gpt` or `function_call`, beginning with the
former and ending on the latter. So turns of one side are joined; parallel calls are one list, parallel results one
observation, with the tags between them that its own reader of OpenAI's form puts there.

A `function_call` is JSON. What was said beside it survives in the tags that most of its templates have: thinking in
`<think>`, text around one `<tool_call>`.
"""

import re
from typing import Any

import msgspec
from msgspec import Struct

from unspool.exports.content import (
    Call,
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
from unspool.sources.jsontext import dumps

_ENDING = ".jsonl"
_TAGS = re.compile(r"<(?=/?(?:think|tool_call)>)")
_NEXT_RESULT = "\n</tool_response>\n<tool_response>\n"
_COLUMNS = {"messages": "conversations", "system": "system", "tools": "tools"}


class _Asked(Struct):
    """One turn of the user's side."""

    results: list[str] = []
    """Those that it begins with."""
    texts: list[str] = []

    def row(self) -> dict[str, str]:
        first = [_NEXT_RESULT.join(self.results)] if self.results else []
        return {"from": "observation" if self.results else "human", "value": "\n\n".join([*first, *self.texts])}


class _Answered(Struct):
    """One turn of the model's."""

    thoughts: list[str] = []
    texts: list[str] = []
    calls: list[Call] = []

    def row(self) -> dict[str, str]:
        text = "\n\n".join(self.texts)
        thoughts = "\n\n".join(self.thoughts)
        before = f"<think>\n{thoughts}\n</think>\n\n" if thoughts else ""
        if not self.calls:
            return {"from": "gpt", "value": before + text}
        calls = [{"name": call.name, "arguments": call.value} for call in self.calls]
        value = fenced_json(calls if len(calls) > 1 else calls[0], _TAGS)
        if text:
            value = f"{text}\n<tool_call>\n{value}\n</tool_call>"
        return {"from": "function_call", "value": before + value}


def encode(record: TrainingRecord, _options: Options) -> Encoded:
    losses = Losses()
    spoken = said(record, losses)
    system: list[str] = []
    while spoken and spoken[0].role == "system":
        system.append(text_of(spoken.pop(0), losses))
    turns = _turns(spoken, losses)
    tools = functions_of(record, losses)
    count_marks(record, losses)
    if not turns:
        return Encoded(record, [], losses, "no answer")
    row: dict[str, Any] = {
        "conversations": [turn.row() for turn in turns],
        "system": "\n\n".join(system),
        "tools": dumps(tools) if tools else "",
    }
    return Encoded(record, [row], losses)


def _turns(spoken: list[Said], losses: Losses) -> list[_Asked | _Answered]:
    """Alternating, the user's side first and the model's last."""
    turns: list[_Asked | _Answered] = []
    for one in spoken:
        own = one.role == "assistant"
        joined = bool(turns) and isinstance(turns[-1], _Answered) == own
        if not turns and own:
            losses["answer without a prompt"] += 1
            turns.append(_Asked([], []))
        if not joined:
            turns.append(_Answered([], [], []) if own else _Asked([], []))
        turn = turns[-1]
        if isinstance(turn, _Answered):
            losses["border between messages"] += joined
            _answer(turn, one, losses)
        else:
            parallel = one.role == "tool" and bool(turn.results) and not turn.texts
            losses["border between messages"] += joined and not parallel
            _ask(turn, one, losses)
    if turns and isinstance(last := turns[-1], _Asked):
        losses["message behind the last answer"] += len(last.results) + len(last.texts)
        turns.pop()
    return turns


def _ask(turn: _Asked, one: Said, losses: Losses) -> None:
    losses["system message"] += one.role == "system"
    losses["error mark"] += bool(one.message.get("is_error"))
    into = turn.results if one.role == "tool" and not turn.texts else turn.texts
    into.append(text_of(one, losses))


def _answer(turn: _Answered, one: Said, losses: Losses) -> None:
    if one.thoughts:
        turn.thoughts.append(fenced(one.thoughts, _TAGS, losses))
    if text := fenced(text_of(one, losses), _TAGS, losses):
        turn.texts.append(text)
    turn.calls += objects_only(one, losses)


def columns(_options: Options) -> dict[str, str]:
    return {"conversations": listed("from", "value"), "system": "dtype: string", "tools": "dtype: string"}


def more_files(names: list[str]) -> dict[str, bytes]:
    """What LLaMA-Factory knows its data by: a name for each file of records."""
    known = {
        name.removesuffix(_ENDING): {"file_name": name, "formatting": "sharegpt", "columns": _COLUMNS} for name in names
    }
    return {"dataset_info.json": msgspec.json.format(msgspec.json.encode(known), indent=2) + b"\n"}


form = Format(_ENDING, alone(encode), more_files=more_files, columns=columns)
