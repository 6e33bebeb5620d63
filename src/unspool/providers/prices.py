"""What an answer cost, by a price list that comes with its package; what nobody knows stays unknown."""

from importlib import import_module
from importlib.util import find_spec
from threading import Thread

from unspool.model import Usage
from unspool.providers.catalogue import Provider
from unspool.transforms.prices import first_price

_PACKAGE = "genai_prices"


def fetch() -> None:
    """Begin to load the list, which is long, while an answer is still coming."""
    if find_spec(_PACKAGE) is not None:
        Thread(target=import_module, args=(_PACKAGE,), daemon=True).start()


def cost_of(usage: Usage | None, provider: Provider, *names: str | None) -> float | None:
    """US dollars, by the first of the model's names that is listed: what answered, then what was asked for."""
    if usage is None or provider.prices is None or find_spec(_PACKAGE) is None:
        return None
    cost = first_price(names, usage, seller=provider.prices)
    return None if cost is None else cost.total
