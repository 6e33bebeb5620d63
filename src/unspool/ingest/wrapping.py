"""What recorders and clients put around a call, taken off: so that all recorded calls look alike.

{"request": "{…}"}                             a request that was kept as text
{"request": {"method": …, "body": {…}}, …}     both sides as HTTP has them; a browser's HAR entry, see `har`
{"request": {"request": {"contents": […]}}}    Gemini's clients with a Google login
{"request": {"chat_history": […], "message"}}  Cohere's version 1
"""

import re
from typing import Any, cast

import msgspec
from msgspec import Raw

from unspool.dialect import Body
from unspool.ingest.envelope import Envelope, is_text_of_call, open_envelope, plain
from unspool.ingest.facts import path_of
from unspool.ingest.har import as_recorded, is_entry
from unspool.ingest.sockets import is_socket
from unspool.sources.jsontext import Unreadable
from unspool.sources.values import listing, time_of

_COHERE = re.compile(r"/v1/chat(\?|$)|/model/([\w-]+\.)?cohere\.")
_AROUND = {"status", "status_code", "headers", "timestamp", "body", "body_raw"}
"""Of an answer: what is not said in it, or does not say anything where it is empty."""
_encode = msgspec.json.encode
_open_body = msgspec.json.Decoder(Body).decode


def sent(data: bytes) -> dict[str, Any] | None:
    """What a record says was sent, without what a recorder put around it; None if that is no JSON object."""
    envelope = opened(data)
    request = envelope.get("request") if envelope is not None else None
    if not isinstance(request, dict) or is_no_json(request):
        return None
    return cast(dict[str, Any], plain(request))


def opened(data: bytes) -> Envelope | None:
    try:
        envelope = open_envelope(data)
        return unwrapped(as_recorded(envelope) if is_entry(envelope) else _as_object(envelope))
    except Unreadable:
        return None


def unwrapped(envelope: Envelope) -> Envelope:
    """The call without what was put around it; the same object, if nothing was."""
    return _with_messages(_without_wrapping(_without_http(envelope)))


def _as_object(envelope: Envelope) -> Envelope:
    """Some recorders keep what was sent as text."""
    if not is_text_of_call(request := envelope.get("request")):
        return envelope
    try:
        return {**envelope, "request": _open_body(cast(str, request))}
    except Unreadable:
        return envelope


def _without_http(envelope: Envelope) -> Envelope:
    """Some recorders keep method, headers and body of both sides: {"request": {"method": …, "body": {…}}, …}."""
    request = envelope.get("request")
    if not isinstance(request, dict) or not ({"method", "headers", "url", "path", "body"} & request.keys()):
        return envelope
    response = envelope.get("response")
    if is_socket(request) and isinstance(response, dict) and is_socket(response):
        return envelope
    body = request["body"] if "body" in request else request.get("content")
    try:
        opened = _open_body(body if isinstance(body, str) else _encode(body))
    except Unreadable:  # a body that is no JSON object: the request stays as it is
        return envelope
    unwrapped: Envelope = {**envelope, "request": opened}
    for key in ("method", "path", "url", "endpoint", "timestamp"):
        if key not in envelope and isinstance(fact := request.get(key), str | int | float):
            unwrapped[key] = fact
    if isinstance(response, dict):
        began, ended = time_of(request.get("timestamp")), time_of(response.get("timestamp"))
        if began is not None and ended is not None:
            unwrapped.setdefault("duration_ms", ended - began)
        held = ("body", "body_raw", *(("content",) if isinstance(response.get("content"), str) else ()))
        if not response.keys().isdisjoint(held):
            unwrapped.setdefault("status", cast(Any, response.get("status", response.get("status_code"))))
        for key in held:
            if response.get(key) is not None:  # else it was a stream, in a key beside it
                unwrapped["response"] = cast(Any, response[key])
                break
        else:
            if response.keys() <= _AROUND:  # nothing came back
                unwrapped["response"] = None
    return unwrapped


def _without_wrapping(envelope: Envelope) -> Envelope:
    """Gemini's clients with a Google login send {"model": …, "project": …, "request": {"contents": […], …}}."""
    request = envelope.get("request")
    inner = request.get("request") if isinstance(request, dict) else None
    if not isinstance(request, dict) or not isinstance(inner, dict) or "contents" not in inner or "contents" in request:
        return envelope
    rest = {key: value for key, value in request.items() if key != "request"}
    return {**envelope, "request": {**rest, **_open_body(_encode(inner))}}


def _with_messages(envelope: Envelope) -> Envelope:
    """Cohere's version 1 has the last message apart: {"chat_history": […], "message": …, "tool_results": […]}."""
    request = envelope.get("request")
    if not isinstance(request, dict) or "message" not in request or "messages" in request:
        return envelope
    if not isinstance(request.get("chat_history"), list) and not _COHERE.search(path_of(envelope)):
        return envelope
    told = [_encode({"role": "TOOL", "tool_results": tools})] if (tools := request.get("tool_results")) else []
    last = [_encode({"role": "USER", "message": request["message"]})] if request["message"] != "" or not told else []
    messages = [*listing(request.get("chat_history")), *map(Raw, [*told, *last])]
    known = ("message", "tool_results", *(("chat_history",) if isinstance(request.get("chat_history"), list) else ()))
    return {**envelope, "request": {**{k: v for k, v in request.items() if k not in known}, "messages": messages}}


def is_no_json(request: Any) -> bool:
    """Whether a recorder kept text or bytes in place of a request: an upload, a WebSocket, what broke off."""
    return list(request) in (["raw"], ["base64"]) or is_socket(request)
