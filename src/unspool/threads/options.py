"""Options that turns inherit: each turn's own are laid over those before it."""

from collections.abc import Iterable, Mapping
from typing import Any


def inherited(deltas: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What holds after all of them: objects are merged key by key, all else is replaced, null takes a key away."""
    options: dict[str, Any] = {}
    for delta in deltas:
        options = _merged(options, delta)
    return options


def _merged(options: Mapping[str, Any], delta: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(options)
    for key, value in delta.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            before = merged.get(key)
            merged[key] = _merged(before if isinstance(before, dict) else {}, value)
        else:
            merged[key] = value
    return merged
