"""Which session a call belongs to, by the names that clients give in bodies and headers."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from unspool.sources.jsontext import Unreadable, strict
from unspool.sources.values import mapping

KEYS = ("session_id", "sessionId", "session", "conversation_id", "conversation", "thread_id")
_USER, _LONGEST = re.compile(r"_session_([\w-]+)$"), 500
HEADERS = ("session-id", "session_id", "conversation_id")
MORE_HEADERS = ("agent-session-id", "x-session-id")
"""On the wire, what names a cache goes before these."""


def named(holder: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    """The first of the keys that holds a name, or an object with an id."""
    for key in keys:
        value = holder.get(key)
        if type(value) is dict:
            value = value.get("id")
        if type(value) in (str, int) and value != "":
            return str(value)
    return None


def of_user(user: Any) -> str | None:
    """Claude Code puts the session into the user's id: behind a word, or as JSON."""
    if not isinstance(user, str):
        return None
    if match := _USER.search(user[-_LONGEST:]):
        return match[1]
    try:
        return named(mapping(strict(user)), KEYS)
    except Unreadable:
        return None


def of_metadata(metadata: Any) -> str | None:
    held = mapping(metadata)
    return named(held, KEYS) or of_user(held.get("user_id"))


def session_named(metadata: Any, headers: Mapping[str, str], cache_key: Any) -> str | None:
    """Of a call on the wire; the names of its headers in small letters."""
    return (
        of_metadata(metadata)
        or named(headers, HEADERS)
        or (cache_key if isinstance(cache_key, str) and cache_key else None)
        or named(headers, MORE_HEADERS)
    )
