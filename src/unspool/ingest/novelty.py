"""Do lines bring nothing but news? Then remembering their items is work for nothing, and a line is decoded at once."""

_AFTER = 8
"""Lines in a row without anything known, until news is expected."""
_EACH = 32
"""One of so many is read with care all the same."""


class Novelty:
    """A conversation that grows is noticed within a few lines: what was read with care is found again in the next."""

    def __init__(self) -> None:
        self._lines = 0

    @property
    def expected(self) -> bool:
        return self._lines >= _AFTER and self._lines % _EACH != 0

    def add(self, new: bool) -> None:
        self._lines = self._lines + 1 if new else 0
