"""A stream's bytes → objects and other lines, however they are cut and whatever they hold."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.dialect import Record
from unspool.model import Note
from unspool.sources.live import Framing


def framed(data: bytes, *cuts: int) -> list[Any]:
    framing = Framing("-")
    found: list[Record | bytes | Note] = []
    places = [0, *sorted(cuts), len(data)]
    for begin, end in pairwise(places):
        found += framing.feed(data[begin:end])
    found += framing.close()
    return [item.value if isinstance(item, Record) else item for item in found]


PRETTY = json.dumps({"a": [{"b": "}{"}, {}], "c": {"d": None}}, indent=2).encode()


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b'{"a":1}\n{"b":2}\n', [{"a": 1}, {"b": 2}]),
        (b'{"a":1}', [{"a": 1}]),
        (b'{"a":1} {"b":2},{"c":3}\n', [{"a": 1}, {"b": 2}, {"c": 3}]),
        (b'[{"a":1},{"b":2}]\n', [{"a": 1}, {"b": 2}]),
        (PRETTY + b"\n" + PRETTY, [json.loads(PRETTY)] * 2),
        (PRETTY + b'{"b":2}\n', [json.loads(PRETTY), {"b": 2}]),
        (b'{"a":1}\n\xef\xbb\xbf{"b":2}\n', [{"a": 1}, {"b": 2}]),  # two files in a row
        (b"\xef\xbb\xbf" + b'{"a":1}\r\n{"b":2}\r\n', [{"a": 1}, {"b": 2}]),
        (b"\xef\xbb\xbf" + PRETTY.replace(b"\n", b"\r\n"), [json.loads(PRETTY)]),
        (b'Compiling...\n{"a":1}\ndone', [b"Compiling...", {"a": 1}, b"done"]),
        (b'{\n{"a":1}\n', [b"{", {"a": 1}]),
        (b'{"t":"a { lone brace"}\n}\n{"a":1}\n', [{"t": "a { lone brace"}, b"}", {"a": 1}]),
        (b'{\nCompiling\n{"a":1}\n', [b"{", b"Compiling", {"a": 1}]),
        (b'{\n  "a": 1,\n{"b":2}\n', [b"{", b'  "a": 1,', {"b": 2}]),
        (b'{\n  "a": 1,\n  oops\n}\n{"b":2}\n', [b"{", b'  "a": 1,', b"  oops", b"}", {"b": 2}]),
        (b'{"a": "cut off\n{"b":2}\n', [b'{"a": "cut off', {"b": 2}]),
        (b'{"a": "cut o', [b'{"a": "cut o']),
        (b'{"a":1} and more\n{"b":2}', [b'{"a":1} and more', {"b": 2}]),
        (b'{"a":"\xff\xfe"}\n', [{"a": "\ufffd\ufffd"}]),
        (b'{"a":"\\ud800"}\n{"b":NaN}\n', [{"a": "\ufffd"}, {"b": "NaN"}]),
        (b"[info] started\n[1, 2]\n", [b"[info] started", b"[1, 2]"]),
        (b"\n\n", [b"", b""]),
        (b"", []),
    ],
)
def test_what_comes_out(data: bytes, told: list[Any]) -> None:
    assert framed(data) == told
    assert framed(data, *range(1, len(data))) == told  # one byte after another, characters torn apart too


PIECES = st.sampled_from(
    ['{"type":"a","t":"é { }"}', '{"a":1}{"b":2}', PRETTY.decode(), "{", "}", "text", "", '  "a": 1,', '{"cut":"', "["]
)


@given(st.lists(PIECES, max_size=12), st.data())
def test_no_byte_is_lost_and_no_cut_matters(pieces: list[str], draw: st.DataObject) -> None:
    data = "\n".join([*pieces, '{"end":true}']).encode()
    cuts = draw.draw(st.lists(st.integers(0, len(data)), max_size=8))
    framing = Framing("-")
    found = [*framing.feed(data), *framing.close()]
    pieces_found: list[bytes] = []
    for item in found:
        if isinstance(item, bytes):
            pieces_found.append(item)
        elif isinstance(item, Record) and (not pieces_found or item.data is not pieces_found[-1]):
            pieces_found.append(item.data)
    assert b"".join(b"".join(pieces_found).split()) == b"".join(data.split())
    assert framed(data, *cuts) == [item.value if isinstance(item, Record) else item for item in found]
    assert isinstance(found[-1], Record)


def test_records_are_numbered_though_several_stand_in_a_line() -> None:
    framing = Framing("-")
    records = [item for item in framing.feed(b'{"a":1}{"b":2}\n{"c":3}\n') if isinstance(item, Record)]
    assert [record.origin.line for record in records] == [1, 2, 3]


def test_a_line_of_fifty_megabytes() -> None:
    text = "x" * 50_000_000
    data = b'{"t":"' + text.encode() + b'"}\n'
    framing = Framing("-")
    found: list[Record | bytes | Note] = []
    for begin in range(0, len(data), 1 << 16):
        found += framing.feed(data[begin : begin + (1 << 16)])
    assert [isinstance(item, Record) and item.value == {"t": text} for item in found] == [True]
