"""Items and tools → the model, each distinct byte string once."""

from collections.abc import Iterable
from typing import Any

from msgspec import Raw

from unspool.dialect import Wire
from unspool.ingest.memo import Memo
from unspool.ingest.pairing import lacks_ids
from unspool.model import Block, Message, Other, Tool, ToolResult
from unspool.sources.jsontext import Unreadable, loads, strict


class Decoding:
    """Decoders that remember. `faults` collects what the newest decodings could not understand."""

    def __init__(self) -> None:
        self._messages: Memo[Message] = Memo()
        self._tools: Memo[tuple[Tool, ...]] = Memo()
        self.unnamed: set[str] = set()
        """Ids of the messages with calls or results that lack an id."""
        self.faults: list[tuple[str, str]] = []

    def message(self, wire: Wire, slot: str, item: Any) -> Message:
        """One item: bytes of the line, or a value that was small enough to be decoded with it."""
        if not isinstance(item, Raw):
            return self.check(wire.decode(slot, item))
        where, data = f"{wire.name} {slot}", bytes(item)
        known = self._messages.get(where, data)
        if known is None:
            known = self.check(self._decoded(wire, slot, data))
            self._messages.put(where, data, known)
        return known

    def tools(self, wire: Wire, definitions: Iterable[Raw]) -> tuple[Tool, ...]:
        """The whole array at once: it is the same in nearly every call."""
        parts = [bytes(raw) for raw in definitions]
        data = b"\n".join(parts)
        known = self._tools.get(wire.name, data)
        if known is None:
            known = tuple(tool for part in parts for tool in wire.tools(_value(part)))
            self._tools.put(wire.name, data, known)
        return known

    def _decoded(self, wire: Wire, slot: str, data: bytes) -> Message:
        try:
            return wire.decode(slot, strict(data))
        except Unreadable:
            value = _value(data)
            self.faults.append(("repaired", f"an element of `{slot}` has faults in its text"))
            return wire.decode(slot, value)

    def check(self, decoded: Message) -> Message:
        if lacks_ids(decoded):
            self.unnamed.add(decoded.id)
        for kind in unknown_kinds(decoded.blocks):
            self.faults.append(("unknown", f"a block of the unknown kind {kind!r}, kept as it is"))
        return decoded


def unknown_kinds(blocks: Iterable[Block]) -> list[str]:
    kinds: list[str] = []
    for block in blocks:
        match block:
            case Other(known=False):
                kinds.append(block.kind)
            case ToolResult():
                kinds += unknown_kinds(block.content)
    return kinds


def _value(data: bytes) -> Any:
    try:
        return loads(data)
    except Unreadable:
        return data.decode("utf-8", "replace")
