"""Tokens: Codex keeps a running total for each thread and writes it again and again.

    event_msg/token_count{info{total_token_usage, last_token_usage}}    after each call, and again for limits
    token_usage_record{response_id, usage}                              newer: once a call

`input_tokens` holds the cached ones and those written to the cache, `output_tokens` the reasoning.
"""

from typing import Any, TypeAlias

from msgspec import Struct, ValidationError, convert

from unspool.model.event import TokenUsage
from unspool.sources.values import Number, count, mapping, string

Counts: TypeAlias = tuple[int, int, int, int, int]
"""Input, cache read, cache write, output: disjoint. Reasoning, which is part of the output."""
_NOTHING: Counts = (0, 0, 0, 0, 0)


class _Written(Struct, frozen=True, gc=False):
    """Counts as Codex writes them."""

    input_tokens: Number = 0
    cached_input_tokens: Number = 0
    cache_write_input_tokens: Number = 0
    output_tokens: Number = 0
    reasoning_output_tokens: Number = 0


class Tally:
    """What each call used, told from the growth of the total: a total that is written twice grows by nothing."""

    def __init__(self) -> None:
        self.inherits = False
        """The thread is a copy of another's, or its child: its total may hold what the other used."""
        self.context: int | None = None
        """Tokens of the last call, in and out: about what the model's window holds."""
        self._total: Counts | None = None
        self._written: Any = None
        """The total as it was last written: most are written twice, and comparing is cheaper than counting."""
        self._calls: dict[str, Counts] = {}

    def inherit(self, info: dict[str, Any]) -> None:
        """A total of the thread that this one was copied from."""
        if isinstance(total := info.get("total_token_usage"), dict):
            self._total, self._written = _counts(total), total

    def grown(self, info: dict[str, Any], model: str | None) -> TokenUsage | None:
        """What was used since the last total. Nothing where calls are recorded one by one."""
        total, last = info.get("total_token_usage"), info.get("last_token_usage")
        is_total = total.__class__ is dict
        written = total if is_total else last
        if written == self._written or not isinstance(written, dict):
            return None
        self._written = written
        self.context = count(mapping(last).get("total_tokens")) or self.context
        if self._calls:
            return None
        return _usage(self._growth(written, last) if is_total else _counts(written), model)

    def recorded(self, record: dict[str, Any], model: str | None) -> TokenUsage | None:
        """The usage of one call; where it is recorded again, what was added."""
        usage = mapping(record.get("usage"))
        response = string(record.get("response_id"))
        counts = _counts(usage)
        self.context = count(usage.get("total_tokens")) or self.context
        before = self._calls.get(response or "", _NOTHING)
        self._calls[response or ""] = counts if response else _NOTHING  # which call is not always told
        return _usage(_difference(counts, before), model, response)

    def _growth(self, total: dict[str, Any], last: Any) -> Counts:
        now, before = _counts(total), self._total
        if before is None:
            self._total = now
            return _counts(last) if self.inherits and isinstance(last, dict) else now
        if total != last and (less := sum(before[:4]) - sum(now[:4])) > 0 and _is_late(now, less, last):
            return _NOTHING
        self._total = now
        if total == last or less > 0:
            return now if now != before else _NOTHING  # begun anew: after too long a context, in a resumed session
        return _difference(now, before)


def _is_late(now: Counts, less: int, last: Any) -> bool:
    """Whether a total that is less than the one before was overtaken by it: what it lacks is about a call or two."""
    return any(now) and isinstance(last, dict) and less <= 2 * sum(_counts(last)[:4])


def _counts(usage: dict[str, Any]) -> Counts:
    try:
        told = convert(usage, _Written)
    except ValidationError:  # they hardly ever are anything but numbers
        told = _Written(*[count(usage.get(key)) for key in _Written.__struct_fields__])
    cached, written = told.cached_input_tokens, told.cache_write_input_tokens
    fresh = max(0, told.input_tokens - cached - written)
    return fresh, cached, written, told.output_tokens, told.reasoning_output_tokens


def _difference(now: Counts, before: Counts) -> Counts:
    grown = now[0] - before[0], now[1] - before[1], now[2] - before[2], now[3] - before[3], now[4] - before[4]
    if min(grown) >= 0:
        return grown
    fresh, cached, written, output, reasoning = [max(0, by) for by in grown]
    return fresh, cached, written, output, reasoning


def _usage(counts: Counts, model: str | None, response: str | None = None) -> TokenUsage | None:
    return TokenUsage(model, *counts, response) if any(counts) else None
