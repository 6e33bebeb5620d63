"""Remember what was made from bytes, within a bound."""

from typing import Generic, TypeVar

Made = TypeVar("Made")


class Memo(Generic[Made]):
    """From (where, bytes) to what they were decoded to. Two generations: what was used lately survives the clearing."""

    def __init__(self, size: int = 32 << 20) -> None:
        self._size = size
        self._young: dict[tuple[str, bytes], Made] = {}
        self._old: dict[tuple[str, bytes], Made] = {}
        self._held = 0

    def get(self, where: str, data: bytes) -> Made | None:
        found = self._young.get((where, data))
        if found is None and (found := self._old.get((where, data))) is not None:
            self.put(where, data, found)
        return found

    def put(self, where: str, data: bytes, made: Made) -> None:
        self._held += len(data)
        if self._held > self._size:
            self._old, self._young, self._held = self._young, {}, len(data)
        self._young[where, data] = made
