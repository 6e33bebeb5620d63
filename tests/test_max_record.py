"""One record is never larger than the limit, whatever a few compressed bytes stand for, and costs nothing else."""

import gzip
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard

from calls import call
from conftest import Run
from logs import Claude
from unspool.dialect import Record
from unspool.errors import UnspoolError
from unspool.jobs.cook import cook
from unspool.jobs.sessions import list_sessions
from unspool.jobs.view.catalog import Catalog
from unspool.model import Note
from unspool.sources.compact import Packer
from unspool.sources.files import Damaged, blocks, unpacked
from unspool.sources.limits import max_record, size_of
from unspool.sources.live import Framing
from unspool.sources.records import decoded_lines, read_lines, read_records

MB = 1 << 20
BOUND = 154
"""Megabytes: 150, and four times the largest record."""
Pack = Callable[[bytes], bytes]


@pytest.fixture(autouse=True)
def _one_megabyte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSPOOL_MAX_RECORD", "1MB")


def compact(data: bytes) -> bytes:
    packer = Packer()
    return b"".join(map(packer.pack, data.splitlines(keepends=True)))


PACKED: dict[str, Pack] = {
    "plain": bytes,
    "gzip": lambda data: gzip.compress(data, 1),
    "zstd": zstandard.ZstdCompressor().compress,
    "compact": compact,
}


def text_of(size: int) -> bytes:
    return json.dumps({"text": "x" * size}).encode()


@pytest.mark.parametrize("kind", PACKED)
@pytest.mark.parametrize("end", [b"", b"\n"], ids=["no last end", "a last end"])
def test_a_line_that_is_too_large_costs_only_itself(kind: str, end: bytes, tmp_path: Path) -> None:
    lines = [text_of(3), text_of(2 * MB), text_of(5), text_of(MB - 100), text_of(MB + 100), text_of(4), text_of(3 * MB)]
    path = tmp_path / "trace.jsonl"
    path.write_bytes(PACKED[kind](b"\n".join(lines) + end))
    decode = msgspec.json.Decoder().decode_lines
    for items in (list(read_lines(str(path))), list(decoded_lines(str(path), blocks(str(path)), decode))):
        assert [type(item) for item in items] == [Record, Note, Record, Record, Note, Record, Note]
        assert [item.origin.line for item in items] == [1, 2, 3, 4, 5, 6, 7]
        assert [item.origin.size for item in items] == list(map(len, lines))
        whole = b"\n".join(lines)
        assert [whole[item.origin.offset :][: item.origin.size] for item in items] == lines


def test_the_note_says_how_much_there_was_and_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(text_of(20 * MB))
    (note,) = read_lines(str(path))
    assert isinstance(note, Note)
    assert note.reason == (
        "this line is larger than the limit of 1 MB for one record (20 MB were read):"
        " raise it with --max-record or UNSPOOL_MAX_RECORD"
    )


def test_a_document_that_is_too_large_is_no_record(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps([call("u1"), call("u" * 2 * MB)], indent=1))
    (note,) = read_records(str(path))
    assert isinstance(note, Note)
    assert note.reason.startswith("this document is larger than the limit of 1 MB")


def test_the_end_of_a_stream_is_shown_behind_a_line_that_is_too_large() -> None:
    framing = Framing("-")
    items = [
        item for piece in (b'{"a": 1}\n{"a": "', *[b"x" * MB] * 3, b'"}\n{"a": 2}') for item in framing.feed(piece)
    ]
    items += framing.close()
    assert [item.value if isinstance(item, Record) else type(item) for item in items] == [{"a": 1}, Note, {"a": 2}]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_packed_value_of_a_database(pack: Pack) -> None:
    assert unpacked(pack(b"x" * MB)) == b"x" * MB
    with pytest.raises(Damaged, match="larger than the limit of 1 MB"):
        unpacked(pack(b"x" * 2 * MB))


def test_a_frame_that_asks_for_too_much_memory_is_damaged(tmp_path: Path) -> None:
    settings = zstandard.ZstdCompressionParameters.from_level(1, window_log=30)
    packer = zstandard.ZstdCompressor(compression_params=settings).compressobj()
    path = tmp_path / "a.zst"
    path.write_bytes(packer.compress(b"{}\n") + packer.flush())
    (note,) = read_lines(str(path))
    assert isinstance(note, Note)
    assert "too much memory" in note.reason


@pytest.mark.parametrize("kind", ["gzip", "zstd", "compact"])
def test_damage_still_costs_nothing_before_it(kind: str, tmp_path: Path) -> None:
    lines = [text_of(size) for size in range(2000)]
    packed = PACKED[kind](b"\n".join(lines) + b"\n")
    path = tmp_path / "trace.jsonl"
    path.write_bytes(packed[: len(packed) * 3 // 4])
    *records, note = read_lines(str(path))
    assert isinstance(note, Note)
    assert len(records) > 100
    assert [record.data for record in records[:-1] if isinstance(record, Record)] == lines[: len(records) - 1]


def test_other_files_and_lines_are_read(tmp_path: Path) -> None:
    Claude().user("Mend it").says("Done").save(tmp_path / "good.jsonl")
    other = Claude("22222222-2222-4333-8444-555555555555").user("x" * 2 * MB).user("Then?").says("Yes")
    other.save(tmp_path / "other.jsonl")
    (tmp_path / "zeros.jsonl").write_bytes(bytes(3 * MB))
    listed = list_sessions([str(tmp_path)])
    assert sorted(row.prompt or "" for row in listed.rows) == ["Mend it", "Then?"]
    assert ["zeros.jsonl: this line is larger" in reason for reason in listed.lost] == [True]
    assert len(Catalog([str(tmp_path)]).rows()) == 2


def test_a_trace_whose_first_call_is_too_large_is_still_one(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(json.dumps(call(text)) + "\n" for text in ("u" * 2 * MB, "u1")))
    cooked = cook(path)
    assert [message.content for message in cooked.messages] == ["u1"]
    assert [(note.kind, note.origin.line) for note in cooked.notes] == [("unreadable", 1)]


@pytest.mark.parametrize(("text", "size"), [("1MB", MB), ("1.5 GB", 3 << 29), ("2g", 2 << 30), ("1048576", MB)])
def test_sizes(text: str, size: int) -> None:
    assert size_of(text) == size


@pytest.mark.parametrize("text", ["", "much", "1KB", "-1", "1e9", "0"])
def test_what_is_no_size_is_refused(unspool: Run, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"is not a size|too small"):
        size_of(text)
    done = unspool("sessions", "--max-record", text)
    assert (done.returncode, b"--max-record" in done.stderr) == (2, True)
    if text:
        monkeypatch.setenv("UNSPOOL_MAX_RECORD", text)
        with pytest.raises(UnspoolError, match="UNSPOOL_MAX_RECORD"):
            max_record()


def test_the_option_raises_the_limit(unspool: Run, tmp_path: Path) -> None:
    Claude().user("x" * 2 * MB).says("Done").save(tmp_path / "log.jsonl")
    counts = []
    for option in ((), ("--max-record", "5MB")):
        done = unspool("grep", "xxx", tmp_path, "--json", *option)
        counts.append(len(done.stdout.splitlines()))
    assert counts == [0, 1]


def in_flight(trace: Path, size: int) -> Path:
    """A call beside a trace whose recorder was killed: its file holds a request of this size, in pieces."""
    from unspool.sources.callfile import MAGIC, Asked, frame

    asked = Asked("q1", "2026-03-01T10:00:00Z", "POST", "/v1/chat/completions", None, "127.0.0.1", {})
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x" * size}]}).encode()
    path = trace.with_name(f"{trace.name}.journal") / "q1.call"
    path.parent.mkdir()
    with path.open("wb") as file:
        file.writelines([MAGIC, *frame(b"i", 0, msgspec.json.encode(asked))])
        for start in range(0, len(body), MB):
            file.writelines(frame(b"q", 1, body[start : start + MB]))
    return path


@pytest.mark.parametrize(("size", "read"), [(MB // 2, 1), (2 * MB, 0)])
def test_a_call_in_flight_that_is_too_large(size: int, read: int, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text(json.dumps(call("u1")) + "\n")
    path = in_flight(trace, size)
    cooked = cook(trace)
    assert len(cooked.requests) == 1 + read
    reasons = [note.reason for note in cooked.notes if note.origin.file == str(path)]
    expected = "the file of a call in flight is larger than the limit of 1 MB for one record"
    assert [expected in reason for reason in reasons] == [True] * (1 - read)


def test_a_call_in_flight_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text(json.dumps(call("u1")) + "\n")
    in_flight(trace, 200 * MB)
    assert peak("cook", trace, "-o", tmp_path / "o") < BOUND


def bombs(folder: Path) -> Iterator[Path]:
    """Small files of 200 MB each: a line of zeros, a string in a value, and both before a line that is none."""
    with gzip.open(folder / "zeros.jsonl.gz", "wb", 1) as file:
        for _ in range(200):
            file.write(bytes(MB))
    packer = zstandard.ZstdCompressor().compressobj()
    start = json.dumps(call("u1"))
    with (folder / "string.jsonl.zst").open("wb") as packed:
        packed.write(packer.compress(f'{start}\n{start[:-1]}, "more": "'.encode()))
        for _ in range(200):
            packed.write(packer.compress(b"x" * MB))
        packed.write(packer.compress(b'"}\n' + json.dumps(call("u1", "a1", "u2")).encode()) + packer.flush())
    yield from sorted(folder.iterdir())


MEASURED = """
import resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "unspool", *sys.argv[1:]], capture_output=True)
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def peak(*arguments: object) -> float:
    """Return the megabytes that a command takes at most."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *map(str, arguments)], capture_output=True, check=True, timeout=300
    )
    status, kilobytes = map(int, done.stdout.split())
    assert status in (0, 1, 2)
    return kilobytes / 1024


@pytest.mark.parametrize("name", ["cook", "sessions", "grep", "show", "squash", "pretty", "tools"])
def test_memory_is_bounded_whatever_the_input(name: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    more: dict[str, list[Any]] = {"grep": ["u2"], "cook": ["-o", tmp_path / "o"], "squash": ["-o", tmp_path / "out"]}
    for path in bombs(tmp_path / "in"):
        before, behind = (more["grep"], []) if name == "grep" else ([], more.get(name, []))
        arguments = [name, *before, path, *behind]
        assert peak(*arguments) < BOUND, path.name


def test_squash_says_why_a_file_gave_no_record(unspool: Run, tmp_path: Path) -> None:
    path = tmp_path / "rollout-2026.jsonl"
    path.write_bytes(text_of(2 * MB))
    done = unspool("squash", path, "-o", tmp_path / "out", "--strategy", "tree")
    assert done.returncode == 0
    report = (tmp_path / "out" / "integrity-report.txt").read_text("utf-8")
    assert "no conversation in it; line 1: this line is larger than the limit of 1 MB" in report


@pytest.mark.parametrize("name", ["html", "markdown"])
def test_memory_of_an_export_is_bounded(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a call of 60 MB, of which no form is kept longer than needed."""
    monkeypatch.delenv("UNSPOOL_MAX_RECORD")
    (tmp_path / "trace.jsonl").write_text(json.dumps(call("word " * (12 * MB))))
    assert peak("export", name, tmp_path / "trace.jsonl", "-o", tmp_path / "page") < 150 + 4 * 60
