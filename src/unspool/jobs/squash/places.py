"""Which call said what stands where: a model may give the same answer again, or find it given as an example."""

from collections import defaultdict
from collections.abc import Hashable, Mapping
from typing import Generic, TypeVar

T = TypeVar("T")


class Places(Generic[T]):
    """Answers by what they say, and by the number of messages before them."""

    def __init__(self) -> None:
        self._known: defaultdict[Hashable, dict[int, T]] = defaultdict(dict)

    def add(self, said: Hashable, place: int, made: T) -> None:
        self._known[said][place] = made

    def settle(self, said: Mapping[int, Hashable]) -> dict[int, T]:
        """Of what a conversation says at these places: the answers there.

        Clients take messages out of a history, or put some in: what no answer was given at is the nearest of those
        that are left. Each answer stands once; what else says the same, such as an example, nobody gave.
        """
        found: dict[int, T] = {}
        others: list[int] = []
        for place, words in said.items():
            known = self._known.get(words, {})
            if place in known:
                found[place] = known.pop(place)
            elif known:
                others.append(place)
        for place in others:
            if known := self._known[said[place]]:
                found[place] = known.pop(min(known, key=lambda other: abs(other - place)))
        return found
