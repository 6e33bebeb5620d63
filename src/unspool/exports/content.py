"""What the messages of a record hold, in one shape: what formats begin with.

Roles are four; calls have ids, and results the ids of the calls that they answer, in whose order they stand; legacy
function calls are calls. What a format cannot hold is counted, and its place in the text is marked: `[image]`.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from unspool.exports.training import Losses
from unspool.model.record import TrainingRecord, TrainingTurn
from unspool.sources.jsontext import Unreadable, dumps, strict
from unspool.sources.values import listing, mapping, string
from unspool.transforms.ordering import as_called
from unspool.wires.openai_chat.encode import as_function

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Write: TypeAlias = Callable[[str], Any]
"""An image's address → the part that a format writes, or None if it cannot hold it."""

_ROLES: dict[str | None, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
_HIDDEN = ("reasoning_details", "thinking_blocks")
_KINDS = {
    "image": ("image_url", "image", "input_image"),
    "audio": ("input_audio", "audio", "audio_url"),
    "video": ("video_url", "video", "input_video"),
    "document": ("file", "input_file", "document", "document_url"),
    "thinking": ("thinking", "reasoning", "redacted_thinking"),
}
_KIND = {name: kind for kind, names in _KINDS.items() for name in names}


class Call(Struct):
    id: str
    name: str
    text: str
    """The arguments as they were written."""
    arguments: dict[str, Any] | None
    """None, if they are no object."""

    @property
    def value(self) -> Any:
        """The arguments as an object; what is none stands under `raw`."""
        return {"raw": self.text} if self.arguments is None else self.arguments

    @property
    def json(self) -> str:
        """The object as text: as it was written, if it is one."""
        return self.text if self.arguments is not None else dumps(self.value)


class Said(Struct):
    """One message, told apart."""

    turn: TrainingTurn
    role: Role
    content: Any
    thoughts: str = ""
    calls: list[Call] = []
    answers: str | None = None
    """Of a result: the id of its call."""
    name: str | None = None
    """Of a result: the tool. Else the speaker."""

    @property
    def message(self) -> dict[str, Any]:
        return self.turn.message


def said(record: TrainingRecord, losses: Losses) -> list[Said]:
    """The messages of a record. What no format but the messages themselves can hold is counted here."""
    found: list[Said] = []
    open_calls: list[Call] = []
    names: dict[str, str] = {}
    for turn in record.turns:
        message = turn.message
        role = _ROLES.get(string(message.get("role")))
        if role is None:
            losses["role"] += 1
        one = Said(turn, role or "user", message.get("content"), name=string(message.get("name")))
        if role == "assistant":
            one.calls = open_calls = _calls(message, len(found))
            names |= {call.id: call.name for call in one.calls}
            one.thoughts = _thoughts(message, losses)
            if not one.content and isinstance(refusal := message.get("refusal"), str):
                one.content = refusal
            losses["audio"] += bool(message.get("audio"))
            losses["image"] += len(listing(message.get("images")))
        elif role == "tool":
            one.answers = _answered(message, open_calls)
            open_calls = [call for call in open_calls if call.id != one.answers]
            one.name = one.name or names.get(one.answers or "")
        found.append(one)
    return list(as_called(found, _call_ids, _answers))


def _call_ids(one: Said) -> list[str]:
    return [call.id for call in one.calls]


def _answers(one: Said) -> str | None:
    return (one.answers or "") if one.role == "tool" else None


def _calls(message: dict[str, Any], place: int) -> list[Call]:
    given = [mapping(call) for call in listing(message.get("tool_calls"))]
    if not given and message.get("function_call"):
        given = [{"function": message["function_call"]}]
    return [_call(call, f"call_{place}_{number}") for number, call in enumerate(given)]


def _call(call: dict[str, Any], unnamed: str) -> Call:
    if custom := mapping(call.get("custom")):  # a tool that takes one text
        function = {"name": custom.get("name"), "arguments": {"input": custom.get("input")}}
    else:
        function = mapping(call.get("function"))
    written = function.get("arguments")
    value: Any = written
    if isinstance(written, str):
        try:
            value = strict(written) if written.strip() else {}
        except Unreadable:
            value = None
    elif written is None:
        value = {}
    text = written if isinstance(written, str) and written.strip() else dumps(value)
    arguments = value if isinstance(value, dict) else None
    return Call(string(call.get("id")) or unnamed, string(function.get("name")) or "", text, arguments)


def _answered(message: dict[str, Any], open_calls: list[Call]) -> str | None:
    """The id that the result names; without one, the first call that waits, by name if it has one."""
    given = string(message.get("tool_call_id"))
    if given:
        return given
    named = [call for call in open_calls if call.name == message.get("name")]
    waiting = named or open_calls
    return waiting[0].id if waiting else None


def _thoughts(message: dict[str, Any], losses: Losses) -> str:
    for key in _THOUGHTS:
        if isinstance(text := message.get(key), str) and text:
            return text
    texts = [text for part in listing(message.get("content")) if (text := _thought(part))]
    if not texts and any(message.get(key) for key in _HIDDEN):
        losses["thinking"] += 1
    return "\n\n".join(texts)


def _thought(part: Any) -> str:
    match part:
        case {"type": "thinking", "thinking": str(text)} | {"type": "thinking" | "reasoning", "text": str(text)}:
            return text
        case {"type": "thinking", "thinking": list(inner)}:  # Mistral's
            return "".join(each for each in (mapping(piece).get("text") for piece in inner) if isinstance(each, str))
    return ""


def content_of(one: Said, losses: Losses, image: Write = lambda _url: None) -> Any:
    """One text; or parts, where `image` can write an image that stands among them."""
    if isinstance(one.content, str):
        return one.content
    before = losses.total()
    parts = list(_parts(one, losses, image))
    if all(isinstance(part, str) for part in parts):
        return ("" if losses.total() == before else "\n").join(parts)
    return [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]


def text_of(one: Said, losses: Losses) -> str:
    text: str = content_of(one, losses)
    return text


def _parts(one: Said, losses: Losses, image: Write) -> Iterator[Any]:
    content = one.content
    for part in content if isinstance(content, list) else [] if content is None else [content]:
        match part:
            case str():
                yield part
            case {"type": "text" | "input_text" | "output_text", "text": str(text)}:
                yield text
            case {"type": "refusal", "refusal": str(text)}:
                yield text
            case {"type": str(name)} if name in _KIND:
                kind = _KIND[name]
                if kind == "thinking":
                    losses["thinking"] += not _thought(part)
                    continue
                written = image(address) if kind == "image" and (address := _address(part)) else None
                if written is None:
                    losses[kind] += 1
                    yield f"[{kind}]"
                else:
                    yield written
            case _:
                losses["other content"] += 1
                yield dumps(part)


def _address(part: dict[str, Any]) -> str | None:
    """Of an image: a URL, which may hold the image itself."""
    given = part.get("image_url", part.get("url", part.get("image")))
    return string(given.get("url") if isinstance(given, dict) else given)


def objects_only(one: Said, losses: Losses) -> list[Call]:
    """The calls, for formats that want their arguments as objects."""
    losses["arguments that are no object"] += sum(call.arguments is None for call in one.calls)
    return one.calls


def fenced(text: str, tags: re.Pattern[str], losses: Losses) -> str:
    """A text that holds no tag of the format: `tags` matches their `<`, which becomes `&lt;`."""
    text, number = tags.subn("&lt;", text)
    losses["tag in a text"] += number
    return text


def fenced_json(value: Any, tags: re.Pattern[str]) -> str:
    """The same in JSON, where nothing is lost by it. With spaces, as Python writes it and models were taught it."""
    return tags.sub(r"\\u003c", json.dumps(value, ensure_ascii=False))


def functions_of(record: TrainingRecord, losses: Losses) -> list[dict[str, Any]]:
    """The tools that are functions: name, description, parameters. Others cannot be described to most trainers."""
    found = []
    for tool in record.tools:
        function = tool.get("function")
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            found.append(_complete(function))
        elif isinstance(mapping(custom := tool.get("custom")).get("name"), str):  # its calls are written so too
            found.append(as_function(mapping(custom)))
        elif isinstance(tool.get("name"), str) and isinstance(tool.get("parameters"), dict):
            found.append(_complete(tool))
        else:
            losses["tool that is no function"] += 1
    return found


def _complete(function: dict[str, Any]) -> dict[str, Any]:
    """With a schema that has a type and properties, if only none: templates take both for granted, OpenAI the type."""
    given = mapping(function.get("parameters"))
    if "type" in given and "properties" in given:
        return function
    return function | {"parameters": {"type": "object", "properties": {}} | given}


def marked(record: TrainingRecord) -> bool:
    """Whether the record says what to train on. If it does not, all answers are meant."""
    return any(turn.train or turn.generated for turn in record.turns)


def count_marks(record: TrainingRecord, losses: Losses) -> None:
    """Answers that must not be trained on, in a format that cannot say so."""
    if marked(record):
        answers = (turn for turn in record.turns if turn.message.get("role") == "assistant")
        losses["training mark"] += sum(not turn.train for turn in answers)
