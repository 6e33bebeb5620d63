"""Totals that an earlier run began: since 2.1.277 the program counts on from there when a session is resumed.

Newer versions say beside them, in a stream, what each model used since the last result. Elsewhere the first result of
such a run tells more than the run took. What its main loop took is told by itself, and that is all where nothing else
asked a model: no agent, no search, no compaction. Only there the two can be told apart.
"""

import re
from typing import Any

from unspool.readers.claude_code.counting import Counts, counts_of, usage_of
from unspool.sources.values import count, mapping

_SINCE = (2, 1, 277)
_LATER = ("process_turn_index", "safety_stops")
"""Keys of later results only: from 2.1.285 on, and in 2.1.310. A result that stands alone names no version."""


def own_share(result: dict[str, Any], used: dict[str, Counts], version: str | None) -> tuple[str, Counts] | None:
    """The model of the main loop and what the run took of it, if its totals began with an earlier run's."""
    if not (any(key in result for key in _LATER) or _is_since(version)) or _asked_beside(result):
        return None
    own = counts_of(usage_of(mapping(result.get("usage"))))
    model = max(used, key=lambda name: _prompt(used[name]))
    earlier = [whole - mine for whole, mine in zip(used[model], own, strict=True)]
    if min(earlier[:4]) < 0 or not _prompt(own):
        return None
    asked = _prompt(own) / (count(result.get("num_turns")) or 1)
    is_call = sum(earlier[:3]) >= asked / 2  # a helper is asked little, an earlier turn as much as this one
    return (model, own) if is_call else None


def _asked_beside(result: dict[str, Any]) -> bool:
    searches = (count(mapping(usage).get("webSearchRequests")) for usage in mapping(result.get("modelUsage")).values())
    return count(mapping(result.get("subagent_stats")).get("spawned")) > 0 or any(searches)


def _prompt(counts: Counts) -> int:
    return sum(counts[:3])


def _is_since(version: str | None) -> bool:
    numbers = re.match(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})", version or "")
    return numbers is not None and tuple(map(int, numbers.groups())) >= _SINCE
