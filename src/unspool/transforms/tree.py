"""The calls of one session → the tree of what was said in it.

A node is one message; a run of assistant messages counts as one, because clients split and join them. Two messages are
one node if they stand behind the same node and have the same normal form (`normal`): role, text, calls with their
arguments, results by the place of their call. Ids, thoughts, cache marks and empty things are no part of it, but are
kept: of the copies of an answer the one that the model gave is richest, and wins.

    call 1   system ─ user ─ ANSWER
    call 2   system ─ user ─ answer ─ user ─ ANSWER         one path, both answers marked with their calls
    call 3   system ─ user ─ ANSWER′                        a second leaf: a retry

Requests grow, so each is compared with the ones just before it, object by object, and only its tail is looked up.

Some clients rewrite what was said: a clock in the system prompt, an old result cut short. A request that differs from
an earlier one in few old messages, and goes on where that one ended, stays on its path.
"""

from collections.abc import Sequence

from msgspec import Struct

from unspool.model import Exchange, Message, ToolUse
from unspool.transforms.normal import Normal, alike, joined, normal

_RECENT = 8
"""Requests that a new one is compared with: sub-agents run side by side."""
_REWRITTEN = 4
"""Old messages that may differ on one path."""
_TELLING = 40
"""Characters that two conversations hardly share by chance."""


class Generation(Struct, frozen=True, gc=False):
    """The model gave this answer."""

    exchange: int
    choice: int = 0
    """From 1 for further answers to the same request."""


class Node:
    """One message on a path, or a run of the assistant's."""

    __slots__ = (
        "born",
        "children",
        "generations",
        "key",
        "messages",
        "parent",
        "renamed",
        "requests",
        "rewritten",
        "wire",
    )

    def __init__(self, parent: "Node | None", key: Normal, messages: tuple[Message, ...], wire: str, born: int) -> None:
        self.parent = parent
        self.key = key
        self.messages = messages
        self.wire = wire
        """That the messages were read with."""
        self.born = born
        """The exchange that said it first."""
        self.children: dict[Normal, Node] = {}
        self.generations: list[Generation] = []
        self.requests: list[int] = []
        """The exchanges whose request ends here."""
        self.renamed: dict[str, str] = {}
        """Ids that clients gave to the answer's calls → the ids they have in `messages`."""
        self.rewritten = 0
        """How often a client sent something else in its place."""

    @property
    def role(self) -> str:
        return self.messages[0].role

    def path(self) -> list["Node"]:
        """From the first message to this one."""
        nodes: list[Node] = []
        node = self
        while node.parent is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]


class _Request(Struct):
    """A request that was walked: where each of its units led."""

    messages: tuple[Message, ...]
    keys: list[Normal]
    nodes: list[Node]
    ends: list[int]
    """Of each unit the place behind its last message."""
    answers: list[Node]


class Tree:
    """Add the exchanges of one session in the order of time."""

    def __init__(self) -> None:
        self.root = Node(None, Normal("system", ""), (Message("system", ()),), "", 0)
        self.exchanges: list[Exchange] = []
        self._recent: list[_Request] = []
        self._normal: dict[Message, Normal] = {}

    def add(self, exchange: Exchange) -> None:
        number = len(self.exchanges)
        self.exchanges.append(exchange)
        walked = self._walk(exchange, number)
        end = walked.nodes[-1] if walked.nodes else self.root
        end.requests.append(number)
        response = exchange.response
        for choice, said in enumerate((response.messages, *response.alternatives)):
            if said:
                node = self._answered(end, said, exchange.answer_wire, number)
                node.generations.append(Generation(number, choice))
                walked.answers.append(node)
        recent = self._recent
        recent.append(walked)
        if len(recent) > _RECENT:
            del recent[0]

    def fell(self) -> None:
        """Let go of what points both ways: nothing is left for a garbage collector, which may be switched off."""
        nodes = [self.root]
        for node in nodes:
            nodes += node.children.values()
        for node in nodes:
            node.children.clear()

    def _answered(self, end: Node, said: tuple[Message, ...], wire: str, number: int) -> Node:
        key = self._key(said, {})
        node = end.children.get(key)
        if node is None:
            node = end.children[key] = Node(end, key, said, wire, number)
        elif not node.generations:  # an earlier request had it already: the answer itself is richer
            _rename(node, said, node.messages)
            node.messages, node.wire = said, wire
        return node

    def _walk(self, exchange: Exchange, number: int) -> _Request:
        messages = exchange.messages
        walked = self._common(messages)
        at, node = (walked.ends[-1], walked.nodes[-1]) if walked.nodes else (0, self.root)
        calls = _open_calls(messages, at)
        tried = False
        while at < len(messages):
            run = _run(messages, at)
            found = self._child(node, run, calls)
            if found is None and node.children and not tried:  # it leaves a path here, or rewrites it
                tried = True
                self._finish_keys(walked, messages, at, calls)
                if (aligned := self._aligned(walked)) is not None:
                    walked, at = aligned, aligned.ends[-1]
                    node, calls = walked.nodes[-1], _open_calls(messages, at)
                    continue
                del walked.keys[len(walked.nodes) :], walked.ends[len(walked.nodes) :]
            key, child, size = found or (self._key(run, calls), None, len(run))
            said = run[:size]
            if child is None:
                child = node.children[key] = Node(node, key, said, exchange.wire, number)
            elif said[0].role == "assistant":
                _rename(child, child.messages, said)
            at += size
            walked.keys.append(key)
            walked.nodes.append(child)
            walked.ends.append(at)
            node = child
            if said[0].role == "assistant":
                calls = _places(said)
        return walked

    def _common(self, messages: tuple[Message, ...]) -> _Request:
        """How far the request is known from the requests before it: the very same objects."""
        best, longest = None, 0
        for recent in reversed(self._recent):
            before = recent.messages
            size = len(before)
            if messages[:size] != before:  # objects are compared, not what they say
                size = next(
                    (n for n, (a, b) in enumerate(zip(before, messages, strict=False)) if a is not b), len(messages)
                )
            if size > longest:
                best, longest = recent, size
                if size == len(before):
                    break
        if best is None:
            return _Request(messages, [], [], [], [])
        units = len(best.ends)
        while units and (best.ends[units - 1] > longest or _is_inside(messages, best.ends[units - 1])):
            units -= 1
        return _Request(messages, best.keys[:units], best.nodes[:units], best.ends[:units], [])

    def _child(self, node: Node, run: tuple[Message, ...], calls: dict[str, int]) -> tuple[Normal, Node, int] | None:
        """The child that the run, or the longest beginning of it, leads to."""
        for size in range(len(run), 0, -1):
            key = self._key(run[:size], calls)
            if (child := node.children.get(key)) is not None:
                return key, child, size
        return self._echo(node, run, calls) if run[0].role == "assistant" else None

    def _echo(self, node: Node, run: tuple[Message, ...], calls: dict[str, int]) -> tuple[Normal, Node, int] | None:
        """The answer that the run repeats: its words and calls, without what the provider's own tools gave, or with it.

        Clients leave that out, or fill it in: what a search found, which tools a server has.
        """
        given = [child for child in node.children.values() if child.generations and (child.key.text or child.key.calls)]
        for size in range(len(run), 0, -1) if given else ():
            key = self._key(run[:size], calls)
            child = next((child for child in reversed(given) if child.key.spoken == key.spoken), None)
            if child is not None:
                return key, child, size
        return None

    def _finish_keys(self, walked: _Request, messages: tuple[Message, ...], at: int, calls: dict[str, int]) -> None:
        """The keys of the units that led nowhere yet."""
        while at < len(messages):
            run = _run(messages, at)
            at += len(run)
            walked.keys.append(self._key(run, calls))
            walked.ends.append(at)
            if run[0].role == "assistant":
                calls = _places(run)

    def _aligned(self, now: _Request) -> _Request | None:
        """The request on the path of an earlier one that it continues with a few old messages rewritten.

        What leads along a path as it stands rewrites nothing: it was said so, there.
        """
        known = len(now.nodes)
        for before in reversed(self._recent):
            size = len(before.keys)
            if not size or len(now.keys) < size:
                continue
            changed = [at for at in range(size) if now.keys[at] != before.keys[at]]
            if len(changed) > _REWRITTEN or (changed and changed[0] < known):
                continue
            answer = None
            if len(now.keys) > size:
                answer = next((node for node in before.answers if node.key == now.keys[size]), None)
            if not _is_same(before, now, changed, answer):
                continue
            nodes = before.nodes[:size]
            for at in changed:
                nodes[at].rewritten += 1
            units = size
            if answer is not None:
                nodes.append(answer)
                units += 1
            return _Request(now.messages, now.keys[:units], nodes, now.ends[:units], [])
        return None

    def _key(self, run: tuple[Message, ...], calls: dict[str, int]) -> Normal:
        known = self._normal
        keys = []
        for message in run:
            key = known.get(message)
            if key is None:
                key = known[message] = normal(message)
            keys.append(key)
        key = joined(keys) if len(keys) > 1 else keys[0]  # several are the assistant's
        if key.results:
            results = tuple([(calls.get(called, called), *told) for called, *told in key.results])
            return key._replace(results=results)
        return key


def _open_calls(messages: tuple[Message, ...], at: int) -> dict[str, int]:
    """The calls of the last answer before `at`."""
    end = at
    while end > 0 and messages[end - 1].role != "assistant":
        end -= 1
    begin = end
    while begin > 0 and messages[begin - 1].role == "assistant":
        begin -= 1
    return _places(messages[begin:end])


def _run(messages: tuple[Message, ...], at: int) -> tuple[Message, ...]:
    """The message there; of the assistant, all that follow without a break."""
    end = at + 1
    if messages[at].role == "assistant":
        while end < len(messages) and messages[end].role == "assistant":
            end += 1
    return messages[at:end]


def _is_inside(messages: tuple[Message, ...], at: int) -> bool:
    """Whether a run of the assistant's goes on there."""
    return 0 < at < len(messages) and messages[at - 1].role == messages[at].role == "assistant"


def _places(run: Sequence[Message]) -> dict[str, int]:
    """The calls of a run, by id, with their places."""
    return {call: place for place, call in enumerate(call_ids(run)) if call is not None}


def call_ids(run: Sequence[Message]) -> list[str | None]:
    return [block.id for message in run for block in message.blocks if type(block) is ToolUse]


def _rename(node: Node, kept: Sequence[Message], dropped: Sequence[Message]) -> None:
    """Remember what the calls are called in a copy of the answer that is not kept."""
    if kept is dropped or not node.key.calls:
        return
    for ours, theirs in zip(call_ids(kept), call_ids(dropped), strict=False):
        if theirs is not None and ours is not None and ours != theirs:
            node.renamed[theirs] = ours


def _is_same(before: _Request, now: _Request, changed: list[int], answer: Node | None) -> bool:
    """Whether a request with some messages changed is still the conversation that it was.

    It is, if the old answer follows them and they are not all that was said. Where they are, the answer must tell:
    a call by its id, for sub-agents side by side all begin with `ls`. Without the answer, only system prompts may have
    changed, and only in numbers or a few lines.
    """
    roles = {before.keys[at].role for at in changed}
    if answer is None:
        if roles != {"system"} or len(changed) == len(before.keys):
            return False
        return all(alike(before.keys[at].text, now.keys[at].text) for at in changed)
    said = now.messages[now.ends[len(before.keys) - 1] : now.ends[len(before.keys)]]
    ids = zip(call_ids(answer.messages), call_ids(said), strict=False)
    known = bool(answer.key.calls) and all(ours == theirs or None in (ours, theirs) for ours, theirs in ids)
    telling = known or len(answer.key.text) >= _TELLING
    spoken = [at for at, key in enumerate(before.keys) if key.role != "system"]
    return telling or len(set(spoken) - set(changed)) > len(set(spoken) & set(changed))


def grow(exchanges: Sequence[Exchange]) -> Tree:
    """The tree of these calls."""
    tree = Tree()
    for exchange in exchanges:
        tree.add(exchange)
    return tree


def leaves(tree: Tree) -> list[Node]:
    """Where the paths end, in the order in which they came about.

    A path on which nothing was generated since it left another is none: a request that failed.
    """
    order = [tree.root]
    for node in order:
        order += node.children.values()
    generated: set[int] = set()
    for node in reversed(order):  # children before their parents
        if node.generations or any(id(child) in generated for child in node.children.values()):
            generated.add(id(node))
    ends: list[Node] = []
    stack = [tree.root]
    while stack:
        node = stack.pop()
        kept = [child for child in node.children.values() if id(child) in generated]
        if not kept:
            kept = list(node.children.values())
            if id(node) in generated:  # nothing behind it was answered: what was asked last
                kept = kept[-1:]
        if not kept and node is not tree.root:
            ends.append(node)
        stack += reversed(kept)
    return ends
