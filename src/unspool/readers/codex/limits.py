"""The account's rate limits, which Codex writes with each count of tokens.

{"primary": {"used_percent", "window_minutes", "resets_in_seconds"}, "secondary": …}    2025
{"primary_used_percent", "primary_window_minutes", "secondary_…", …}                    August 2025
{…, "resets_at" in each window, "credits", "plan_type", "limit_id", …}                  since
"""

from typing import Any

from unspool.model.event import RateLimits, RateLimitWindow
from unspool.sources.values import mapping, number, string, time_of

_WINDOW = ("used_percent", "window_minutes", "resets_at", "resets_in_seconds")


def rate_limits_of(value: Any, time: str | None) -> RateLimits | None:
    """Return the limits in a record from that time; None if it says nothing of them."""
    limits = mapping(value)
    windows = tuple(
        RateLimitWindow(name, number(window.get("used_percent")), _whole(window.get("window_minutes")), reset)
        for name, window in _windows(limits).items()
        if (reset := _reset(window, time)) is not None or number(window.get("used_percent")) is not None
    )
    credits_left = mapping(limits.get("credits")) or None
    reached = string(limits.get("rate_limit_reached_type"))
    if not windows and credits_left is None and reached is None:
        return None
    limit, title, plan = (string(limits.get(key)) for key in ("limit_id", "limit_name", "plan_type"))
    return RateLimits(windows, limit, title, plan, reached, credits_left)


def _windows(limits: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the windows by name: objects of their own or, in old records, keys that begin with the name."""
    windows: dict[str, dict[str, Any]] = {}
    for key, value in limits.items():
        if isinstance(value, dict) and any(field in value for field in _WINDOW):
            windows[key] = value
            continue
        for field in _WINDOW:
            if key.endswith(f"_{field}"):
                windows.setdefault(key.removesuffix(f"_{field}"), {})[field] = value
    return windows


def _reset(window: dict[str, Any], time: str | None) -> int | None:
    at, left, now = time_of(window.get("resets_at")), number(window.get("resets_in_seconds")), time_of(time)
    if at is not None:
        return at // 1000
    return None if left is None or now is None else _whole(now / 1000 + left)


def _whole(value: Any) -> int | None:
    """Return a number without its fraction, or None if it is not a number or is out of range."""
    told = number(value)
    return int(told) if told is not None and abs(told) < 1e15 else None
