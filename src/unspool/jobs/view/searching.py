"""Search in what is open, and in the files of what is not."""

from collections.abc import Iterable, Iterator

from unspool.jobs.grep import Query, grep
from unspool.jobs.view.catalog import Catalog
from unspool.jobs.view.meanings import indented
from unspool.jobs.view.pages import Found, Hit
from unspool.jobs.view.reels import Loaded, Reel, SessionReel
from unspool.model import CookedMessage
from unspool.sources.values import time_of

MOST = 100
_AROUND = 60
_PLACES = {"tool_use": "tool", "tool_result": "result"}


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
    query = Query(words, fold=True, limit=MOST)
    for path, searched in grep(query, list(closed), jobs=1):
        reel = closed[path]
        title = reel.row().name if searched.hits else ""
        for hit in searched.hits:
            _, session, time, _, kind = hit.event
            if isinstance(reel, SessionReel) and session == reel.found.id:
                yield Hit(reel.id, kind, hit.before, hit.match, hit.after[:_AROUND], title, time=time_of(time))


def _inside(reel: Reel, wanted: str) -> Iterator[Hit]:
    known = reel.load()
    for message, number in _first_seen(known):
        row = known.rows[number]
        for text in _texts(message):
            hit = _hit(reel, _PLACES.get(message.role, message.role), text, wanted, row.title)
            if hit is not None:
                hit.request, hit.time = row.id, row.time
                yield hit
                break


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
