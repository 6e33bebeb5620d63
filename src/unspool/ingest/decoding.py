"""Items and tools → the model, each distinct byte string once."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from unspool.dialect import Wire
from unspool.ingest.memo import Memo
from unspool.model import Block, Message, NoteKind, Other, Text, Tool, ToolResult, ToolUse
from unspool.sources.jsontext import Unreadable, dumps, loads_or_text, strict
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
            known = tuple(tool for part in definitions for tool in self._defined(wire, loads_or_text(part)))
            for tool in [tool for definition in brought for tool in self._defined(wire, definition)]:
                known += () if tool in known else (tool,)
            self._tools[wire.name].put(joined, known)
        return known

    def _defined(self, wire: Wire, definition: Any) -> Iterator[Tool]:
        found = list(wire.tools(definition))
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
        return wire.decode(slot, value)

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


def unknown_kinds(block: Block) -> list[str]:
    if type(block) is ToolResult:
        return [kind for inner in block.content if type(inner) is not Text for kind in unknown_kinds(inner)]
    return [block.kind] if type(block) is Other and not block.known else []
