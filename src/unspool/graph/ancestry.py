"""The order in which a conversation is told: depth first, what a turn continues in the order given, each turn once."""

from collections.abc import Iterable, Mapping, Sequence

from unspool.errors import CycleFound


def parents_first(starts: Iterable[str], continues: Mapping[str, Sequence[str]]) -> list[str]:
    """The starts and all that they continue, every turn behind its parents. A cycle is an error."""
    order: list[str] = []
    done: set[str] = set()
    for start in starts:
        path = [(start, iter(continues[start]))] if start not in done else []
        open_ = {start}
        while path:
            turn, parents = path[-1]
            parent = next((each for each in parents if each not in done), None)
            if parent is None:
                path.pop()
                open_.discard(turn)
                done.add(turn)
                order.append(turn)
            elif parent in open_:
                raise CycleFound(f"turn {parent} continues itself, by way of {turn}")
            else:
                open_.add(parent)
                path.append((parent, iter(continues[parent])))
    return order
