"""`openai`: OpenAI's fine-tuning file. A line a record: messages, tools and `parallel_tool_calls`.

Arguments are JSON text; an answer's `weight` is 1 if it is trained on, else 0. Text is held everywhere, JPEG, PNG and
WebP images in what the user says, ten of them at most. Thinking is not.

One line that breaks a rule costs the whole file, so a record that does is refused: `problems` names the rules.
"""

import re
from collections.abc import Iterator
from typing import Any

from unspool.exports.content import Said, content_of, functions_of, marked, said, text_of
from unspool.exports.training import Encoded, Format, Losses, Options, alone
from unspool.model.record import TrainingRecord
from unspool.sources.jsontext import Unreadable, strict
from unspool.sources.values import listing, mapping

_IMAGES = 10
_TOOLS = 128
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HELD = re.compile(r"https?://|data:image/(jpeg|png|webp)[;,]")


def encode(record: TrainingRecord, _options: Options) -> Encoded:
    losses = Losses()
    messages = _Messages(marked(record), losses)
    spoken = [one for one in said(record, losses) if not _empty(one, losses)]
    while spoken and spoken[-1].role != "assistant":
        spoken.pop()
        losses["message behind the last answer"] += 1
    row: dict[str, Any] = {"messages": [messages.write(one) for one in spoken]}
    if tools := functions_of(record, losses):
        row["tools"] = [{"type": "function", "function": tool} for tool in tools]
        row["parallel_tool_calls"] = any(len(one.calls) > 1 for one in spoken)
    broken = next(problems(row), None)
    return Encoded(record, [] if broken else [row], losses, broken)


def _empty(one: Said, losses: Losses) -> bool:
    """Whether nothing is left of an answer, or it was only thinking: OpenAI takes none without words or calls."""
    if one.role != "assistant" or one.calls or text_of(one, Losses()):
        return False
    losses["thinking" if one.thoughts else "empty answer"] += 1
    return True


def columns(_options: Options) -> dict[str, str]:
    return {"messages": "list: json", "tools": "list: json", "parallel_tool_calls": "dtype: bool"}


class _Messages:
    def __init__(self, weighted: bool, losses: Losses) -> None:
        self._weighted = weighted
        self._losses = losses
        self._images = 0

    def write(self, one: Said) -> dict[str, Any]:
        message: dict[str, Any] = {"role": one.role}
        if one.role == "user":
            return message | {"content": content_of(one, self._losses, self._image)}
        text = text_of(one, self._losses)
        if one.role == "tool":
            self._losses["error mark"] += bool(one.message.get("is_error"))
            return message | {"tool_call_id": one.answers or "", "content": text}
        if one.role == "assistant":
            self._losses["thinking"] += bool(one.thoughts)
            if text or not one.calls:
                message["content"] = text
            if one.calls:
                message["tool_calls"] = [
                    {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.text}}
                    for call in one.calls
                ]
            if self._weighted:
                message["weight"] = int(one.turn.train)
            return message
        return message | {"content": text}

    def _image(self, url: str) -> Any:
        if self._images == _IMAGES or not _HELD.match(url):
            return None
        self._images += 1
        return {"type": "image_url", "image_url": {"url": url}}


def problems(row: dict[str, Any]) -> Iterator[str]:
    """The rules of OpenAI's that a row breaks."""
    messages = row["messages"]
    answers = [message for message in messages if message["role"] == "assistant"]
    if not answers:
        yield "no answer"
    elif messages[-1]["role"] != "assistant":
        yield "the last message is no answer"
    if answers and not any(message.get("weight", 1) for message in answers):
        yield "no answer to train on"
    for message in answers:
        if not message.get("content") and not message.get("tool_calls"):
            yield "an answer with neither text nor calls"
        for call in message.get("tool_calls", ()):
            yield from _call_problems(call["function"])
    yield from _order_problems(messages)
    tools = row.get("tools", [])
    if len(tools) > _TOOLS:
        yield f"more than {_TOOLS} tools"
    yield from (f"a tool's name: {name!r}" for tool in tools if not _NAME.fullmatch(name := tool["function"]["name"]))


def _call_problems(function: dict[str, Any]) -> Iterator[str]:
    if not _NAME.fullmatch(function["name"]):
        yield f"a call's name: {function['name']!r}"
    try:
        strict(function["arguments"])
    except Unreadable:
        yield "arguments that are no JSON"


def _order_problems(messages: list[dict[str, Any]]) -> Iterator[str]:
    """Behind an answer with calls stand their results, one each. Only the last answer's may be missing."""
    waiting: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield "a result that answers no call before it"
            waiting.discard(message["tool_call_id"])
            continue
        if waiting:
            yield "a call without a result"
        calls = [mapping(call).get("id") for call in listing(message.get("tool_calls"))]
        waiting = {str(call) for call in calls}
        if len(waiting) < len(calls):
            yield "two calls with one id"


form = Format(".jsonl", alone(encode), columns=columns)
