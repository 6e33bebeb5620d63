"""The records of Gemini CLI by their shape.

What the program writes is decoded straight into these: what nobody asks for never becomes an object, and what is there
is of its type. A record that does not fit is put into the same shape by hand.
"""

from typing import Any

import msgspec
from msgspec import Raw, Struct, field
from msgspec.structs import asdict

from unspool.readers.genai import parts_of
from unspool.sources.jsontext import strict, strict_lines
from unspool.sources.values import Number, count, mapping, string, text_of

_NULL = Raw(b"null")


class Thought(Struct, gc=False):
    subject: Any = None
    description: Any = None
    text: Any = None
    timestamp: Any = None


class Call(Struct, gc=False, rename="camel"):
    id: str | None = None
    name: str = ""
    args: Any = None
    result: Any = None
    status: str | None = None
    timestamp: Any = None
    display_name: str | None = None
    agent_id: str | None = None
    description: Raw = _NULL
    result_display: Raw = _NULL
    """These are long and hardly ever asked for: see `text_in`."""


def text_in(raw: Raw) -> str | None:
    """What it says, if it is a text: what the screen showed of a result may also be the files before and after."""
    text = bytes(raw)
    return strict(text) if text.startswith(b'"') else None


class Tokens(Struct, gc=False):
    input: Number = 0
    output: Number = 0
    cached: Number = 0
    thoughts: Number = 0
    tool: Number = 0
    total: Number = 0


class Message(Struct, gc=False, rename="camel"):
    id: str | None = None
    timestamp: Any = None
    type: Any = None
    content: Any = None
    parts: Any = None
    display_content: Any = None
    model: str | None = None
    thoughts: list[Thought] | None = None
    tool_calls: list[Call | None] | None = None
    """None in place of a call that is no object."""
    tokens: Tokens | None = None

    @property
    def pieces(self) -> list[Any]:
        """Its parts, under whichever key they stand."""
        return parts_of(self.parts if self.content is None else self.content)

    @property
    def is_answer(self) -> bool:
        """It has what only the model's have: programs made from this one give these messages a type of their own."""
        return not (self.tool_calls is None and self.thoughts is None and self.tokens is None and self.model is None)


class Changes(Struct, gc=False, rename="camel"):
    """What the first line says of the session, or what changed of it."""

    session_id: Any = None
    project_hash: Any = None
    start_time: Any = None
    kind: Any = None
    summary: Any = None
    directories: Any = None
    messages: list[Message | None] | None = None
    """None in place of a message that is no object."""


class Line(Message, gc=False, rename="camel"):
    """A line of a recording: a message, the first line, or changes of it."""

    session_id: Any = None
    project_hash: Any = None
    start_time: Any = None
    kind: Any = None
    summary: Any = None
    directories: Any = None
    messages: list[Message | None] | None = None
    changes: Changes | None = field(default=None, name="$set")


_lines = msgspec.json.Decoder(Line).decode_lines
_document = msgspec.json.Decoder(Changes).decode


def decode_lines(lines: bytes) -> list[Any]:
    """The lines of a recording; those of other kinds as they are."""
    try:
        values: list[Any] = _lines(lines)
    except msgspec.ValidationError:
        return strict_lines(lines)
    others = [
        at
        for at, line in enumerate(values)
        if line.id is None and line.changes is None and line.session_id is None and line.type is None
    ]
    if others:
        plain = strict_lines(lines)
        for at in others:
            values[at] = plain[at]
    return values


def decode_document(data: bytes) -> list[Changes]:
    """A session that is one document. One that does not fit is no fault, but is to be decoded otherwise."""
    return [_document(data)]


def message_of(value: Any) -> Message | None:
    """None for what is no object."""
    return _message(value) if isinstance(value, dict) else None


def line_of(value: dict[str, Any]) -> Line:
    """A message, changes, or what opens a recording."""
    told, changes = asdict(_message(value)) | asdict(changes_of(value)), value.get("$set")
    return Line(**told, changes=changes_of(changes) if isinstance(changes, dict) else None)


def _message(value: dict[str, Any]) -> Message:
    get = value.get
    calls, thoughts = get("toolCalls"), get("thoughts")
    return Message(
        string(get("id")),
        get("timestamp"),
        get("type"),
        get("content"),
        get("parts"),
        get("displayContent"),
        string(get("model")),
        [thought_of(mapping(thought)) for thought in thoughts] if isinstance(thoughts, list) else None,
        list(map(call_of, calls)) if isinstance(calls, list) else None,
        _tokens(get("tokens")),
    )


def changes_of(value: dict[str, Any]) -> Changes:
    messages = value.get("messages")
    return Changes(
        value.get("sessionId"),
        value.get("projectHash"),
        value.get("startTime"),
        value.get("kind"),
        value.get("summary"),
        value.get("directories"),
        list(map(message_of, messages)) if isinstance(messages, list) else None,
    )


def call_of(value: Any) -> Call | None:
    """None for what is no object."""
    if not isinstance(value, dict):
        return None
    get, status, agent = value.get, value.get("status"), value.get("agentId")
    return Call(
        string(get("id")),
        text_of(get("name")),
        get("args"),
        get("result"),
        string(status) if status else None,
        get("timestamp"),
        string(get("displayName")),
        agent if isinstance(agent, str) else None,
        _raw(get("description")),
        _raw(get("resultDisplay")),
    )


def _raw(value: Any) -> Raw:
    return Raw(msgspec.json.encode(value)) if isinstance(value, str) else _NULL


def thought_of(value: dict[str, Any]) -> Thought:
    return Thought(value.get("subject"), value.get("description"), value.get("text"), value.get("timestamp"))


def _tokens(value: Any) -> Tokens | None:
    if not isinstance(value, dict):
        return None
    return Tokens(*[count(value.get(key)) for key in ("input", "output", "cached", "thoughts", "tool", "total")])
