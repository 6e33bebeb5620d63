"""The model → chat messages and tools: the way back from `decode`.

`encode(decode(message)) == [message]`, but for what the model does not tell apart:

    null, and nothing at all                    are left out; so are empty lists of calls, images and annotations
    arguments that are an object, or null       become the JSON text that they stand for
    a part that is a string, or `input_text`    becomes a part of type `text`
    a thinking part (Mistral)                   becomes `reasoning_content`
    the same thoughts under two names           are kept under the first
    an `audio_url` or `document_url` with data  becomes `input_audio`, `file`
    a `file_url`                                becomes `document_url`
    what a host ran itself (Groq)               becomes a call, its result, and the answer: a message each
    a call or a message without type or role    gets `function`, `user`
    pictures that are base64 alone (Ollama)     become parts of the content
    types of a tool's schema in capitals        become small, as JSON Schema writes them

A message that was read with another wire (`foreign`) is written as trainers know it: text alone as one string, without
what only its provider understands. It may become several: each tool result is a message of its own here, and a tool of
the provider's whose result nobody is shown (a search of Responses) gets an empty one before the model goes on. Else it
would have said first what it only found out then. Tools that take one text of any form (`custom`, such as Codex'
patches) become functions with that text as their `input`. Tools that are offered on the way are among the others, and
not told once more.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from unspool.model import Block, Compaction, Document, Message, Other, Text, Thinking, Tool, ToolResult, ToolUse
from unspool.sources.jsontext import dumps
from unspool.sources.values import mapping, string
from unspool.transforms.json_schema import as_json_schema
from unspool.wires.openai_chat.decode import DETAILS, SPOKEN
from unspool.wires.values import ASIDES

_TOOL_ROLES = ("tool", "function")
_INSIDE = frozenset({"detail", "format"})
"""Keys that stand beside an address, not beside the part's type."""
_BETWEEN = {"assistant": ""}
"""What joins the texts of one message: an answer was written in one go, other texts were put together."""


def encode(message: Message, foreign: bool = False) -> list[dict[str, Any]]:
    """One message, or several where it holds tool results."""
    if message.form == "string" and message.extra is None and len(message.blocks) == 1:  # most messages of all
        only = message.blocks[0]
        if type(only) is Text and only.extra is None and not only.citations and not only.refusal:
            return [{"role": message.role, "content": only.text}]
    extra = {} if foreign else dict(message.extra or {})
    role = extra.pop("role", message.role)
    if not foreign and role in _TOOL_ROLES and len(message.blocks) == 1 and type(message.blocks[0]) is ToolResult:
        return [_result(message.blocks[0], role, message.form == "string", extra)]
    if foreign and message.blocks and all(type(block) is Other and block.kind in ASIDES for block in message.blocks):
        return []
    said: list[dict[str, Any]] = []
    for blocks in _pieces(_answered(message.blocks) if foreign else message.blocks):
        if type(blocks[0]) is ToolResult:
            said.append(_foreign_result(blocks[0]) if foreign else _result(blocks[0], "tool", False, {}))
        else:
            said.append(_Writer(message, foreign, len(said) == 0).write(role, blocks, extra))
    return said or [_Writer(message, foreign, True).write(role, (), extra)]


def _answered(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """With an empty result for each call of the provider's tools that has none, where the model went on behind it."""
    if not any(type(block) is ToolUse and block.server_side for block in blocks[:-1]):
        return blocks
    given = {block.call_id for block in blocks if type(block) is ToolResult}
    told: list[Block] = []
    waiting: list[ToolResult] = []
    ours = False
    for block in blocks:
        if type(block) is ToolUse:
            ours = ours or not block.server_side
            if block.server_side and block.id is not None and block.id not in given:
                waiting.append(ToolResult(block.id, (), name=block.name, server_side=True))
        elif waiting and not ours and isinstance(block, Text | Thinking) and block.text:  # ours are answered later
            told += waiting
            waiting = []
        told.append(block)
    return tuple(told)


def _pieces(blocks: tuple[Block, ...]) -> Iterator[tuple[Block, ...]]:
    """Each result by itself; what stands between them together."""
    begin = 0
    for at, block in enumerate(blocks):
        if type(block) is ToolResult:
            if begin < at:
                yield blocks[begin:at]
            yield (block,)
            begin = at + 1
    if begin < len(blocks):
        yield blocks[begin:]


class _Writer:
    """One message of the chat API, field by field."""

    def __init__(self, message: Message, foreign: bool, first: bool) -> None:
        self._foreign = foreign
        self._first = first
        self._form = message.form
        self._spoken = message.role == "assistant"
        self._parts: list[Any] = []
        self._fields: dict[str, Any] = {}
        self._thoughts: dict[str, list[str]] = {}
        self._calls: list[Any] = []

    def write(self, role: Any, blocks: tuple[Block, ...], extra: dict[str, Any]) -> dict[str, Any]:
        for block in blocks:
            self._add(block)
        message: dict[str, Any] = {"role": role}
        content = self._content(role)
        if content is not None:
            message["content"] = content
        for key, texts in self._thoughts.items():
            message[key] = "\n\n".join(texts)
        message |= self._fields
        if self._calls:
            message["tool_calls"] = self._calls
        if self._first:
            message |= {key: value for key, value in extra.items() if value is not None}
        return message

    def _content(self, role: Any) -> Any:
        if not self._parts:
            if self._form == "string" and self._first:
                return ""
            if self._form == "none" or self._calls or self._fields or self._thoughts:
                return None
            return "" if self._foreign else []
        texts = [part["text"] for part in self._parts if isinstance(part, dict) and part.keys() == {"type", "text"}]
        if len(texts) == len(self._parts) and (self._foreign or self._form == "string"):
            return texts[0] if len(texts) == 1 else _BETWEEN.get(role, "\n\n").join(texts)
        return self._parts

    def _add(self, block: Block) -> None:
        match block:
            case Text(refusal=True) if self._form != "blocks" or self._foreign:
                self._fields["refusal"] = self._fields.get("refusal", "") + block.text
            case Text() if block.extra == SPOKEN and not self._foreign:
                pass  # the sound has its words with it
            case Text():
                self._parts.append(_text(block, self._foreign))
                if block.citations and self._form == "string" and not self._foreign:
                    self._fields["annotations"] = list(block.citations)
            case Thinking():
                key = (block.extra or {}).get("key")
                if block.text and (key not in DETAILS or self._foreign):
                    name = key if isinstance(key, str) and not self._foreign else "reasoning_content"
                    self._thoughts.setdefault(name, []).append(block.text)
            case ToolUse():
                self._call(block)
            case Other(known=True) if self._foreign and (self._spoken or block.kind in ASIDES):
                pass  # a list of tools, or the like, that an API puts among what the model said
            case Other(kind="tool_call") if not self._foreign:
                self._calls.append(block.value)
            case Document(medium="audio", media_type=None) if self._spoken and not self._foreign:
                self._fields["audio"] = _spoken(block)
            case Document() if self._spoken and self._form != "blocks" and not self._foreign:
                self._fields.setdefault("images", []).append(_document(block, False))
            case _:
                self._parts += _part(block, self._foreign)

    def _call(self, block: ToolUse) -> None:
        extra = {} if self._foreign else dict(block.extra or {})
        written = dumps(block.arguments) if block.text is None else block.text
        if self._foreign and _is_free(block):
            written = dumps({"input": written})
        if extra.pop("legacy", None):
            self._fields["function_call"] = {"name": block.name, "arguments": written} | extra
            return
        kind = extra.pop("type", "function")
        call: dict[str, Any] = {} if block.id is None else {"id": block.id}
        if kind == "custom" and block.arguments is None:
            call |= {"type": kind, "custom": {"name": block.name, "input": written}}
        else:
            call |= {"type": kind, "function": {"name": block.name, "arguments": written}}
        self._calls.append(call | extra)


def _is_free(block: ToolUse) -> bool:
    """Whether a call was given a text, and no arguments. Where nobody says, an object that is broken is none."""
    if block.arguments is not None or not block.text:
        return False
    return (block.extra or {}).get("type") == "custom_tool_call" or not block.text.lstrip().startswith(("{", "["))


def _result(block: ToolResult, role: str, as_text: bool, extra: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": role}
    if as_text and len(block.content) == 1 and isinstance(text := block.content[0], Text):
        message["content"] = text.text
    elif block.content or as_text:
        message["content"] = [part for inner in block.content for part in _part(inner, False)]
    named = None if "tool_name" in (block.extra or {}) else block.name
    facts = {"tool_call_id": block.call_id, "name": named, "is_error": block.is_error}
    message |= {key: value for key, value in facts.items() if value is not None}
    return message | {key: value for key, value in {**(block.extra or {}), **extra}.items() if value is not None}


def _foreign_result(block: ToolResult) -> dict[str, Any]:
    """A failed result says so in a field, and in words where it has no other."""
    parts = [part for inner in block.content for part in _part(inner, True)]
    content: Any = parts
    if all(part["type"] == "text" for part in parts):
        content = "\n".join(part["text"] for part in parts)
    if not content and block.is_error:
        content = "Error"
    message: dict[str, Any] = {"role": "tool", "content": content}
    if block.call_id is not None:
        message["tool_call_id"] = block.call_id
    if block.name is not None:
        message["name"] = block.name
    if block.is_error:
        message["is_error"] = True
    return message


def _text(block: Text, foreign: bool) -> dict[str, Any]:
    extra = {} if foreign else block.extra or {}
    if block.refusal and not foreign:
        return {"type": "refusal", "refusal": block.text, **extra}
    return {"type": "text", "text": block.text, **extra}


def _part(block: Block, foreign: bool) -> Iterable[Any]:
    match block:
        case Text():
            yield _text(block, foreign)
        case Document():
            yield _document(block, foreign)
        case Compaction() | Thinking():
            if block.text:
                yield {"type": "text", "text": block.text}
        case Other():
            yield {"type": "text", "text": dumps(block.value)} if foreign else block.value
        case ToolResult():
            for inner in block.content:
                yield from _part(inner, foreign)
        case ToolUse():
            yield {"type": "text", "text": dumps({"name": block.name, "arguments": block.arguments or block.text})}


def _document(block: Document, foreign: bool) -> dict[str, Any]:
    extra = {} if foreign else dict(block.extra or {})
    if block.source == "text":
        return {"type": "text", "text": block.data}
    if block.source == "none":
        return {"type": "text", "text": f"[{block.medium}]"}
    if block.medium == "audio" and block.source == "base64":
        kind = (block.media_type or "").removeprefix("audio/")
        sound = {"data": block.data} | ({"format": kind} if kind else {})
        return {"type": "input_audio", "input_audio": sound} | extra
    if block.source == "file" or (block.medium == "document" and (block.source == "base64" or block.name is not None)):
        return _file(block, extra)
    key = f"{block.medium}_url"
    url = _url(block)
    if extra.pop("bare", False):
        return {"type": key, key: url} | extra
    at = {"url": url} | {name: extra.pop(name) for name in list(extra) if name in _INSIDE}
    return {"type": key, key: at} | extra


def _file(block: Document, extra: dict[str, Any]) -> dict[str, Any]:
    file: dict[str, Any] = {} if block.name is None else {"filename": block.name}
    if block.source == "file":
        file["file_id"] = block.data
    else:
        file["file_data"] = _url(block) if block.media_type else block.data
    extra.pop("bare", None)
    return {"type": "file", "file": file} | extra


def _url(block: Document) -> str:
    return f"data:{block.media_type or ''};base64,{block.data}" if block.source == "base64" else block.data


def _spoken(block: Document) -> dict[str, Any]:
    """The model's spoken answer."""
    return {"data" if block.source == "base64" else "id": block.data} | (block.extra or {})


def encode_tool(tool: Tool, foreign: bool = False) -> dict[str, Any]:
    """A function as `{"type": "function", "function": {…}}`; what is none, whole."""
    extra = dict(tool.extra or {})
    if "definition" in extra:  # in a shape that no API has
        return extra if not isinstance(extra["definition"], dict) else extra["definition"]
    if tool.server_side:
        kind = extra.pop("type", tool.name)
        return {"type": kind} | ({"name": tool.name} if kind != tool.name else {}) | _schema(tool) | extra
    named = {"name": tool.name} | ({"description": tool.description} if tool.description else {})
    if extra.get("type") == "custom" and not tool.parameters:
        custom = named | {key: extra[key] for key in extra if key != "type"}
        return (
            {"type": "function", "function": as_function(custom)} if foreign else {"type": "custom", "custom": custom}
        )
    strict = {"strict": extra.pop("strict")} if "strict" in extra else {}
    function = named | {"parameters": as_json_schema(tool.parameters)} | strict
    return {"type": "function", "function": function} | ({} if foreign else extra)


def as_function(custom: dict[str, Any]) -> dict[str, Any]:
    """A tool that takes one text, as a function with one argument, which its grammar describes."""
    grammar = mapping(mapping(custom.get("format")).get("grammar")) or mapping(custom.get("format"))
    about = string(grammar.get("definition"))
    given = {"type": "string"} | ({"description": about} if about else {})
    schema = {"type": "object", "properties": {"input": given}, "required": ["input"]}
    return {key: custom[key] for key in ("name", "description") if custom.get(key)} | {"parameters": schema}


def _schema(tool: Tool) -> dict[str, Any]:
    return {"parameters": tool.parameters} if tool.parameters else {}
