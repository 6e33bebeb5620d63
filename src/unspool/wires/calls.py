"""Calls and their results, as every provider wants them: each call has an id, and its result right behind it."""

import re
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from unspool.dialect import Asking
from unspool.model import Block, Document, Other, Text, ToolResult, ToolUse
from unspool.sources.jsontext import dumps
from unspool.sources.values import placeholder

UNANSWERED = "There is no result: the call was not carried out, or was cut off."


class Entry(Struct):
    """One message that is to be sent. Its blocks are neutral, or the provider's own."""

    role: str
    blocks: list[Block]
    where: str
    """The turn or the message that it came from, for people."""
    marked: bool = False
    """A cache mark belongs on its last block."""


def answered(entries: list[Entry], asking: Asking) -> list[Entry]:
    """Results are moved to their calls; a call without one gets one that says so, a result without its call is told."""
    calls = _Calls(asking)
    for number, entry in enumerate(entries):
        entry.blocks = [kept for block in entry.blocks if (kept := calls.take(block, entry, number)) is not None]
    settled: list[Entry] = []
    for number, entry in enumerate(entries):
        if entry.blocks:
            settled.append(entry)
        if made := calls.made.get(number):
            where = next((call.held.where for call in made if call.held), entry.where)
            marked = any(call.held is not None and call.held.marked and not call.held.blocks for call in made)
            settled.append(Entry("user", [call.answer() for call in made], where, marked))
    return settled


def tell_abandoned(entries: list[Entry], asking: Asking) -> None:
    """What Anthropic began to run itself it takes back without a result only while it can still go on with it."""
    blocks = [block for entry in entries for block in entry.blocks]
    given = {block.call_id for block in blocks if isinstance(block, ToolResult) and block.server_side}
    goes_on = True
    for entry in reversed(entries):
        if entry.role == "assistant":
            for number, block in enumerate(entry.blocks):
                if isinstance(block, ToolUse) and block.server_side and not goes_on and block.id not in given:
                    asking.warnings.append(f"{entry.where}: a call that nothing came of is sent as text")
                    entry.blocks[number] = Text(in_words(block))
        if entry.role != "system" and not all(isinstance(block, ToolResult) for block in entry.blocks):
            goes_on = False


def fit_name(name: str, asking: Asking) -> str:
    """The name of a tool as the provider takes it; different names stay different."""
    if re.fullmatch(asking.abilities.tool_names, name):
        return name
    plain = re.sub(r"[^a-zA-Z0-9_-]", "_", name)
    plain = plain if plain[:1].isalpha() else f"t_{plain}"  # some want a letter first
    return f"{plain[:50]}_{sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"


class _Call(Struct):
    given: str | None
    """The id that it came with, and the one that it is sent with."""
    id: str | None
    name: str
    result: ToolResult | None = None
    held: Entry | None = None
    """What held the result."""

    def answer(self) -> ToolResult:
        if self.result is None:
            return ToolResult(self.id, (Text(UNANSWERED),), is_error=True, name=self.name)
        return replace(self.result, call_id=self.id, name=self.name)


class _Calls:
    def __init__(self, asking: Asking) -> None:
        self.made: dict[int, list[_Call]] = {}
        """By the number of the entry that made them."""
        self._asking = asking
        self._ids: set[str] = set()

    def take(self, block: Block, entry: Entry, number: int) -> Block | None:
        """The block as it stays where it is; None where it is a result, which goes to its call."""
        match block:
            case ToolUse(server_side=False) if entry.role != "assistant":
                self._asking.warnings.append(f"{entry.where}: a call that no model made is sent as text")
                return Text(in_words(block))
            case ToolUse(server_side=False):
                call = _Call(block.id, self._fresh(block.id), fit_name(block.name, self._asking))
                self.made.setdefault(number, []).append(call)
                return replace(block, id=call.id, name=call.name)
            case ToolResult(server_side=False):
                found = self._call_of(block)
                if found is None:
                    self._asking.warnings.append(f"{entry.where}: a result without its call is sent as text")
                    return Text(in_words(block))
                found.result, found.held = block, entry
                return None
        return block

    def _fresh(self, given: str | None) -> str | None:
        abilities = self._asking.abilities
        if given is None and abilities.nameless_calls:
            return None
        wanted = given or f"call_{len(self._ids) + 1}"
        if not re.fullmatch(abilities.call_ids, wanted):
            wanted = f"call_{sha256(wanted.encode('utf-8', 'replace')).hexdigest()[:24]}"
        fresh, again = wanted, 1
        while fresh in self._ids:
            again += 1
            fresh = f"{wanted[:30]}_{again}"
        self._ids.add(fresh)
        return fresh

    def _call_of(self, result: ToolResult) -> _Call | None:
        """By its id; without one by its name, or else the first that waits."""
        for made in reversed(self.made.values()):
            waiting = [call for call in made if call.result is None]
            if result.call_id is not None:
                waiting = [call for call in waiting if call.given == result.call_id]
            elif result.name is not None:
                waiting = [call for call in waiting if call.name == fit_name(result.name, self._asking)]
            if waiting:
                return waiting[0]
        return None


def written_arguments(block: ToolUse) -> str:
    """As the model wrote them; but free text and nothing at all become JSON, which many hosts insist on."""
    if block.arguments is None:
        return dumps({"input": block.text})
    return block.text if block.text and not block.text.isspace() else dumps(block.arguments)


def in_words(block: Block) -> str:
    """A block as text, for a provider that does not take it."""
    match block:
        case ToolUse():
            return f"[called {block.name}: {block.text or dumps(block.arguments)}]"
        case ToolResult():
            return f"[{block.name or 'tool'} gave: {' '.join(map(in_words, block.content))}]"
        case Document(source="text"):
            return f"{block.name}:\n{block.data}" if block.name else block.data
        case Document():
            name = f"{block.name}: " if block.name else ""
            return name + placeholder(block.medium, block.media_type, block.data if block.source == "base64" else None)
        case Other():
            return dumps(block.value)
    return block.text
