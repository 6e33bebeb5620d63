"""Keys that are broken over two lines, by a terminal, a shell, or a person."""

import re

from unspool.transforms.redaction.wordlike import is_unlike_words, wordlike
from unspool.transforms.shapes import CONTINUED

_BREAK = rb"(?:\\*\r?\n|\\*(?:\\r)?\\+n)(?:[ \t|>]|\\+t){0,40}"
_SECOND = rb"[A-Za-z0-9+/_.=~-]{6,400}"
_CLOSING = rb"(?=[\x00-\x20\x7f\\\"'`<,;)]|\Z)"
_AFTER = re.compile(rb"%b(?P<second>%b)%b" % (_BREAK, _SECOND, _CLOSING))
_INDENTED = re.compile(
    rb"(?:%b|(?:\r?\n|(?<!\\)(?:(?:\\{1,2}|\\{4}|\\{8})r)?(?:\\{1,2}|\\{4}|\\{8})n)(?:[ \t]|\\+t){2,40})"
    rb"(?P<second>%b)%b" % (CONTINUED.encode(), _SECOND, _CLOSING)
)
"""The next line after a backslash, or one that is indented: without these, it is another value."""
_BROKEN = re.compile(rb"(?P<first>[A-Za-z0-9+/_.~$-]{6,400})%b(?P<second>%b)%b" % (_BREAK, _SECOND, _CLOSING))
_FIRST = re.compile(rb"(?<![A-Za-z0-9_/+-])(?P<first>[A-Za-z0-9_.~$-]{6,80})%b\Z" % _BREAK)
_REACH = 130
_MAX_WORDLIKE = 0.5


def continued(data: bytes, end: int, is_strong: bool) -> int:
    """Return where a secret that ends at a line's end goes on to, or the same end if it does not."""
    found = (_AFTER if is_strong else _INDENTED).match(data, end)
    return found.end("second") if found and _is_random(found["second"]) else end


def first_half(data: bytes, second: int) -> int:
    """Return where the word starts that ends the line before a place, or -1 if the line does not break there."""
    found = _FIRST.search(data, max(0, second - _REACH), second)
    return found.start("first") if found else -1


def joined(data: bytes, place: int) -> tuple[bytes, int, int] | None:
    """Return the word at a place with the next line's word, the length of the first, and the place of the second.

    Return None if the line does not break there.
    """
    found = _BROKEN.match(data, place)
    if found is None or not _is_random(found["second"]):
        return None
    return found["first"] + found["second"], len(found["first"]), found.start("second")


def _is_random(value: bytes) -> bool:
    """Return whether a line's only word is likely the rest of a key."""
    if is_unlike_words(value):
        return True
    has_digit = any(byte in b"0123456789" for byte in value)
    return len(set(value)) > 4 and wordlike(value) <= _MAX_WORDLIKE and has_digit and value.lower() != value.upper()
