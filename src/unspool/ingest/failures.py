"""What went wrong with a call, in words: from text, an object, an HTTP error body or an SSE error event."""

from typing import Any

from unspool.model import Failure
from unspool.sources.jsontext import Unreadable, dumps, loads

_HOLDS = ("error", "body", "response", "detail", "base_resp")
_SAYS = (
    *("message", "detail", "error_description", "error_msg", "status_msg", "msg", "error", "body", "reason"),
    *("type", "code", "status"),
)
_BARE = {"id", "detail", "message", "code", "status", "request_id", "timestamp", "path"}
"""A body of these keys alone is no answer of any API."""


def failure_in_body(body: Any, status: int | None) -> Failure | None:
    """The failure that a response body reports, if it is one."""
    first = body[0] if isinstance(body, list) and body else body
    if not isinstance(first, dict):
        return None
    if first.get("error") or first.get("type") == "error":
        return failure_of(body)
    if is_refused(first):
        return failure_of(body)
    match first.get("choices"):
        case [{"error": dict(broken)}, *_] if broken:  # OpenRouter: what was said before it broke stands beside it
            return failure_of(broken)
    if (status is not None and status >= 400) or (first.keys() - {"id"} and first.keys() <= _BARE):
        return failure_of(body)
    return None


def is_refused(body: dict[str, Any]) -> bool:
    """MiniMax says so in the body, with a status of 200, and in a stream too."""
    match body.get("base_resp"):
        case {"status_code": int(code)}:
            return bool(code) and not body.get("choices")
    return False


def failure_of(raw: Any) -> Failure | None:
    """None for what says nothing: null, false, an empty text."""
    if not raw:
        return None
    return Failure(_words(raw, depth=4) or dumps(raw), raw)


def _words(value: Any, depth: int) -> str | None:
    """The message a person should read: the innermost error's, wherever a provider has put it."""
    match value:
        case str() if depth and _is_body(value):
            try:
                return _words(loads(value), depth - 1) or value.strip()
            except Unreadable:
                return value.strip()
        case str():
            return value.strip() or None
        case list() if value:
            return _words(value[0], depth - 1)
        case dict() if depth:
            named = [key for key in value if key.endswith("Exception")]  # as Bedrock does
            held = (value.get(key) for key in (*_HOLDS, *named))
            inner = (_words(each, depth - 1) for each in held if isinstance(each, dict | list) or _is_body(each))
            said = (value[key].strip() for key in _SAYS if isinstance(value.get(key), str))
            return next((words for words in (*inner, *said) if words), None)
    return None


def _is_body(value: Any) -> bool:
    """A body that was kept as text."""
    return isinstance(value, str) and value.lstrip().startswith("{")
