"""Private keys that have lost their first line."""

import re

LITERALS = ("-----END ",)
_LAST_LINE = re.compile(rb"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_LINE_BEFORE = re.compile(
    rb"(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{20,100}={0,2}|=[A-Za-z0-9+/]{4})(?:[ \t\r\n]|\\+[nrt]){1,60}\Z"
)
_REACH = 180
_MIN_KEY = 40


def key_before(data: bytes, place: int) -> list[tuple[int, int]]:
    """Return where the lines of a key start and end that stand before its last line."""
    last = _LAST_LINE.match(data, place)
    if last is None:
        return []
    start = place
    while found := _LINE_BEFORE.search(data[max(0, start - _REACH) : start]):
        line = start - (min(start, _REACH) - found.start())
        if data[line - 1 : line] == b"\\" and data[line : line + 1] in b"nrt":
            line += 1  # the end of an escape such as `\n`
        start = line
    return [(start, last.end())] if place - start >= _MIN_KEY else []
