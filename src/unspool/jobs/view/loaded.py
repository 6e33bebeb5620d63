"""A reel that was read: its requests, rows and messages, and the sums of them."""

from collections.abc import Iterable, Mapping, Set
from typing import Any

from msgspec import Struct

from unspool.jobs.view.pages import GraphRow, ReelRow
from unspool.jobs.view.rows import graph_rows
from unspool.model import Cooked, CookedMessage, CookedRequest, CookedTool, Event, Usage
from unspool.model.event import AgentMessage, SlashCommand, User
from unspool.transforms.prices import CostSum


class Loaded(Struct):
    """A reel that was read."""

    version: int
    cooked: Cooked
    rows: list[GraphRow]
    agents: Mapping[str, str | None]
    numbers: dict[str, int]
    messages: dict[str, CookedMessage]
    tools: dict[str, CookedTool]
    children: dict[int, list[int]]
    events: list[Event] = []
    """Of a session."""
    uncached: Set[str] = frozenset()
    """Models of which no call was ever served from a cache, though some could have been."""
    typed: Set[str] | None = None
    """What people typed, where a log tells it from what the agent put beside it."""
    first_bytes: Mapping[str, float] = {}
    """Of requests, where it was recorded: milliseconds until the answer began."""
    speakers: dict[str, str | None] | None = None
    """Of messages with calls, the agents that made them; None until somebody asks: see `messages.cards`."""
    first_seen: list[tuple[CookedMessage, int]] | None = None
    """Each message, and the number of the request that first got or sent it; None until somebody searches."""
    weight: int = 0
    """Characters that it holds, about."""
    transcripts: dict[int | None, Any] = {}
    """By their last requests, the one that was asked for last at the end: see `transcripts.told_of`."""

    def request(self, name: str) -> CookedRequest | None:
        number = self.numbers.get(name)
        return None if number is None else self.cooked.requests[number]

    def parent(self, name: str) -> CookedRequest | None:
        """The request that it continues; not the one whose sub-agent it is."""
        number = self.numbers.get(name)
        if number is None:
            return None
        row = self.rows[number]
        return None if row.parent is None or row.reason == "agent" else self.cooked.requests[row.parent]

    def path_to(self, number: int) -> list[int]:
        """From the first request of its conversation."""
        path, at = [number], self.rows[number]
        while at.parent is not None and at.reason != "agent":
            path.append(at.parent)
            at = self.rows[at.parent]
        return path[::-1]


def loaded(cooked: Cooked, agents: Mapping[str, str | None], version: int, events: list[Event] | None = None) -> Loaded:
    typed = None if events is None else frozenset(map(_typed, events)) - {""}
    rows = graph_rows(cooked, agents, typed)
    uncached = _unmark(rows)
    children: dict[int, list[int]] = {}
    for number, row in enumerate(rows):
        if row.parent is not None:
            children.setdefault(row.parent, []).append(number)
    return Loaded(
        version,
        cooked,
        rows,
        agents,
        {request.id: number for number, request in enumerate(cooked.requests)},
        {message.id: message for message in cooked.messages},
        {tool.id: tool for tool in cooked.tools},
        children,
        events or [],
        uncached,
        typed,
    )


def _unmark(rows: list[GraphRow]) -> Set[str]:
    """Take the misses from calls of models that never used a cache, and return these models.

    There it is one fact about the recording, and no news in each row.
    """
    used = {row.model for row in rows if row.usage is not None and (row.usage.cache_read or row.usage.cache_write)}
    uncached = {row.model for row in rows if row.missed and row.model is not None} - used
    for row in rows:
        if row.model in uncached:
            row.missed = 0
    return uncached


def weight_of(known: Loaded) -> int:
    """Characters in it, about: messages are most of it, and of a session the events say the same once more."""
    messages = sum(len(message.content) for message in known.cooked.messages)
    calls = sum(len(call.arguments) for message in known.cooked.messages for call in message.tool_calls or ())
    names = sum(len(request.request_messages) for request in known.cooked.requests)
    return (2 if known.events else 1) * (messages + calls) + 8 * names + 2000 * len(known.rows)


def _typed(event: Event) -> str:
    match event.content:
        case User(text=text) | AgentMessage(text=text):
            return text
        case SlashCommand(name=name, args=args):
            return f"{name} {args}" if args else name
    return ""


def summed(row: ReelRow, rows: list[GraphRow]) -> ReelRow:
    times = [each.time for each in rows if each.time is not None]
    models: dict[str, int] = {}
    for each in rows:
        if each.model:
            models[each.model] = models.get(each.model, 0) + 1
    row.requests = len(rows)
    if row.kind != "session":  # whose log knows better: calls end after they begin, and not all are made for a prompt
        row.start, row.end = min(times, default=None), max(times, default=None)
        row.turns = sum(each.kind == "prompt" for each in rows)
        row.tools = sum(len(each.tools) for each in rows)
    row.agent = row.agent or next((each.agent for each in rows if each.agent), None)
    row.model = max(models, key=lambda name: models[name], default=row.model)
    row.usage = total(each.usage for each in rows)
    cost = cost_of_rows(rows)
    row.cost, row.priced, row.estimated = cost.usd, cost.complete, cost.estimated
    return row


def cost_of_rows(rows: Iterable[GraphRow]) -> CostSum:
    """Return what these calls cost together. Calls that used nothing, as far as is known, need no price."""
    return CostSum.total(
        CostSum(row.cost, row.cost is not None, row.estimated)
        for row in rows
        if row.cost is not None or row.usage is not None or row.uncounted
    )


def total(usages: Iterable[Usage | None]) -> Usage:
    names = [name for name in Usage.__struct_fields__ if name != "raw"]
    told = [usage for usage in usages if usage is not None]
    return Usage(**{name: sum(getattr(usage, name) for usage in told) for name in names})
