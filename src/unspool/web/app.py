"""The pages that the viewer asks for, as an ASGI application. Reads; never writes."""

from collections.abc import Callable
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from unspool.errors import UnspoolError
from unspool.jobs.view import messages, originals, searching, transcripts
from unspool.jobs.view.catalog import Catalog
from unspool.jobs.view.loaded import Loaded
from unspool.jobs.view.pages import Home
from unspool.jobs.view.reels import Reel, SessionReel
from unspool.model import CookedRequest
from unspool.web.built import NOT_BUILT, STATIC
from unspool.web.guard import Guard
from unspool.web.live import Live

_FRESH = {"cache-control": "no-store"}


class NotThere(Exception):
    """A reel or a request that we do not have."""


def application(catalog: Catalog, live: Live, token: str, ticket: str, port: int, version: str) -> Guard:

    def page(make: Callable[[Request], Any]) -> Callable[[Request], Response]:
        """A plain function, which starlette runs in a thread: reading may take a while."""

        def answer(request: Request) -> Response:
            try:
                return _json(make(request))
            except NotThere as error:
                return _json({"error": str(error)}, 404)
            except UnspoolError as error:
                return _json({"error": str(error)}, 500)

        return answer

    def reel(request: Request) -> Reel:
        found = catalog.get(request.path_params["reel"])
        if found is None:
            raise NotThere("no such trace or session: it may have been given to another viewer")
        return found

    def of_a_reel(make: Callable[[Reel, Request], Any]) -> Callable[[Request], Any]:
        return lambda request: make(reel(request), request)

    pages: dict[str, Callable[[Request], Any]] = {
        "/api/home": lambda _request: Home(catalog.rows(), version, True),
        "/api/search": lambda request: searching.search(
            catalog, _word(request, "q"), catalog.get(_word(request, "reel")) if _word(request, "reel") else None
        ),
        **{f"/api/reels/{{reel}}/{name}": of_a_reel(make) for name, make in _OF_A_REEL.items()},
    }

    async def listen(_request: Request) -> Response:
        return StreamingResponse(live.listen(), media_type="text/event-stream", headers=_FRESH)

    routes = [
        *(Route(path, page(make)) for path, make in pages.items()),
        Route("/api/live", listen),
        Route("/", _index),
        Mount("/assets", StaticFiles(directory=STATIC / "assets", check_dir=False)),
    ]
    return Guard(Starlette(routes=routes), token, ticket, port)


def _index(_request: Request) -> Response:
    if not (STATIC / "index.html").is_file():
        return PlainTextResponse(f"{NOT_BUILT}\n", 500)
    return FileResponse(STATIC / "index.html", headers={"cache-control": "no-cache"})


def _json(value: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, _FRESH, "application/json")


def _word(request: Request, name: str) -> str:
    return request.query_params.get(name, "")


def _number(request: Request, name: str) -> int:
    given = _word(request, name)
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else 0


def _asked(known: Loaded, request: Request) -> CookedRequest:
    found = known.request(_word(request, "id"))
    if found is None:
        raise NotThere("no such request: the file may have been replaced since")
    return found


def _original(reel: Reel, request: Request) -> Any:
    found = originals.original(reel, _asked(reel.load(), request))
    if found is None:
        raise NotThere("no record of it alone can be read: its file was not given, is gone, or is one document")
    return found


def _pictures(reel: Reel, request: Request) -> Any:
    known = reel.load()
    if isinstance(reel, SessionReel) and _word(request, "card"):
        found = originals.card_pictures(reel, known, _word(request, "card"))
        is_there = all(map(originals.can_be_read_again, reel.files()))
    else:
        asked = _asked(known, request)
        found = originals.pictures(reel, asked, _number(request, "at"), bool(_word(request, "answer")))
        is_there = bool(found) or originals.record_of(reel, asked) is not None
    if not found and not is_there:
        raise NotThere("the file that they stand in was not given, is gone or is compressed")
    return found


_OF_A_REEL: dict[str, Callable[[Reel, Request], Any]] = {
    "graph": lambda reel, request: messages.graph(reel, reel.load(), _number(request, "start")),
    "request": lambda reel, request: messages.request_page(reel, reel.load(), _asked(reel.load(), request)),
    "messages": lambda reel, request: messages.cards(reel.load(), messages.expand_ids(_word(request, "ids"))),
    "message": lambda reel, request: messages.cards(reel.load(), [_word(request, "id")], uncut=True),
    "tools": lambda reel, request: messages.tools(reel.load(), _word(request, "ids").split(",")),
    "cache": lambda reel, request: messages.cache_report(reel, reel.load(), _asked(reel.load(), request)),
    "original": _original,
    "pictures": _pictures,
    "transcript": lambda reel, request: transcripts.transcript(
        reel, reel.load(), _word(request, "at") or None, _number(request, "start"), _word(request, "name") or None
    ),
    "card": lambda reel, request: transcripts.whole_card(
        reel, reel.load(), _word(request, "at") or None, _number(request, "number")
    ),
}
