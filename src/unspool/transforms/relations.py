"""What the paths of a session are to each other.

    main         the path with the most generated tokens
    retry        the same prompt, another answer of the same model
    switch       the same prompt, the answer of another model
    edit         something was said in place of what had been said there: the conversation was taken back
    compaction   a later, much shorter beginning that carries a summary, or the end, of what came before
    subagent     another system prompt or other tools, at work while a call of its parent was open
    side         at most two messages and a short answer: a title, a summary

Paths that share what was first said to the model are one family: its longest is named by how the family began, the
others by where they leave it. A family that is none of these is a conversation of its own: `main`, without a parent.
"""

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from unspool.model import Exchange, ToolUse
from unspool.model.event import MAIN
from unspool.model.model_names import same_model
from unspool.model.record import Relation
from unspool.transforms.normal import alike
from unspool.transforms.tree import Node, Tree, leaves

_SHORT = 300
"""Characters of a side call's answer."""
_QUOTE = 80
"""Characters that nobody repeats by chance."""
_WORDS = 20
"""Characters that are more than a name or a short command."""
_SUMMARY = re.compile(
    r"summar(?:y|i[sz])|continued from a previous|conversation so far|compact(?:ed|ion)|earlier (?:part|portion) of",
    re.IGNORECASE,
)
_AGENTS = re.compile(r"agent|task|delegate|dispatch|spawn|explore", re.IGNORECASE)


class Leaf(Struct, eq=False):
    """One path from the first message to the last, and what it is."""

    nodes: list[Node]
    exchanges: list[int]
    """The calls that generated something on it; where none did, those that asked."""
    weight: int
    """Tokens that were generated on it."""
    relation: Relation = "main"
    parent: "Leaf | None" = None
    call: str | None = None
    """Of a sub-agent: the id of the call that asked for it."""

    @property
    def end(self) -> Node:
        return self.nodes[-1]


class _Family(Struct, eq=False):
    """Paths with the same opening: the first message that is no system prompt."""

    opening: Node
    leaves: list[Leaf]
    system: str
    tools: frozenset[str]
    exchanges: list[int]
    stream: str
    relation: Relation | None = None

    @property
    def trunk(self) -> Leaf:
        return max(self.leaves, key=lambda leaf: (leaf.weight, len(leaf.nodes)))

    def nodes(self) -> Iterator[Node]:
        seen: set[int] = set()
        for leaf in self.leaves:
            for node in leaf.nodes:
                if id(node) not in seen:
                    seen.add(id(node))
                    yield node


def relate(tree: Tree) -> list[Leaf]:
    """All paths, named: the main one first, the others in the order of time. A parent may stand behind its child."""
    families = _families(tree)
    if len(families) > 1:
        _name_families(families, tree)
    for family in families:
        _name_branches(family, tree.exchanges)
    found = [leaf for family in families for leaf in family.leaves]
    mains = [leaf for leaf in found if leaf.relation == "main"]
    main = max(mains, key=lambda leaf: leaf.weight, default=None)
    return sorted(found, key=lambda leaf: (leaf is not main, _beginning(leaf)))


def _beginning(leaf: Leaf) -> tuple[int, int]:
    """When it became a path of its own."""
    shared = _shared(leaf, leaf.parent) if leaf.parent else 0
    return min((node.born for node in leaf.nodes[shared:]), default=0), leaf.end.born


def _shared(one: Leaf, other: Leaf) -> int:
    """With how many messages both begin."""
    size = 0
    for ours, theirs in zip(one.nodes, other.nodes, strict=False):
        if ours is not theirs:
            break
        size += 1
    return size


def _families(tree: Tree) -> list[_Family]:
    found: dict[int, _Family] = {}
    for end in leaves(tree):
        nodes = end.path()
        opening = next((node for node in nodes if node.role != "system"), nodes[-1])
        exchanges = sorted({made.exchange for node in nodes for made in node.generations} or set(end.requests))
        leaf = Leaf(nodes, exchanges, sum(_weight(node, tree.exchanges) for node in nodes))
        family = found.get(id(opening))
        if family is None:
            first = tree.exchanges[opening.born]
            system = "\n".join(node.key.text for node in nodes if node.role == "system")
            tools = frozenset(tool.name for tool in first.tools)
            family = found[id(opening)] = _Family(opening, [], system, tools, [], _fact(first, "stream_id") or MAIN)
        family.leaves.append(leaf)
    for family in found.values():
        family.exchanges = sorted({number for leaf in family.leaves for number in leaf.exchanges})
    return sorted(found.values(), key=lambda family: family.exchanges)


def _fact(exchange: Exchange, name: str) -> str | None:
    """What an agent's log says of a call."""
    value = (exchange.extra or {}).get(name)
    return value if isinstance(value, str) else None


def _weight(node: Node, exchanges: list[Exchange]) -> int:
    """Tokens, as they were counted; four characters are one where they were not."""
    if not node.generations:
        return 0
    made = node.generations[0]
    usage = exchanges[made.exchange].response.usage
    if usage is not None and usage.output and not made.choice:
        return usage.output
    return 1 + (len(node.key.text) + sum(len(call[1]) for call in node.key.calls)) // 4


def _name_families(families: list[_Family], tree: Tree) -> None:
    calls = list(_calls(families, tree))
    by_id: dict[str, list[_Call]] = {}
    for call in calls:
        by_id.setdefault(call.use.id or "", []).append(call)
    long = [family for family in families if not _is_side(family)]
    for at, family in enumerate(families):
        earlier = families[:at]
        if family.stream != MAIN:
            spawned = _fact(tree.exchanges[family.opening.born], "spawned_by")
            told = [call for call in by_id.get(spawned, ()) if call.family is not family] if spawned else []
            _name(family, "subagent", *_caller(family, told or calls, tree, told=True))
        elif (before := _declared(family, families, tree) or _compacted(family, earlier)) is not None:
            _name(family, "compaction", before)
        elif (found := _caller(family, calls, tree, prompted=True))[1] is not None:
            _name(family, "subagent", *found)
        elif _is_side(family) and not any(
            _are_siblings(family, other) for other in (families if family.tools else long) if other is not family
        ):
            _name(family, "side", None)
        elif (found := _caller(family, calls, tree))[0] is not None:
            _name(family, "subagent", *found)
    open_ones = [family for family in families if family.relation is None]
    open_ones = open_ones or [family for family in families if family.relation == "side"] or families
    main = max(open_ones, key=lambda family: family.trunk.weight)
    _name(main, "main", None)
    for family in families:
        if family.relation is None:
            edited = _are_siblings(family, main)
            _name(family, "edit" if edited else "main", main.trunk if edited else None)
        elif family is not main and family.trunk.parent is None and family.relation in ("side", "subagent"):
            family.trunk.parent = main.trunk


def _name(family: _Family, relation: Relation, parent: Leaf | None, call: str | None = None) -> None:
    family.relation = family.trunk.relation = relation
    family.trunk.parent, family.trunk.call = parent, call


def _are_siblings(one: _Family, other: _Family) -> bool:
    """Whether they follow the same system prompt, with the same tools, in the same place."""
    if one.opening.parent is not other.opening.parent or one.tools != other.tools:
        return False
    return bool(one.system or one.tools or not _is_side(one))


def _is_side(family: _Family) -> bool:
    return all(
        leaf.end.generations and _is_brief(leaf.nodes) and not leaf.end.key.calls and len(leaf.end.key.text) <= _SHORT
        for leaf in family.leaves
    )


def _is_brief(nodes: list[Node]) -> bool:
    return len(nodes) <= 3 and sum(len(node.messages) for node in nodes[:-1]) <= 2


def _declared(family: _Family, families: list[_Family], tree: Tree) -> Leaf | None:
    """What an agent's log says that it continues."""
    before = _fact(tree.exchanges[family.opening.born], "compacts")
    if before is None:
        return None
    for other in families:
        for leaf in other.leaves:
            if other is not family and any(tree.exchanges[number].id == before for number in leaf.exchanges):
                return leaf
    return None


def _compacted(family: _Family, earlier: list[_Family]) -> Leaf | None:
    """The newest path before it of which it carries the summary or the end."""
    first = [node for node in family.trunk.nodes if node.born == family.opening.born and not node.generations]
    said = [node for node in first if node.role != "system"]
    text = "\n".join(node.key.text for node in said[:4])
    kept = {node.key for node in said if node.role == "assistant" and _is_telling(node)}
    sums_up = bool(_SUMMARY.search(text))
    for other in sorted(earlier, key=lambda family: family.exchanges[-1], reverse=True):
        trunk = max(other.leaves, key=lambda leaf: leaf.exchanges[-1])
        if other.relation in ("side", "subagent") or 2 * len(said) > len(trunk.nodes):
            continue
        if trunk.exchanges[-1] >= family.exchanges[0] or not alike(family.system, other.system):
            continue
        if kept and not kept.isdisjoint(node.key for node in trunk.nodes):
            return trunk
        if len(trunk.nodes) > 3 and (sums_up or any(_is_in(node, text) for node in trunk.nodes if node.generations)):
            return trunk
    return None


def _is_in(node: Node, text: str) -> bool:
    return len(node.key.text) >= _QUOTE and node.key.text in text


def _is_telling(node: Node) -> bool:
    return bool(node.key.calls) or len(node.key.text) >= _QUOTE


class _Call(Struct, eq=False):
    """A call that the model made, and from which exchange to which it was open."""

    family: _Family
    node: Node
    use: ToolUse
    begin: int
    end: int


def _calls(families: list[_Family], tree: Tree) -> Iterator[_Call]:
    for family in families:
        for node in family.nodes():
            if node.generations and node.key.calls:
                end = min((child.born for child in node.children.values()), default=len(tree.exchanges))
                for block in (block for message in node.messages for block in message.blocks):
                    if isinstance(block, ToolUse):
                        yield _Call(family, node, block, node.generations[0].exchange, end)


def _caller(
    family: _Family, calls: list[_Call], tree: Tree, prompted: bool = False, told: bool = False
) -> tuple[Leaf | None, str | None]:
    """The path and the call that were open while the family was at work.

    Its prompt in the call's arguments is proof enough (`prompted`: nothing else is). Else it must be of another kind
    than its caller, unless the log says that it is a sub-agent (`told`).
    """
    spawned = _fact(tree.exchanges[family.opening.born], "spawned_by")
    best: tuple[tuple[Any, ...], _Call] | None = None
    for call in calls:
        is_open = call.begin < family.exchanges[0] and family.exchanges[-1] < call.end
        if call.family is family or not (told or is_open):
            continue
        given = call.use.id == spawned if spawned else _is_given(family, call.use)
        if given or (is_open and not prompted and (told or _differ(family, call.family))):
            rank = given, is_open, bool(_AGENTS.search(call.use.name)), call.begin
            if best is None or rank > best[0]:
                best = rank, call
    if best is None:
        return None, None
    call = best[1]
    return next(leaf for leaf in call.family.leaves if call.node in leaf.nodes), call.use.id


def _differ(one: _Family, other: _Family) -> bool:
    return one.tools != other.tools or not alike(one.system, other.system)


def _is_given(family: _Family, call: ToolUse) -> bool:
    """Whether the prompt stands in the call's arguments; of a tool that starts no agents, more than a few words of it.

    A side call may quote a command, to name it or to judge it.
    """
    least = _WORDS if not _AGENTS.search(call.name) else 1
    if least > 1 and _is_side(family):
        return False
    prompt = family.opening.key.text
    given = [text.strip() for text in (call.arguments or {}).values() if isinstance(text, str)]
    return any(len(text) >= least and text in prompt for text in given)


def _name_branches(family: _Family, exchanges: list[Exchange]) -> None:
    """The paths that leave the trunk, or each other."""
    trunk = family.trunk
    held = {id(node): trunk for node in trunk.nodes}  # by the first path that goes over it
    for leaf in sorted(family.leaves, key=lambda leaf: leaf.end.born):
        if leaf is trunk:
            continue
        shared = next(at for at, node in enumerate(leaf.nodes) if id(node) not in held)
        parent = held[id(leaf.nodes[shared - 1])]
        mine, theirs = leaf.nodes[shared], parent.nodes[shared] if shared < len(parent.nodes) else None
        leaf.parent, leaf.relation = parent, _parting(mine, theirs, exchanges)
        held |= dict.fromkeys(map(id, leaf.nodes[shared:]), leaf)


def _parting(node: Node, other: Node | None, exchanges: list[Exchange]) -> Relation:
    """Name a path by the message with which it leaves another, and by the message that the other has there."""
    if other is None or not node.generations or not other.generations:
        return "edit"
    models, others = (
        {exchanges[generation.exchange].model for generation in answer.generations} for answer in (node, other)
    )
    return "retry" if any(same_model(model, tried) for model in models for tried in others) else "switch"
