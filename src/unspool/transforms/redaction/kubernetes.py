"""The values of a Kubernetes Secret, whatever their keys are."""

import re
from collections.abc import Iterator
from typing import Any

_LINE = rb"(?:\r?\n|(?:\\+r)?\\+n)"
_QUOTE = rb"\\*[\"']"
_VALUE = rb"(?P<secret>[A-Za-z0-9+/_.~!@#%^*$=-]{4,100000})"
_KEY = rb"(?:%b)?[A-Za-z0-9._-]{1,200}(?:%b)?:" % (_QUOTE, _QUOTE)
_SPACE = rb"(?:[ \t]|\\+t|%b)" % _LINE
LITERALS = (
    "kind: Secret",
    'kind: "Secret',
    'kind":"Secret',
    'kind": "Secret',
    'kind\\":\\"Secret',
    'kind\\": \\"Secret',
)
_DATA = re.compile(
    rb"(?:stringData|(?:(?<![A-Za-z])|(?<=\\n))data)(?:%b)?:(?:%b{0,80}(?P<object>\{)|(?P<margin>%b[ \t]{1,80}))"
    % (_QUOTE, _SPACE, _LINE)
)
_MEMBER = re.compile(rb",?%b{0,200}%b%b{0,80}%b%b(?:%b)?" % (_SPACE, _KEY, _SPACE, _QUOTE, _VALUE, _QUOTE))
_PAIR = re.compile(
    rb"%b[ \t]{1,8}(?:[|>][+-]?(?:%b[ \t]{1,80}))?(?:%b)?%b(?:%b)?" % (_KEY, _LINE, _QUOTE, _VALUE, _QUOTE)
)
_ENTRY = re.compile(_VALUE)
DATA_KEYS = ("data", "stringData")
_DOCUMENT = re.compile(rb"%b---" % _LINE)
_REACH = 20_000


def entries(data: bytes, place: int) -> Iterator[tuple[int, int]]:
    """Yield where the values of the Secret that is named at a place start and end."""
    start = data.rfind(b"kind", max(0, place - _REACH), place)
    low = start if start >= 0 else max(0, place - _REACH)
    end = data.find(b"kind", place + 4, place + _REACH)
    high = end if end >= 0 else min(len(data), place + _REACH)
    for document in _DOCUMENT.finditer(data, low, high):
        low, high = (document.end(), high) if document.start() < place else (low, min(high, document.start()))
    for found in _DATA.finditer(data, low, high):
        end, margin = found.end(), found["margin"]
        entry = _PAIR if margin else _MEMBER
        while value := entry.match(data, end, high):
            yield value.span("secret")
            end = value.end()
            if margin:
                if not data.startswith(margin, end):
                    break
                end += len(margin)


def is_secret(value: dict[str, Any]) -> bool:
    """Return whether an object is a Kubernetes Secret that still says something."""
    return value.get("kind") == "Secret" and any(
        isinstance(entry, str) and is_entry(entry.encode("utf-8", "surrogatepass"))
        for key in DATA_KEYS
        if isinstance(data := value.get(key), dict)
        for entry in data.values()
    )


def is_entry(value: bytes) -> bool:
    """Return whether a value of a Secret is one in writing: no placeholder, and no variable of a template."""
    return _ENTRY.match(value) is not None
