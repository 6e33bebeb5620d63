"""Read JSON text that others wrote: strictly first, then with the faults that real files have."""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from unspool.sources.density import lean

_decoder = msgspec.json.Decoder()
strict = _decoder.decode
strict_lines = _decoder.decode_lines
"""The values of many lines, one after another."""

_LARGE = 1 << 12
"""Bytes from which on a text may be worth a second look: see `density`."""
Unreadable = (msgspec.DecodeError, ValueError, RecursionError)
"""What `loads` raises; bytes that are no UTF-8 are a ValueError."""


def loads(data: bytes | str) -> Any:
    """Return the value, mending what `mend` can mend. Values of very many tiny parts are left out."""
    if len(data) > _LARGE and isinstance(data, bytes):
        data = lean(data)
    try:
        return strict(data)
    except Unreadable:
        return strict(mend(data))


def loads_or_text(data: bytes) -> Any:
    """The value; what is beyond mending as the text that it is."""
    try:
        return loads(data)
    except Unreadable:
        return data.decode("utf-8", "replace")


def mend(data: bytes | str) -> bytes:
    """The same JSON, valid: for NaN, huge numbers, control characters, lone surrogates, bytes that are no UTF-8.

    NULs around it are what a file system puts where a write was lost; a byte order mark stands where a file was put
    behind another. What is nested too deeply to be read is kept as text.
    """
    text = (data if isinstance(data, str) else bytes(data).decode("utf-8", "replace")).strip("\0\ufeff")
    try:
        mended = _rewritten(text)
    except RecursionError:
        mended = _rewritten(_shallow(text))
    try:
        return mended.encode()
    except UnicodeEncodeError:
        return mended.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _rewritten(text: str) -> str:
    return json.dumps(_lenient.decode(text), ensure_ascii=False, separators=(",", ":"))


def objects(text: str) -> Iterator[dict[str, Any]]:
    """The whole objects of a text that is torn: an array without its end, objects one after another."""
    for begin, end in spans(text):
        yield strict(mend(text[begin:end]))


def spans(text: str, having: str | None = None) -> Iterator[tuple[int, int]]:
    """Where the whole objects of such a text stand; behind a torn one, those that begin a line or hold `having`."""
    at = end = 0
    torn = False
    while found := _OBJECT.search(text, at):
        at = found.start()
        if not _begins(text, at, end):
            at += 1
            continue
        try:
            _, end = _lenient.raw_decode(text, at)
        except Unreadable:
            torn, at = True, at + 1
            end = at
            continue
        if not torn or text[at - 1 : at] == "\n" or (having and having in text[at:end]):
            yield at, end
            torn = False
        at = end


def _begins(text: str, at: int, since: int) -> bool:
    """Whether an object may begin here: first of all, behind a comma, a bracket, a newline, or another object."""
    while at > since and (text[at - 1] in ",[]" or text[at - 1].isspace()):
        at -= 1
        if text[at] in "\n,[]":
            return True
    return at == 0 or (at > since and text[at - 1] == "}")


def objects_in(data: bytes) -> list[dict[str, Any]] | None:
    """The objects of a text that holds nothing else: one after another, with blanks or commas between them."""
    text, found, at = data.decode("utf-8", "replace"), [], 0
    while at < len(text):
        try:
            value, at = _lenient.raw_decode(text, at)
        except Unreadable:
            return None
        if not isinstance(value, dict):
            return None
        found.append(loads(json.dumps(value)))
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, if nothing else
    return found


def joined(data: bytes) -> tuple[list[tuple[int, int]], bool]:
    """Where the whole objects of a line stand, and whether there is nothing else in it.

    A write that broke off leaves the beginning of a record, or one without the end of its line: the next one follows.
    """
    text = data.decode("utf-8", "surrogateescape")
    found: list[tuple[int, int]] = []
    at = counted = size = 0
    alone = True
    while 0 <= at < len(text):
        try:
            value, end = _lenient.raw_decode(text, at)
        except Unreadable:
            at, alone = _last_whole(text, at), False
            continue
        if not isinstance(value, dict):
            return [], False
        begin = size + _size(text[counted:at])
        counted, size = end, begin + _size(text[at:end])
        found.append((begin, size))
        at = _blanks_end(text, end)
    return found, alone


def _last_whole(text: str, at: int) -> int:
    """Where the object begins that ends the text, if it begins like the torn one here: others are parts of that."""
    begins = text[at : text.find(":", at)]
    for _ in range(_TRIES if begins.startswith('{"') else 0):
        at = text.find(begins, at + 1)
        if at < 0:
            break
        try:
            _, end = _lenient.raw_decode(text, at)
        except Unreadable:
            continue
        if _blanks_end(text, end) == len(text):
            return at
    return -1


def _blanks_end(text: str, at: int) -> int:
    return _BLANKS.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, if nothing else


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _shallow(text: str) -> str:
    """The text with everything below the 200th level turned into strings."""
    pieces: list[str] = []
    depth = begin = 0
    for token in _NESTING.finditer(text):
        brackets, first = token.end() - token.start(), text[token.start()]
        if first in "{[":
            if depth <= _DEEPEST < depth + brackets:
                at = token.start() + _DEEPEST - depth
                pieces.append(text[begin:at])
                begin = at
            depth += brackets
        elif first in "}]":
            depth -= brackets
            if depth <= _DEEPEST < depth + brackets:
                at = token.end() - (_DEEPEST - depth)
                pieces.append(json.dumps(text[begin:at]))
                begin = at
    return "".join(pieces) + text[begin:]


def dumps(value: Any) -> str:
    """Compact JSON text. Of what is nested so deeply that it cannot be written, the upper levels."""
    try:
        return msgspec.json.encode(value).decode()
    except RecursionError:
        return msgspec.json.encode(shallow(value)).decode()


def shallow(value: Any) -> Any:
    """The same value, with a mark in place of each list and object below the 200th level."""
    if not isinstance(value, dict | list):
        return value
    top: Any = value.copy()
    level = [top]
    for depth in range(_DEEPEST):
        below: list[Any] = []
        for holder in level:
            for key, inner in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
                if isinstance(inner, dict | list):
                    holder[key] = inner.copy() if depth < _DEEPEST - 1 else _CUT
                    below.append(holder[key])
        level = below
    return top


def _finite(written: str) -> float | str:
    number = float(written)
    return number if math.isfinite(number) else written


def _countable(written: str) -> int | str:
    return int(written) if len(written) < 4300 else written  # Python refuses to read longer ones


_lenient = json.JSONDecoder(strict=False, parse_constant=str, parse_float=_finite, parse_int=_countable)
_OBJECT = re.compile(r'\{(?=\s*["}])')
_BETWEEN = re.compile(r"[\s,]*")
_BLANKS = re.compile(r"\s*")
_TRIES = 1000
"""Beginnings of objects that are looked at for one that is whole."""
_NESTING = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{]+|[\]}]+', re.DOTALL)
"""A string, also one without an end, or brackets: never a character twice."""
_DEEPEST, _CUT = 200, "[nested too deeply]"
