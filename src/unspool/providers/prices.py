"""What an answer cost, by a price list that comes with its package; what nobody knows stays unknown."""

from unspool.model import Usage
from unspool.providers.catalogue import Provider


def cost_of(usage: Usage | None, provider: Provider, model: str | None) -> float | None:
    """US dollars. The list counts cached tokens as part of the input; our usage keeps them apart."""
    if usage is None or model is None or provider.prices is None:
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
    try:
        return float(calc_price(counted, model, provider_id=provider.prices).total_price)
    except LookupError:
        return None
