"""Lines without anything known are decoded at once: that must change nothing but the time it takes."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from calls import call
from test_known import CONVERSATIONS, FILLER
from unspool.dialect import Record
from unspool.ingest.novelty import Novelty
from unspool.ingest.traffic import Traffic
from unspool.model import Origin

GOLDEN = sorted((Path(__file__).parent / "wires").glob("*/*.json"))


class Always(Novelty):
    expected = True


class Never(Novelty):
    expected = False


def read(lines: list[bytes], novelty: type[Novelty], alone: bool = False) -> list[bytes]:
    """All exchanges and notes, each line read by itself or by one reader."""
    found: list[Any] = []
    traffic = Traffic()
    for line in lines:
        traffic = Traffic() if alone else traffic
        traffic._novelty = novelty()
        found += traffic.read(Record(line, Origin("x", 1, 0, len(line))))
    return [msgspec.json.encode(item) for item in found]


@pytest.mark.parametrize("style", [(", ", ": "), (",", ":")], ids=["spaced", "compact"])
@pytest.mark.parametrize("path", [path for path in GOLDEN if "golden" not in path.name], ids=lambda path: path.stem)
def test_every_dialect_is_read_the_same(path: Path, style: tuple[str, str]) -> None:
    lines = [json.dumps(record, separators=style).encode() for record in json.loads(path.read_text())]
    assert read(lines, Always, alone=True) == read(lines, Never, alone=True)
    assert read(lines * 3, Always) == read(lines * 3, Never)  # what was noted once is not noted again


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_every_conversation_is_read_the_same(name: str) -> None:
    lines = [json.dumps(each).encode() for each in CONVERSATIONS[name]]
    assert read(lines, Always, alone=True) == read(lines, Never, alone=True)


@pytest.mark.parametrize(
    "line",
    [
        b'{"request": {"messages": [{"role": "user", "content": "\xff"}]}}',
        b'{"request": {"messages": [{"role": "user", "content": NaN}]}}',
        b'{"id": {"a": [1,  2]}, "request": {"messages": [], "tools": [1, "x", {"b":  1e3}]}}',
        b'{"request": {"messages": "text", "prompt": ["a", "b"]}, "response": {"choices": []}}',
        b'{"request": [1]}',
        b"[1]",
        b'{"request": {"messages": [' + b"[" * 2000 + b"]" * 2000 + b"]}}",
    ],
)
def test_faults_are_read_with_care(line: bytes) -> None:
    assert read([line, line], Always) == read([line, line], Never)


def test_a_conversation_that_begins_to_grow_is_noticed() -> None:
    traffic = Traffic()
    lines = [call(f"s:{n}", *(f"{n} {turn} {FILLER}" for turn in range(4)), answer="a") for n in range(40)]
    for line in lines:
        list(traffic.read(Record(json.dumps(line).encode(), Origin("x", 1, 0, 0))))
    assert len(traffic._runs._runs) < 12  # nearly all were decoded at once
    for turn in range(4, 50):
        growing = json.dumps(call("s:g", *(f"{n} {FILLER}" for n in range(turn)), answer="a")).encode()
        cut = traffic._runs.cut(growing)
        list(traffic.read(Record(growing, Origin("x", 1, 0, 0))))
        assert cut is not None or turn < 4 + 34
    assert not traffic._novelty.expected
