"""What a call cost: list prices of its day, from the table that `genai-prices` carries. Nothing is asked on line.

A model that the table does not know has no price: None, never 0.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from msgspec import Struct

from unspool.errors import UnspoolError
from unspool.model import Usage

_BEDROCK = re.compile(r"(?:[a-z]{2,6}\.)?(?:anthropic|amazon|meta|mistral)\.([\w.-]+?)(?:-v\d+(?::\d+)?)?$")
_PROVIDERS = {"claude": "anthropic", "gemini": "google", "interactions": "google", "responses": "openai"}
"""By wire: which company's price a model has that several sell. OpenAI's chat form is spoken by all."""
_DAY = 86_400_000
_MILLION = 1_000_000


class Cost(Struct, frozen=True, gc=False):
    """In US dollars."""

    input: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    output: float = 0.0

    @property
    def total(self) -> float:
        return self.input + self.cache_read + self.cache_write + self.output


class Rates(Struct, frozen=True, gc=False):
    """Of one model on one day, for a prompt of one size: dollars a million tokens."""

    input: float
    cache_read: float
    cache_write: float
    cache_write_1h: float
    output: float
    input_audio: float
    output_audio: float

    def cost(self, usage: Usage) -> Cost:
        short = usage.cache_write - usage.cache_write_1h
        return Cost(
            ((usage.input - usage.input_audio) * self.input + usage.input_audio * self.input_audio) / _MILLION,
            usage.cache_read * self.cache_read / _MILLION,
            (short * self.cache_write + usage.cache_write_1h * self.cache_write_1h) / _MILLION,
            ((usage.output - usage.output_audio) * self.output + usage.output_audio * self.output_audio) / _MILLION,
        )


class CostSum(Struct, frozen=True, gc=False):
    """What several calls cost together."""

    usd: float | None = None
    """None: nothing of it has a price."""
    complete: bool = True
    """The sum covers all calls."""
    estimated: bool = False
    """Some of it is an agent's own estimate, not a list price."""

    @staticmethod
    def of(cost: Cost | None, estimate: float | None = None, complete: bool = True) -> "CostSum":
        """Return the list price, or the agent's estimate where there is none. `complete` speaks of the estimate."""
        if cost is not None:
            return CostSum(cost.total)
        return CostSum(None, False) if estimate is None else CostSum(estimate, complete, True)

    @staticmethod
    def total(parts: "Iterable[CostSum]") -> "CostSum":
        parts = list(parts)
        known = [part.usd for part in parts if part.usd is not None]
        return CostSum(
            sum(known) if known else None,
            all(part.complete for part in parts),
            any(part.estimated for part in parts),
        )


def first_price(
    models: Iterable[str | None],
    usage: Usage | None,
    time: int | None = None,
    wire: str = "",
    seller: str | None = None,
) -> Cost | None:
    """Return the price of a call by the first of its model's names that is listed."""
    names = dict.fromkeys(filter(None, models))
    return next(filter(None, (price(name, usage, time, wire, seller) for name in names)), None)


def price(
    model: str | None, usage: Usage | None, time: int | None = None, wire: str = "", seller: str | None = None
) -> Cost | None:
    """What the tokens cost at that time (milliseconds since 1970; now, if it is not known).

    None too where none were counted: no call takes none, but there are servers that do not count.
    """
    if model is None or usage is None:
        return None
    prompt = usage.input + usage.cache_read + usage.cache_write
    if not prompt and not usage.output:
        return None
    rates = rates_of(model, prompt, time, wire, seller)
    return None if rates is None else rates.cost(usage)


def rates_of(
    model: str, prompt: int, time: int | None = None, wire: str = "", seller: str | None = None
) -> Rates | None:
    """Prices by the token: of a prompt above a model's step, all of its tokens cost more."""
    table = _table(model, seller or _PROVIDERS.get(wire), None if time is None else time // _DAY)
    if table is None:
        return None
    plain, output = _step(table.input_mtok, prompt) or 0.0, _step(table.output_mtok, prompt) or 0.0
    read, write = _step(table.cache_read_mtok, prompt), _step(table.cache_write_mtok, prompt)
    longer = _step(getattr(table, "cache_write_1h_mtok", None), prompt)
    heard, spoken = (_step(getattr(table, f"{way}_audio_mtok", None), prompt) for way in ("input", "output"))
    write = plain if write is None else write
    return Rates(
        plain,
        plain if read is None else read,
        write,
        write if longer is None else longer,
        output,
        plain if heard is None else heard,
        output if spoken is None else spoken,
    )


def _step(priced: Any, prompt: int) -> float | None:
    if priced is None or not hasattr(priced, "base"):
        return None if priced is None else float(priced)
    steps = [tier.price for tier in priced.tiers if prompt > tier.start]
    return float(steps[-1] if steps else priced.base)


@lru_cache(4096)
def _table(model: str, provider: str | None, day: int | None) -> Any:
    try:
        from genai_prices import Usage as Counted
        from genai_prices import calc_price  # 0.2 s, and only where prices are wanted
    except ImportError as error:
        raise UnspoolError("prices need the package genai-prices: pip install 'unspool[view]'") from error

    moment = datetime.now(UTC) if day is None else datetime.fromtimestamp(day * 86_400, UTC)
    for name, seller in _spellings(model, provider):
        try:
            return calc_price(
                Counted(input_tokens=1), model_ref=name, provider_id=seller, genai_request_timestamp=moment
            ).model_price
        except LookupError:
            continue
    return None


def _spellings(model: str, provider: str | None) -> Iterator[tuple[str, str | None]]:
    """As routers and clouds write it, then as its maker does."""
    bare = model.rpartition("/")[2].partition(":")[0] if "/" in model else model
    names = [model, bare]
    if found := _BEDROCK.match(bare if "/" in model else model):
        names.append(found[1])
    names += [re.sub(r"\[\w+\]$", "", name) for name in names if name.endswith("]")]  # claude-…[1m]
    for name in dict.fromkeys(names):
        if provider is not None:
            yield name, provider
        yield name, None
