"""Requests to a model. Only the list of what was on the screen knows them: when they began, and what they used."""

from typing import Any

from msgspec import Struct

from unspool.model import Origin
from unspool.model.event import TokenUsage
from unspool.readers.cline.tags import object_in
from unspool.sources.values import count, listing, mapping, string, text_of

_COUNTED = frozenset(("api_req_started", "deleted_api_reqs", "subagent_usage"))
_BOOKKEEPING = frozenset(
    ("checkpoint_created", "checkpoint_saved", "api_req_retried", "api_req_finished", "hook_status")
)


class Request(Struct):
    ts: Any
    key: str
    origin: Origin
    usage: TokenUsage | None
    failure: str | None
    behind: int | None
    """The last message of the history when it began, counted from 0; -1 is none."""
    single: bool
    """It is a request, and not a sum of some that were."""
    answered: Any = None
    """When the first of what came back was shown."""


def requests_of(screen: Any, file: str, writer: str) -> list[Request]:
    """In their order. What a request used is written into its entry when it ends; once, it got an entry of its own."""
    found: list[Request] = []
    keys: set[str] = set()
    for number, item in enumerate(listing(screen), 1):
        if not isinstance(item, dict):
            continue
        said = text_of(item.get("say")) if item.get("type") == "say" else ""
        if said not in _COUNTED:
            if found and found[-1].answered is None and said not in _BOOKKEEPING:
                found[-1].answered = item.get("ts")
            if said == "api_req_finished" and found and found[-1].usage is None:
                found[-1].usage = usage_of(object_in(item.get("text")), None, writer)
            continue
        told = object_in(item.get("text"))
        key = f"usage:{text_of(item.get('ts'))}"
        key = f"{key}:{number}" if key in keys else key
        keys.add(key)
        behind = item.get("conversationHistoryIndex")
        request = Request(
            ts=item.get("ts"),
            key=key,
            origin=Origin(file, number, 0, 0),
            usage=usage_of(told, string(mapping(item.get("modelInfo")).get("modelId")), writer),
            failure=string(told.get("streamingFailedMessage")),
            behind=behind if type(behind) is int else None,
            single=said == "api_req_started",
        )
        found.append(request)
    return found


def usage_of(told: dict[str, Any], model: str | None, writer: str) -> TokenUsage | None:
    """None where nothing was counted. Cline counts what was cached apart; Roo, in time, among what went in."""
    names = ("tokensIn", "cacheReads", "cacheWrites", "tokensOut")
    fresh, read, written, output = (count(told.get(name)) for name in names)
    if writer == "roo":
        fresh = without_cached(fresh, read + written)
    return counted(model, fresh, read, written, output)


def metrics_of(message: dict[str, Any], model: str | None) -> TokenUsage | None:
    """The same, where a message says it itself: only Anthropic's numbers keep apart what was cached."""
    metrics = mapping(message.get("metrics"))
    about = mapping(message.get("modelInfo"))
    tokens = mapping(metrics.get("tokens"))
    fresh = count(metrics.get("inputTokens")) or count(tokens.get("prompt"))
    read = count(metrics.get("cacheReadTokens")) or count(tokens.get("cached"))
    written = count(metrics.get("cacheWriteTokens"))
    output = count(metrics.get("outputTokens")) or count(tokens.get("completion"))
    if about.get("provider") != "anthropic" and about.get("providerId") != "anthropic":
        fresh = without_cached(fresh, read + written)
    return counted(string(about.get("id") or about.get("modelId")) or model, fresh, read, written, output)


def counted(model: str | None, fresh: int, read: int, written: int, output: int) -> TokenUsage | None:
    if not (fresh or read or written or output):
        return None
    return TokenUsage(model, fresh, read, written, output, 0)


def without_cached(total: int, cached: int) -> int:
    """What was not cached. A number below that of what was cannot contain it: then it is that of the rest alone."""
    return total - cached if total >= cached else total
