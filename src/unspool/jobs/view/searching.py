"""Search in what is open, and in the files of what is not."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, get_args

import msgspec

from unspool.errors import UnspoolError
from unspool.jobs.grep import Query, search_file
from unspool.jobs.view.catalog import Catalog
from unspool.jobs.view.loaded import Loaded
from unspool.jobs.view.meanings import indented, one_line
from unspool.jobs.view.pages import Card, Found, Hit
from unspool.jobs.view.reels import Reel, SessionReel
from unspool.jobs.view.transcripts import told_of
from unspool.model import CookedMessage
from unspool.model.event import Content, QueueOperation, RateLimits, TokenUsage
from unspool.sources.values import time_of

MOST = 100
_AROUND = 60
_PLACES = {
    "tool_use": "tool", "tool_call": "tool", "tool_result": "result", "prompt": "user", "said": "assistant",
    "message": "assistant", "notification": "note", "notice": "note", "agent_message": "agent",
}  # fmt: skip
_TOLD = tuple(content.type for content in get_args(Content) if content not in (TokenUsage, RateLimits, QueueOperation))
"""Types of events that have a place in a transcript."""
_TEXTS = frozenset("text name args output description answer reason model".split())
_LOOKED_AT = 2000
"""Events of one file in which the words stand, be it only in the name of a part."""


def search(catalog: Catalog, words: str, within: Reel | None = None) -> Found:
    """Capitals do not matter. In one reel, or in all: titles first, then what was said."""
    wanted = words.casefold().strip()
    if not wanted:
        return Found([])
    found: Iterator[Hit | None]
    found = _inside(within, wanted) if within is not None else _everywhere(catalog, words.strip(), wanted)
    hits: list[Hit] = []
    more = False
    for hit in found:
        if len(hits) == MOST:
            return Found(hits, True)
        if hit is None:
            more = True
        else:
            hits.append(hit)
    return Found(hits, more)


def _everywhere(catalog: Catalog, words: str, wanted: str) -> Iterator[Hit | None]:
    for reel in catalog:
        row = reel.row()
        for text in (row.name, row.project or "", row.session or ""):
            if (hit := _hit(reel, "title", text, wanted, row.name)) is not None:
                hit.time = row.end
                yield hit
                break
    closed: dict[str, dict[str, SessionReel]] = {}
    """By file and session: agents with a database keep all of them in one."""
    for reel in catalog:
        if isinstance(reel, SessionReel) and not reel.is_open:
            for path in reel.files():
                closed.setdefault(path, {})[reel.found.id] = reel
        else:
            with suppress(UnspoolError):  # gone since it was listed
                yield from _inside(reel, wanted)
    # it is looked for in the JSON of events, where some letters are written in another way
    query = Query(msgspec.json.encode(words).decode()[1:-1], fold=True, kinds=_TOLD, form="json", limit=_LOOKED_AT)
    for path, reels in closed.items():
        yield from _in_file(path, reels, query, wanted)


def _in_file(path: str, reels: dict[str, SessionReel], query: Query, wanted: str) -> Iterator[Hit | None]:
    """Of sessions that are not open; None where more of the file may hold it. A file that is gone holds nothing."""
    searched = search_file(query, path)
    for found in searched.hits:
        _, session, time, _, kind = found.event
        if (reel := reels.get(session)) is None:
            continue
        title = reel.row().name
        for text in _told(msgspec.json.decode(found.line)["content"]):
            if (hit := _hit(reel, _PLACES.get(kind, kind), text, wanted, title)) is not None:
                hit.request, hit.time = found.id, time_of(time)
                yield hit
                break
    if len(searched.hits) == query.limit:
        yield None


def _told(content: dict[str, Any]) -> Iterator[str]:
    """What people read of an event; the names of its parts hold nobody's words."""
    if "arguments" in content:  # a call: its tool, and what it was called for
        yield f"{content.pop('name', '')} {indented(content['arguments'])}"
    for key, value in content.items():
        if key in _TEXTS and isinstance(value, str):
            yield value
        elif key == "items":
            yield from (text for item in value for text in item.values() if isinstance(text, str))


def _inside(reel: Reel, wanted: str) -> Iterator[Hit]:
    known = reel.load(passing=True)
    if isinstance(reel, SessionReel):
        yield from _in_session(reel, known, wanted)
        return
    for message, number in _first_seen(known):
        row = known.rows[number]
        for text in _texts(message):
            hit = _hit(reel, _PLACES.get(message.role, message.role), text, wanted, row.title)
            if hit is not None:
                hit.request, hit.time = row.id, row.time
                yield hit
                break


def _in_session(reel: SessionReel, known: Loaded, wanted: str) -> Iterator[Hit]:
    """Card by card: there a hit leads to."""
    title = reel.row().name
    for card in told_of(reel, known, None).cards:
        if card.kind == "prompt" and card.depth == 0:
            title = one_line(card.text)[:300]
        for where, text in _parts(card):
            if (hit := _hit(reel, where, text, wanted, title)) is not None:
                hit.request, hit.time = card.key, card.time
                yield hit
                break


def _parts(card: Card) -> Iterator[tuple[str, str]]:
    yield _PLACES.get(card.kind, card.kind), card.text
    if card.call is not None:
        yield "tool", f"{card.call.name} {card.call.arguments}"
    yield "result", card.result or ""


def _first_seen(known: Loaded) -> Iterable[tuple[CookedMessage, int]]:
    """Each message, and the request that first got or sent it."""
    if known.first_seen is None:
        seen: dict[str, int] = {}
        for number, request in enumerate(known.cooked.requests):
            for name in (*request.request_messages, *request.response_messages):
                if name not in seen:
                    seen[name] = number
        known.first_seen = [(known.messages[name], at) for name, at in seen.items() if name in known.messages]
    return known.first_seen


def _texts(message: CookedMessage) -> Iterator[str]:
    yield message.content
    for call in message.tool_calls or ():
        yield f"{call.name} {indented(call.arguments)}"


def _hit(reel: Reel, where: str, text: str, wanted: str, title: str) -> Hit | None:
    folded = text.casefold()
    at = folded.find(wanted)
    if at < 0:
        return None
    if len(folded) != len(text):  # a letter whose small form is longer: the place is only near
        at = min(at, len(text))
    end = at + len(wanted)
    before, after = text[max(0, at - _AROUND) : at], text[end : end + 2 * _AROUND]
    return Hit(reel.id, where, before, text[at:end], after, title)
