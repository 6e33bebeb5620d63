"""Which recorded calls belong together: the lineage of exchanges, one after another."""

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from unspool.graph.lineage import SEALED, Lineage, Link, Rows, Step
from unspool.graph.linking import is_real
from unspool.ingest.facts import previous_of
from unspool.model import Compaction, Exchange, Message, ToolUse
from unspool.transforms.normal import Normal, normal


class Placed(Struct, frozen=True):
    """A call in its family."""

    number: int
    root: int
    """The number of the family's first call."""
    link: Link
    new: tuple[Message, ...]
    """What it says that its parent neither said nor heard; of a call without a parent, all of it."""
    heard: tuple[Message, ...]
    """The answer, without what a person had said before: a summary may come with that."""
    gone: int
    """How many messages of its parent it does not say any more."""


class Families:
    """Give it exchanges in the order of time, or in that of their ends: no call goes on from one that is not over."""

    def __init__(self) -> None:
        self._rows = _Rows()
        self._lineage = Lineage(Rows(self._rows.text, self._rows.is_user, self._rows.calls, self._rows.answers))
        self._roots: list[int] = []
        self._steps: list[Step] = []

    def place(self, exchange: Exchange) -> Placed:
        lead, rows, response = lead_of(exchange.messages), self._rows, exchange.response
        step = Step(
            rows.path(exchange.messages[lead:]),
            rows.path(response.messages),
            [rows.path(said) for said in response.alternatives],
            rows.path(exchange.messages[:lead]),
            exchange.model,
            response.id,
            previous_of(exchange.settings),
        )
        link = self._lineage.find(step)
        self._lineage.add(step, link)
        number = len(self._steps)
        above = link.parent if link.parent is not None else link.retry_of
        self._roots.append(number if above is None else self._roots[above])
        self._steps.append(step)
        said = {row for row in step.path if rows.is_user(row)}
        heard = tuple([message for message in response.messages if rows.row(message) not in said])
        new = self._new(exchange.messages, step, link)
        return Placed(number, self._roots[number], link, new, heard, self._gone(step, link))

    def _gone(self, step: Step, link: Link) -> int:
        if link.parent is None or step.previous_response_id is not None:
            return 0
        return (Counter(self._steps[link.parent].path) - Counter(step.path)).total()

    def _new(self, messages: tuple[Message, ...], step: Step, link: Link) -> tuple[Message, ...]:
        if link.retry_of is not None:
            return ()
        if link.parent is None:
            return messages
        before = self._steps[link.parent]
        known = Counter(before.system)
        if step.previous_response_id is None:  # else the provider holds it, and only what is new is sent
            known.update(before.path)
            said = [before.answer, *before.alternatives]
            known.update(max(said, key=lambda rows: len({*rows}.intersection(step.path))))
        new = []
        for message in messages:
            row = self._rows.row(message)
            if known[row]:
                known[row] -= 1  # whoever says the same twice has said it once more
            elif row:
                new.append(message)
        return tuple(new)


def lead_of(messages: tuple[Message, ...]) -> int:
    """How many system prompts stand first."""
    return next((at for at, message in enumerate(messages) if message.role != "system"), len(messages))


class _Rows:
    """Messages as the rows that lineage compares."""

    def __init__(self) -> None:
        self.calls: dict[str, list[str]] = {}
        self._ids: dict[Normal, str] = {}
        self._known: dict[Message, str] = {}
        self._keys: dict[str, Normal] = {}
        self._summaries: dict[str, str] = {}
        """Of rows that hold such a thing: what was said before, or the mark of one that only the provider can read."""

    def path(self, messages: Iterable[Message]) -> tuple[str, ...]:
        return tuple([row for message in messages if (row := self.row(message))])

    def row(self, message: Message) -> str:
        """Nothing for a message that says nothing but thoughts."""
        row = self._known.get(message)
        if row is None:
            key = normal(message)
            row = self._ids.setdefault(key, f"m{len(self._ids)}") if any(key[1:]) else ""
            self._known[message] = row
            self._keys[row] = key
            if summaries := [block.text or f"{SEALED}…]" for block in message.blocks if isinstance(block, Compaction)]:
                self._summaries[row] = "\n".join((*summaries, key.text)).strip()
            if made := [block.id for block in message.blocks if isinstance(block, ToolUse) and is_real(block.id)]:
                self.calls.setdefault(row, [call for call in made if call])
        return row

    def text(self, row: str) -> str:
        key = self._keys[row]
        if row in self._summaries:
            return self._summaries[row]
        told = (part for _, _, *parts in key.results for part in parts if isinstance(part, str))
        return key.text or "\n".join(told)

    def is_user(self, row: str) -> bool:
        key = self._keys[row]
        return key.role == "user" and not key.results

    def answers(self, row: str) -> str | None:
        results = self._keys[row].results
        return results[0][0] if results and is_real(results[0][0]) else None
