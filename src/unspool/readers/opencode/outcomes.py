"""How OpenCode's messages end: who answered, what it cost, and what went wrong. And what its sessions are called."""

import re
from typing import Any

from unspool.model import Content
from unspool.model.event import Notification, TokenUsage, TurnEnd
from unspool.sources.values import count, mapping, string, text_of

_UNTITLED = re.compile(r"(New|Child) session - \d{4}-\d\d-\d\dT[\d:.]+Z")
"""What it calls a session of which the model has made no title."""


def title_of(value: Any) -> str | None:
    title = string(value)
    return None if title is None or _UNTITLED.fullmatch(title) else title


def model_of(value: Any) -> str | None:
    model = mapping(value)
    return string(model.get("modelID") or model.get("id"))


def usage_of(value: Any, model: str | None) -> TokenUsage | None:
    """Reasoning stands beside `output`, or, where the total says so, inside of it. None if nothing was counted."""
    tokens = mapping(value)
    cache = mapping(tokens.get("cache"))
    read, write, given = count(cache.get("read")), count(cache.get("write")), count(tokens.get("input"))
    output, reasoning = count(tokens.get("output")), count(tokens.get("reasoning"))
    inside = reasoning <= output and count(tokens.get("total")) == given + output + read + write
    if not inside:
        output += reasoning
    return TokenUsage(model, given, read, write, output, reasoning) if given or output or read or write else None


def reason_of(error: Any) -> str:
    told = mapping(error)
    return text_of(mapping(told.get("data")).get("message") or told.get("message") or told.get("name") or error)


def failure(error: Any) -> Content:
    """Newer versions call the name of an error its type."""
    told = mapping(error)
    name, reason = text_of(told.get("name")), reason_of(error)
    if name == "MessageAbortedError" or told.get("type") == "aborted":
        return TurnEnd("interrupted", text=reason)
    return Notification(f"{name}: {reason}" if name and name != reason else reason, "error")
