"""The cooked form: exchanges in, each message and tool once, requests as lists of ids. docs/cooked.md describes it.

A message becomes one row for each thing it says. Thinking, text, documents and results stand alone, in the source's
order; all calls that the client must run are one `tool_use` row behind them. A call that the provider runs itself stays
where it is, with its result behind it. One function does this for requests and answers, so an answer that comes back in
the next request gets the ids it had.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

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
    Note,
    Other,
    Text,
    Thinking,
    Tool,
    ToolResult,
    ToolUse,
    fingerprint,
)
from unspool.sources.files import legible
from unspool.sources.jsontext import dumps

_PIECE = 32
_LONG = 256
"""Characters of a text that is not hashed as long as its length and its ends tell it apart: that takes a while."""
_END = 32
_REDACTED = "[redacted thinking]"
_sorted = msgspec.json.Encoder(order="sorted").encode


_Calls: TypeAlias = tuple[CookedCall, ...] | None
_Row: TypeAlias = tuple[CookedRole, str, _Calls, str | None, bool | None]
"""All fields of a cooked message but the id."""


class Cooker:
    """Add exchanges in the order of the file; ids count up in the order of first appearance."""

    def __init__(self) -> None:
        self.messages: list[CookedMessage] = []
        self.tools: list[CookedTool] = []
        self._rows: dict[Message, tuple[str, ...]] = {}
        self._row_ids: dict[_Row | tuple[str, bytes], str] = {}
        self._by_ends: dict[_Row, CookedMessage] = {}
        """The first long text with such a length and such ends; the others are in `_row_ids`."""
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
            cache_miss=response.cache_miss,
            cost_usd=response.cost_usd,
        )

    def _rows_of(self, messages: Iterable[Message]) -> list[str]:
        ids: list[str] = []
        known = self._rows
        for message in messages:
            rows = known.get(message)
            if rows is None:
                rows = known[message] = tuple(map(self._row_id, flatten(message)))
            ids += rows
        return ids

    def _row_id(self, row: _Row) -> str:
        """Rows are compared whole, because hashes may collide; their calls as JSON with sorted keys."""
        role, content, calls, answered, failed = row
        size = len(content)
        if size > _LONG and calls is None:
            ends = role, f"{size} {content[:_END]}{content[-_END:]}", None, answered, failed
            first = self._by_ends.get(ends)
            if first is None:
                first = self._by_ends[ends] = self._new(row)
            if first.content == content:
                return first.id
        key = row if calls is None else (content, _sorted(calls))
        found = self._row_ids.get(key)
        if found is None:
            found = self._row_ids[key] = self._new(row).id
        return found

    def _new(self, row: _Row) -> CookedMessage:
        message = CookedMessage(f"m{len(self.messages)}", *row)
        self.messages.append(message)
        return message

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


def flatten(message: Message) -> Iterable[_Row]:
    """The rows of one message, in order."""
    if len(message.blocks) == 1:  # most messages of all traffic
        block = message.blocks[0]
        if type(block) is Text:
            return ((message.role, block.text, None, None, None),)
        if type(block) is ToolResult:
            return (_result(block),)
        if type(block) is ToolUse:
            return (("tool_use", "", (_call(block),), None, None),)
    return _flatten(message)


def _flatten(message: Message) -> list[_Row]:
    calls = tuple([_call(block) for block in message.blocks if type(block) is ToolUse and not block.server_side])
    # OpenAI's text beside calls is one string with them; blocks are each a row.
    beside = message.form == "string" and bool(calls)
    content = ""
    rows: list[_Row] = []
    for block in message.blocks:
        if beside and type(block) is Text:
            content += block.text
        elif type(block) is not ToolUse or block.server_side:
            rows += _rows(message.role, block)
    if calls:
        rows.append(("tool_use", content, calls, None, None))
    elif not message.blocks:
        rows.append((message.role, "", None, None, None))
    return rows


def documents(message: Message) -> list[list[Document]]:
    """Of each row of a message, the documents that stand in it as placeholders."""
    calls = any(type(block) is ToolUse and not block.server_side for block in message.blocks)
    beside = message.form == "string" and calls
    found = [
        _documents(block)
        for block in message.blocks
        if not (type(block) is ToolUse and not block.server_side)
        and not (beside and type(block) is Text)
        and (type(block) is not Thinking or block.text or block.redacted)
    ]
    return [*found, []] if calls or not message.blocks else found


def _documents(block: Block) -> list[Document]:
    if isinstance(block, ToolResult):
        return [document for inner in block.content for document in _documents(inner)]
    return [block] if isinstance(block, Document) else []


def _rows(role: CookedRole, block: Block) -> Iterator[_Row]:
    match block:
        case Thinking():
            if block.text or block.redacted:
                yield "thinking", block.text or _REDACTED, None, None, None
        case ToolUse():
            yield "tool_use", "", (_call(block),), None, None
        case ToolResult():
            yield _result(block)
        case _:
            yield role, as_text(block), None, None, None


def _result(block: ToolResult) -> _Row:
    content = block.content
    only = content[0] if len(content) == 1 else None
    text = only.text if type(only) is Text else "\n".join(map(as_text, content))
    return "tool_result", text, None, block.call_id, bool(block.is_error)


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
            yield b",\n".join(map(_encoded, items[at : at + _PIECE]))
        yield b"\n]" if items else b"]"
        opening = b',\n"'
    yield b',\n"version": %d}\n' % cooked.version


def encode_notes(notes: Iterable[Note]) -> Iterator[bytes]:
    """A line each."""
    return (_encoded(note) + b"\n" for note in notes)


def _encoded(item: Any) -> bytes:
    """Of a request or a note the name of its file too, as text."""
    try:
        return msgspec.json.encode(item)
    except UnicodeEncodeError:
        return msgspec.json.encode(replace(item, origin=replace(item.origin, file=legible(item.origin.file))))
