"""The long words of a text: where they are, which of them are keys, and which say a text in base64 or hexadecimal.

A long word is a run of at least 24 letters, digits, `_` and `-`. Few texts have many. So each can be asked what no
search for a literal finds: whether it has the form of a key from its start to its end, or what it says when decoded.
"""

import binascii
import re
from base64 import b64decode
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import NamedTuple

from unspool.transforms.shapes import Rule

_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_KINDS = bytes(ord("a") if byte in _LETTERS else ord(" ") for byte in range(256))
_LONG = b"a" * 24
_JOINED = _LETTERS + b".!~"
"""Characters that join the parts of a key."""
_BACKSLASH = 0x5C
_BEFORE = frozenset(b".!~\\")
_PARTED = frozenset(b".!~\\\n\r")
"""What stands before a word that goes on from something: a part of a key, an escape, or a line's start."""
_ENDS = (b".", b"\n", b"\r", b"\\")
_LENGTHS = frozenset([26, *range(40, 53), 84, *range(150, 210)])
"""Lengths of keys that have a form only, and no dot."""
_REACH = 40
"""Bytes before a long word in which the key that it belongs to may start."""
_ESCAPED = re.compile(rb"[nrtbf]|u[0-9a-fA-F]{4}")
_INSIDE = re.compile(rb"[A-Za-z0-9+/]{16}[+/]")
"""What stands before a word that is a part of base64, and no word."""

_HEX = b"0123456789abcdefABCDEF"
_HEX_STARTS, _BASE64_STARTS = b"0234567", b"CDEIJKLMNOPQRSTUVWXYZabcdef"
"""First characters of printable text, and of line breaks."""
_SAMPLE = 32
"""Characters by which a word is judged: an image, a hash or a random token does not say ASCII text so long."""
_MORE = re.compile(rb"[A-Za-z0-9+/_-]*")
_BREAK = re.compile(rb"(?:\r?\n|(?:\\+r)?\\+n)(?:[ \t>|]|\\+t){0,60}")
_MIN_LINE = 40
"""Characters: a shorter line of base64 is the last."""
_MAX_ENCODED = 200_000
_PADDING = re.compile(rb"(?:=|%3[dD]){0,2}")
_STANDARD = bytes.maketrans(b"-_", b"+/")


def word_start(data: bytes, start: int) -> int:
    """Return where the key starts to which a long word belongs: `hvb` stands before its dot."""
    if not start or data[start - 1] not in _BEFORE:
        return start
    before = data[max(0, start - _REACH) : start]
    start -= len(before) - len(before.rstrip(_JOINED))
    if start and data[start - 1] == _BACKSLASH and (escape := _ESCAPED.match(data, start)):
        return escape.end()
    return start


class Keys:
    """The rules for long words, by the three characters that a key starts with; and those that have a form only."""

    def __init__(self, rules: Iterable[tuple[int, Rule]]) -> None:
        self._prefixed: dict[bytes, list[_Key]] = defaultdict(list)
        self._formed: list[_Key] = []
        forms: list[str] = []
        for rank, rule in rules:
            key = _Key(rank, rule.kind, rule.pattern.encode(), rule.accept)
            for prefix in {literal[:3].encode() for literal in rule.literals}:
                self._prefixed[prefix].append(key)
            if not rule.literals:
                self._formed.append(key)
                forms.append(f"({rule.pattern})")
        self._form = re.compile("|".join(forms).encode()).match

    def candidates(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield where the long words start and end that may be keys, parts of keys, or encoded texts.

        Most long words are names and hashes. What tells them from keys costs little, and is asked here.
        """
        kinds, prefixed = data.translate(_KINDS), self._prefixed
        start = kinds.find(_LONG)
        while start >= 0:
            end = kinds.find(b" ", start)
            end = end if end >= 0 else len(kinds)
            if (
                data[start : start + 3] in prefixed
                or (start and data[start - 1] in _PARTED)
                or end - start in _LENGTHS
                or data[end : end + 1] in _ENDS
                or _in_base64(data[start : start + 13 : 4])
                or _in_hex(data[start : start + 15 : 2])
            ):
                yield start, end
            start = kinds.find(_LONG, end)

    def find(self, data: bytes, place: int, start: int, end: int) -> tuple[int, int, str] | None:
        """Return the end, the rank and the kind of the key that starts at a place, given its long word."""
        for key in self._prefixed.get(data[place : place + 3], ()):
            if (
                (found := _compiled(key.pattern).match(data, place))
                and key.accept(found[0])
                and not _is_inside(data, place)
            ):
                return found.end(), key.rank, key.kind
        if place == start and end - start not in _LENGTHS and data[end : end + 1] != b".":
            return None
        if found := self._form(data, place):
            key = self._formed[(found.lastindex or 1) - 1]
            if key.accept(found[0]) and not _is_inside(data, place):
                return found.end(), key.rank, key.kind
        return None


class _Key(NamedTuple):
    rank: int
    kind: str
    pattern: bytes
    accept: Callable[[bytes], bool]


@cache
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern)


def _is_inside(data: bytes, start: int) -> bool:
    return start > 16 and _INSIDE.match(data, start - 17) is not None


def encoded_text(data: bytes, start: int, end: int) -> tuple[int, bytes] | None:
    """Return where the encoded text that starts with a word ends, and what it says; None if the word is none."""
    if not _is_text(_decoded(data[start : min(end, start + _SAMPLE)])):
        return None
    end = _last_line(data, start, end)
    closing = _PADDING.match(data, end)
    text = _decoded(_BREAK.sub(b"", data[start:end]))
    return (closing.end() if closing else end, text) if _is_text(text) else None


_in_base64 = re.compile(b"[%b]{4}" % _BASE64_STARTS).match
"""Whether every fourth character of a word may be base64 of printable text, by the highest bits of a byte."""
_in_hex = re.compile(b"[%b]{8}" % _HEX_STARTS).match
"""Whether every second character may be the first digit of a printable character."""


def _last_line(data: bytes, start: int, end: int) -> int:
    """Return where the lines of an encoded text end."""
    line = start
    while True:
        more = _MORE.match(data, end)
        end = more.end() if more else end
        gap = _BREAK.match(data, end) if end - line >= _MIN_LINE and end - start < _MAX_ENCODED else None
        following = _MORE.match(data, gap.end()) if gap else None
        if gap is None or following is None or len(following[0]) < 2:
            return end
        line, end = gap.end(), following.end()


def _decoded(run: bytes) -> bytes:
    if not run.strip(_HEX):
        return binascii.unhexlify(run[: len(run) // 2 * 2])
    run = run.translate(_STANDARD)
    run = run[:-1] if len(run) % 4 == 1 else run
    return b64decode(run + b"=" * (-len(run) % 4))


def _is_text(said: bytes) -> bool:
    start = said[:_SAMPLE]
    return start.isascii() and start.translate(None, b"\r\n\t").decode().isprintable()
