"""Other readings of a text: without colours, and with percent escapes undone."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

from unspool.transforms.scanning import holds

_COLOUR = re.compile(rb"(?:\x1b|\\+(?:u001[bB]|x1[bB]|033|e))\[[0-9;?]{0,20}[A-Za-z]")
_COLOUR_MARKS = (b"\x1b[", b"u001b[", b"u001B[", b"\\x1b[", b"\\033[", b"\\e[")
_PERCENT = re.compile(rb"%([2-7][0-9a-fA-F])")
_PERCENT_MARK = re.compile(rb"%[2-7][0-9a-fA-F]")
_ADDRESS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~%+!*()@:/?#&=;,"
_BEFORE = 300
_MAX_REACH = 4000
"""Bytes on each side of an escape that are read with it."""


class View(NamedTuple):
    """A text as it reads without its escapes."""

    plain: bytes
    starts: list[int]
    """Places in `plain` from which the text runs on without an escape."""
    origins: list[int]
    """The places of these in the text."""

    def origin(self, place: int) -> int:
        """Return where a byte of `plain` is in the text."""
        piece = bisect_right(self.starts, place) - 1
        return self.origins[piece] + place - self.starts[piece]


def views(data: bytes) -> Iterator[View]:
    """Yield the readings in which a text differs from what is written."""
    if any(holds(data, mark) for mark in _COLOUR_MARKS):
        yield _view(data, _around(data, _COLOUR, _line))
    if b"%" in data and _PERCENT_MARK.search(data):
        yield _view(data, _around(data, _PERCENT, _address))


def _around(
    data: bytes, escape: re.Pattern[bytes], window: Callable[[bytes, re.Match[bytes]], tuple[int, int]]
) -> list[tuple[int, int, list[re.Match[bytes]]]]:
    """Return the stretches of a text that hold escapes, each with its escapes."""
    stretches: list[tuple[int, int, list[re.Match[bytes]]]] = []
    for found in escape.finditer(data):
        if stretches and found.start() < stretches[-1][1]:
            stretches[-1][2].append(found)
            if found.end() > stretches[-1][1]:
                stretches[-1] = (stretches[-1][0], found.end(), stretches[-1][2])
            continue
        start, end = window(data, found)
        start = max(start, stretches[-1][1] if stretches else 0)
        stretches.append((start, end, [found]))
    return stretches


def _line(data: bytes, found: re.Match[bytes]) -> tuple[int, int]:
    """Return the line of an escape. Of a long line it begins with a word, so that no part of one looks like a key."""
    low = max(0, found.start() - _BEFORE)
    start = data.rfind(b"\n", low, found.start()) + 1
    if not start and low:
        start = data.find(b" ", low, found.start())
        start = start if start >= 0 else found.start()
    end = data.find(b"\n", found.end(), found.end() + _MAX_REACH)
    return start, end if end >= 0 else min(len(data), found.end() + _MAX_REACH)


def _address(data: bytes, found: re.Match[bytes]) -> tuple[int, int]:
    """Return the run of characters around an escape that addresses are made of."""
    before = data[max(0, found.start() - _MAX_REACH) : found.start()]
    after = data[found.end() : found.end() + _MAX_REACH]
    start = found.start() - (len(before) - len(before.rstrip(_ADDRESS)))
    return start, found.end() + len(after) - len(after.lstrip(_ADDRESS))


def _view(data: bytes, stretches: list[tuple[int, int, list[re.Match[bytes]]]]) -> View:
    plain, starts, origins, size = [], [], [], 0

    def add(text: bytes, origin: int) -> None:
        nonlocal size
        if text:
            plain.append(text)
            starts.append(size)
            origins.append(origin)
            size += len(text)

    for start, end, escapes in stretches:
        place = start
        for escape in escapes:
            add(data[place : escape.start()], place)
            if escape.lastindex:
                add(bytes.fromhex(escape[1].decode()), escape.start())
                add(b"", escape.end())
            place = escape.end()
        add(data[place:end], place)
        add(b"\0", end)
    return View(b"".join(plain), starts, origins)
