"""Messages, tools and requests, ready to be shown."""

import re
from collections.abc import Iterable, Set

from unspool.jobs.view.caching import Asked, never_cached, report
from unspool.jobs.view.loaded import Loaded
from unspool.jobs.view.meanings import MOST, in_words, indented, lines_of, shortened, shown
from unspool.jobs.view.originals import exchange_of
from unspool.jobs.view.pages import CacheReport, Graph, MessageCard, RequestPage, ToolPage
from unspool.jobs.view.parting import Step
from unspool.jobs.view.reels import Reel, SessionReel
from unspool.jobs.view.rows import list_price, spoken, whole
from unspool.model import CookedMessage, CookedRequest

ROWS = 2000
_NOTES = 100
_PLACEHOLDER = re.compile(r"^\[(?:image|document|audio|video)\b", re.MULTILINE)
_MANY = 400


def graph(reel: Reel, known: Loaded, start: int, most: int = ROWS) -> Graph:
    notes = known.cooked.notes
    return Graph(
        known.version,
        len(known.rows),
        start,
        known.rows[start : start + most],
        [reel.note(note) for note in notes[:_NOTES]] if start == 0 else [],
        len(notes),
        sorted(known.uncached),
    )


def request_page(reel: Reel, known: Loaded, request: CookedRequest) -> RequestPage:
    number = known.numbers[request.id]
    return RequestPage(
        id=request.id,
        number=number,
        messages=request.request_messages,
        answer=request.response_messages,
        tools=request.tools,
        alternatives=request.alternatives,
        children=known.children.get(number, []),
        format=request.format,
        status=request.status,
        stream=request.stream,
        interrupted=request.interrupted,
        stop_reason=request.stop_reason,
        raw_stop_reason=request.raw_stop_reason,
        response_id=request.response_id,
        response_model=request.response_model,
        usage=request.usage,
        cost=list_price(request),
        first_byte=known.first_bytes.get(request.id),
        error=request.error,
        origin=reel.place(request.origin),
        notes=[reel.note(note) for note in known.cooked.notes if note.origin == request.origin][:_NOTES],
        event=request.id if isinstance(reel, SessionReel) else None,
    )


def cards(known: Loaded, names: Iterable[str], uncut: bool = False) -> list[MessageCard]:
    """By id. Long texts are cut, unless the whole is wanted."""
    agents = _speakers(known)
    found = [known.messages[name] for name in names if name in known.messages]
    return [_card(message, agents.get(message.id), known.typed, uncut) for message in found[:_MANY]]


def _card(message: CookedMessage, agent: str | None, typed: Set[str] | None, uncut: bool) -> MessageCard:
    text = message.content
    most = len(text) if uncut else MOST
    calls = [shown(in_words(call, agent)) for call in message.tool_calls or ()]
    return MessageCard(
        id=message.id,
        role=message.role,
        text=text[:most],
        cut=max(0, len(text) - most),
        lines=lines_of(text),
        calls=calls if uncut else [shortened(call) for call in calls],
        answers=message.tool_use_id,
        is_error=message.is_error,
        pictures=bool(_PLACEHOLDER.search(text)),
        aside=message.role == "user" and not spoken(text, typed),
    )


def _speakers(known: Loaded) -> dict[str, str | None]:
    """Which agent made a call: that of the first request that got or sent it."""
    if known.speakers is None:
        speakers: dict[str, str | None] = {}
        calls = {message.id for message in known.cooked.messages if message.tool_calls}
        for request in known.cooked.requests:
            agent = known.rows[known.numbers[request.id]].agent
            for name in (*request.response_messages, *request.request_messages):
                if name in calls and name not in speakers:
                    speakers[name] = agent
        known.speakers = speakers
    return known.speakers


def tools(known: Loaded, names: Iterable[str]) -> list[ToolPage]:
    found = [known.tools[name] for name in names if name in known.tools]
    return [
        ToolPage(tool.id, tool.name, tool.description, indented(tool.parameters), tool.is_server_side) for tool in found
    ]


def cache_report(reel: Reel, known: Loaded, request: CookedRequest) -> CacheReport:
    """Records are read again, for their marks and settings, only where something was missed."""
    before = known.parent(request.id)
    if request.model in known.uncached:
        return never_cached(request)
    look = known.rows[known.numbers[request.id]].missed > 0
    now = _asked(reel, known, request, look)
    if before is None:
        return report(now, None)
    then = _asked(reel, known, before, look or not before.usage or not before.usage.cache_write)
    if look:
        then.path = [_step(known, number) for number in known.path_to(known.numbers[before.id])]
    return report(now, then)


def _step(known: Loaded, number: int) -> Step:
    request, row = known.cooked.requests[number], known.rows[number]
    said = [known.messages[name].role for name in request.response_messages if name in known.messages]
    usage = request.usage
    thought = "thinking" in said or (usage is not None and usage.reasoning > 0)
    written, hour_long = (0, 0) if usage is None else (usage.cache_write, usage.cache_write_1h)
    messages = len(request.request_messages)
    return Step(number + 1, whole(request), messages, row.kind == "prompt", thought, written, hour_long)


def _asked(reel: Reel, known: Loaded, request: CookedRequest, look: bool) -> Asked:
    return Asked(
        request,
        [known.tools[name] for name in request.tools if name in known.tools],
        [known.messages[name] for name in request.request_messages if name in known.messages],
        exchange_of(reel, request) if look else None,
    )


def expand_ids(text: str) -> list[str]:
    """`m1-m4,m9` → m1 m2 m3 m4 m9"""
    names: list[str] = []
    for part in text.split(","):
        if found := re.fullmatch(r"m(\d{1,9})-m(\d{1,9})", part):
            begin, end = int(found[1]), int(found[2])
            names += [f"m{number}" for number in range(begin, min(end, begin + _MANY) + 1)]
        elif part:
            names.append(part)
    return names[:_MANY]
