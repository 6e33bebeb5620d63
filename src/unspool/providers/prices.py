"""What an answer cost, by a price list that comes with its package; what nobody knows stays unknown."""

from importlib import import_module
from importlib.util import find_spec
from threading import Thread

from unspool.model import Usage
from unspool.providers.catalogue import Provider

_PACKAGE = "genai_prices"


def fetch() -> None:
    """Begin to load the list, which is long, while an answer is still coming."""
    if find_spec(_PACKAGE) is not None:
        Thread(target=import_module, args=(_PACKAGE,), daemon=True).start()


def cost_of(usage: Usage | None, provider: Provider, *names: str | None) -> float | None:
    """US dollars, by the first of the model's names that is listed: what answered, then what was asked for.

    The list counts cached tokens as part of the input; our usage keeps them apart.
    """
    if usage is None or provider.prices is None:
        return None
    try:
        from genai_prices import Usage as Counted
        from genai_prices import calc_price
    except ImportError:
        return None
    counted = Counted(
        input_tokens=usage.input + usage.cache_read + usage.cache_write,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
        output_tokens=usage.output,
    )
    for name in dict.fromkeys(filter(None, names)):
        try:
            return float(calc_price(counted, name, provider_id=provider.prices).total_price)
        except LookupError:
            continue
    return None
