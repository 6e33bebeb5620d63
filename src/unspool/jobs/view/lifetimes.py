"""Lifetimes of cached prompts: how long after its last use the provider keeps what a request wrote."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from unspool.jobs.view.parting import Step
from unspool.model import CookedRequest, Exchange
from unspool.sources.values import mapping

FIVE_MINUTES, HOUR = 300, 3600
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_WORDS = {FIVE_MINUTES: "five minutes", HOUR: "an hour"}


class Lifetime(Struct, frozen=True):
    seconds: tuple[int, ...] = ()
    """Shortest first: a prompt may have parts that live differently long. Empty where the provider promises none."""
    words: str = "some minutes"

    def passed(self, seconds: float) -> bool:
        """Whether the cache, or a part of it, ended by then."""
        return seconds >= (self.seconds[0] if self.seconds else FIVE_MINUTES)

    def ended(self, seconds: float) -> str:
        """Format the lifetimes that had ended by then."""
        if len(self.seconds) > 1 and not seconds >= self.seconds[-1]:
            return f"a part of what is cached lives {_words(self.seconds[0])} after its last use, the other part " + (
                f"{_words(self.seconds[-1])}"
            )
        return f"what is cached lives {self.words} after its last use"


def lifetime(request: CookedRequest, exchange: Exchange | None, path: Sequence[Step] = ()) -> Lifetime:
    """Return the lifetime of what the request, or the last one before it on its path, wrote to the cache.

    Where no count tells it, the settings of the request do, and then what the providers say of their models.
    """
    written, hour_long = _written(request, path)
    if hour_long or _has_split(request):
        longer = HOUR if request.format != "responses" else 12 * HOUR
        return _of([FIVE_MINUTES] * (written > hour_long) + [longer] * (hour_long > 0))
    if exchange is not None and (asked := list(_asked(request, exchange))):
        return _of(asked)
    model = (request.response_model or request.model or "").lower().rpartition("/")[2]
    if request.format == "claude" or "claude" in model:
        return _of([FIVE_MINUTES])
    if re.match(r"gpt|o\d|codex|chatgpt", model):
        return Lifetime((), "five to ten minutes")
    return Lifetime()


def _written(request: CookedRequest, path: Sequence[Step]) -> tuple[int, int]:
    """Return the cache writes of the newest request that wrote any, and how many of them live an hour."""
    usage = request.usage
    if usage is not None and usage.cache_write:
        return usage.cache_write, usage.cache_write_1h
    return next(((step.written, step.hour_long) for step in reversed(path) if step.written), (0, 0))


def _has_split(request: CookedRequest) -> bool:
    """Return whether the provider reported a lifetime for each part of what the request wrote."""
    usage = request.usage
    split = mapping(mapping(usage.raw).get("cache_creation")) if usage is not None else {}
    return bool(usage and usage.cache_write and any(split.values()))


def _asked(request: CookedRequest, exchange: Exchange) -> Iterable[int]:
    """Yield the lifetimes that the request asked for, in seconds."""
    options = mapping(exchange.settings.get("prompt_cache_options"))
    for value in (options.get("ttl"), exchange.settings.get("prompt_cache_retention")):
        if (seconds := seconds_of(value)) is not None:
            yield seconds
    if request.format != "claude":
        return
    blocks = [block for message in exchange.messages for block in message.blocks]
    for extra in [*(tool.extra for tool in exchange.tools), *(block.extra for block in blocks)]:
        if isinstance(mark := mapping(extra).get("cache_control"), dict):
            yield seconds_of(mark.get("ttl")) or FIVE_MINUTES


def seconds_of(value: Any) -> int | None:
    """Return the seconds of `5m`, `30m`, `1h` or `24h`; None for anything else."""
    found = re.fullmatch(r"(\d{1,6})([smhd])", value) if isinstance(value, str) else None
    return int(found[1]) * _UNITS[found[2]] if found else None


def _of(seconds: Iterable[int]) -> Lifetime:
    known = tuple(sorted(set(seconds)))
    return Lifetime(known, " or ".join(map(_words, known)))


def _words(seconds: int) -> str:
    if seconds in _WORDS:
        return _WORDS[seconds]
    return f"{seconds // 3600} hours" if seconds % 3600 == 0 else f"{seconds / 60:g} minutes"
