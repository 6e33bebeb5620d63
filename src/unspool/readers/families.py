"""Sessions that work for other sessions, in logs that keep each by itself: sub-agents, and sub-agents of these."""

from unspool.model import MAIN
from unspool.readers.log import Log

_DEEPEST = 32
"""Generations that are gone up: somebody may be told to be its own ancestor."""


class Family:
    def __init__(self) -> None:
        self.parents: dict[str, str] = {}

    def enter(self, log: Log, session: str) -> str:
        """The stream of the session. The events that come next are those of the session that it all began with."""
        root = session
        for _ in range(_DEEPEST):
            if (parent := self.parents.get(root)) is None:
                break
            root = parent
        log.enter(root)
        return MAIN if root == session else f"agent:{session}"
