"""What may stay open at once: logs go into gigabytes, and whoever searches them all opens one after the other."""

import threading
from itertools import count
from typing import Protocol

ENOUGH = 64_000_000
"""Characters that all open reels may hold together: about 350 MB, as one takes some five bytes with all that is kept
beside it. The one that is looked at stays open, however large it is."""


class Closable(Protocol):
    def weight(self) -> int:
        """Characters that it holds; 0 if it is closed."""
        ...

    def close(self) -> None:
        """Unless somebody is busy with it."""
        ...


class Shelf:
    """Closes what nobody has looked at for longest. What a search opened goes before what somebody looked at."""

    def __init__(self, enough: int = ENOUGH) -> None:
        self._enough = enough
        self._lock = threading.Lock()
        self._clock = count(1)
        self._used: dict[Closable, int] = {}
        """When each was last looked at; below 0 for what was only searched, the first of it nearest to 0.

        So a search that goes through more than there is room for finds again what it kept, and not nothing at all.
        """

    def took(self, reel: Closable, passing: bool = False) -> None:
        """Somebody looks at it, or (`passing`) looks through it."""
        with self._lock:
            now = next(self._clock)
            if not passing:
                self._used[reel] = now
            else:
                self._used.setdefault(reel, -now)
            weights = {each: each.weight() for each in self._used}
            for closed in [each for each, weight in weights.items() if not weight]:
                del self._used[closed]
            left = sum(weights.values()) - self._enough
            last = max(self._used, key=lambda each: self._used[each], default=None)
            surplus = []
            for each in sorted(self._used, key=lambda each: self._used[each]):
                if left <= 0:
                    break
                if each is not last or self._used[each] < 0:
                    left -= weights[each]
                    surplus.append(each)
        for each in surplus:
            each.close()
