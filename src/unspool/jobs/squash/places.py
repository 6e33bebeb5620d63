"""What was said where in a conversation: a model may give the same answer again, and each time it is another call."""

from collections import defaultdict
from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Places(Generic[T]):
    """Answers by what they say, and by the number of messages before them."""

    def __init__(self) -> None:
        self._known: defaultdict[Hashable, dict[int, T]] = defaultdict(dict)

    def add(self, said: Hashable, place: int, made: T) -> None:
        self._known[said][place] = made

    def find(self, said: Hashable, place: int) -> T | None:
        """The one of that place; else the nearest: clients take messages out of a history, or put some in."""
        known = self._known.get(said)
        if not known:
            return None
        return known[place if place in known else min(known, key=lambda other: abs(other - place))]
