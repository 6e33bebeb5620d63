"""How many messages must be inserted, deleted or replaced to turn one path into another."""

from collections import Counter
from collections.abc import Hashable, Sequence

EXACT_UP_TO = 64


def distance(left: Sequence[Hashable], right: Sequence[Hashable], limit: int) -> int | None:
    """The edit distance; None if it is above `limit`. Beyond 64 edits, a lower bound: what the two do not share.

    Landau and Vishkin: for each number of edits, the furthest place that each diagonal reaches. Paths differ in few
    places, so the time hardly depends on their length.
    """
    if abs(len(left) - len(right)) > limit:
        return None
    reached = {0: _equal_from(left, right, 0, 0)}
    if reached[0] == len(left) == len(right):
        return 0
    goal = len(left) - len(right)  # a diagonal is i - j
    for edits in range(1, min(limit, EXACT_UP_TO) + 1):
        further: dict[int, int] = {}
        for diagonal in range(-edits, edits + 1):
            start = max(
                reached.get(diagonal, -2) + 1,  # replace
                reached.get(diagonal - 1, -2) + 1,  # delete from left
                reached.get(diagonal + 1, -2),  # insert from right
            )
            start = min(start, len(left), len(right) + diagonal)
            if start >= max(diagonal, 0):
                further[diagonal] = start + _equal_from(left, right, start, start - diagonal)
        if further.get(goal) == len(left):
            return edits
        reached = further
    if limit <= EXACT_UP_TO:
        return None
    shared = sum((Counter(left) & Counter(right)).values())
    bound = max(EXACT_UP_TO + 1, len(left) - shared, len(right) - shared)
    return bound if bound <= limit else None


def _equal_from(left: Sequence[Hashable], right: Sequence[Hashable], at: int, beside: int) -> int:
    """How many neighbours are equal, found in steps that double and then halve: slices are compared at C speed."""
    most, equal, step = min(len(left) - at, len(right) - beside), 0, 4
    while equal < most and step:
        size = min(step, most - equal)
        begin, other = at + equal, beside + equal
        if left[begin : begin + size] == right[other : other + size]:
            equal += size
            step *= 2
        else:
            most = equal + size - 1
            step = (size + 1) // 2 if size > 1 else 0
    return equal
