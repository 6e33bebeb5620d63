"""Why the prompt cache missed: what of the parent's prompt should have been served from it, and what stood in the way.

Providers keep the beginning of a prompt: tools first, then the system prompt, then messages. The first thing that
differs ends what can be reused. With Anthropic only what stands before a mark (`cache_control`) is kept, for five
minutes or an hour; others keep by themselves what is longer than some 1,024 tokens, for some minutes. Where the
provider itself says why it missed, its reason comes first.
"""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

import msgspec

from unspool.jobs.view.lifetimes import lifetime
from unspool.jobs.view.pages import CacheReport
from unspool.jobs.view.parting import Step, why
from unspool.model import CookedMessage, CookedRequest, CookedTool, Exchange
from unspool.transforms.prices import rates_of

_LEAST = 1024
"""Tokens below which nothing is kept."""
_SHARE = 0.1
"""What is missed of the expected without being called a miss: providers count in steps."""
_MARKED = "claude"
_LOOK_BACK = 20
"""Blocks before a mark among which the provider looks for what it kept."""
_INCONCLUSIVE = ("unavailable", "previous_message_not_found", "comparison_response_not_found")
"""Reasons by which a provider says that it does not know."""
_NAMED = (
    ("model_changed",),
    ("tools_changed",),
    ("text_format_changed", "reasoning_effort_changed", "verbosity_changed", "service_tier_changed"),
    ("system_changed", "messages_changed", "input_changed"),
)
"""Reasons that name a change: of the model, the tools, a setting, the prompt."""
_SETTINGS = ("tool_choice", "thinking", "output_config", "reasoning", "reasoning_effort", "response_format")
"""Settings that are part of what is kept."""


def expected(request: CookedRequest, before: CookedRequest) -> int:
    """Tokens of the parent's prompt that the cache should hold now."""
    usage = before.usage
    if usage is None or before.error is not None:
        return 0
    kept = usage.cache_read + usage.cache_write
    told = any(each is not None and each.cache_write for each in (usage, request.usage))
    return kept if before.format == _MARKED or told else usage.input + kept


def missed(request: CookedRequest, before: CookedRequest | None) -> int:
    """Tokens that should have been read from the cache and were not; 0 where nothing tells."""
    if before is None or request.usage is None or not _counts(request, before):
        return 0
    whole = request.usage.input + request.usage.cache_read + request.usage.cache_write
    due = min(expected(request, before), whole)
    lost = due - request.usage.cache_read
    return lost if due >= _LEAST and lost > max(_SHARE * due, 256) else 0


def _counts(request: CookedRequest, before: CookedRequest) -> bool:
    """Whether the provider tells about its cache at all."""
    for told in (request.usage, before.usage):
        if told is not None and (told.cache_read or told.cache_write or _mentions(told.raw)):
            return True
    return False


def _mentions(value: Any) -> bool:
    if isinstance(value, dict):
        return any("cach" in key.lower() or _mentions(inner) for key, inner in value.items())
    return False


class Asked(msgspec.Struct):
    """A request, and what is known of it: as it was recorded, if that can still be read."""

    request: CookedRequest
    tools: Sequence[CookedTool]
    messages: Sequence[CookedMessage]
    exchange: Exchange | None = None
    path: Sequence[Step] = ()
    """The requests that lead to it, and itself; of the parent alone."""


def report(now: Asked, before: Asked | None) -> CacheReport:
    """Return what the cache did for a request, with the provider's own reason where there is one."""
    made = _report(now, before)
    made.provider = now.request.cache_miss
    if made.provider is not None and made.state != "missed":
        no_miss = " The counts of tokens show no such miss." if made.state == "hit" else ""
        made.words.append(f"{_provider_words(now.request)}{no_miss}")
    return made


def never_cached(request: CookedRequest) -> CacheReport:
    """Return the report on a call of a model of which the recording has no cached call at all."""
    words = f"No call of {request.model} in this recording read from a cache or wrote to one."
    return CacheReport("off", [words], provider=request.cache_miss)


def _report(now: Asked, before: Asked | None) -> CacheReport:
    usage = now.request.usage
    if usage is None:
        return CacheReport("unknown", ["No usage was recorded, so nothing tells what the cache did."])
    if before is None:
        read = f"{_tokens(usage.cache_read)} were read" if usage.cache_read else "nothing was there to be read"
        words = f"The first request of its conversation: {read}."
        return CacheReport("first", [words], read=usage.cache_read)
    if not _counts(now.request, before.request):
        return CacheReport("unknown", ["The provider did not say what its cache did."])
    due, lost = expected(now.request, before.request), missed(now.request, before.request)
    if not due and now.request.format == _MARKED and not usage.cache_read:
        return CacheReport("off", [_off(before)], 0, 0)
    if not lost:
        short = "" if due >= _LEAST else f" Prompts below {_LEAST:,} tokens are mostly not kept."
        if not usage.cache_read:
            return CacheReport("hit", [f"Nothing was due from the cache.{short}"], due, 0)
        told = f"{usage.cache_read:,} of {_tokens(due)} due" if due else _tokens(usage.cache_read)
        return CacheReport("hit", [f"{told} were read."], due, usage.cache_read)
    reasons, old, new = _reasons(now, before)
    head = f"{usage.cache_read:,} of {_tokens(due)} due were read, {lost:,} missed."
    cost = _cost(now.request, lost)
    lives = list(lifetime(before.request, before.exchange, before.path).seconds)
    hit = usage.cache_read
    return CacheReport("missed", [head, *reasons], due, hit, lost, cost, lifetimes=lives, before=old, after=new)


def _reasons(now: Asked, before: Asked) -> tuple[list[str], str, str]:
    """Return the reasons in sentences, the provider's before ours, and what differs.

    If the provider names a change, our own reason is used only for the place of that change.
    """
    miss = now.request.cache_miss
    if miss is None:
        reason, old, new = _reason(now, before)
        return [reason], old, new
    told = _provider_words(now.request)
    if miss.reason in _INCONCLUSIVE:
        reason, old, new = _reason(now, before)
        return [told, reason], old, new
    finders = (_model, _tools, _settings, _message)
    shown = next((finder for names, finder in zip(_NAMED, finders, strict=True) if miss.reason in names), None)
    found = shown(now, before) if shown is not None else None
    return ([told], "", "") if found is None else ([told, found[0]], found[1], found[2])


def _provider_words(request: CookedRequest) -> str:
    """Return the provider's reason in its own words: `Anthropic: messages_changed (93,042 tokens).`"""
    miss = request.cache_miss
    if miss is None:
        return ""
    model = (request.response_model or request.model or "").lower()
    is_anthropic, is_openai = request.format == _MARKED or "claude" in model, request.format == "responses"
    seller = "Anthropic" if is_anthropic else "OpenAI" if is_openai else "The provider"
    return f"{seller}: {miss.reason}{f' ({_tokens(miss.tokens)})' if miss.tokens else ''}."


def _tokens(number: int) -> str:
    return f"{number:,} tokens"


def _off(before: Asked) -> str:
    if before.exchange is not None and not list(_marks(before.exchange)):
        return "Nothing is cached: the request before this one has no cache marks (`cache_control`)."
    return "Nothing was written to the cache by the request before this one."


def _cost(request: CookedRequest, lost: int) -> float | None:
    """What was paid for the missed tokens, less what reading them would have cost."""
    usage, model = request.usage, request.response_model or request.model
    if usage is None or model is None:
        return None
    whole = usage.input + usage.cache_read + usage.cache_write
    rates = rates_of(model, whole, request.timestamp, request.format) or rates_of(
        request.model or model, whole, request.timestamp, request.format
    )
    if rates is None:
        return None
    written = min(lost, usage.cache_write)
    # What was written for an hour costs more. Which of the written tokens were missed is not known, so all count alike.
    share = written / usage.cache_write if written else 0.0
    paid = share * rates.cost(usage).cache_write + (lost - written) * rates.input / 1e6
    return paid - lost * rates.cache_read / 1e6


def _reason(now: Asked, before: Asked) -> tuple[str, str, str]:
    """In a sentence, and what differs."""
    for found in (
        _model(now, before),
        _compacted(now),
        _tools(now, before),
        _settings(now, before),
        _message(now, before),
    ):
        if found is not None:
            return found
    if (late := _late(now, before)) is not None:
        return late
    if (moved := _moved(now, before)) is not None:
        return moved
    usage = now.request.usage
    if usage is None or not before.path:
        return "Both prompts begin alike and in time, as far as is known: the provider dropped it.", "", ""
    whole = usage.input + usage.cache_read + usage.cache_write
    is_log = not now.tools and (now.exchange is None or not now.exchange.origin.size)
    return why(usage.cache_read, whole, before.path, _prompted(now, before), is_log), "", ""


def _prompted(now: Asked, before: Asked) -> bool:
    """Whether somebody asked something anew, rather than that tools answered."""
    known = {message.id for message in before.messages}
    new = [message.role for message in now.messages if message.id not in known]
    return "user" in new


def _model(now: Asked, before: Asked) -> tuple[str, str, str] | None:
    old, new = before.request.model or "?", now.request.model or "?"
    return None if old == new else (f"The model changed from {old} to {new}: each has a cache of its own.", old, new)


def _compacted(now: Asked) -> tuple[str, str, str] | None:
    if now.request.parent_reason != "compaction":
        return None
    return "The conversation goes on from a summary: what stood before it is gone from the prompt.", "", ""


def _tools(now: Asked, before: Asked) -> tuple[str, str, str] | None:
    old, new = before.tools, now.tools
    if [tool.id for tool in old] == [tool.id for tool in new]:
        return None
    was, now_is = {tool.name: tool for tool in old}, {tool.name: tool for tool in new}
    for tool in new:
        other = was.get(tool.name)
        if other is not None and other.id != tool.id:
            part = "description" if other.description != tool.description else "parameters"
            return (
                f"Tool `{tool.name}` changed its {part}; tools stand before everything else.",
                other.description if part == "description" else _json(other.parameters),
                tool.description if part == "description" else _json(tool.parameters),
            )
    added = [tool.name for tool in new if tool.name not in was]
    removed = [tool.name for tool in old if tool.name not in now_is]
    told = [
        f"{verb} {', '.join(f'`{name}`' for name in names[:5])}"
        for verb, names in (("added:", added), ("removed:", removed))
        if names
    ]
    if told:
        return f"The tools changed ({'; '.join(told)}); they stand before everything else.", "", ""
    return "The tools stand in another order.", "\n".join(was), "\n".join(now_is)


def _settings(now: Asked, before: Asked) -> tuple[str, str, str] | None:
    if now.exchange is None or before.exchange is None:
        return None
    old, new = before.exchange.settings, now.exchange.settings
    for key in _SETTINGS:
        if old.get(key) != new.get(key):
            return f"The setting `{key}` changed.", _json(old.get(key)), _json(new.get(key))
    return None


def _message(now: Asked, before: Asked) -> tuple[str, str, str] | None:
    """The first message of the parent's prompt that is not where it was."""
    pairs = enumerate(zip(before.messages, now.messages, strict=False), 1)
    found = next(((number, old, new) for number, (old, new) in pairs if old.id != new.id), None)
    if found is None:
        if len(now.messages) >= len(before.messages):
            return None
        return f"The prompt ends at message {len(now.messages)}; the one before it went on.", "", ""
    number, old, new = found
    place = "The system prompt" if old.role == new.role == "system" else f"Message {number} ({new.role})"
    line, was, is_now = _first_difference(old.content, new.content)
    if old.role == new.role and line:
        return f"{place} changed in line {line}; what follows it could not be reused.", was, is_now
    return (
        f"{place} is another than before; what follows it could not be reused.",
        old.content[:2000],
        new.content[:2000],
    )


def _first_difference(old: str, new: str) -> tuple[int, str, str]:
    mine, yours = old.split("\n"), new.split("\n")
    if len(mine) + len(yours) > 4000:
        at = next((at for at, pair in enumerate(zip(mine, yours, strict=False)) if pair[0] != pair[1]), 0)
        return at + 1, "\n".join(mine[at : at + 3]), "\n".join(yours[at : at + 3])
    for tag, begin, end, first, last in SequenceMatcher(None, mine, yours, autojunk=False).get_opcodes():
        if tag != "equal":
            return (
                begin + 1,
                "\n".join(mine[begin : min(end, begin + 12)]),
                "\n".join(yours[first : min(last, first + 12)]),
            )
    return 0, "", ""


def _late(now: Asked, before: Asked) -> tuple[str, str, str] | None:
    start, end = before.request.timestamp, now.request.timestamp
    if start is None or end is None:
        return None
    passed, cached = (end - start) / 1000, lifetime(before.request, before.exchange, before.path)
    if not cached.passed(passed):
        return None
    told = f"{passed / 60:.0f} minutes" if passed < 7200 else f"{passed / 3600:.1f} hours"
    return f"{told} passed since the request before it; {cached.ended(passed)}.", "", ""


def _moved(now: Asked, before: Asked) -> tuple[str, str, str] | None:
    if now.request.format != _MARKED or now.exchange is None or before.exchange is None:
        return None
    old, new = list(_marks(before.exchange)), list(_marks(now.exchange))
    was, now_is = (", ".join(mark.name for mark in marks) for marks in (old, new))
    if old and not new:
        return "The cache marks (`cache_control`) are gone.", was, now_is
    if {mark.ttl for mark in old} != {mark.ttl for mark in new}:
        return "The cache marks have another ttl.", was, now_is
    if old and new and min(abs(mark.place - old[-1].place) for mark in new) > _LOOK_BACK:
        return (
            f"The mark moved further than the provider looks back ({_LOOK_BACK} blocks), and none stands where it was.",
            was,
            now_is,
        )
    return None


class _Mark(msgspec.Struct):
    place: int
    """Among all blocks of the prompt."""
    name: str
    ttl: str


def _marks(exchange: Exchange) -> Iterator[_Mark]:
    """Where the cache marks stand."""
    place = 0
    for tool in exchange.tools:
        place += 1
        if (mark := (tool.extra or {}).get("cache_control")) is not None:
            yield _Mark(place, f"tool {tool.name}{_ttl(mark)}", _ttl(mark))
    for number, message in enumerate(exchange.messages, 1):
        name = "system" if message.role == "system" else f"message {number}"
        for block in message.blocks:
            place += 1
            if (mark := (block.extra or {}).get("cache_control")) is not None:
                yield _Mark(place, f"{name}{_ttl(mark)}", _ttl(mark))


def _ttl(mark: Any) -> str:
    return f" ttl {mark['ttl']}" if isinstance(mark, dict) and mark.get("ttl") else ""


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()[:4000]
