"""A recorded call → its record, a line of JSON: bodies as they were sent, the facts around them beside.

    {"id", "timestamp", "duration_ms", "request", "response", "error", "method", "path", "status", …}

A body that is JSON stands in the record byte for byte; a stream as its lines; text as {"raw": …}; all else as
{"base64": …}. Compressed bodies are unpacked.
"""

import json
import re
from base64 import b64encode
from binascii import b2a_base64
from codecs import getincrementaldecoder
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import replace

from unspool.sources.callfile import Call, Ended
from unspool.sources.coding import Decoder
from unspool.sources.files import Damaged
from unspool.sources.naming import session_named
from unspool.sources.websocket import NoWebSocket, messages

if TYPE_CHECKING:
    from typing_extensions import Buffer

_NULL = Raw(b"null")
_HOLE, _HOLES = Raw(b"0"), b'"request":0,"response":0,'
"""What stands for the bodies while all around them is written."""
_STREAM = re.compile(rb"\s*(?:data|event):")
_LINE_END = re.compile("\r\n|\n|\r")
_value = msgspec.json.Decoder(Raw).decode
_utf8 = getincrementaldecoder("utf-8")
_SLICE = 1 << 16
_encode = msgspec.json.encode


Piece: TypeAlias = bytes | memoryview
Bytes: TypeAlias = bytes | bytearray


class Recorded(Struct):
    """One line of a trace. The first six are what every recorder writes, the others stand beside them."""

    id: str
    timestamp: str
    duration_ms: int
    request: Raw
    response: Raw
    error: str | None
    method: str
    path: str
    status: int | None
    upstream: str | None
    request_headers: dict[str, str]
    response_headers: dict[str, str]
    ttfb_ms: float | None
    """Until the first byte of the answer came."""
    interrupted: bool
    interrupted_by: str | None
    request_bytes: int
    """As they were sent, compressed or not."""
    response_bytes: int
    client: str | None
    """What it calls itself: its User-Agent."""
    peer: str
    session: str | None
    chunks: list[tuple[int, int]] | UnsetType = UNSET
    """How the answer came: milliseconds, and bytes after unpacking."""
    request_trailers: dict[str, str] | UnsetType = UNSET
    response_trailers: dict[str, str] | UnsetType = UNSET
    session_id: str | UnsetType = UNSET
    started: str | UnsetType = UNSET


class _Body(Struct):
    metadata: Raw = _NULL
    prompt_cache_key: Raw = _NULL


_body = msgspec.json.Decoder(_Body).decode


def record_of(call: Call) -> Recorded:
    """A call that nobody ended was broken off with its recorder."""
    asked, answered = call.asked, call.answered
    ended = call.ended or Ended(by="recorder")
    status = answered.status if answered else None
    headers = answered.headers if answered else {}
    sent, pieces = [piece for _, piece in call.request], call.response
    request, keys = _request(sent, "" if asked.unpacked else asked.headers.get("content-encoding", ""))
    response, chunks = _response(pieces, "" if asked.unpacked else headers.get("content-encoding", ""), headers)
    if status == 101 and headers.get("upgrade", "").lower() == "websocket":
        packed = "permessage-deflate" in headers.get("sec-websocket-extensions", "")
        request = _talk(call.request, packed) or request
        if (told := _talk(pieces, packed)) is not None:
            response, chunks = told, UNSET
    return Recorded(
        id=asked.id,
        timestamp=asked.timestamp,
        duration_ms=round(call.last / 1000),
        request=request,
        response=response,
        error=ended.error,
        method=asked.method,
        path=asked.path,
        status=status,
        upstream=asked.upstream,
        request_headers=asked.headers,
        response_headers=headers,
        ttfb_ms=None if call.first_byte is None else round(call.first_byte / 1000, 1),
        interrupted=ended.by is not None,
        interrupted_by=ended.by,
        request_bytes=sum(map(len, sent)),
        response_bytes=sum(len(piece) for _, piece in pieces),
        client=asked.headers.get("user-agent"),
        peer=asked.peer,
        session=session_named(keys[0], asked.headers, keys[1]),
        chunks=chunks,
        request_trailers=call.trailers.get("request", UNSET),
        response_trailers=call.trailers.get("response", UNSET),
    )


def parts_of(record: Recorded) -> list["Buffer"]:
    """The line, in pieces: its bodies may be large, and need not be copied for it."""
    around = _encode(replace(record, request=_HOLE, response=_HOLE))
    before, between, after = around.partition(_HOLES)  # the first one: only what we made ourselves stands before it
    assert between
    return [before, b'"request":', record.request, b',"response":', record.response, b",", after, b"\n"]


def _unpacked(pieces: Iterable[memoryview], codings: str) -> Sequence[Piece]:
    """Piece by piece; as they are where they cannot be unpacked."""
    if not codings:
        return list(pieces)
    packed = list(pieces)
    try:
        decoder = Decoder(codings)
        return [decoder.feed(bytes(piece)) for piece in packed]
    except Damaged:
        return packed


def _request(pieces: Sequence[memoryview], codings: str) -> tuple[Raw, tuple[Any, Any]]:
    """The body, and what in it may name the session: its metadata and its cache key."""
    data = _joined(_unpacked(pieces, codings))
    if not data:
        return _NULL, (None, None)
    try:
        keys = _body(data)  # reads all of it, and so is as good a check as any
        whole: Bytes | None = _one_line(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # a list, no JSON, or what only json.loads takes
        keys, whole = _Body(), json_of(data)
    return _as_text(data) if whole is None else Raw(whole), (_loose(keys.metadata), _loose(keys.prompt_cache_key))


def _loose(raw: Raw) -> Any:
    return msgspec.json.decode(raw)


def _response(
    pieces: Sequence[tuple[int, memoryview]], codings: str, headers: dict[str, str]
) -> tuple[Raw, list[tuple[int, int]] | UnsetType]:
    came = _unpacked((piece for _, piece in pieces), codings)
    data = _joined(came)
    if not data:
        return _NULL, UNSET
    chunks = _timed(pieces, came)
    kind = headers.get("content-type", "")
    if kind.startswith("text/event-stream") or (not kind.startswith("application/json") and _STREAM.match(data)):
        return _stream(data), chunks
    whole = json_of(data)
    return _as_text(data) if whole is None else Raw(whole), chunks if len(chunks) > 1 else UNSET


def _joined(pieces: Sequence[Piece]) -> Bytes:
    """The body. As it was read it is in one piece already, of which those that came are views."""
    first = pieces[0] if pieces else b""
    if isinstance(first, memoryview) and isinstance(whole := first.obj, bytearray):
        return whole
    return b"".join(pieces)


def _talk(pieces: Sequence[tuple[int, memoryview]], packed: bool) -> Raw | None:
    """What one side of a WebSocket said, message by message; None if that is not what the bytes are."""
    try:
        said, rest = messages(pieces, packed)
    except NoWebSocket:
        return None
    return Raw(_encode({"websocket": True, "messages": said, **({"rest": rest} if rest else {})})) if said else None


def _timed(pieces: Sequence[tuple[int, memoryview]], came: Sequence[Piece]) -> list[tuple[int, int]]:
    """Pieces of one millisecond count as one."""
    chunks: list[tuple[int, int]] = []
    for (micros, _), piece in zip(pieces, came, strict=True):
        time = round(micros / 1000)
        if chunks and chunks[-1][0] == time:
            chunks[-1] = (time, chunks[-1][1] + len(piece))
        elif piece:
            chunks.append((time, len(piece)))
    return chunks


def json_of(data: Bytes) -> Bytes | None:
    """The JSON that the body is, in one line and otherwise as it was written; None if it is none."""
    try:
        _value(data)
        return _one_line(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _odd_json(data)


def _one_line(data: Bytes) -> Bytes:
    """JSON that is UTF-8, without the blanks around it."""
    _check_text(data)
    whole = data.strip() if data[:1].isspace() or data[-1:].isspace() else data
    return msgspec.json.format(whole, indent=-1) if b"\n" in whole or b"\r" in whole else whole


def _check_text(data: Bytes) -> None:
    """A UnicodeDecodeError for what is no UTF-8."""
    if not data.isascii():
        check = _utf8()
        for at in range(0, len(data), _SLICE):  # all at once would take four times the memory
            check.decode(data[at : at + _SLICE], final=at + _SLICE >= len(data))


def _odd_json(data: Bytes) -> bytes | None:
    """JSON with half a character in it, as JavaScript writes; None also for NaN and what is nested very deeply."""
    if data[:_SLICE].lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        value = json.loads(data, parse_constant=_refuse)
        return json.dumps(value, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        return None


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _as_text(data: Bytes) -> Raw:
    try:
        _check_text(data)
        return Raw(_encode({"raw": data.decode()}))
    except UnicodeDecodeError:
        value = bytearray(b'{"base64":"')
        for at in range(0, len(data), 3 * _SLICE):  # without a second copy
            value += b2a_base64(data[at : at + 3 * _SLICE], newline=False)
        value += b'"}'
        return Raw(value)


def _stream(data: Bytes) -> Raw:
    """The lines that say something. Where they do not tell the bytes again, those are kept too."""
    text = data.decode("utf-8", "replace")
    split = _LINE_END.split(text) if "\r" in text else text.split("\n")
    lines = [line for line in split if line]
    value: dict[str, Any] = {"stream": True, "sse_lines": lines}
    if "\r" in text:
        value["line_end"] = "\r\n"
    if restored(lines, value.get("line_end", "\n"))[: len(data)] != data:
        value.pop("line_end", None)
        value["base64"] = b64encode(data).decode()
    return Raw(_encode(value))


def restored(lines: Iterable[str], line_end: str = "\n") -> bytes:
    """A stream from its lines, as servers write it: an empty line behind each `data:` and each comment."""
    blank = line_end * 2
    return "".join([line + (blank if line.startswith(("data:", ":")) else line_end) for line in lines]).encode()
