"""What Anthropic's records say of the prompt cache, on the wire and in agents' logs alike."""

from typing import Any

from unspool.model import CacheMiss
from unspool.sources.values import count, mapping, string


def hour_long(split: Any, written: int) -> int:
    """Return how many of the `written` cache tokens live an hour, by the usage's `cache_creation`.

    Without that split, or with one of zeros, all of them live five minutes.
    """
    return min(count(split.get("ephemeral_1h_input_tokens")), written) if split.__class__ is dict else 0


def cache_miss_of(diagnostics: Any) -> CacheMiss | None:
    """Return why the cache was missed, by a message's `diagnostics`; None if they name no reason."""
    reason = mapping(diagnostics).get("cache_miss_reason")
    kind = string(mapping(reason).get("type")) if isinstance(reason, dict) else string(reason)
    return CacheMiss(kind, count(mapping(reason).get("cache_missed_input_tokens")) or None) if kind else None
