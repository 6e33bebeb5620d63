"""A reel as it is put into a page that opens from disk: all that the viewer may ask for, each message once."""

import re
import zlib
from base64 import b64encode
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from unspool.jobs.view.loaded import Loaded
from unspool.jobs.view.messages import cache_report, cards, graph, request_page, tools
from unspool.jobs.view.originals import card_pictures, original, pictures
from unspool.jobs.view.pages import (
    CacheReport,
    Card,
    Graph,
    MessageCard,
    Picture,
    ReelRow,
    RequestPage,
    ToolPage,
    TurnRow,
)
from unspool.jobs.view.redacting import Redaction
from unspool.jobs.view.reels import Reel, SessionReel, TrafficReel
from unspool.jobs.view.transcripts import leaf_of, new_places, told_of
from unspool.model import CookedRequest, Note, Origin

_MANY = 1 << 40
_LONG = 50_000
_GZIP = 31
"""The form that zlib is asked for: gzip, without a time."""


class KeptRequest(RequestPage, omit_defaults=True):
    """A request whose messages are told by what they share with the parent's."""

    base: str | None = None
    keep: list[tuple[int, int]] | None = None
    """Pieces of the parent's messages and answer, from … to; (n, 0) stands for the n-th of its own."""


class Told(Struct):
    cards: list[Card]
    turns: list[TurnRow]


class Pieces(Struct):
    """A text, as what it shares with the same text of another request: an agent sends all again with each call."""

    new: list[str]
    keep: list[tuple[int, int]]


class KeptOriginal(Struct, omit_defaults=True):
    settings: str
    raw: Pieces
    curl: Pieces
    size: int
    cut: int = 0
    base: str | None = None
    """The request that shares its pieces."""


class Kept(Struct):
    """One reel, whole."""

    graph: Graph
    requests: dict[str, KeptRequest]
    messages: dict[str, MessageCard]
    tools: dict[str, ToolPage]
    cache: dict[str, CacheReport]
    transcripts: dict[str, Told]
    """By the number of the conversation's first request; a session has one, without a name."""
    pictures: dict[str, list[Picture]]
    originals: dict[str, KeptOriginal]


def kept(reel: Reel, redaction: Redaction | None) -> tuple[ReelRow, Kept]:
    known = reel.load()
    if isinstance(reel, TrafficReel):
        reel.finish()
    if redaction is not None:
        known = redaction.loaded(known)
    names = list(known.messages)
    page = graph(reel, known, 0, _MANY)
    page.notes = [_bare(note) for note in page.notes]
    whole = Kept(
        page,
        {request.id: _request(reel, known, request) for request in known.cooked.requests},
        {name: card for name in names for card in cards(known, [name], uncut=True)},
        {tool.id: tool for tool in tools(known, list(known.tools))},
        {request.id: cache_report(reel, known, request) for request in known.cooked.requests},
        dict(_transcripts(reel, known)),
        dict(_pictures(reel, known)),
        dict(_originals(reel, known, redaction)),
    )
    return _row(reel, known, redaction), whole


def _row(reel: Reel, known: Loaded, redaction: Redaction | None) -> ReelRow:
    row = reel.row()
    if isinstance(reel, SessionReel):
        told = reel.found.facts.title or reel.found.prompt or reel.found.id
        row.name = " ".join((redaction.text(told) if redaction else told).split())[:300]
    else:
        row.name = PurePath(row.name).name or row.name
    row.requests = len(known.rows)
    return row


def packed(value: Struct | dict[str, Any], redaction: Redaction | None) -> str:
    """Return the value as it is written in a page: JSON, compressed, in letters.

    Fields are encoded one after another, because a field may be very large.
    """
    packer = zlib.compressobj(9, wbits=_GZIP)
    pieces: list[bytes] = []
    separator = b"{"
    for name, field in (value if isinstance(value, dict) else asdict(value)).items():
        part = field
        if redaction is not None and name != "pictures":
            part = redaction.values(msgspec.to_builtins(part))  # once more, in case a secret was missed
        data = msgspec.json.encode(part)
        if redaction is not None and name != "pictures":
            redaction.see(data)
        pieces += [packer.compress(b'%b"%b":' % (separator, name.encode())), packer.compress(data)]
        separator = b","
    pieces += [packer.compress(b"}"), packer.flush()]
    return b64encode(b"".join(pieces)).decode()


def _request(reel: Reel, known: Loaded, request: CookedRequest) -> KeptRequest:
    page = request_page(reel, known, request)
    fields = {name: getattr(page, name) for name in RequestPage.__struct_fields__}
    origin = None if page.origin is None else _place(page.origin)
    made = KeptRequest(**{**fields, "origin": origin, "notes": [_bare(note) for note in page.notes]})
    before = known.parent(request.id)
    if before is not None:
        made.base = before.id
        made.messages, made.keep = shared([*before.request_messages, *before.response_messages], page.messages)
    return made


def shared(before: list[str], after: list[str]) -> tuple[list[str], list[tuple[int, int]]]:
    """What is new, and how the whole is put together from it and the pieces that stood there before."""
    places: dict[str, int] = {}
    for at, name in enumerate(before):
        places.setdefault(name, at)
    new: list[str] = []
    pieces: list[tuple[int, int]] = []
    for name in after:
        begin, end = pieces[-1] if pieces else (0, 0)
        if end and end < len(before) and before[end] == name:
            pieces[-1] = begin, end + 1
        elif (known := places.get(name)) is not None:
            pieces.append((known, known + 1))
        else:
            pieces.append((len(new), 0))
            new.append(name)
    return new, pieces


def _bare(note: Note) -> Note:
    return replace(note, origin=_place(note.origin))


def _place(origin: Origin) -> Origin:
    """Without the folder: where it lay on somebody's machine is nobody's business."""
    return replace(origin, file=PurePath(origin.file).name)


def _originals(reel: Reel, known: Loaded, redaction: Redaction | None) -> Iterator[tuple[str, KeptOriginal]]:
    """Settings, the record and a curl of each request that can be read again."""
    latest: dict[int, tuple[str, list[str], list[str]]] = {}
    """Of each conversation, the request before: its record and its curl in pieces."""

    def clean(value: Any) -> Any:
        return _without_pictures(value if redaction is None else redaction.values(value))

    for request, row in zip(known.cooked.requests, known.rows, strict=True):
        found = original(reel, request, clean)
        if found is None:
            continue
        raw, curl = _cut(found.raw), _cut(found.curl)
        base, raw_before, curl_before = latest.get(row.root, (None, [], []))
        latest[row.root] = request.id, raw, curl
        yield (
            request.id,
            KeptOriginal(
                found.settings,
                Pieces(*shared(raw_before, raw)),
                Pieces(*shared(curl_before, curl)),
                found.size,
                found.cut,
                base,
            ),
        )


def _without_pictures(value: Any) -> Any:
    """Replace long base64 texts: pictures are in the page already, where they can be seen. Any depth is fine."""
    whole = [value]
    level: list[Any] = [whole]
    while level:
        below: list[Any] = []
        for holder in level:
            for key, inner in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
                holder[key] = _without_picture(inner)
                if isinstance(inner, dict | list):
                    below.append(holder[key])
        level = below
    return whole[0]


def _without_picture(value: Any) -> Any:
    """Return a copy of a list or an object, a placeholder for a picture, and any other value unchanged."""
    match value:
        case str() if len(value) > _LONG and re.fullmatch(r"(?:data:[^,]*,)?[A-Za-z0-9+/=_-]*", value):
            return f"[{len(value):,} characters of base64 left out]"
        case dict() | list():
            return value.copy()
    return value


def _cut(text: str) -> list[str]:
    """Where texts and objects end, in JSON of many lines or of one: marks behind them come and go."""
    return [piece for piece in re.split(r"(?<=\n)|(?<=\},)|(?<=\")(?=[,}\]\n])", text) if piece]


def _transcripts(reel: Reel, known: Loaded) -> Iterator[tuple[str, Told]]:
    if isinstance(reel, SessionReel):
        told = told_of(reel, known, None)
        yield "", Told(told.cards, told.turns)
        return
    for root in dict.fromkeys(row.root for row in known.rows):
        told = told_of(reel, known, known.rows[leaf_of(known, root)].id)
        yield str(root), Told(told.cards, told.turns)


def _pictures(reel: Reel, known: Loaded) -> Iterator[tuple[str, list[Picture]]]:
    if isinstance(reel, SessionReel):
        for card in told_of(reel, known, None).cards:
            if card.pictures and card.key and (found := card_pictures(reel, known, card.key)):
                yield card.key, found
        return
    seen = {
        message.id for message in known.cooked.messages if message.content.startswith("[") or "\n[" in message.content
    }
    for request in known.cooked.requests:
        places = [
            (place, False, request.request_messages[place]) for place in new_places(request, known.parent(request.id))
        ]
        places += [(place, True, name) for place, name in enumerate(request.response_messages)]
        for place, answer, name in places:
            if name in seen and (found := pictures(reel, request, place, answer)):
                yield f"{request.id}/{'a' if answer else 'm'}{place}", found
