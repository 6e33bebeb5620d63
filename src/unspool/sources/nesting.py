"""Whether lines go on with a JSON value that was begun, and whether it is whole: told from their tokens alone."""

import re

_TOKEN = re.compile(rb'\s*(?:("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*|true|false|null|NaN|-?Infinity)|([\[\]{},:]))')
_VALUE, _ITEM, _KEY, _NEXT_KEY, _COLON, _AFTER = range(6)
"""What may stand next: a value; a value or `]`; a key or `}`; a key; a colon; or what may stand after a value."""


class Nesting:
    """Follows objects and arrays line by line. No string goes on in another line."""

    def __init__(self) -> None:
        self._open = bytearray()
        self._next = _VALUE

    @property
    def whole(self) -> bool:
        """Whether everything that was opened is closed."""
        return not self._open and self._next == _AFTER

    @property
    def between_elements(self) -> bool:
        """Whether nothing but an array is open, and no element of it."""
        return self._open == b"[" and self._next in (_VALUE, _AFTER)

    def add(self, line: bytes) -> bool:
        """Return whether the line continues rightly; if not, nothing more can be asked."""
        at = 0
        while token := _TOKEN.match(line, at):
            at = token.end()
            if not (self._mark(token[3]) if token[3] else self._scalar(is_string=token[1] is not None)):
                return False
        return not line[at:].strip()

    def _scalar(self, is_string: bool) -> bool:
        if self._next in (_VALUE, _ITEM) and self._open:
            self._next = _AFTER
            return True
        if self._next in (_KEY, _NEXT_KEY) and is_string:
            self._next = _COLON
            return True
        return False

    def _mark(self, mark: bytes) -> bool:
        within = self._open[-1:]
        match mark:
            case b"{" | b"[":
                if self._next not in (_VALUE, _ITEM) and (within or mark == b"["):
                    return False  # whole objects may follow one another, though
                self._open += mark
                self._next = _KEY if mark == b"{" else _ITEM
            case b"}" | b"]":
                opening, empty = (b"{", _KEY) if mark == b"}" else (b"[", _ITEM)
                if within != opening or self._next not in (empty, _AFTER):
                    return False
                del self._open[-1]
                self._next = _AFTER
            case b",":
                if self._next != _AFTER:
                    return False
                if within:
                    self._next = _NEXT_KEY if within == b"{" else _VALUE
            case _:
                if self._next != _COLON:
                    return False
                self._next = _VALUE
        return True
