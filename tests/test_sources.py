"""Containers: whatever a trace is packed in, its records come out, with where they stood."""

import gzip
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from unspool.dialect import Record
from unspool.errors import InputNotFound
from unspool.exports.writing import write
from unspool.model import Note
from unspool.sources import files
from unspool.sources.files import expand
from unspool.sources.jsontext import dumps, loads, mend, strict_lines
from unspool.sources.outputs import Output
from unspool.sources.records import decoded_lines, read_lines, read_records

ONE, TWO = b'{"a": 1}', b'{"a": "\xc3\xa9\xe2\x80\xa8"}'


def read(path: Path) -> list[bytes]:
    return [item.data if isinstance(item, Record) else item.kind.encode() for item in read_records(str(path))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", []),
        (b" \n\n\t\n", []),
        (ONE, [ONE]),
        (ONE + b"\n" + TWO + b"\n", [ONE, TWO]),
        (b"\n" + ONE + b"\n\n" + TWO, [ONE, TWO]),
        (ONE + b"\r\n" + TWO + b"\r\n", [ONE + b"\r", TWO + b"\r"]),
        (b"\xef\xbb\xbf" + ONE + b"\n" + TWO, [b"   " + ONE, TWO]),
        (b"[" + ONE + b",\n " + TWO + b"]\n", [ONE, TWO]),
        (b"\xef\xbb\xbf[" + ONE + b"]", [ONE]),
        (b"[]", []),
        (b'{\n  "a": 1\n}\n', [b'{\n  "a": 1\n}']),
        (b"[\n" + ONE + b"\n]\n", [ONE]),
        (b'{"request":\n{"a": 1}\n}\n', [b'{"request":\n{"a": 1}\n}']),
        (b'{"a": NaN}\n{"a": NaN}\n', [b'{"a": NaN}', b'{"a": NaN}']),
        (ONE + b'\n{"a": ', [ONE, b'{"a": ']),
        (b'{"a": \n' + ONE + b"\n" + TWO, [b"unreadable", ONE, TWO]),
        (b"nonsense\n" + ONE, [b"nonsense", ONE]),
        (b"[1, 2\n" + ONE + b"\n", [b"[1, 2", ONE]),
        (b"[info] started\n" + ONE + b"\n" + TWO, [b"[info] started", ONE, TWO]),
        (b"[" + ONE + b", " + TWO + b', {"a"', [b"unreadable", ONE, TWO]),
        (b"[" + ONE + b"]\n[" + TWO + b"]\n", [b"unreadable", ONE, TWO]),
        (b'{\n "a": 1\n}\n{\n "a": 2\n}\n', [b"unreadable", b'{\n "a": 1\n}', b'{\n "a": 2\n}']),
    ],
)
@pytest.mark.parametrize("block", [1, 7, 1 << 20])
def test_records(
    text: bytes, expected: list[bytes], block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "BLOCK", block)  # lines and blocks may end anywhere
    path = tmp_path / "x"
    path.write_bytes(text)
    assert read(path) == expected
    for item in read_records(str(path)):
        if not text.startswith(b"\xef\xbb\xbf"):
            assert text[item.origin.offset :].startswith(item.data if isinstance(item, Record) else b"")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_packed_by_content_not_by_name(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(pack(ONE + b"\n") + pack(TWO + b"\n"))
    assert read(path) == [ONE, TWO]


def test_a_torn_gzip_costs_only_its_end(tmp_path: Path) -> None:
    packed = gzip.compress(b"\n".join([ONE] * 200_000))
    path = tmp_path / "torn.gz"
    path.write_bytes(packed[: len(packed) // 2])
    *records, note = list(read_records(str(path)))
    assert len(records) > 10_000
    assert isinstance(note, Note)
    assert note.kind == "unreadable"
    assert "damaged" in note.reason


def test_a_torn_zstd_says_so(tmp_path: Path) -> None:
    packed = zstandard.compress(b"\n".join(b'{"a": %d}' % n for n in range(200_000)))
    path = tmp_path / "torn.zst"
    path.write_bytes(packed[: len(packed) // 2])
    *records, note = list(read_records(str(path)))
    assert len(records) > 1_000
    assert isinstance(note, Note)
    assert "the last frame is cut off" in note.reason


@pytest.mark.parametrize("layout", [{"indent": 2}, {"separators": (",", ":")}, {"indent": None}], ids=str)
def test_one_bad_element_costs_only_itself(layout: dict[str, Any], tmp_path: Path) -> None:
    records = [{"id": f"q{n}", "request": {"messages": [{"role": "user", "content": "x"}]}} for n in range(5)]
    path = tmp_path / "x.json"
    path.write_text(re.sub(r'"q1"', "q1", json.dumps(records, **layout)))
    found = [json.loads(item.data)["id"] for item in read_records(str(path)) if isinstance(item, Record)]
    assert found == ["q0", "q2", "q3", "q4"]


def test_a_torn_document_is_read_in_one_go(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b"[" + b", ".join([b'{"request": {"x": "' + b"y" * 500 + b'"}}'] * 20_000))
    assert sum(isinstance(item, Record) for item in read_records(str(path))) == 20_000


def test_a_torn_gzip_of_an_array_keeps_what_is_whole(tmp_path: Path) -> None:
    packed = gzip.compress(b"[" + b", ".join(b'{"request": {"n": %d}}' % n for n in range(50_000)) + b"]")
    path = tmp_path / "torn.json.gz"
    path.write_bytes(packed[: len(packed) // 2])
    assert sum(isinstance(item, Record) for item in read_records(str(path))) > 1_000


def test_a_mended_document_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b'[{"a": NaN}, {"a": 1}]')
    note, *records = list(read_records(str(path)))
    assert isinstance(note, Note)
    assert note.kind == "repaired"
    assert [record.origin.line for record in records] == [1, 2]
    assert all(record.origin.size == 22 for record in records)


def test_a_long_window_is_read(tmp_path: Path) -> None:
    wide = zstandard.ZstdCompressionParameters(window_log=28, enable_ldm=True)
    path = tmp_path / "long.zst"
    with path.open("wb") as file, zstandard.ZstdCompressor(compression_params=wide).stream_writer(file) as packer:
        packer.write(ONE + b"\n")
    assert read(path) == [ONE]


def test_a_folder_gives_the_traces_below_it(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("b/2.jsonl.gz", "1.json", "b/3.ndjson", "notes.txt", "b/4.JSONL"):
        (tmp_path / name).write_bytes(ONE)
    found = [str(Path(path).relative_to(tmp_path)) for path in expand([tmp_path])]
    assert found == ["1.json", "b/2.jsonl.gz", "b/3.ndjson", "b/4.JSONL"]


def test_what_is_given_twice_is_read_once(tmp_path: Path) -> None:
    """A folder and a file of it; or else each of its calls would be a retry, and paid for twice."""
    trace = tmp_path / "a.jsonl"
    trace.touch()
    assert list(expand([tmp_path, trace, f"{tmp_path}/./a.jsonl"])) == [str(trace)]


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputNotFound, match="No such file"):
        list(expand([tmp_path / "nope"]))
    with pytest.raises(InputNotFound, match="no file in this folder"):
        list(expand([tmp_path]))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"a": NaN, "b": -Infinity}', {"a": "NaN", "b": "-Infinity"}),
        (b'"\\ud800x"', "\N{REPLACEMENT CHARACTER}x"),
        (b'"\xffx"', "\N{REPLACEMENT CHARACTER}x"),
        (b'"a\x01\tb"', "a\x01\tb"),
        (b"123456789012345678901234567890", 123456789012345678901234567890),
        (b"[1e999, -1e999, 1e5]", ["1e999", "-1e999", 100000.0]),
    ],
)
def test_faulty_json_is_mended(text: bytes, value: object) -> None:
    assert loads(text) == value
    assert loads(mend(text)) == value


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("old")
    target.chmod(0o640)

    def broken() -> Iterator[bytes]:
        yield b"half"
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        write(Output(str(target)), broken())
    assert target.read_text() == "old"
    write(Output(str(target)), [b"new"])
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [target]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    write(Output(str(tmp_path / "link.json")), [b"new"])
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == "new"


@pytest.mark.parametrize("depth", [150, 900, *range(930, 1000, 3), 5000])
@pytest.mark.parametrize("fault", ["", "NaN"])
def test_what_is_nested_deeply_can_be_read_and_what_was_read_written(depth: int, fault: str) -> None:
    """The limit is that of the stack, which is not the same when a value is read and when it is written."""
    value = loads('{"a":' + "[" * depth + fault + "]" * depth + ',"b":1}')
    assert value["b"] == 1
    assert loads(dumps([[[[[[value]]]]]]))[0][0][0][0][0][0]["b"] == 1


def test_of_what_cannot_be_written_the_upper_levels_are() -> None:
    value: Any = "core"
    for _ in range(5000):
        value = {"a": [value], "b": 2}
    written = json.loads(dumps(value))
    assert dumps(written).count('"b":2') == 100
    assert "nested too deeply" in dumps(written)


PARTS = [
    b"{}",
    b'{"a": 1}',
    b'{"a": {"b": [{}]}}',
    b"{",
    b"}",
    b'{"a":',
    b"1}",
    b" ",
    b"\t",
    b"\r",
    b"null",
    b"[]",
    b"\xff",
]
LINES = st.lists(st.lists(st.sampled_from(PARTS), max_size=3).map(b"".join), max_size=6).map(b"\n".join)


@given(data=st.tuples(st.sampled_from([b"", b"\xef\xbb\xbf"]), LINES, st.sampled_from([b"", b"\n"])).map(b"".join))
def test_lines_decoded_by_the_block_are_the_lines(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever stands in them: two objects, half an object, none."""
    path = tmp_path_factory.getbasetemp() / "lines.jsonl"
    path.write_bytes(data)
    one_by_one = [item for item in read_lines(str(path)) if isinstance(item, Record)]
    by_the_block = [
        item for item in decoded_lines(str(path), files.blocks(str(path)), strict_lines) if isinstance(item, Record)
    ]
    assert [item.origin for item in by_the_block] == [item.origin for item in one_by_one]
    for item, line in zip(by_the_block, one_by_one, strict=True):
        assert item.data == line.data if item.value is None else item.value == loads(line.data)


@pytest.mark.parametrize("size", [1, 3, 64, files.BLOCK])
@pytest.mark.parametrize("torn", [False, True])
def test_lines_longer_than_a_block_are_decoded_too(
    size: int, torn: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of packed data that breaks off: what came before is told."""
    lines = [b'{"a": "' + b"x" * length + b'"}' for length in (5, 300, 0, 70, 1)]
    path = tmp_path / "lines.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n".join(lines) + b"\n", 0)[: -30 if torn else None])
    monkeypatch.setattr(files, "BLOCK", size)
    expected, found = list(read_lines(str(path))), list(decoded_lines(str(path), files.blocks(str(path)), strict_lines))
    assert [type(item) for item in found] == [type(item) for item in expected]
    assert [item.origin for item in found if isinstance(item, Record)] == [
        item.origin for item in expected if isinstance(item, Record)
    ]
    assert isinstance(found[-1], Note) is torn
