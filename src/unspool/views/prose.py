"""Text for a terminal, broken between words: a terminal by itself breaks lines wherever they reach its edge."""

import re
from collections.abc import Iterator
from unicodedata import category

_HEAD = re.compile(r"\s*(?:(?:[-*+•>]|\d{1,3}[.)])\s+)*")
"""What a line begins with, and those that it is broken into have below it: the blanks and marks of a list."""
_WORD = re.compile(r"\S+\s*")
_FENCES = ("```", "~~~")
_JOINER = "\N{ZERO WIDTH JOINER}"
_SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
_NARROW = 16
"""Columns in which nothing can be read anyway."""


def broken(text: str, room: int | None) -> Iterator[str]:
    """The lines of a text, none wider than there is room for, unless it is one word, code or a table."""
    fenced = False
    for line in text.split("\n"):
        start = line.lstrip()
        if start.startswith(_FENCES):
            fenced = not fenced
        if room is None or room < _NARROW or len(line) * 2 <= room or fenced or start.startswith("|") or "\t" in line:
            yield line
        else:
            yield from _broken(line, room)


def _broken(line: str, room: int) -> Iterator[str]:
    if cells(line) <= room:
        yield line
        return
    head = found[0] if (found := _HEAD.match(line)) else ""
    told, used = head, cells(head)
    below = " " * used if used <= room // 2 else ""
    words = _WORD.findall(line, len(head))
    for number, word in enumerate(words):
        if number and used + cells(word.rstrip()) > room:
            yield told.rstrip()
            told, used = below, len(below)
        told, used = told + word, used + cells(word)
    yield told.rstrip()


def cells(text: str) -> int:
    """The columns that a text takes."""
    if text.isascii():  # most are: a column each
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def whole_characters(text: str, index: int) -> int:
    """Return the first index from this one on that lies between two characters as people see them.

    An accent belongs to its letter, and emoji that are joined are one character.
    """
    while 0 < index < len(text) and _is_joined(text, index):
        index += 1
    return index


def _is_joined(text: str, index: int) -> bool:
    """Return whether the code points before and after this index are parts of the same character."""
    before, after = text[index - 1], text[index]
    if after.isascii():
        return False
    return _JOINER in (before, after) or after in _SKIN_TONES or category(after)[0] == "M"
