"""The calls of one file → its sessions: by the name that the calls give, else by the roots of their lineage.

A request may name the response that it continues, and leave out what was said before, where the provider holds that:
then it is put in front again.
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from unspool.graph.lineage import CONVERSATION
from unspool.ingest.facts import previous_of
from unspool.ingest.families import Families, lead_of
from unspool.model import Exchange, Message, Tool
from unspool.sources.naming import HEADERS, KEYS, MORE_HEADERS, named, of_metadata
from unspool.sources.values import mapping
from unspool.wires.values import offered

_SETTINGS = (*KEYS, "prompt_cache_key")
_HEADERS = (*MORE_HEADERS, *HEADERS)


def session_of(exchange: Exchange) -> str | None:
    """What the call names as its session, in the places where clients and recorders put it."""
    extra, settings = exchange.extra or {}, exchange.settings
    if found := named(extra, KEYS) or of_metadata(settings.get("metadata")):
        return found
    for name in ("headers", "request_headers"):
        headers = {key.lower(): value for key, value in mapping(extra.get(name)).items()}
        if found := named(headers, _HEADERS):
            return found
    return named(settings, _SETTINGS)


def split(exchanges: list[Exchange], name: str) -> Iterator[tuple[str, list[Exchange]]]:
    """Each session with its calls, in the order of their beginnings. `name` is for those that have none."""
    whole = list(remembered(exchanges))
    keys: list[str | int | None] = [session_of(exchange) for exchange in whole]
    families = Families()
    nameless = [at for at, key in enumerate(keys) if key is None]
    for at in nameless:
        keys[at] = families.place(whole[at]).root
    sessions: dict[str | int, list[Exchange]] = {}
    for key, exchange in zip(keys, whole, strict=True):
        if key is not None:
            sessions.setdefault(key, []).append(exchange)
    numbered = sum(isinstance(key, int) for key in sessions) > 1
    at = 0
    for session, calls in sessions.items():
        if isinstance(session, str):
            yield session, calls
        else:
            at += 1
            yield f"{name}-{at}" if numbered else name, calls


def remembered(exchanges: Iterable[Exchange]) -> Iterator[Exchange]:
    """The calls with what their provider remembered for them."""
    held: dict[str, tuple[tuple[Message, ...], tuple[Tool, ...]]] = {}
    for exchange in exchanges:
        before = previous_of(exchange.settings)
        said, tools = held.get(before or "", ((), ()))
        if _holds_tools(exchange):
            tools = exchange.tools or tools
        if before in held:
            messages = _joined(said, exchange.messages)
            exchange = replace(exchange, messages=messages, tools=exchange.tools or tools)  # noqa: PLW2901
        response = exchange.response
        if response.id and (exchange.wire in ("responses", "interactions") or "thread" in exchange.settings):
            held[response.id] = (*exchange.messages, *response.messages), tools
            if before is not None and before.startswith(CONVERSATION):
                held[before] = held[response.id]
        yield exchange


def _holds_tools(exchange: Exchange) -> bool:
    """A thread of Anthropic's does. Of Responses only those tools go on that are a part of what was said."""
    leading = exchange.messages[: lead_of(exchange.messages)]
    return exchange.wire == "claude" or any(offered(block) for message in leading for block in message.blocks)


def _joined(before: tuple[Message, ...], now: tuple[Message, ...]) -> tuple[Message, ...]:
    """What was said before, behind the system prompt of now: an old one is not remembered where there is a new one."""
    lead = lead_of(now)
    return (*now[:lead], *before[lead_of(before) if lead else 0 :], *now[lead:])
