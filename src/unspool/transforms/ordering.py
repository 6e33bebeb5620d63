"""Results of tools in the order of their calls."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TypeVar

Item = TypeVar("Item")


def as_called(
    items: Iterable[Item], calls: Callable[[Item], Iterable[str | None]], answers: Callable[[Item], str | None]
) -> Iterator[Item]:
    """Agents tell results as they end, and most formats and templates write no ids: then the order tells whose each is.

    `calls`: the ids of the calls in a message. `answers`: the id that a result answers; None of what is no result.
    """
    places: dict[str, int] = {}
    for are_results, run in groupby(items, lambda item: answers(item) is not None):
        together = list(run)
        if are_results:
            together.sort(key=lambda item: places.get(answers(item) or "", len(places)))
        else:
            places = {call: place for place, call in enumerate(calls(together[-1])) if call}
        yield from together
