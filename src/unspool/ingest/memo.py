"""Remember what was made from bytes, within a bound."""

from typing import Generic, TypeVar

Made = TypeVar("Made")


class Memo(Generic[Made]):
    """From bytes to what they were decoded to. Two generations: what was used lately survives the clearing."""

    def __init__(self, size: int = 16 << 20) -> None:
        self._size = size
        self._held = 0
        self._old: dict[bytes, Made] = {}
        self.young: dict[bytes, Made] = {}

    def get(self, data: bytes) -> Made | None:
        found = self.young.get(data)
        if found is None and (found := self._old.get(data)) is not None:
            self.put(data, found)
        return found

    def put(self, data: bytes, made: Made) -> None:
        self._held += len(data)
        if self._held > self._size:
            self._old, self.young, self._held = self.young, {}, len(data)
        self.young[data] = made
