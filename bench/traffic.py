"""Growing conversations as recorded API calls.

Each call adds three messages: the user's, the assistant's (text and one tool call) and the tool's result. Messages are
kept as JSON, so that a call's line is put together, not encoded anew.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from prose import Prose

Json = dict[str, Any]

_START = datetime(2026, 1, 20, 9, 0, tzinfo=UTC)
_MARK = {"cache_control": {"type": "ephemeral"}}


def to_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def backwards(value: Any) -> Any:
    """The same value with the keys of all its objects in reverse order."""
    match value:
        case dict():
            return {key: backwards(inner) for key, inner in reversed(value.items())}
        case list():
            return [backwards(inner) for inner in value]
    return value


def join_object(fields: dict[str, bytes], reverse: bool = False) -> bytes:
    """An object of values that are JSON already."""
    pairs = [b'"%b": %b' % (key.encode(), value) for key, value in fields.items()]
    return b"{%b}" % b", ".join(pairs[::-1] if reverse else pairs)


def join_list(items: Sequence[bytes]) -> bytes:
    return b"[%b]" % b", ".join(items)


def record(prose: Prose, number: int, request: bytes, response: bytes, reverse: bool = False) -> bytes:
    """The line of call `number` of a file."""
    fields = {
        "id": to_json(prose.token("rec_")),
        "timestamp": to_json((_START + timedelta(seconds=7 * number)).isoformat()),
        "duration_ms": to_json(prose.number(400, 6000)),
        "request": request,
        "response": response,
        "error": b"null",
    }
    return join_object(fields, reverse) + b"\n"


def parameters(prose: Prose) -> Json:
    """The schema of a tool's arguments."""
    properties = {
        "path": {"type": "string", "description": prose.sentence(12)},
        "limit": {"type": "integer", "description": prose.sentence(8)},
    }
    return {"type": "object", "properties": properties, "required": ["path"]}


def chat_tools(prose: Prose) -> list[Json]:
    """20 tools of about 500 bytes each, in OpenAI's chat form."""
    return [
        {"type": "function", "function": {**_named(prose, number), "parameters": parameters(prose)}}
        for number in range(20)
    ]


def claude_tools(prose: Prose) -> list[Json]:
    """20 tools of about 500 bytes each, in Anthropic's form."""
    return [{**_named(prose, number), "input_schema": parameters(prose)} for number in range(20)]


def _named(prose: Prose, number: int) -> Json:
    return {"name": f"tool_{number}", "description": prose.text(110)}


class Chat:
    """A conversation in OpenAI's chat form.

    `two_orders` writes the keys of every other call backwards; `clock` begins the system message with a line that
    changes with every call; `talk` is a conversation without tool calls.
    """

    def __init__(
        self,
        prose: Prose,
        tools: list[Json],
        system: str,
        size: int = 2000,
        two_orders: bool = False,
        clock: bool = False,
        talk: bool = False,
    ) -> None:
        self._prose, self._system, self._size, self._clock, self._talk = prose, system, size, clock, talk
        orders = (False, True) if two_orders else (False,)
        self._tools = [to_json(backwards(tools) if reverse else tools) for reverse in orders]
        self._messages: list[list[bytes]] = [[] for _ in orders]
        self._add({"role": "system", "content": system})

    def call(self, number: int) -> bytes:
        """The line of the next call, which is number `number` of its file."""
        user, answer, result = self._turn()
        self._add(user)
        order = number % len(self._messages)
        if self._clock:
            now = f"Current time: {_START + timedelta(seconds=7 * number):%A, %d %B %Y, %H:%M:%S}\n"
            self._messages[order][0] = to_json({"role": "system", "content": now + self._system})
        request = {
            "model": b'"gpt-5"',
            "messages": join_list(self._messages[order]),
            "tools": self._tools[order],
            "temperature": b"0.7",
        }
        response = self._response(answer)
        line = record(
            self._prose,
            number,
            join_object(request, reverse=bool(order)),
            to_json(backwards(response) if order else response),
            reverse=bool(order),
        )
        self._add(answer, result)
        return line

    def skip(self) -> None:
        """A turn whose call is not in the file."""
        self._add(*self._turn())

    def _add(self, *messages: Json) -> None:
        for message in messages:
            for reverse, written in enumerate(self._messages):
                written.append(to_json(backwards(message) if reverse else message))

    def _turn(self) -> tuple[Json, Json, Json]:
        prose, size = self._prose, self._size
        if self._talk:
            user, assistant, again = (
                {"role": role, "content": prose.text(size)} for role in ("user", "assistant", "user")
            )
            return user, assistant, again
        id_ = prose.token("call_")
        arguments = json.dumps({"path": prose.text(size // 5), "limit": prose.number(1, 500)}, ensure_ascii=False)
        call = {"id": id_, "type": "function", "function": {"name": "tool_3", "arguments": arguments}}
        return (
            {"role": "user", "content": prose.text(size)},
            {"role": "assistant", "content": prose.text(size * 3 // 4), "tool_calls": [call]},
            {"role": "tool", "tool_call_id": id_, "content": prose.text(size)},
        )

    def _response(self, answer: Json) -> Json:
        asked, answered = 500 * len(self._messages[0]), self._prose.number(100, 900)
        return {
            "id": self._prose.token("chatcmpl-"),
            "model": "gpt-5",
            "choices": [{"index": 0, "message": answer, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered},
        }


class MarkedClaude:
    """A conversation in Anthropic's form; the last two user messages of each call have a cache mark, which so moves."""

    def __init__(self, prose: Prose, tools: list[Json], system: str) -> None:
        self._prose, self._tools = prose, to_json(tools)
        self._system = to_json([{"type": "text", "text": system}])
        self._messages: list[bytes] = []
        self._marked: dict[int, bytes] = {}  # user messages as they are with a mark, by place; the newest two

    def call(self, number: int) -> bytes:
        """The line of the next call, which is number `number` of its file."""
        prose, id_ = self._prose, self._prose.token("toolu_")
        self._add_user({"type": "text", "text": prose.text(2000)})
        arguments = {"path": prose.text(400), "limit": prose.number(1, 500)}
        answer: list[Json] = [
            {"type": "text", "text": prose.text(1500)},
            {"type": "tool_use", "id": id_, "name": "tool_3", "input": arguments},
        ]
        request = {
            "model": b'"claude-sonnet-4-5"',
            "max_tokens": b"8192",
            "system": self._system,
            "messages": join_list([self._marked.get(at, plain) for at, plain in enumerate(self._messages)]),
            "tools": self._tools,
            "temperature": b"0.7",
        }
        line = record(prose, number, join_object(request), to_json(self._response(answer)))
        self._messages.append(to_json({"role": "assistant", "content": answer}))
        self._add_user({"type": "tool_result", "tool_use_id": id_, "content": prose.text(2000)})
        return line

    def _add_user(self, block: Json) -> None:
        if len(self._marked) == 2:
            del self._marked[min(self._marked)]
        self._marked[len(self._messages)] = to_json({"role": "user", "content": [{**block, **_MARK}]})
        self._messages.append(to_json({"role": "user", "content": [block]}))

    def _response(self, answer: list[Json]) -> Json:
        return {
            "id": self._prose.token("msg_"),
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": answer,
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 500 * len(self._messages), "output_tokens": self._prose.number(100, 900)},
        }
