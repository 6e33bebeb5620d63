"""A session's tree → its training records: each leaf one, nothing generated lost, nothing trained on twice."""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from unspool.graph.linking import is_real
from unspool.ingest.conversations import Conversation
from unspool.model import Exchange, Message, Tool, ToolUse, fingerprint
from unspool.model.record import TrainingRecord, TrainingTurn
from unspool.model.session import Tokens
from unspool.transforms.relations import Leaf, relate
from unspool.transforms.tree import Node, grow
from unspool.wires.openai_chat import wire as chat
from unspool.wires.openai_chat.encode import encode, encode_tool


class Pair(Struct):
    """Two answers to one prompt: the one with which the conversation went on, and one that was discarded."""

    prompt: list[dict[str, Any]]
    chosen: list[dict[str, Any]]
    rejected: list[dict[str, Any]]
    tools: list[dict[str, Any]] = []


def records(
    conversation: Conversation, only_last_tools: bool = False, changed: set[str] | None = None
) -> list[TrainingRecord]:
    """The main path first. A generated message is trained on in the first record that holds it.

    `changed` is told the names of tools that were defined anew on a path.
    """
    tree = grow(conversation.exchanges)
    found = relate(tree)
    ids = {id(leaf): _name(conversation, leaf) for leaf in found}
    writer = _Writer(tree.exchanges, only_last_tools)
    made = [
        TrainingRecord(
            turns=writer.turns(leaf),
            tools=writer.tools(leaf),
            session=conversation.session,
            source=conversation.source,
            date=conversation.date,
            scenario=conversation.scenario,
            agent=conversation.agent,
            model=next((model for number in leaf.exchanges if (model := tree.exchanges[number].model)), None),
            relation=leaf.relation,
            id=ids[id(leaf)],
            parent=None if leaf.parent is None else ids[id(leaf.parent)],
            call=leaf.call,
        )
        for leaf in found
    ]
    if changed is not None:
        changed |= writer.changed
    tree.fell()
    return made


def _name(conversation: Conversation, leaf: Leaf) -> str:
    """By the call that ended it: the name stays while the session grows elsewhere."""
    end = leaf.end
    made = (end.generations[0].exchange, end.generations[0].choice) if end.generations else (end.requests[0], -1)
    return fingerprint([conversation.source, conversation.session, *made])[:16]


def define(known: dict[str, dict[str, Any]], tools: Iterable[tuple[Tool, dict[str, Any]]]) -> set[str]:
    """Add those of a call, each once, the first of its name; the names of those that are known in another form."""
    changed: set[str] = set()
    for tool, written in tools:
        first = known.setdefault(tool.name or repr(written), written)
        if first is not written and first != written:
            changed.add(tool.name)
    return changed


class _Writer:
    """Writes each node once, however many records hold it."""

    def __init__(self, exchanges: list[Exchange], only_last_tools: bool) -> None:
        self._exchanges = exchanges
        self._only_last_tools = only_last_tools
        self.changed: set[str] = set()
        """Names of tools that were defined anew in another way."""
        self._written: dict[int, list[dict[str, Any]]] = {}
        self._tools: dict[int, list[dict[str, Any]]] = {}
        self._trained: set[int] = set()

    def turns(self, leaf: Leaf) -> list[TrainingTurn]:
        turns: list[TrainingTurn] = []
        renamed: dict[str, str] = {}
        names: dict[str, str] = {}
        for node in leaf.nodes:
            foreign = node.wire != chat.name
            real = _real_ids(node)
            written = self._written.get(id(node))
            if written is None:
                written = self._written[id(node)] = [_called(message, real) for message in _written(node, foreign)]
            if foreign and node.key.calls:
                names |= {real.get(call, call): name for call, name in _names(node.messages).items()}
            if node.key.results and (renamed or names):
                written = [_renamed(message, renamed, names) for message in written]
            renamed |= real
            renamed |= {theirs: real.get(ours, ours) for theirs, ours in node.renamed.items()}
            turns += self._marked(node, written)
        return turns

    def _marked(self, node: Node, written: list[dict[str, Any]]) -> Iterator[TrainingTurn]:
        if not node.generations:
            yield from map(TrainingTurn, written)
            return
        train = id(node) not in self._trained
        self._trained.add(id(node))
        made = node.generations[0]
        exchange = self._exchanges[made.exchange]
        response = exchange.response
        tokens = Tokens.of(response.usage) if response.usage and not made.choice else None
        for message in written:
            if message["role"] != "assistant":  # what a tool of the provider's gave
                yield TrainingTurn(message)
                continue
            yield TrainingTurn(
                message,
                train=train,
                generated=True,
                model=response.model or exchange.model,
                time=exchange.timestamp,
                tokens=tokens,
                stop=response.stop.reason if response.stop and not made.choice else None,
            )
            tokens = None  # of one call, however many messages it gave

    def tools(self, leaf: Leaf) -> list[dict[str, Any]]:
        """The tools of the calls on the path, by name, and the first definition wins; or those of the last call."""
        found: dict[str, dict[str, Any]] = {}
        last: tuple[Tool, ...] = ()
        for number in leaf.exchanges[-1:] if self._only_last_tools else leaf.exchanges:
            exchange = self._exchanges[number]
            if exchange.tools is last:
                continue
            last = exchange.tools
            self.changed |= define(found, zip(last, self._definitions(exchange), strict=True))
        return list(found.values())

    def _definitions(self, exchange: Exchange) -> list[dict[str, Any]]:
        known = self._tools.get(id(exchange.tools))
        if known is None:
            foreign = exchange.wire != chat.name
            known = self._tools[id(exchange.tools)] = [encode_tool(tool, foreign) for tool in exchange.tools]
        return known


def _written(node: Node, foreign: bool) -> Iterator[dict[str, Any]]:
    messages: Iterable[Message] = node.messages
    if foreign and len(node.messages) > 1:  # an item each, in some APIs: to trainers they are one answer
        messages = [Message(node.messages[0].role, tuple(block for each in node.messages for block in each.blocks))]
    for message in messages:
        for written in encode(message, foreign):
            if written["role"] == "developer":
                written["role"] = "system"
            yield written


def _real_ids(node: Node) -> dict[str, str]:
    """Calls that the provider gave no ids, only we did → the ids that the client gave them.

    Ours count from the first call of a request that has none. Where clients give some, answers would share `call_0`.
    """
    real: dict[str, str] = {}
    for theirs, ours in node.renamed.items():
        if is_real(theirs) and not is_real(ours):
            real.setdefault(ours, theirs)
    return real


def _called(message: dict[str, Any], real: dict[str, str]) -> dict[str, Any]:
    if not real or not message.get("tool_calls"):
        return message
    calls = [{**call, "id": real[call["id"]]} if call.get("id") in real else call for call in message["tool_calls"]]
    return {**message, "tool_calls": calls}


def _names(messages: Iterable[Message]) -> dict[str, str]:
    calls = (block for message in messages for block in message.blocks if isinstance(block, ToolUse))
    return {call.id: call.name for call in calls if call.id is not None}


def _renamed(message: dict[str, Any], renamed: dict[str, str], names: dict[str, str]) -> dict[str, Any]:
    """A result with the id that its call has in this record, and the name of the tool where nobody says it."""
    called = message.get("tool_call_id")
    if called is None:
        return message
    called = renamed.get(called, called)
    named = {"name": names[called]} if called in names and "name" not in message else {}
    return {**message, "tool_call_id": called, **named}


def pairs(records: Iterable[TrainingRecord]) -> Iterator[Pair]:
    """Of each prompt that was answered more than once: the answer that was continued, against each of the others.

    Where none was continued, or several were, nobody said which is better.
    """
    known = list(records)
    named = {record.id: record for record in known}
    groups: dict[tuple[str, int], list[TrainingRecord]] = {}
    for record in known:
        parent = named.get(record.parent or "")
        if record.relation == "retry" and parent is not None:
            groups.setdefault((parent.id, _parting(record, parent)), [parent]).append(record)
    for (_, at), group in groups.items():
        ends = [_answered(record, at) for record in group]
        continued = [place for place, end in enumerate(ends) if end < len(group[place].turns)]
        if len(continued) != 1:
            continue
        (best,) = continued
        for place, record in enumerate(group):
            if place != best:
                yield Pair(
                    record.messages[:at], group[best].messages[at : ends[best]], record.messages[at:], record.tools
                )


def _parting(one: TrainingRecord, other: TrainingRecord) -> int:
    pairs = zip(one.messages, other.messages, strict=False)
    return next((at for at, (ours, theirs) in enumerate(pairs) if ours is not theirs and ours != theirs), 0)


def _answered(record: TrainingRecord, at: int) -> int:
    """The place behind the answer that begins there."""
    while at < len(record.turns) and record.turns[at].generated:
        at += 1
    return at
