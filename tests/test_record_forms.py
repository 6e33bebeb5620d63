"""The forms that `unspool record` writes: session files, compact traces, and what `unpack` makes of these."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from recorders import PATIENCE, Connection, answering, body, chat, eventually, post, recording, records, said, upstream
from unspool.jobs.cook import cook
from unspool.recorder.files import SessionFiles, file_name
from unspool.sources.compact import Packer


def ask_all(trace: Path, requests: list[bytes], *options: str) -> str:
    with upstream(answering(body(said("hi")))) as server, recording(trace, server.url, *options) as recorder:
        for request in requests:
            recorder.send(request)
        return recorder.stop()[0]


def session_of(trace: Path, request: bytes) -> str | None:
    ask_all(trace, [request])
    found: str | None = records(trace)[-1]["session"]
    return found


@pytest.mark.parametrize(
    ("more", "headers", "session"),
    [
        ({"metadata": {"user_id": "user_a_account_b_session_11-22"}}, (), "11-22"),
        ({"metadata": {"user_id": json.dumps({"session_id": "j1"})}}, (), "j1"),
        ({"metadata": {"session_id": "m1"}, "prompt_cache_key": "p"}, ("session-id: h",), "m1"),
        ({"prompt_cache_key": "p"}, ("Session-Id: h", "agent-session-id: a"), "h"),
        ({"prompt_cache_key": "p"}, ("agent-session-id: a",), "p"),
        ({}, ("agent-session-id: a", "X-Session-Id: x"), "a"),
        ({}, ("X-Session-Id: x",), "x"),
        ({}, (), None),
        ({"metadata": 7, "prompt_cache_key": None}, (), None),
    ],
)
def test_the_session_is_named_by_the_call(
    tmp_path: Path, more: dict[str, Any], headers: tuple[str, ...], session: str | None
) -> None:
    assert session_of(tmp_path / "trace.jsonl", post("/v1/chat/completions", chat("x", **more), *headers)) == session


def test_by_session_writes_session_files_that_squash_reads(tmp_path: Path, unspool: Run) -> None:
    logs = tmp_path / "logs"
    named = [(name, turn) for turn in (1, 2) for name in "ab"]
    requests = [post("/v1/chat/completions", chat(f"{name}{turn}"), f"X-Session-Id: {name}") for name, turn in named]
    ask_all(logs, [*requests, post("/v1/chat/completions", chat("nameless"))], "--by-session")
    files = sorted(path.relative_to(logs) for path in logs.rglob("*.jsonl"))
    assert [path.name for path in files][:2] == ["a.jsonl", "b.jsonl"]
    assert files[2].name.startswith("unnamed-")
    entries = records(logs / files[0])
    assert [entry["request"]["messages"][0]["content"] for entry in entries] == ["a1", "a2"]
    assert {entry["session_id"] for entry in entries} == {"a"}
    assert all(entry["started"] <= entry["timestamp"] for entry in entries)
    assert entries[0]["timestamp"] <= entries[1]["timestamp"]
    done = unspool("squash", logs, "-o", tmp_path / "training")
    assert done.returncode == 0, done.stderr
    lines = [line for path in (tmp_path / "training").glob("*.jsonl") for line in path.read_text().splitlines()]
    assert len(lines) == 3


def test_a_session_over_midnight_stays_one_file(tmp_path: Path) -> None:
    files, others = SessionFiles(tmp_path), SessionFiles(tmp_path)
    first = files.of("s", "2026-03-02T23:59:59Z")
    assert files.of("s", "2026-03-03T00:00:01Z") is first
    assert others.of("s", "2026-03-04T10:00:00Z").path == first.path == tmp_path / "2026-03-02" / "s.jsonl"
    files.close()
    others.close()


def test_many_sessions_keep_few_files_open(tmp_path: Path) -> None:
    files = SessionFiles(tmp_path)
    for number in range(200):
        files.of(f"s{number}", "2026-03-02T10:00:00Z").append([b"{}\n"], lambda *_: None)
    files.of("s0", "2026-03-02T10:00:00Z").append([b"{}\n"], lambda *_: None)
    files.close()
    assert (tmp_path / "2026-03-02" / "s0.jsonl").read_bytes() == b"{}\n{}\n"


def test_names_of_sessions_are_names_of_files() -> None:
    assert file_name("ses_1-a") == "ses_1-a"
    assert file_name("../../etc/passwd").startswith("______etc_passwd-")
    assert file_name("a/b") != file_name("a_b") != file_name("a:b")
    assert len(file_name("x" * 5000)) < 120


@pytest.fixture
def plain_and_compact(tmp_path: Path) -> tuple[Path, Path]:
    """The same lines in both forms, three conversations that take turns, written by two processes' streams."""
    plain, compact = tmp_path / "plain.jsonl", tmp_path / "compact.zst"
    packers = [Packer(), Packer()]
    with plain.open("wb") as one, compact.open("wb") as other:
        for number in range(30):
            messages = [{"role": "user", "content": f"{number % 3} {turn} " + "word " * 200} for turn in range(number)]
            record = {"id": str(number), "request": {"model": "m", "messages": messages}, "response": None}
            line = json.dumps(record).encode() + b"\n"
            one.write(line)
            other.write(packers[number % 2].pack(line))
    return plain, compact


def test_unpack_gives_the_plain_form_back(plain_and_compact: tuple[Path, Path], unspool: Run, tmp_path: Path) -> None:
    plain, compact = plain_and_compact
    assert unspool("record", "unpack", compact).stdout == plain.read_bytes()
    assert unspool("record", "unpack", compact, "-o", tmp_path / "out").returncode == 0
    assert (tmp_path / "out").read_bytes() == plain.read_bytes()
    assert unspool("record", "unpack", "-", stdin=compact.read_bytes()).stdout == plain.read_bytes()
    assert compact.stat().st_size < plain.stat().st_size / 50
    assert unspool("record", "unpack", compact, "-o", compact).returncode == 2


def test_readers_read_both_forms(plain_and_compact: tuple[Path, Path]) -> None:
    plain, compact = (cook(path) for path in plain_and_compact)
    assert plain.messages == compact.messages
    assert [request.parent_id for request in plain.requests] == [request.parent_id for request in compact.requests]


def test_a_torn_end_costs_the_record_that_was_being_written(plain_and_compact: tuple[Path, Path], unspool: Run) -> None:
    plain, compact = plain_and_compact
    lines, data = plain.read_bytes().splitlines(keepends=True), compact.read_bytes()
    for cut in (1, 5, 30):
        compact.write_bytes(data[:-cut])
        done = unspool("record", "unpack", compact)
        assert done.stdout == b"".join(lines[:-1])
        assert b"the last record is cut off" in done.stderr
        assert len(cook(compact).requests) == 29


def test_damage_in_the_middle_costs_one_recorders_rest(plain_and_compact: tuple[Path, Path], unspool: Run) -> None:
    plain, compact = plain_and_compact
    data = bytearray(compact.read_bytes())
    at = data.index(b"usp1", data.index(b"usp1", len(data) // 2) + 4) + 40
    data[at] ^= 0xFF
    compact.write_bytes(data)
    done = unspool("record", "unpack", compact)
    lines = plain.read_bytes().splitlines()
    found = done.stdout.splitlines()
    assert set(found) < set(lines)
    assert len(found) > 15
    assert b"a record is damaged" in done.stderr


def test_a_recorder_goes_on_behind_a_torn_end(tmp_path: Path, unspool: Run) -> None:
    trace = tmp_path / "trace.zst"
    request = post("/v1/chat/completions", chat("x"))
    ask_all(trace, [request, request], "--compact")
    trace.write_bytes(trace.read_bytes()[:-10])
    ask_all(trace, [request], "--compact")
    done = unspool("record", "unpack", trace)
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr == b""


def test_the_two_forms_are_not_mixed_in_one_file(tmp_path: Path, unspool: Run) -> None:
    trace = tmp_path / "trace"
    request = post("/v1/chat/completions", chat("x"))
    ask_all(trace, [request], "--compact")
    done = unspool("record", "--port", "0", "-o", trace)
    assert (done.returncode, b"is a compact trace" in done.stderr) == (2, True)
    trace.write_bytes(b"{}\n")
    done = unspool("record", "--port", "0", "-o", trace, "--compact")
    assert (done.returncode, b"is no compact trace" in done.stderr) == (2, True)
    assert trace.read_bytes() == b"{}\n"


def test_a_record_has_the_keys_of_every_recorder_first(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    ask_all(trace, [post("/v1/chat/completions", chat("x"), "User-Agent: test/1")])
    (record,) = records(trace)
    assert list(record)[:6] == ["id", "timestamp", "duration_ms", "request", "response", "error"]
    assert record["timestamp"].endswith("Z")
    assert isinstance(record["duration_ms"], int)
    assert (record["method"], record["path"], record["status"]) == ("POST", "/v1/chat/completions", 200)
    assert (record["client"], record["request_bytes"]) == ("test/1", len(chat("x")))
    assert 0 <= record["ttfb_ms"] <= record["duration_ms"] + 1


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (b'{"a":\n  [1, 2]}\r\n', '{"a":[1,2]}'),
        (b' {"a": 1,  "a": 2} ', '{"a": 1,  "a": 2}'),
        (b'{"a":"\\ud800"}', '{"a":"\\ud800"}'),
        (b"[1, 2]", "[1, 2]"),
        (b'{"a":NaN}', '{"raw":"{\\"a\\":NaN}"}'),
        (b'{"a":', '{"raw":"{\\"a\\":"}'),
        (b'{"a":"\xff"}', '{"base64":"eyJhIjoi/yJ9"}'),
        (b"a=b", '{"raw":"a=b"}'),
        (b"[" * 3000, '{"raw":"' + "[" * 3000 + '"}'),
        (b"", "null"),
    ],
)
def test_json_is_kept_as_it_was_sent_and_all_else_too(tmp_path: Path, sent: bytes, kept: str) -> None:
    trace = tmp_path / "trace.jsonl"
    ask_all(trace, [post("/x", sent)])
    assert f'"request":{kept},"response":' in trace.read_text()


def test_a_trace_may_be_standard_output(tmp_path: Path, unspool: Run) -> None:
    request = post("/v1/chat/completions", chat("x", stream=False), "X-Session-Id: s")
    options = ("record", "-o", "-", "--port", "0")
    for wrong in ("--json", "--compact", "--by-session"):
        assert unspool(*options, wrong).returncode == 2
    with upstream(answering(body(said("hi")))) as server:
        process = subprocess.Popen(
            [sys.executable, "-m", "unspool", *options, "--target", server.url],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(tmp_path)},
        )
        assert process.stdout is not None
        assert process.stderr is not None
        told = process.stderr.readline().decode()
        assert told.startswith("recording to standard output, listening on http://127.0.0.1:")
        port = int(told.rsplit(":", 1)[1])
        for _ in range(2):
            connection = Connection(socket.create_connection(("127.0.0.1", port)))
            connection.send(request)
            connection.answer()
            record = json.loads(process.stdout.readline())
            assert (record["request"], record["session"]) == (json.loads(chat("x", stream=False)), "s")
            connection.close()
        process.stdout.close()  # whoever read it has gone: calls are forwarded, and kept
        connection = Connection(socket.create_connection(("127.0.0.1", port)))
        connection.send(request)
        assert connection.answer()[1] == said("hi")
        connection.close()
        eventually(lambda: b"calls are kept in" in process.stderr.readline())  # type: ignore[union-attr]
        process.send_signal(signal.SIGTERM)
        assert b"1 call could not be written, and waits in the journal" in process.stderr.read()
        assert process.wait(PATIENCE) == 0
        process.stderr.close()
    (journal,) = tmp_path.glob("unspool-*.journal")
    assert len(list(journal.glob("*.call"))) == 1
