"""Search in what is open, and in the files of what is not."""

import re
from collections.abc import Iterable, Iterator

import msgspec

from unspool.jobs.grep import Query, grep
from unspool.jobs.view.catalog import Catalog
from unspool.jobs.view.meanings import indented, one_line
from unspool.jobs.view.pages import Card, Found, Hit
from unspool.jobs.view.reels import Loaded, Reel, SessionReel
from unspool.jobs.view.transcripts import told_of
from unspool.model import CookedMessage
from unspool.sources.values import time_of

MOST = 100
_AROUND = 60
_PLACES = {"tool_use": "tool", "tool_call": "tool", "tool_result": "result", "prompt": "user", "said": "assistant"}
_END = re.compile(r'(?<!\\)(?:\\\\)*"')
"""Of a text in JSON."""
_ESCAPE = re.compile(r'\\(?:(["\\/])|[bfnrt]|u[0-9a-f]{4})')


def search(catalog: Catalog, words: str, within: Reel | None = None) -> Found:
    """Capitals do not matter. In one reel, or in all: titles first, then what was said."""
    wanted = words.casefold().strip()
    if not wanted:
        return Found([])
    found = _inside(within, wanted) if within is not None else _everywhere(catalog, words.strip(), wanted)
    hits: list[Hit] = []
    for hit in found:
        if len(hits) == MOST:
            return Found(hits, True)
        hits.append(hit)
    return Found(hits)


def _everywhere(catalog: Catalog, words: str, wanted: str) -> Iterator[Hit]:
    for reel in catalog:
        row = reel.row()
        for text in (row.name, row.project or "", row.session or ""):
            if (hit := _hit(reel, "title", text, wanted, row.name)) is not None:
                hit.time = row.end
                yield hit
                break
    closed: dict[str, Reel] = {}
    for reel in catalog:
        if isinstance(reel, SessionReel) and not reel.is_open:
            closed.update(dict.fromkeys(reel.files(), reel))
        else:
            yield from _inside(reel, wanted)
    yield from _in_files(closed, words)


def _in_files(closed: dict[str, Reel], words: str) -> Iterator[Hit]:
    if not closed:
        return
    # it is looked for in the JSON of events, where some letters are written in another way
    query = Query(msgspec.json.encode(words).decode()[1:-1], fold=True, limit=MOST)
    for path, searched in grep(query, list(closed), jobs=1):
        reel = closed[path]
        title = reel.row().name if searched.hits else ""
        for hit in searched.hits:
            _, session, time, _, kind = hit.event
            if isinstance(reel, SessionReel) and session == reel.found.id:
                before, match = _read(hit.before), _read(hit.match)
                after = _read(_END.split(hit.after, maxsplit=1)[0])[: 2 * _AROUND]
                where = _PLACES.get(kind, kind)
                yield Hit(reel.id, where, before, match, after, title, request=hit.id, time=time_of(time))


def _read(piece: str) -> str:
    """A piece of JSON text, as people read it."""
    return _ESCAPE.sub(lambda found: found[1] or " ", piece)


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
        yield "tool", card.call.name
        yield "tool", card.call.arguments
    yield "result", card.result or ""


def _first_seen(known: Loaded) -> Iterable[tuple[CookedMessage, int]]:
    """Each message, and the request that first got or sent it."""
    if "first seen" not in known.cache:
        seen: dict[str, int] = {}
        for number, request in enumerate(known.cooked.requests):
            for name in (*request.request_messages, *request.response_messages):
                if name not in seen:
                    seen[name] = number
        known.cache["first seen"] = [(known.messages[name], at) for name, at in seen.items() if name in known.messages]
    found: list[tuple[CookedMessage, int]] = known.cache["first seen"]
    return found


def _texts(message: CookedMessage) -> Iterator[str]:
    yield message.content
    for call in message.tool_calls or ():
        yield call.name
        yield indented(call.arguments)


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
