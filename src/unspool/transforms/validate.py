"""Which entries of a session belong to its record.

Each request holds the whole history, so the entry with the most messages is the fullest snapshot; of several, the last.
What comes after it (a title, a summary, a conversation that began anew) is cut off:

    messages   1  3  2  3  1
    kept       ─────────┘  ✂
"""

from msgspec import Struct


class Invalid(Exception):
    """A session that cannot be believed: it gives no record. `args[0]` says why, `kind` in one word."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


class Validation(Struct):
    """Told of entries one after another, in the order of the file. What an entry does not tell cannot be wrong."""

    strict: bool = False
    """Equal times are a fault too."""
    entries: int = 0
    kept: int = 0
    """Up to and with the fullest entry so far."""
    most: int = -1
    """The messages of that one."""
    _session: str | None = None
    _time: int | None = None

    def add(self, session: str | None, time: int | None, messages: int) -> bool:
        """Whether the entry is the fullest so far, so that all up to it are kept. Time is any count that grows."""
        self.entries += 1
        if session is not None:
            if self._session is None:
                self._session = session
            elif session != self._session:
                raise Invalid("session-id", f"entry {self.entries} is of another session than those before it")
        if time is not None:
            if self._time is not None and (time < self._time or (self.strict and time == self._time)):
                word = "equal to" if time == self._time else "before"
                raise Invalid("time", f"the time of entry {self.entries} is {word} that of an earlier one")
            self._time = time
        if messages < self.most:
            return False
        self.most, self.kept = messages, self.entries
        return True
