"""The cooked form: exchanges in, each message and tool once, requests as lists of ids. docs/cooked.md describes it.

A message becomes one row for each thing it says. Thinking, text, documents and results stand alone, in the source's
order; all calls that the client must run are one `tool_use` row behind them. A call that the provider runs itself stays
where it is, with its result behind it. One function does this for requests and answers, so an answer that comes back in
the next request gets the ids it had.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec

from unspool.model import (
    Block,
    Compaction,
    Cooked,
    CookedCall,
    CookedMessage,
    CookedRequest,
    CookedRole,
    CookedTool,
    Document,
    Exchange,
    Message,
    Other,
    Text,
    Thinking,
    Tool,
    ToolResult,
    ToolUse,
    fingerprint,
)
from unspool.sources.jsontext import dumps

_PIECE = 32
_REDACTED = "[redacted thinking]"
_sorted = msgspec.json.Encoder(order="sorted").encode


class _Row(NamedTuple):
    """What makes two cooked messages one: all fields but the id, compared whole, because hashes may collide."""

    role: CookedRole
    content: str
    tool_calls: bytes | None = None
    """As JSON with sorted keys."""
    tool_use_id: str | None = None
    is_error: bool | None = None


_Calls: TypeAlias = tuple[CookedCall, ...] | None


class Cooker:
    """Add exchanges in the order of the file; ids count up in the order of first appearance."""

    def __init__(self) -> None:
        self.messages: list[CookedMessage] = []
        self.tools: list[CookedTool] = []
        self._rows: dict[Message, tuple[str, ...]] = {}
        self._row_ids: dict[_Row, str] = {}
        self._tool_ids: dict[str, str] = {}
        self._tool_lists: dict[int, tuple[tuple[Tool, ...], list[str]]] = {}

    def add(self, exchange: Exchange) -> CookedRequest:
        """The request with the ids of its messages; its own id (see `name_requests`) and its parent are still open."""
        response, failure = exchange.response, exchange.failure
        asked = self._rows_of(exchange.messages)
        answered = self._rows_of(response.messages)
        if failure is not None:
            answered += self._rows_of((Message("assistant", (Text(f"Error: {failure.message}"),), "string"),))
        return CookedRequest(
            id=exchange.id or "",
            parent_id=None,
            timestamp=exchange.timestamp,
            request_messages=asked,
            response_messages=answered,
            model=exchange.model,
            tools=self._tools_of(exchange.tools),
            duration_ms=exchange.duration_ms,
            parent_reason=None,
            retry_of=None,
            format=exchange.wire,
            status=exchange.status,
            stream=response.stream or exchange.settings.get("stream") is True,
            interrupted=response.interrupted,
            stop_reason=response.stop.reason if response.stop else None,
            raw_stop_reason=response.stop.raw if response.stop else None,
            usage=response.usage,
            error=failure and failure.raw,
            response_id=response.id,
            response_model=response.model,
            alternatives=[self._rows_of(said) for said in response.alternatives],
            origin=exchange.origin,
        )

    def _rows_of(self, messages: Iterable[Message]) -> list[str]:
        ids: list[str] = []
        known = self._rows
        for message in messages:
            rows = known.get(message)
            if rows is None:
                rows = known[message] = tuple([self._row_id(row, calls) for row, calls in flatten(message)])
            ids += rows
        return ids

    def _row_id(self, row: _Row, calls: _Calls) -> str:
        found = self._row_ids.get(row)
        if found is None:
            found = self._row_ids[row] = f"m{len(self.messages)}"
            self.messages.append(CookedMessage(found, row.role, row.content, calls, row.tool_use_id, row.is_error))
        return found

    def _tools_of(self, tools: tuple[Tool, ...]) -> list[str]:
        known = self._tool_lists.get(id(tools))
        if known is None:
            known = self._tool_lists[id(tools)] = tools, [self._tool_id(tool) for tool in tools]
        return known[1]

    def _tool_id(self, tool: Tool) -> str:
        key = fingerprint((tool.name, tool.description, tool.parameters, tool.server_side))[:16]
        found = self._tool_ids.get(key)
        if found is None:
            found = self._tool_ids[key] = f"t{len(self.tools)}"
            self.tools.append(CookedTool(found, tool.name, tool.description, tool.parameters, tool.server_side))
        return found


def name_requests(requests: Sequence[CookedRequest]) -> None:
    """Make the ids unique: `r<n>`, by place, where there is none; a suffix where one is repeated."""
    used = {request.id for request in requests}
    newest: dict[str, int] = {}
    for number, request in enumerate(requests):
        name = wanted = request.id or f"r{number}"
        suffix = newest.get(wanted, 0 if request.id or wanted not in used else 1)
        if suffix:
            while (name := f"{wanted}-{suffix + 1}") in used:
                suffix += 1
        newest[wanted] = suffix + 1
        used.add(name)
        request.id = name


def flatten(message: Message) -> Iterable[tuple[_Row, _Calls]]:
    """The rows of one message, in order, with the calls that they make."""
    if len(message.blocks) == 1:  # most messages of all traffic
        block = message.blocks[0]
        if type(block) is Text:
            return ((_Row(message.role, block.text), None),)
        if type(block) is ToolResult:
            return _rows(message.role, block)
    return _flatten(message)


def _flatten(message: Message) -> Iterator[tuple[_Row, _Calls]]:
    calls = tuple([_call(block) for block in message.blocks if isinstance(block, ToolUse) and not block.server_side])
    # OpenAI's text beside calls is one string with them; blocks are each a row.
    beside = message.form == "string" and bool(calls)
    content = ""
    for block in message.blocks:
        if beside and isinstance(block, Text):
            content += block.text
        else:
            yield from _rows(message.role, block)
    if calls:
        yield _Row("tool_use", content, _sorted(calls)), calls
    elif not message.blocks:
        yield _Row(message.role, ""), None


def _rows(role: CookedRole, block: Block) -> Iterator[tuple[_Row, _Calls]]:
    match block:
        case Thinking():
            if block.text or block.redacted:
                yield _Row("thinking", block.text or _REDACTED), None
        case ToolUse(server_side=True):
            calls = (_call(block),)
            yield _Row("tool_use", "", _sorted(calls)), calls
        case ToolUse():
            return
        case ToolResult():
            content = "\n".join(map(as_text, block.content))
            yield _Row("tool_result", content, None, block.call_id, bool(block.is_error)), None
        case _:
            yield _Row(role, as_text(block)), None


def _call(block: ToolUse) -> CookedCall:
    return CookedCall(block.name, {"raw": block.text or ""} if block.arguments is None else block.arguments, block.id)


def as_text(block: Block) -> str:
    """A block in words: documents by a placeholder, what we do not know as JSON."""
    match block:
        case Text() | Thinking():
            return block.text
        case Document():
            return f"[{block.medium}: {block.data}]" if block.source == "url" else f"[{block.medium}]"
        case Compaction():
            # Summaries that nobody but the provider can read are told apart by their hash.
            return block.text or f"[compaction {fingerprint(block.encrypted)[:8]}]"
        case Other():
            return dumps(block.value)
        case ToolUse():
            return dumps(_call(block))
        case ToolResult():
            return "\n".join(map(as_text, block.content))


def encode(cooked: Cooked) -> Iterator[bytes]:
    """One JSON object, in pieces: a line for each message, tool, request and note, so that it can be grepped."""
    lists: dict[str, Sequence[Any]] = {
        "messages": cooked.messages,
        "tools": cooked.tools,
        "requests": cooked.requests,
        "notes": cooked.notes,
    }
    opening = b'{"'
    for name, items in lists.items():
        yield opening + name.encode() + b'": ['
        for at in range(0, len(items), _PIECE):
            yield b",\n" if at else b"\n"
            yield b",\n".join(map(msgspec.json.encode, items[at : at + _PIECE]))
        yield b"\n]" if items else b"]"
        opening = b',\n"'
    yield b',\n"version": %d}\n' % cooked.version
