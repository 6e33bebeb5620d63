"""Transcripts: a session, or one path through recorded calls, as cards, and the index of its prompts."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from unspool.ingest.assembly import assemble
from unspool.jobs.view.loaded import Loaded, cost_of_rows, total
from unspool.jobs.view.meanings import MOST, in_words, lines_of, one_line, shortened, shown
from unspool.jobs.view.pages import Card, GraphRow, Transcript, TurnRow
from unspool.jobs.view.reels import Reel, SessionReel
from unspool.jobs.view.rows import headline, spoken, unmarked
from unspool.model import CookedMessage, CookedRequest, Event
from unspool.model.event import Said, Thinking, ToolCall
from unspool.sources.values import time_of
from unspool.views.outline import HOOK, Row, outline

PAGE = 200
_AT_ONCE = 2000
_KEPT = 4
"""Transcripts of a reel that are kept, those that were asked for last."""
_ID_OF_AGENT = re.compile(r"agent:\S+: ")
"""Before what it was asked: people tell it by that."""
_RUN = 4
"""From so many on, things that nobody typed are folded to the first of them."""
_PICTURE = ("[image", "[document", "[audio", "[video")


class Told(Struct):
    cards: list[Card]
    turns: list[TurnRow]


def transcript(
    reel: Reel, known: Loaded, at: str | None = None, start: int = 0, name: str | None = None, most: int = PAGE
) -> Transcript:
    """Cards from `start` on, or around the card of that name, which may be its request's or an event's.

    Of recorded calls: the path through the request `at`, or through the first.
    """
    told = told_of(reel, known, at)
    found = _place(told.cards, known, name) if name else None
    if found is not None:
        start = max(0, found - most // 2)
    cards = [_cut(card) for card in told.cards[start : start + most]]
    agents = [(number, card.count) for number, card in enumerate(told.cards) if card.kind == "agent"]
    errors = [number for number, card in enumerate(told.cards) if card.failed or card.level == "error"]
    asides = list(_asides(told.cards))
    return Transcript(known.version, len(told.cards), start, cards, told.turns, agents, asides, errors, found)


def _place(cards: list[Card], known: Loaded, name: str) -> int | None:
    """Of what is no card of its own, such as a result: the card that it is part of, or the one before it."""
    for number, card in enumerate(cards):
        if name in (card.key, card.request):
            return number
    at = next((number for number, event in enumerate(known.events) if event.id == name), None)
    if at is None:
        return None
    places = {card.key: number for number, card in enumerate(cards)}
    before = known.events[at::-1]
    call = getattr(before[0].content, "provider_call_id", None)
    callers = [
        event
        for event in before
        if call and isinstance(event.content, ToolCall) and event.content.provider_call_id == call
    ]
    return next((places[event.id] for event in (*callers, *before) if event.id in places), None)


def told_of(reel: Reel, known: Loaded, at: str | None, onward: bool = True) -> Told:
    """Of recorded calls the path to `at`; `onward`: and to where the conversation went from there."""
    if not known.rows and not isinstance(reel, SessionReel):
        return Told([], [])  # a file in which no call could be read
    number = known.numbers.get(at or "", 0)
    leaf = None if isinstance(reel, SessionReel) else leaf_of(known, number) if onward else number
    told: Told | None = known.transcripts.pop(leaf, None)
    if told is None:
        cards = list(_session(reel, known)) if isinstance(reel, SessionReel) else list(_calls(known, leaf or 0))
        for place, card in enumerate(cards):
            card.key = card.key or f"card-{place}"
        _count_agents(cards)
        told = Told(cards, _turns(cards, known))
    while len(known.transcripts) >= _KEPT:  # a trace may have as many ends as requests
        known.transcripts.pop(next(iter(known.transcripts), None), None)
    known.transcripts[leaf] = told
    return told


def whole_card(reel: Reel, known: Loaded, at: str | None, number: int) -> Card | None:
    """One card, nothing left out."""
    told = told_of(reel, known, at)
    return told.cards[number] if 0 <= number < len(told.cards) else None


def _cut(card: Card) -> Card:
    text, result = card.text, card.result or ""
    call = None if card.call is None else shortened(card.call)
    if len(text) <= MOST and len(result) <= MOST and call is card.call:
        return card
    return replace(
        card,
        call=call,
        text=text[:MOST],
        cut=max(0, len(text) - MOST),
        result=None if card.result is None else result[:MOST],
        result_cut=max(0, len(result) - MOST),
    )


def leaf_of(known: Loaded, number: int) -> int:
    """Where the conversation went on from there: along the newest child that is no retried attempt nor an agent."""
    while True:
        retried = {known.rows[child].retry_of for child in known.children.get(number, ())}
        onward = [
            child
            for child in known.children.get(number, ())
            if known.rows[child].reason != "agent" and child not in retried
        ]
        if not onward:
            return number
        number = onward[-1]


# Of a session


def _session(reel: SessionReel, known: Loaded) -> Iterator[Card]:
    session = assemble(reel.found.facts, known.events)
    makers = _makers(known)
    open_calls: dict[int, Card] = {}
    for row in outline(session):
        if row.kind == "result":
            card = open_calls.pop(row.depth, None)
            if card is not None:
                _answer(card, row.body, row.level == "error")
                continue
        card = _card(row, makers)
        if row.kind == "call":
            open_calls[row.depth] = card
        yield card


def _makers(known: Loaded) -> dict[str, str]:
    """Which request an event came of: ids of requests are those of the first event of their answers."""
    current: dict[tuple[str, str], str] = {}
    made: dict[str, str] = {}
    for event in known.events:
        if isinstance(event.content, Said | Thinking | ToolCall):
            name, stream = event.id, (event.session_id, event.stream_id)
            if name in known.numbers:
                current[stream] = name
            if stream in current:
                made[name] = current[stream]
    return made


def _card(row: Row, makers: dict[str, str]) -> Card:
    event = row.event
    name = event.id if event is not None else ""
    text = "" if row.kind == "call" else row.head if not row.body else f"{row.head}\n\n{row.body}"
    if row.kind == "result":
        text = row.body
    elif row.kind == "agent":
        text = _ID_OF_AGENT.sub("agent: ", text)
    card = Card(
        kind=row.kind,
        key=name,
        depth=row.depth,
        text=text,
        lines=lines_of(text),
        level=row.level,
        seconds=row.seconds,
        time=time_of(event.timestamp) if event is not None else None,
        request=makers.get(name),
        pictures=any(mark in text for mark in _PICTURE),
    )
    if row.kind == "call" and isinstance(event, Event) and isinstance(event.content, ToolCall):
        card.call, card.open = shown(event.content), True
    return card


def _answer(card: Card, text: str, failed: bool) -> None:
    card.open, card.failed = False, failed
    card.result, card.result_lines = text, lines_of(text)
    card.pictures = card.pictures or any(mark in text for mark in _PICTURE)


# Of recorded calls


def _calls(known: Loaded, leaf: int, depth: int = 0, shown_already: frozenset[int] = frozenset()) -> Iterator[Card]:
    open_calls: dict[str, Card] = {}
    for number in known.path_to(leaf):
        yield from _request(known, number, depth, open_calls, shown_already | {number})


def _request(
    known: Loaded, number: int, depth: int, open_calls: dict[str, Card], above: frozenset[int]
) -> Iterator[Card]:
    request, row = known.cooked.requests[number], known.rows[number]
    before = known.cooked.requests[row.parent] if row.parent is not None and row.reason != "agent" else None
    if row.reason in ("compaction", "edit", "switch"):
        told = {"compaction": "compacted", "edit": "the history was edited", "switch": f"model: {row.model}"}[
            row.reason
        ]
        yield Card("notice", f"{number}-{row.reason}", depth, told, level="warning", time=row.time, request=row.id)
    for place in new_places(request, before):
        message = known.messages.get(request.request_messages[place])
        if message is None:
            continue
        if message.role == "tool_result" and (card := open_calls.pop(message.tool_use_id or "", None)) is not None:
            _answer(card, message.content, bool(message.is_error))
            card.place = f"{row.id}/m{place}"
            continue
        for card in _said(message, f"{number}-{place}", depth, row, before is not None, open_calls):
            card.place = f"{row.id}/m{place}"
            yield card
    for place, name in enumerate(request.response_messages):
        if (message := known.messages.get(name)) is not None:
            for card in _said(message, f"{number}-a{place}", depth, row, False, open_calls):
                card.request, card.place = row.id, f"{row.id}/a{place}"
                yield card
                if card.call is not None:
                    yield from _agents(known, number, card, depth, above)


def new_places(request: CookedRequest, before: CookedRequest | None) -> list[int]:
    """Places of messages that the parent neither sent nor got."""
    asked = request.request_messages
    if before is None:
        return list(range(len(asked)))
    known = {*before.request_messages, *before.response_messages}
    return [place for place, name in enumerate(asked) if name not in known]


def _said(
    message: CookedMessage,
    key: str,
    depth: int,
    row: GraphRow,
    later: bool,
    open_calls: dict[str, Card],
) -> Iterator[Card]:
    text = message.content
    match message.role:
        case "system":
            if later:
                return  # most prompts carry a line that changes with every call
            kind, level = "notice", "system"
        case "user":
            kind, level = ("prompt", "info") if spoken(text) else ("notice", "context")
        case "assistant":
            kind, level = "said", "error" if row.error and text.startswith("Error: ") else "info"
        case "thinking":
            kind, level = "thinking", "info"
        case "tool_result":
            kind, level = "result", "error" if message.is_error else "info"
        case _:
            kind, level = "said", "info"
    if text.strip() or message.role == "tool_result":
        pictures = any(mark in text for mark in _PICTURE)
        yield Card(
            kind,
            key,
            depth,
            text,
            lines=lines_of(text),
            level=level,
            time=row.time,
            message=message.id,
            request=row.id,
            pictures=pictures,
        )
    for at, call in enumerate(message.tool_calls or ()):
        card = Card("call", f"{key}.{at}", depth, time=row.time, message=message.id, request=row.id, open=True)
        card.call = shown(in_words(call, row.agent))
        if call.id:
            open_calls[call.id] = card
        yield card


def _agents(known: Loaded, number: int, card: Card, depth: int, above: frozenset[int]) -> Iterator[Card]:
    """Sub-agents that this very call began."""
    call = card.call
    if call is None:
        return
    for child in known.children.get(number, ()):
        row = known.rows[child]
        if row.reason == "agent" and child not in above and row.call == call.id:
            leaf = leaf_of(known, child)
            title = f"agent: {row.label or row.title}"
            yield Card("agent", f"{child}-agent", depth + 1, title, time=row.time, request=row.id)
            yield from _calls(known, leaf, depth + 1, above | {child})


# Of both


def _count_agents(cards: list[Card]) -> None:
    for at, card in enumerate(cards):
        if card.kind == "agent":
            end = at + 1
            while (
                end < len(cards)
                and cards[end].depth >= card.depth
                and not (cards[end].kind == "agent" and cards[end].depth == card.depth)
            ):
                end += 1
            card.count = end - at - 1


def _asides(cards: list[Card]) -> Iterator[tuple[int, int]]:
    """Agents begin with a dozen of them, and who reads wants the prompt."""
    for is_aside, run in groupby(enumerate(cards), key=lambda numbered: _is_aside(numbered[1])):
        places = [at for at, _ in run]
        if is_aside and len(places) >= _RUN:
            yield places[0], len(places) - 1


def _is_aside(card: Card) -> bool:
    return card.kind == "notice" and (card.level == "context" or (card.level == "info" and card.text.startswith(HOOK)))


def _prompt(card: Card) -> str:
    return one_line(headline(spoken(card.text) or card.text))[:300]


def _turns(cards: list[Card], known: Loaded) -> list[TurnRow]:
    turns: list[TurnRow] = []
    made: list[set[str]] = []
    tools: Counter[str] = Counter()
    busy = False
    for at, card in enumerate(cards):
        if card.kind == "prompt" and card.depth == 0:
            if turns and not busy and (card.time or 0) - (turns[-1].time or 0) < _AT_ONCE:
                if turns[-1].prompt.startswith(_PICTURE):  # what was asked of it tells more
                    turns[-1].prompt = _prompt(card)
                continue  # a slash command and what it stands for are one prompt
            turns.append(TurnRow(at, _prompt(card), time=card.time))
            made.append(set())
            tools, busy = Counter(), False
            turns[-1].tools = tools
            continue
        if not turns:
            continue
        turn = turns[-1]
        busy = busy or card.kind in ("said", "call", "thinking")
        if card.request and card.kind in ("said", "call", "thinking"):
            made[-1].add(card.request)
        if card.call is not None:
            tools[card.call.name] += 1
            turn.failed += card.failed
        elif card.kind == "said" and card.depth == 0:
            turn.outcome = one_line(unmarked(card.text))[:300]
    for turn, names in zip(turns, made, strict=True):
        rows = [known.rows[known.numbers[name]] for name in names if name in known.numbers]
        cost = cost_of_rows(rows)
        turn.usage, turn.tools = total(row.usage for row in rows), dict(turn.tools)
        turn.cost, turn.priced, turn.estimated = cost.usd, cost.complete, cost.estimated
    return turns
