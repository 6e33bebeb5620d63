"""Objects that are broken over lines without indentation, and beginnings that never end."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from test_live import framed
from unspool.dialect import Record
from unspool.jobs.pretty.run import Run
from unspool.sources import live
from unspool.sources.live import Framing
from unspool.views.pretty.moments import Passed

TEXT = {"type": "assistant", "message": {"content": [{"type": "text", "text": "a {, } b"}, {}], "n": [1, -2.5, None]}}
DENSE = json.dumps(TEXT, separators=(",", ":"))


@pytest.mark.parametrize(
    "data",
    [
        DENSE.replace('"message"', '\n"message"'),
        DENSE.replace(',"', ',\n"'),
        DENSE.replace('":', '":\n'),
        DENSE.replace("[{", "[\n{").replace("},{}]", "},\n{}\n]"),
        DENSE.replace("}}", "}\n}"),
        json.dumps(TEXT, indent=0),
        json.dumps(TEXT, indent="\t").replace("\n", "\r\n"),
        json.dumps(TEXT, indent=2).replace("}\n}", "}}"),
    ],
)
def test_objects_are_read_wherever_their_lines_break(data: str) -> None:
    """However the next one begins, and with text between them."""
    for between in ("\n", "\n\n", " ", "\nCompiling\n"):
        passed = [line.encode() for line in between.split("\n")[1:-1]]
        assert framed(f"{data}{between}{data}\n".encode()) == [TEXT, *passed, TEXT]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b'[{"a":1,\n"b":2},\n{"c":3}]\n', [{"a": 1, "b": 2}, {"c": 3}]),
        (b'[\n{"a":1,\n"b":2},\n{"c":3}\n]\n', [b"[", {"a": 1, "b": 2}, {"c": 3}, b"]"]),
        (b'[{"a":1},\n\n{"b":2}\n,{"c":3}\n]\n{"d":4}\n', [{"a": 1}, {"b": 2}, {"c": 3}, {"d": 4}]),
        (b'[{"a":1},{"b":\n[{}]},\n{"c":\n3}]\n', [{"a": 1}, {"b": [{}]}, {"c": 3}]),
        (b'[{"a":1},\n{"b":2},\nCompiling\n{"c":3}\n', [{"a": 1}, {"b": 2}, b"Compiling", {"c": 3}]),
        (b'{"a":\n1}{"b":2}\n', [{"a": 1}, {"b": 2}]),
        (b'{"a":1} {"b":\n2}\n', [{"a": 1}, {"b": 2}]),
        (b'{not json\n{"a":1}\n', [b"{not json", {"a": 1}]),
        (b'{"a": [\n{"b":1}\n{"c":2}\n', [b'{"a": [', {"b": 1}, {"c": 2}]),  # torn where an element could follow
        (b'{"a":1,\n"b" 2}\n', [b'{"a":1,', b'"b" 2}']),
        (b'{"a":1,\n}\n', [b'{"a":1,', b"}"]),
        (b'{"a":1\n]\n', [b'{"a":1', b"]"]),
        (b'{"a":"b\nc"}\n', [b'{"a":"b', b'c"}']),
    ],
)
def test_what_comes_out(data: bytes, told: list[Any]) -> None:
    assert framed(data) == told
    assert framed(data, *range(1, len(data))) == told


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(st.dictionaries(st.text(), _JSON, min_size=1), st.sampled_from([0, 1, 2, None]), st.booleans())
def test_any_object_comes_back(value: dict[str, Any], indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert framed(f"{text}\n{text}\n".encode()) == [value, value]


def test_an_array_over_lines_is_handed_on_by_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its size: no more than one element is kept."""
    monkeypatch.setattr(live, "_MAX_BYTES", 100)
    framing = Framing("-")
    lines = [b'[{"a":0},', *[b'{"a":%d},' % number for number in range(1, 50)], b'{"a":50}]']
    for number, line in enumerate(lines):
        (item,) = framing.feed(line + b"\n")
        assert isinstance(item, Record)
        assert item.value == {"a": number}
        assert not framing.waiting
    assert list(framing.feed(b"done\n")) == [b"done"]


def test_an_object_without_end_is_held_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "_MAX_BYTES", 1000)
    framing = Framing("-")
    lines = [b'{"a":[', *[b"1234567," for _ in range(200)]]
    found = [item for line in lines for item in framing.feed(line + b"\n")]
    assert found[:2] == [b'{"a":[', b"1234567,"]
    assert len(found) >= len(lines) - 1000 // 8
    assert [*found, *framing.close()] == lines


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_torn_line_is_shown_when_nothing_follows_for_a_while() -> None:
    clock = Clock()
    run = Run("-", clock=clock)
    assert list(run.feed(b'{"type":"assistant",\n')) == []
    assert (run.due, run.tick()) == (102.0, [])
    clock.now = 102.0
    assert run.tick() == [Passed('{"type":"assistant",')]
    assert run.due is None


def test_ordinary_lines_are_shown_at_once() -> None:
    run = Run("-", clock=Clock())
    for line in ("{not json", "[info] started", "[", "}", "text"):
        assert list(run.feed(f"{line}\n".encode())) == [Passed(line)]
