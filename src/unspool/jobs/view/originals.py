"""The record that a request came from, read again: settings, raw JSON, a curl command, pictures.

Only files that were given are read: a cooked file names others, and these stay closed.
"""

import codecs
import re
import shlex
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from unspool.dialect import Record
from unspool.exports.cooked import documents
from unspool.ingest.traffic import Traffic
from unspool.ingest.wrapping import sent
from unspool.jobs.view.loaded import Loaded
from unspool.jobs.view.pages import Original, Picture
from unspool.jobs.view.reels import Reel, SessionReel
from unspool.jobs.view.threads import ThreadReel
from unspool.model import CookedRequest, Document, Event, Exchange
from unspool.model.event import ToolOutput
from unspool.sources.density import lean
from unspool.sources.files import is_packed
from unspool.sources.jsontext import loads_or_text
from unspool.sources.records import read_records
from unspool.sources.storage import local
from unspool.sources.values import mapping, text_of

_RAW = 1_000_000
_BODY = 200_000
_PICTURE = 8_000_000
_CONTINUATION = bytes(range(0x80, 0xC0))
"""Bytes of UTF-8 that do not begin a character."""
_SHOWN = re.compile(r"image/(?:png|jpeg|gif|webp|avif|bmp)$")
"""What a browser shows without running anything: no SVG."""
_HOSTS = {
    "claude": "https://api.anthropic.com/v1/messages",
    "openai": "https://api.openai.com/v1/chat/completions",
    "responses": "https://api.openai.com/v1/responses",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/models/{model}:generateContent",
    "interactions": "https://generativelanguage.googleapis.com/v1beta/interactions",
}
_KEYS = {
    "claude": ("x-api-key: $ANTHROPIC_API_KEY", "anthropic-version: 2023-06-01"),
    "gemini": ("x-goog-api-key: $GEMINI_API_KEY",),
    "interactions": ("x-goog-api-key: $GEMINI_API_KEY",),
}


def record_of(reel: Reel, request: CookedRequest) -> Record | None:
    """None where it cannot be had: the file was not given, or is gone or changed."""
    if isinstance(reel, ThreadReel):
        return reel.record(request)
    origin = request.origin
    if origin.file not in reel.files() or not origin.size:
        return None
    try:
        if not is_packed(origin.file):
            with local(origin.file) as file:
                file.seek(origin.offset)
                return Record(lean(file.read(origin.size).removeprefix(codecs.BOM_UTF8)), origin)
        for record in read_records(origin.file):
            if isinstance(record, Record) and record.origin.line == origin.line:
                return record
    except OSError:
        return None
    return None


def exchange_of(reel: Reel, request: CookedRequest) -> Exchange | None:
    if isinstance(reel, SessionReel):
        return None
    if isinstance(reel, ThreadReel):
        return reel.exchange(request)
    record = record_of(reel, request)
    if record is None:
        return None
    found = [item for item in Traffic().read(record) if isinstance(item, Exchange)]
    named = (item for item in found if item.response.id == request.response_id)  # a WebSocket holds several
    return next(named, found[0] if found else None)


def original(reel: Reel, request: CookedRequest, clean: Callable[[Any], Any] = lambda value: value) -> Original | None:
    """Return what was recorded of a request. `clean` takes secrets out of what is to be shared.

    A record may be very large, so each form of it is dropped before the next one is made.
    """
    call = _call_of(reel, request)
    if (record := record_of(reel, request)) is None:
        return None
    value, size = loads_or_text(record.data), len(record.data)
    del record
    value = clean(value)
    address = _address(mapping(value))
    data = value.encode() if isinstance(value, str) else msgspec.json.encode(value)
    is_text = isinstance(value, str)
    del value
    curl = ""
    if call is not None and not isinstance(reel, ThreadReel) and (body := sent(data)) is not None:
        curl = _curl(call, address, msgspec.json.encode(body))
        del body
    if not is_text:
        data = msgspec.json.format(data, indent=2)
    raw = data[: 4 * _RAW].decode("utf-8", "ignore")[:_RAW]
    settings = "" if call is None else _json(clean(call.settings))
    return Original(settings, raw, curl, size, max(0, _characters(data) - _RAW))


class _Call(msgspec.Struct):
    """What a curl command needs to know of a request beside its body."""

    wire: str
    model: str | None
    settings: dict[str, Any]


def _call_of(reel: Reel, request: CookedRequest) -> _Call | None:
    exchange = exchange_of(reel, request)
    return None if exchange is None else _Call(exchange.wire, exchange.model, exchange.settings)


def _characters(text: bytes) -> int:
    """Return the length of UTF-8 text, which is not decoded as a whole."""
    pieces = (text[at : at + _RAW] for at in range(0, len(text), _RAW))
    return sum(len(piece.translate(None, _CONTINUATION)) for piece in pieces)


def _address(record: dict[str, Any]) -> str:
    """Return the URL in a record or its request, without the query."""
    request = mapping(record.get("request"))
    places = (place for part in (record, request) if (place := text_of(part.get("url"))).startswith("http"))
    return next(places, "").partition("?")[0]


def _curl(call: _Call, address: str, body: bytes) -> str:
    """Format the call again. Keys are never written: variables stand for them."""
    url = address or _HOSTS.get(call.wire, _HOSTS["openai"]).format(model=call.model or "MODEL")
    lines = [f"curl {shlex.quote(url)}", "  -H 'content-type: application/json'"]
    lines += [f'  -H "{header}"' for header in _KEYS.get(call.wire, ("authorization: Bearer $OPENAI_API_KEY",))]
    if (size := _characters(body)) > _BODY:
        lines.append(f"  --data @request.json  # {size:,} characters: save the request of the raw record there")
    else:
        lines.append(f"  --data {shlex.quote(body.decode())}")
    return " \\\n".join(lines)


def pictures(reel: Reel, request: CookedRequest, at: int, answer: bool) -> list[Picture]:
    """Of the message at this place of the request, or of its answer."""
    exchange = exchange_of(reel, request)
    if exchange is None:
        return []
    said = exchange.response.messages if answer else exchange.messages
    rows = [row for message in said for row in documents(message)]
    return [_picture(document) for document in rows[at]] if 0 <= at < len(rows) else []


def card_pictures(reel: SessionReel, known: Loaded, key: str) -> list[Picture]:
    """Of a card of a session: those in the record that it came from, and in that of its result."""
    events = {event.id: event for event in known.events}
    event = events.get(key)
    if event is None:
        return []
    records = [event]
    call = getattr(event.content, "provider_call_id", None)
    records += [
        other
        for other in known.events
        if call and isinstance(other.content, ToolOutput) and other.content.provider_call_id == call
    ]
    return [picture for each in records for picture in _seen(reel, each)]


def _seen(reel: SessionReel, event: Event) -> Iterator[Picture]:
    origin = event.origin
    if origin.file not in reel.files() or not origin.size or not can_be_read_again(origin.file):
        return
    with local(origin.file) as file:
        file.seek(origin.offset)
        yield from _in_value(loads_or_text(file.read(origin.size)))


def can_be_read_again(path: str) -> bool:
    """Whether a part of it can be had without the rest."""
    try:
        return not is_packed(path)
    except OSError:
        return False


def _in_value(value: Any) -> Iterator[Picture]:
    """Images in a record of any agent's: base64 beside its type, or a `data:` address."""
    match value:
        case {"data": str(data), **rest} if (
            kind := next((rest[key] for key in ("media_type", "mimeType", "mime_type", "mime") if key in rest), None)
        ) and isinstance(kind, str):
            yield _picture(Document("image", "base64", data, kind))
        case dict():
            for inner in value.values():
                yield from _in_value(inner)
        case list():
            for inner in value:
                yield from _in_value(inner)
        case str() if value.startswith("data:image/") and ";base64," in value[:64]:
            kind, _, data = value[5:].partition(";base64,")
            yield _picture(Document("image", "base64", data, kind))


def _picture(document: Document) -> Picture:
    kind = document.media_type or ""
    address = None
    plain = document.source == "base64" and len(document.data) <= _PICTURE and _SHOWN.match(kind)
    if plain and re.fullmatch(r"[A-Za-z0-9+/=\s_-]*", document.data):
        address = f"data:{kind};base64,{_plain(document.data)}"
    named = document.name or (document.data if document.source in ("url", "file") else "")
    return Picture(document.medium, document.media_type, address, named[:500])


def _plain(data: str) -> str:
    """Base64 as browsers read it: of the letters of addresses they know nothing."""
    data = "".join(data.split()).replace("-", "+").replace("_", "/").rstrip("=")
    return data + "=" * (-len(data) % 4)


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
