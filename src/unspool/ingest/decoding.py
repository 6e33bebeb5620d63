"""Items and tools → the model, each distinct byte string once."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from unspool.dialect import Wire
from unspool.ingest.memo import Memo
from unspool.model import Block, Message, NoteKind, Other, Text, Tool, ToolResult, ToolUse
from unspool.sources.jsontext import Unreadable, dumps, loads_or_text, strict
from unspool.wires import WIRES, rivals
from unspool.wires.values import offered

_ABOUT = frozenset(
    "role name id type status phase annotations citations reasoning_details thinking_blocks form execution namespace "
    "tool_name created_by cache_control".split()
)
"""What a message or a result may say of itself, or hold that is not to be read."""


class Decoding:
    """Decoders that remember. `faults` collects what the newest decodings could not understand."""

    def __init__(self) -> None:
        self._messages: dict[tuple[str, str], Memo[Message]] = defaultdict(Memo)
        self._tools: dict[str, Memo[tuple[Tool, ...]]] = defaultdict(Memo)
        self.unnamed: set[Message] = set()
        """The messages with calls or results that lack an id."""
        self.offering: dict[Message, list[Any]] = {}
        """The messages that bring definitions of tools."""
        self.decoded = 0
        """How many items were new."""
        self.faults: list[tuple[NoteKind, str]] = []
        self._foreign: dict[Message, str] = {}
        """Messages that were read with another wire than the rest of their request, and its name."""
        self._foreign_tools: dict[int, tuple[tuple[Tool, ...], str]] = {}
        """The same of lists of tools, by their `id`."""

    @property
    def mixed(self) -> bool:
        """Whether anything was read with another wire than the rest of its request."""
        return bool(self._foreign or self._foreign_tools)

    def foreign(self, messages: Iterable[Message], tools: tuple[Tool, ...]) -> set[str]:
        """Return the names of the wires that parts of a request were read with, apart from its own."""
        names = {self._foreign[message] for message in messages if message in self._foreign}
        if id(tools) in self._foreign_tools:
            names.add(self._foreign_tools[id(tools)][1])
        return names

    def forget(self, messages: Iterable[Message]) -> None:
        """Forget by which wire messages were read that are not remembered either."""
        for message in messages if self._foreign else ():
            self._foreign.pop(message, None)

    def calls_in(self, messages: Iterable[Message]) -> bool:
        """Return whether messages that were read with the wire of their request hold calls or results."""
        own = (message for message in messages if message not in self._foreign)
        return any(type(block) in (ToolUse, ToolResult) for message in own for block in message.blocks)

    def messages(self, wire: Wire, slot: str, items: Iterable[bytes]) -> list[Message]:
        memo = self._messages[wire.name, slot]
        young, decoded = memo.young, []
        for data in items:
            known = young.get(data)
            if known is None:
                known = memo.get(data)
                if known is None:
                    known = self.check(self._decoded(wire, slot, data))
                    memo.put(data, known)
                    self.decoded += 1
                young = memo.young
            decoded.append(known)
        return decoded

    def tools(
        self, wire: Wire, definitions: Iterable[bytes], joined: bytes, messages: Sequence[Message]
    ) -> tuple[Tool, ...]:
        """The whole array at once, known by its bytes: it is the same in nearly every call. And what messages bring."""
        brought = [tool for each in messages for tool in self.offering.get(each, ())] if self.offering else []
        if brought:
            joined += b"\nbrought " + dumps(brought).encode()
        known = self._tools[wire.name].get(joined)
        if known is None:
            values = list(map(loads_or_text, definitions))
            known = tuple(tool for value in values for tool in self._defined(wire, value))
            owner = _owner(wire, wire.items, values[0]) if values else wire
            if owner is not wire:
                self._foreign_tools[id(known)] = known, owner.name
            for tool in [tool for definition in brought for tool in self._defined(wire, definition)]:
                known += () if tool in known else (tool,)
            self._tools[wire.name].put(joined, known)
        return known

    def _defined(self, wire: Wire, definition: Any) -> Iterator[Tool]:
        found = list(_owner(wire, wire.items, definition).tools(definition))
        if not found:
            self.faults.append(("odd", f"a tool definition in a shape that no API has: {dumps(definition)[:60]}"))
            found = [Tool(definition if isinstance(definition, str) else "", extra={"definition": definition})]
        yield from found

    def _decoded(self, wire: Wire, slot: str, data: bytes) -> Message:
        try:
            value = strict(data)
        except Unreadable:
            value = loads_or_text(data)
            self.faults.append(("repaired", f"an element of `{slot}` has faults in its text"))
        return self.decode(wire, slot, value)

    def decode(self, wire: Wire, slot: str, value: Any) -> Message:
        """Read an item with the wire of its request, or with the only one that has such items."""
        if type(value) is dict and len(value) == 2 and type(value.get("content")) is str:
            return wire.decode(slot, value)  # a role and a text: most messages
        owner = _owner(wire, slot, value)
        message = owner.decode(slot, value)
        if owner is not wire:
            self._foreign[message] = owner.name
        return message

    def check(self, decoded: Message) -> Message:
        """Note what the message leaves open: calls without ids, blocks of unknown kinds, and what nobody reads."""
        if not decoded.blocks and decoded.extra:
            self._look("a message", decoded.extra)
        for block in decoded.blocks:
            if type(block) is Text:
                continue
            if type(block) is ToolUse:
                if block.id is None:
                    self.unnamed.add(decoded)
                continue
            if type(block) is ToolResult:
                if block.call_id is None:
                    self.unnamed.add(decoded)
                if len(block.content) == 1 and type(block.content[0]) is Text:
                    continue
                if not block.content and block.extra:
                    self._look("a result", block.extra)
            if tools := offered(block):
                self.offering[decoded] = [*self.offering.get(decoded, ()), *tools]
            for kind in unknown_kinds(block):
                self.faults.append(("unknown", f"a block of the unknown kind {kind!r}, kept as it is"))
        return decoded

    def _look(self, what: str, kept: dict[str, Any]) -> None:
        """Whether what says nothing holds texts or lists all the same."""
        unread = [key for key, value in kept.items() if key not in _ABOUT and isinstance(value, str | list) and value]
        if unread:
            self.faults.append(("odd", f"{what} of which nothing was read: it has {', '.join(unread)}"[:120]))


def _owner(wire: Wire, slot: str, value: Any) -> Wire:
    """Return the wire itself, unless only another one has items or tools of such a form."""
    others = _rivals(wire.name, slot)
    if not others or wire.owns(value):
        return wire
    return next((other for other in others if other.owns(value)), wire)


@cache
def _rivals(name: str, slot: str) -> tuple[Wire, ...]:
    return rivals(WIRES[name], slot)


def unknown_kinds(block: Block) -> list[str]:
    if type(block) is ToolResult:
        return [kind for inner in block.content if type(inner) is not Text for kind in unknown_kinds(inner)]
    return [block.kind] if type(block) is Other and not block.known else []
