"""Values of very many tiny lists and objects, which take far more memory decoded than as text.

{"type": "user", "extra": [[],[],[],…]}   →   {"type": "user", "extra": "[20,000,000 lists and objects left out]"}

Python needs about 64 bytes for an empty list and 240 for a small object, so 60 MB of them become 1.6 GB. Such a value
is replaced before its record is decoded. Ordinary records only pay for a look at a few places of those that are large.
"""

import re

from unspool.model import Note, Origin
from unspool.sources.limits import VARIABLE, max_record

_SAMPLES, _SAMPLE = 64, 512
"""The places of a large record that are looked at, and the bytes of each."""
_SUSPICIOUS = 32
"""Bytes for each opening bracket in the samples, below which the whole record is looked at."""
_TINY = 16
"""Bytes for each list or object, on average, in a value that is left out. Messages have twice as many at least."""
_BETWEEN = rb'[^\]\[{}"]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^\]\[{}"]*+)*+'
"""Strings, numbers and what stands between them."""
_LEAF = rb"[\[{]%b[\]}]" % _BETWEEN
_SMALL = rb"[\[{]%b(?:%b%b){0,64}+[\]}]" % (_BETWEEN, _LEAF, _BETWEEN)
_TOKENS = re.compile(rb"%b(?:((?:%b%b)++)|([\[{])|([\]}]))" % (_BETWEEN, _SMALL, _BETWEEN), re.DOTALL)
"""A run of small lists and objects, two levels deep at most; an opening bracket; or a closing bracket."""


def most_containers() -> int:
    """Return the lists and objects that a value of tiny ones may have: 524,288, unless the record limit is changed."""
    return max_record() >> 10


def smallest_suspicious() -> int:
    """Return the size up to which a record is never looked at: 2 MB, unless the record limit is changed."""
    return max_record() >> 8


def is_suspicious(data: bytes) -> bool:
    """Return whether a record may hold such a value. This only looks at samples, and at none of a small record."""
    size = len(data)
    if size <= smallest_suspicious():
        return False
    samples = b"".join([data[at : at + _SAMPLE] for at in range(0, size, size // _SAMPLES)])
    return (samples.count(b"[") + samples.count(b"{")) * _SUSPICIOUS > len(samples)


def lean(data: bytes) -> bytes:
    """Return the JSON text without such values: for a record that was read, and reported, before."""
    return thinned(data)[0] if is_suspicious(data) else data


def left_out_note(count: int, origin: Origin) -> Note:
    """Return the note for a record from which this many lists and objects were left out."""
    reason = (
        f"{count:,} tiny lists and objects of this record were left out: one value may have {most_containers():,}."
        f" --max-record or {VARIABLE} sets another limit"
    )
    return Note("unreadable", reason, origin)


def thinned(data: bytes) -> tuple[bytes, int]:
    """Return the JSON text with a placeholder for each such value, and how many lists and objects were left out."""
    values = _dense_values(data)
    pieces: list[bytes] = []
    end = 0
    for start, stop, count in values:
        pieces += [data[end:start], b'"[%b lists and objects left out]"' % f"{count:,}".encode()]
        end = stop
    return b"".join([*pieces, data[end:]]) if values else data, sum(count for _, _, count in values)


def _dense_values(data: bytes) -> list[tuple[int, int, int]]:
    """Return start, end and number of containers of each such value, the innermost that is one. None of torn JSON."""
    values: list[tuple[int, int, int]] = []
    open_values: list[tuple[int, int, int]] = []
    """Of each value that contains the current place: its start, and the containers and the bytes counted before it."""
    most = most_containers()
    count = left_out = 0
    for token in _TOKENS.finditer(data):
        if token[2]:
            open_values.append((token.start(2), count, left_out))
            count += 1
        elif token[1]:
            start, end = token.span(1)
            count += data.count(b"[", start, end) + data.count(b"{", start, end)
        elif not open_values:
            return []
        else:
            start, before, left_before = open_values.pop()
            inner, size = count - before, token.end() - start - (left_out - left_before)
            if inner > most and inner * _TINY > size:
                values.append((start, token.end(), inner))
                count, left_out = before + 1, left_out + size
    return [] if open_values else values
