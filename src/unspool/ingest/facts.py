"""Facts beside the bodies: duration, status, URL, model. Recorders put each in a place of their own."""

import re
from collections.abc import Iterator
from typing import Any

from unspool.graph.lineage import CONVERSATION
from unspool.ingest.envelope import Envelope, plain
from unspool.sources.values import listing, mapping

_GEMINI_MODEL = re.compile(r"/models/([^/:?]+):")
_BEDROCK_MODEL = re.compile(r"/model/([^/?]+)/")
_ALPHABET = str.maketrans("-_", "+/")

BESIDE = re.compile(
    r"count[_-]?tokens|/input_tokens|/embed(?:dings)?(?:[/?]|$)|embedContent|/moderations", re.IGNORECASE
)
"""Paths of calls that ask about a conversation, and are no part of it."""


def path_of(record: Envelope) -> str:
    """The URL or path of the call, or ""."""
    request = record.get("request")
    source = plain(record.get("_source"))
    for holder in (record, request, source):
        if isinstance(holder, dict):
            for key in ("url path", "url", "path", "endpoint"):
                if isinstance(found := holder.get(key), str):
                    return found
    return ""


def status_of(record: Envelope, response: Any, error: Any) -> int | None:
    for holder in (record, response, error, plain(record.get("_source"))):
        if isinstance(holder, dict):
            for key in ("status", "status_code", "http_status"):
                if isinstance(found := holder.get(key), int) and 100 <= found < 600:
                    return found
    return None


HOLDERS = ("previous_response_id", "previous_interaction_id", "conversation", "thread")
"""Settings that name what the provider holds of what came before."""


def previous_of(settings: dict[str, Any]) -> str | None:
    """The answer that a request goes on from, or its conversation, where the provider holds what came before."""
    previous = settings.get("previous_response_id", settings.get("previous_interaction_id"))
    if isinstance(thread := settings.get("thread"), dict):  # Anthropic
        previous = thread.get("previous_message_id")
    if previous is None and (held := settings.get("conversation")) is not None:
        named = held.get("id") if isinstance(held, dict) else held
        return named if isinstance(named, str) and named.startswith(CONVERSATION) else None
    return previous if isinstance(previous, str) else None


def resumed_by(told: dict[str, Any]) -> str | None:
    """The token of an answer that stopped before its end, as the answer tells it or the request that goes on with it.

    It is base64, and clients send it back in the other alphabet.
    """
    first = next(map(mapping, listing(told.get("candidates"))), told)
    token = first.get("continuationToken") or first.get("continuation_token")
    return token.translate(_ALPHABET).rstrip("=") if isinstance(token, str) and token else None


def _unquoted(name: str) -> str:
    """`v1:0` of `v1%3A0`."""
    if "%" not in name:
        return name
    from urllib.parse import unquote

    return unquote(name)


def models(request: dict[str, Any], path: str, answered: str | None) -> Iterator[str]:
    """Names of the model, the best first: the request's, the URL's, the answer's."""
    for key in ("model", "model_id", "modelId"):
        if isinstance(named := request.get(key), str) and named:
            yield named
    for pattern in (_GEMINI_MODEL, _BEDROCK_MODEL):
        if found := pattern.search(path):
            yield _unquoted(found[1])
    if answered:
        yield answered
