"""`unspool record` loses nothing: whoever hangs up, breaks off or is killed, what had arrived is in the trace."""

import json
import resource
import signal
import socket
import struct
import threading
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from recorders import (
    PATIENCE,
    Connection,
    Handler,
    Upstream,
    answering,
    body,
    chat,
    chunked,
    delta,
    eventually,
    in_flight,
    post,
    recording,
    records,
    said,
    upstream,
)
from unspool.jobs.cook import cook


def stalling(go_on: threading.Event, *pieces: bytes) -> Handler:
    """Answers with these pieces, and then says nothing until it is told to."""

    def handle(connection: Connection) -> None:
        connection.request()
        connection.send(*pieces)
        go_on.wait(PATIENCE)

    return handle


HALF = chunked(delta("one"), delta("two"))[:-1]
"""A stream without its end."""


def words(record: dict[str, Any]) -> str:
    return "".join(json.loads(line[5:])["choices"][0]["delta"]["content"] for line in record["response"]["sse_lines"])


def test_a_client_that_hangs_up_leaves_what_it_got(trace: Path) -> None:
    with upstream(stalling(threading.Event(), *HALF)) as server, recording(trace, server.url) as recorder:
        connection = recorder.connect()
        connection.send(post("/v1/chat/completions", chat("x", stream=True)))
        connection.until(b"two")
        connection.close()
        eventually(lambda: records(trace))
    (record,) = records(trace)
    assert (record["interrupted"], record["interrupted_by"], record["error"]) == (True, "client", None)
    assert words(record) == "onetwo"


def test_an_upstream_that_drops_is_seen_by_the_client_and_recorded(trace: Path) -> None:
    def handle(connection: Connection) -> None:
        connection.request()
        connection.send(*HALF)

    with upstream(handle) as server, recording(trace, server.url) as recorder:
        connection = recorder.connect()
        connection.send(post("/v1/chat/completions", chat("x", stream=True)))
        assert connection.all() == b"".join(HALF)
        recorder.stop()
    (record,) = records(trace)
    assert (record["interrupted"], record["interrupted_by"]) == (True, "upstream")
    assert "before its answer was over" in record["error"]
    assert words(record) == "onetwo"
    (request,) = cook(trace).requests
    assert request.interrupted
    assert request.error


def test_a_silent_upstream_is_given_up_after_the_timeout(trace: Path) -> None:
    with (
        upstream(stalling(threading.Event(), *HALF)) as server,
        recording(trace, server.url, "--timeout", "0.3") as recorder,
    ):
        connection = recorder.connect()
        connection.send(post("/v1/chat/completions", chat("x", stream=True)))
        assert connection.all() == b"".join(HALF)
        recorder.stop()
    (record,) = records(trace)
    assert (record["interrupted_by"], words(record)) == ("timeout", "onetwo")
    assert "said nothing for 0.3 s" in record["error"]


def test_an_upstream_that_is_not_there_is_a_502_with_the_reason(trace: Path) -> None:
    server = Upstream(answering(b""))
    server.close()
    with recording(trace, server.url) as recorder:
        head, data = recorder.send(post("/v1/chat/completions", chat("x")))
        assert head.startswith(b"HTTP/1.1 502 ")
        recorder.stop()
    (record,) = records(trace)
    assert record["error"] == json.loads(data)["error"]["message"]
    assert server.url in record["error"]
    assert record["request"] == json.loads(chat("x"))


def killed_in_flight(trace: Path, *options: str) -> None:
    """A recorder that is killed (-9) with one call done, one answered in part, and one of which half was sent."""
    go_on = threading.Event()
    answer = body(said("done"))

    def handle(connection: Connection) -> None:
        _, data = connection.request()
        if b"first" in data:
            connection.send(answer)
        else:
            connection.send(*HALF)
        go_on.wait(PATIENCE)

    with upstream(handle) as server, recording(trace, server.url, *options) as recorder:
        recorder.send(post("/v1/chat/completions", chat("first")))
        streaming = recorder.connect()
        streaming.send(post("/v1/chat/completions", chat("second", stream=True)))
        streaming.until(b"two")
        sending = recorder.connect()
        sending.send(post("/v1/chat/completions", chat("third"))[:-3])
        journal = trace.with_name(trace.name + ".journal")
        eventually(lambda: [b'"third' in call or b"two" in call for call in in_flight(journal)] == [True, True])
        recorder.kill()
        go_on.set()


@pytest.mark.parametrize("options", [(), ("--compact",)])
def test_after_kill_9_readers_find_what_had_arrived(trace: Path, options: tuple[str, ...]) -> None:
    killed_in_flight(trace, *options)
    cooked = cook(trace)
    assert [note.reason for note in cooked.notes] == ["no call: what was sent is no JSON, and was kept as it is"]
    told = sorted((request.interrupted, len(request.response_messages)) for request in cooked.requests)
    assert told == [(False, 1), (True, 1)]
    texts = {message.content for message in cooked.messages}
    assert {"first", "done", "second", "onetwo"} <= texts


@pytest.mark.parametrize("options", [(), ("--compact",)])
def test_the_next_recorder_takes_the_journal_in(trace: Path, options: tuple[str, ...], unspool: Run) -> None:
    killed_in_flight(trace, *options)
    with upstream(answering(body(b"{}"))) as server, recording(trace, server.url, *options) as recorder:
        errors, _ = recorder.stop()
    assert "2 calls taken in from the journal" in errors
    assert not trace.with_name(trace.name + ".journal").exists()
    lines = unspool("record", "unpack", trace).stdout.splitlines()
    found = [json.loads(line) for line in lines]
    assert [record["interrupted_by"] for record in found] == [None, "recorder", "recorder"]
    (streamed,) = [record for record in found if (record["response"] or {}).get("stream")]
    assert words(streamed) == "onetwo"
    assert streamed["duration_ms"] >= 0
    (cut,) = [record for record in found if record["response"] is None]
    assert cut["request"] == {"raw": chat("third").decode()[:-3]}


def test_a_record_that_was_written_before_the_kill_is_not_written_twice(trace: Path) -> None:
    """Killed between writing the record and removing its file: the mark in the file tells where to look."""
    with upstream(answering(body(said("hi")))) as server, recording(trace, server.url) as recorder:
        recorder.send(post("/v1/chat/completions", chat("x")))
        eventually(lambda: records(trace))
        (record,) = records(trace)
        recorder.stop()
    left = left_call(trace, record["id"], 0)
    assert len(cook(trace).requests) == 1
    with recording(trace, "http://127.0.0.1:9") as recorder:
        recorder.stop()
    assert not left.exists()
    assert records(trace) == [record]


def test_a_record_that_was_torn_by_the_kill_is_written_anew(trace: Path) -> None:
    with upstream(answering(body(said("hi")))) as server, recording(trace, server.url) as recorder:
        recorder.send(post("/v1/chat/completions", chat("x")))
        recorder.send(post("/v1/chat/completions", chat("y")))
        recorder.stop()
    first, second = trace.read_bytes().splitlines(keepends=True)
    trace.write_bytes(first + second[:200])
    left_call(trace, json.loads(second)["id"], len(first))
    with recording(trace, "http://127.0.0.1:9") as recorder:
        recorder.stop()
    assert [record["id"] for record in records(trace)] == [json.loads(first)["id"], json.loads(second)["id"]]


def left_call(trace: Path, name: str, offset: int) -> Path:
    """The file of a call whose recorder was killed while it wrote, or after it wrote, the record."""
    from unspool.sources.callfile import MAGIC, frame

    asked: dict[str, Any] = {
        "id": name,
        "timestamp": "2026-03-02T10:00:00Z",
        "method": "POST",
        "path": "/v1/chat/completions",
    }
    asked |= {"upstream": None, "peer": "", "headers": {}}
    frames = [(b"i", asked), (b"e", {"by": None, "error": None}), (b"w", {"file": str(trace), "offset": offset})]
    journal = trace.with_name(trace.name + ".journal")
    journal.mkdir(exist_ok=True)
    left = journal / "left.call"
    left.write_bytes(MAGIC + b"".join(b"".join(frame(kind, 0, json.dumps(value).encode())) for kind, value in frames))
    return left


def test_another_recorders_torn_line_costs_no_other(trace: Path) -> None:
    trace.write_bytes(b'{"id":"torn","requ')
    with upstream(answering(body(said("hi")))) as server, recording(trace, server.url) as recorder:
        recorder.send(post("/v1/chat/completions", chat("x")))
        recorder.stop()
    torn, whole = trace.read_bytes().splitlines()
    assert torn == b'{"id":"torn","requ'
    assert json.loads(whole)["status"] == 200


@pytest.mark.parametrize("options", [(), ("--compact",)])
def test_200_parallel_streams_through_two_recorders_into_one_file(
    trace: Path, options: tuple[str, ...], unspool: Run
) -> None:
    ready = threading.Barrier(200)

    def handle(connection: Connection) -> None:
        _, data = connection.request()
        name = json.loads(data)["messages"][0]["content"]
        head, *rest = chunked(*(delta(f"{name}-{number} ") for number in range(10)))
        connection.send(head)
        ready.wait(PATIENCE * 2)  # all are in flight at once
        for piece in rest:
            connection.send(piece)

    with (
        upstream(handle) as server,
        recording(trace, server.url, *options) as one,
        recording(trace, server.url, *options) as other,
    ):
        connections = [(one if number % 2 else other).connect() for number in range(200)]
        for number, connection in enumerate(connections):
            connection.send(post("/v1/chat/completions", chat(f"c{number}", stream=True)))
        for connection in connections:
            connection.until(b"0\r\n\r\n")
        one.stop()
        other.stop()
    lines = unspool("record", "unpack", trace).stdout.splitlines()
    assert len(lines) == 200
    for line in lines:
        record = json.loads(line)
        name = record["request"]["messages"][0]["content"]
        assert words(record) == "".join(f"{name}-{number} " for number in range(10))
        assert not record["interrupted"]


def test_sigterm_lets_calls_end_and_takes_no_new_ones(trace: Path) -> None:
    go_on = threading.Event()
    head, first, second, end = chunked(delta("one"), delta("two"))

    def handle(connection: Connection) -> None:
        connection.request()
        connection.send(head, first)
        assert go_on.wait(PATIENCE)
        connection.send(second, end)

    with upstream(handle) as server, recording(trace, server.url) as recorder:
        idle, busy = recorder.connect(), recorder.connect()
        busy.send(post("/v1/chat/completions", chat("x", stream=True)))
        busy.until(b"one")
        recorder.process.send_signal(signal.SIGTERM)
        assert idle.all() == b""  # closed
        with pytest.raises(ConnectionError):
            recorder.connect()
        go_on.set()
        assert busy.all().endswith(b"0\r\n\r\n")
        assert recorder.process.wait(PATIENCE) == 0
    (record,) = records(trace)
    assert (words(record), record["interrupted"]) == ("onetwo", False)


def test_a_second_signal_ends_calls_at_once_and_keeps_what_they_got(trace: Path) -> None:
    with (
        upstream(stalling(threading.Event(), *HALF)) as server,
        recording(trace, server.url, "--patience", "60") as recorder,
    ):
        idle, busy = recorder.connect(), recorder.connect()
        busy.send(post("/v1/chat/completions", chat("x", stream=True)))
        busy.until(b"two")
        recorder.process.send_signal(signal.SIGINT)
        assert idle.all() == b""  # closed: the first signal has come
        assert recorder.process.poll() is None
        recorder.stop(signal.SIGINT)
    (record,) = records(trace)
    assert (words(record), record["interrupted_by"]) == ("onetwo", "recorder")


def test_durable_records_are_whole_records(trace: Path) -> None:
    with upstream(answering(body(said("hi")))) as server, recording(trace, server.url, "--durable") as recorder:
        recorder.send(post("/v1/chat/completions", chat("x")))
        recorder.stop()
    assert records(trace)[0]["response"] == json.loads(said("hi"))


def test_a_file_that_is_taken_away_is_made_again(trace: Path) -> None:
    with upstream(answering(body(said("hi")))) as server, recording(trace, server.url) as recorder:
        recorder.send(post("/v1/chat/completions", chat("x")))
        eventually(lambda: records(trace))
        trace.rename(trace.with_name("older.jsonl"))
        recorder.send(post("/v1/chat/completions", chat("y")))
        recorder.stop()
    assert records(trace)[0]["request"] == json.loads(chat("y"))


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="no way to limit another process here")
def test_a_disk_that_fails_is_told_once_and_forwarding_goes_on(trace: Path) -> None:
    """A file-size limit of the process stands for a full disk: writes beyond it fail."""
    with (
        upstream(answering(body(said("hi")))) as server,
        recording(trace, server.url) as recorder,
    ):
        limit(recorder.process.pid, 3000)
        for number in range(12):
            assert recorder.send(post("/v1/chat/completions", chat(f"x{number}")))[1] == said("hi")
        errors, events = recorder.stop()
    told = [line for line in errors.splitlines() if "File too large" in line]
    assert len(told) <= 2, errors  # while it ran, and what could not be taken in at the end
    found = trace.read_bytes()
    assert found.endswith(b"\n")
    whole = [json.loads(line) for line in found.splitlines()]
    counts = events[-1]
    assert counts["recorded"] == len(whole)
    assert counts["recorded"] + counts["unrecorded"] + counts["kept"] == 12
    assert 0 < counts["recorded"] < 12
    assert len(cook(trace).requests) == 12 - counts["unrecorded"]


def limit(process: int, size: int) -> None:
    resource.prlimit(process, resource.RLIMIT_FSIZE, (size, size))


def test_after_kill_9_session_files_are_whole_for_every_reader(tmp_path: Path, unspool: Run) -> None:
    logs = tmp_path / "logs"
    go_on = threading.Event()
    with upstream(stalling(go_on, *HALF)) as server, recording(logs, server.url, "--by-session") as recorder:
        connection = recorder.connect()
        connection.send(post("/v1/chat/completions", chat("x", stream=True), "X-Session-Id: s"))
        connection.until(b"two")
        eventually(lambda: any(b"two" in call for call in in_flight(logs / ".journal")))
        recorder.kill()
        go_on.set()
    assert len(cook(logs).requests) == 1
    assert unspool("squash", logs, "-o", tmp_path / "training").returncode == 0
    assert any("onetwo" in path.read_text() for path in (tmp_path / "training").glob("*.jsonl"))
    with recording(logs, "http://127.0.0.1:9", "--by-session") as recorder:
        recorder.stop()
    (file,) = logs.rglob("s.jsonl")
    assert words(records(file)[0]) == "onetwo"
    assert not (logs / ".journal").exists()


def test_an_answer_without_a_length_that_is_reset_is_interrupted(trace: Path) -> None:
    def handle(connection: Connection) -> None:
        connection.request()
        connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", delta("one"))
        eventually(lambda: any(b"one" in call for call in in_flight(trace.with_name("trace.jsonl.journal"))))
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close with RST

    with upstream(handle) as server, recording(trace, server.url) as recorder:
        connection = recorder.connect()
        connection.send(post("/v1/chat/completions", chat("x", stream=True)))
        assert connection.all().endswith(delta("one"))
        recorder.stop()
    (record,) = records(trace)
    assert (record["interrupted_by"], words(record)) == ("upstream", "one")
