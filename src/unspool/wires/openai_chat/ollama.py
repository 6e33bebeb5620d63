"""Ollama's own API, `/api/chat` and `/api/generate`: an answer without choices, a stream of JSON lines."""

from collections.abc import Iterable
from typing import Any

from unspool.dialect import Folded
from unspool.sources.values import count, listing, mapping, text_of
from unspool.wires.values import kind_of

_COUNTS = ("prompt_eval_count", "eval_count")


def speaks(body: dict[str, Any]) -> bool:
    """Whether it is an answer of Ollama's, or a piece of one."""
    said = isinstance(body.get("message"), dict) or isinstance(body.get("response"), str)
    return said and isinstance(body.get("done"), bool)


def plain(body: dict[str, Any]) -> dict[str, Any]:
    """The answer as Chat Completions would give it."""
    if not speaks(body):
        return body
    rest = {key: value for key, value in body.items() if key not in ("message", "response", "thinking", *_COUNTS)}
    told = {"content": body.get("response"), "thinking": body.get("thinking")}
    finish = body.get("done_reason") or ("stop" if body["done"] else None)
    choice = {"index": 0, "message": {**told, **mapping(body.get("message"))}, "finish_reason": finish}
    counted = {key: body[key] for key in _COUNTS if key in body}
    return {**rest, "choices": [choice], **({"usage": counted} if counted else {})}


def fold(events: Iterable[Any]) -> Folded:
    body: dict[str, Any] = {}
    folded = Folded(body, complete=False)
    message: dict[str, Any] = {}
    unknown: set[str] = set()
    for event in events:
        if isinstance(event, str):
            continue
        chunk = mapping(event)
        if chunk.get("error"):
            folded.error = event
        elif speaks(chunk):
            said = {key: chunk[key] for key in ("response", "thinking") if key in chunk} | mapping(chunk.get("message"))
            _grow(message, said)
            body.update({key: value for key, value in chunk.items() if key not in ("message", "response", "thinking")})
            folded.complete = chunk["done"] is True
        else:
            unknown.add(kind_of(event))
    if body:
        body["message"] = {**message, "content": message.pop("response", message.get("content"))}
    folded.unknown = tuple(sorted(unknown))
    return folded


def _grow(message: dict[str, Any], said: dict[str, Any]) -> None:
    for key, value in said.items():
        if key != "role" and isinstance(value, str):
            message[key] = text_of(message.get(key)) + value
        elif isinstance(value, list):  # calls come whole, one after another
            message[key] = [*listing(message.get(key)), *value]
        elif value is not None:
            message[key] = value


def counts(raw: dict[str, Any]) -> tuple[int, int]:
    """What was read and what was written."""
    return count(raw.get(_COUNTS[0])), count(raw.get(_COUNTS[1]))
