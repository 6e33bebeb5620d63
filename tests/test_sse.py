"""Streams: any split of the same bytes gives the same answer; any prefix gives an interrupted prefix of it."""

import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.dialect import Wire
from unspool.model import Text, Thinking, ToolUse
from unspool.sources.sse import DONE, Assembler, Broken, events
from unspool.wires import WIRES

FOLDER = Path(__file__).parent / "wires"


def recorded(wire: str) -> bytes:
    """The first stream of the wire's golden folder, as it would have come over the network."""
    record = json.loads((FOLDER / wire / "stream.json").read_text())[0]
    text = ""
    for line in record["response"]["sse_lines"]:
        text += line + ("\n" if line.startswith(("event:", ":")) else "\n\n")
    return text.encode()


STREAMS = {name: recorded(name) for name in WIRES}


def feed(pieces: list[bytes]) -> list[Any]:
    assembler = Assembler()
    found = [event for piece in pieces for event in assembler.feed(piece)]
    return found + list(assembler.end())


@pytest.mark.parametrize("wire", WIRES.values(), ids=lambda wire: wire.name)
@given(data=st.data())
def test_any_split_gives_the_same(wire: Wire, data: st.DataObject) -> None:
    stream = STREAMS[wire.name].replace(b"\n", data.draw(st.sampled_from([b"\n", b"\r\n", b"\r"])))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert wire.fold(feed(pieces)) == wire.fold(feed([STREAMS[wire.name]]))


@pytest.mark.parametrize("wire", WIRES.values(), ids=lambda wire: wire.name)
@given(data=st.data())
def test_any_prefix_is_an_interrupted_prefix(wire: Wire, data: st.DataObject) -> None:
    stream = STREAMS[wire.name]
    cut = data.draw(st.integers(0, len(stream) - 1))
    part, whole = wire.fold(feed([stream[:cut]])), wire.fold(feed([stream]))
    arrived, expected = said(wire, part.body), said(wire, whole.body)
    if part.complete:
        assert arrived == expected
    assert {kind: expected[kind][: len(text)] for kind, text in arrived.items()} == arrived


def said(wire: Wire, body: dict[str, Any]) -> dict[str, str]:
    """What has come so far: text and thoughts, each in one piece, and the arguments of each call."""
    texts: dict[str, str] = defaultdict(str)
    for message in wire.answer(body).messages:
        for block in message.blocks:
            match block:
                case Text() | Thinking():
                    texts[type(block).__name__] += block.text
                case ToolUse() if block.arguments == {}:
                    continue
                case ToolUse():
                    written = json.dumps(block.arguments) if block.text is None else block.text
                    texts[f"call {block.id}"] = written.replace(" ", "")
    return texts


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (['data: {"a":1}'], [{"a": 1}]),
        (['data:{"a":1}', ""], [{"a": 1}]),
        (['data: {"a":1}\r', "\r"], [{"a": 1}]),
        (['\ufeffdata: {"a":1}'], [{"a": 1}]),
        ([": comment", "event: x", 'data: {"a":1}', "id: 3", "retry: 10"], [{"a": 1}]),
        (['data: {"a":', "data: 1}", ""], [{"a": 1}]),
        (['data: {"a":1}      '], [{"a": 1}]),
        (['data: {"a":"x\u2028y\u0085z"}'], [{"a": "x\u2028y\u0085z"}]),
        (["data: [DONE]"], [DONE]),
        (["data: {oops", "", 'data: {"a":1}'], [Broken("{oops"), {"a": 1}]),
        (["data: {oops", "event: next", 'data: {"a":1}'], [Broken("{oops"), {"a": 1}]),
        (['data: {"a":1}', 'data: {"a":2}'], [{"a": 1}, {"a": 2}]),
        (['{"a":1}', '{"a":2}'], [{"a": 1}, {"a": 2}]),
        (["data: {half"], [Broken("{half")]),
        (["data:", ""], []),
        (["data: NaN"], ["NaN"]),
    ],
)
def test_framing(lines: list[str], expected: list[Any]) -> None:
    assert list(events(lines)) == expected
    assert list(events("\n".join(lines))) == expected


def test_a_long_line_in_many_pieces_is_put_together_once() -> None:
    assembler, piece, began = Assembler(), b"a" * 1000, time.process_time()
    assert not list(assembler.feed(b'data: "'))
    for _ in range(100_000):
        assert not list(assembler.feed(piece))
    (whole,) = assembler.feed(b'"\n')
    assert len(whole) == 100_000_000
    assert time.process_time() - began < 20


def test_a_carriage_return_at_the_end_of_a_piece_is_half_an_end_or_a_whole_one() -> None:
    assembler = Assembler()
    pieces = (b"data: 1\r", b"", b"\ndata: 2\r", b"data: 3", b"\r", b"\r", b"data: 4\r")
    assert [[*assembler.feed(piece)] for piece in pieces] == [[], [], [1], [2], [], [3], []]
    assert [*assembler.end()] == [4]


def test_what_is_no_json_says_so() -> None:
    assert isinstance(next(events(["data: {half"])), Broken)
