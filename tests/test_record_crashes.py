"""Recorders that are killed under load, and recorders whose disk fills up: a few rounds of bench/stress.py."""

import os
import resource
import threading
from pathlib import Path

import msgspec
import pytest

from crashes import busy_disk, can_mount, fill, kill, small_disk
from recorders import (
    PATIENCE,
    Connection,
    answering,
    body,
    chat,
    chunked,
    delta,
    eventually,
    post,
    recording,
    records,
    upstream,
)
from unspool.jobs.cook import cook
from unspool.recorder.calls import Recording as Call
from unspool.recorder.early_log import EarlyLog
from unspool.sources.callfile import Asked, frame

_STREAMS = 60
_ROUNDS = 3


@pytest.mark.parametrize("options", [(), ("--compact",), ("--by-session",), ("--durable",), ("--strict", "--durable")])
def test_after_kill_9_no_answer_that_a_client_saw_is_lost(tmp_path: Path, options: tuple[str, ...]) -> None:
    with busy_disk(tmp_path):
        for number in range(_ROUNDS):
            for lost in kill(tmp_path / "kill", _STREAMS, 0.5 + 0.3 * number, *options).values():
                # On a machine that cannot write a request within 0.25 s, a recorder passes its answer on and says so.
                messages = (tmp_path / "kill" / "messages").read_text(encoding="utf-8")
                assert lost.whole == 0 or ("the disk is slow" in messages and "--durable" not in options)
                if "--durable" in options:
                    assert (lost.begun, lost.incomplete) == (0, 0)


@pytest.mark.parametrize("options", [(), ("--durable",)])
def test_under_strict_a_full_disk_answers_no_call_without_a_record(tmp_path: Path, options: tuple[str, ...]) -> None:
    if not can_mount(tmp_path / "disk"):
        pytest.skip("no small disk can be mounted here: needs root")
    for _ in range(_ROUNDS):
        with small_disk(tmp_path / "disk") as disk:
            seen, unrecorded = fill(disk, 20, 8, 40_000, *options)
        assert unrecorded == set()
        assert seen.whole
        assert seen.refused


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="no way to limit another process here")
def test_under_strict_an_answer_that_cannot_be_written_is_cut(trace: Path) -> None:
    """A file-size limit of the process stands for a full disk: the call's own file cannot grow beyond it."""
    head, first, *pieces = chunked(*(delta(f"{number:03} {'x' * 1000}") for number in range(100)))
    go_on = threading.Event()

    def handle(connection: Connection) -> None:
        connection.request()
        connection.send(head, first)
        go_on.wait(PATIENCE)
        connection.send(*pieces)

    with upstream(handle) as server, recording(trace, server.url, "--strict") as recorder:
        connection = recorder.connect()
        connection.send(post("/v1/chat/completions", chat("x", stream=True)))
        received = connection.until(b"000 x")
        resource.prlimit(recorder.process.pid, resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
        go_on.set()
        received += connection.all()
        resource.prlimit(recorder.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        errors, _ = recorder.stop()
    assert not received.endswith(b"0\r\n\r\n")
    assert "calls are refused" in errors
    (record,) = records(trace)
    assert record["interrupted_by"] == "recorder"
    assert 1 <= received.count(b"data:") <= len(record["response"]["sse_lines"]) < 100


@pytest.mark.parametrize("options", [(), ("--strict",), ("--durable",), ("--strict", "--durable")])
def test_held_answers_keep_their_order_and_their_bytes(trace: Path, options: tuple[str, ...]) -> None:
    """Several requests at once on one connection, with answers of every kind."""
    answers = [
        b"HTTP/1.1 204 No Content\r\nX-N: 1\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" + body(b"two"),
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-N: 3\r\n\r\n",  # to HEAD
        b"".join(chunked(delta("four"), delta("end"))),
        body(b"", "text/plain", "304 Not Modified"),
        b"HTTP/1.1 200 OK\r\nX-N: 6\r\n\r\nuntil the end",
    ]

    def handle(connection: Connection) -> None:
        for answer in answers:
            connection.request()
            connection.send(answer)

    requests = [post("/v1/messages", chat(str(number))) for number in range(len(answers))]
    requests[2] = b"HEAD /v1/messages HTTP/1.1\r\nHost: here\r\n\r\n"
    with upstream(handle) as server, recording(trace, server.url, *options) as recorder:
        connection = recorder.connect()
        connection.send(b"".join(requests))
        assert connection.all() == b"".join(answers)
        recorder.stop()
    assert [record["status"] for record in records(trace)] == [204, 200, 200, 200, 304, 200]
    assert not any(record["interrupted"] for record in records(trace))


def test_a_client_that_leaves_while_its_answer_is_held_is_recorded(trace: Path) -> None:
    with (
        upstream(answering(body(b"{}"))) as server,
        recording(trace, server.url, "--strict", "--durable") as recorder,
    ):
        for _ in range(20):
            connection = recorder.connect()
            connection.send(post("/v1/messages", chat("x")))
            connection.close()
        eventually(lambda: len(records(trace)) == 20)
    assert all(record["interrupted_by"] in (None, "client") for record in records(trace))


def early_call(name: str) -> Call:
    """A call of which nothing is written yet."""
    call = Call(lambda *_: None)
    asked = Asked(call.id, "2026-03-02T10:00:00Z", "POST", "/v1/chat/completions", None, "", {})
    call.frames = [*frame(b"i", 0, msgspec.json.encode(asked)), *frame(b"q", 5, chat(name))]
    return call


def test_requests_of_a_crowd_are_read_from_their_log(trace: Path) -> None:
    trace.touch()
    calls = [early_call(name) for name in ("one", "two", "three")]
    log = EarlyLog(trace.with_name(trace.name + ".journal"))
    log.write(calls[:2])
    calls[1].frames += frame(b"Q", 9, b"")
    log.write(calls)
    assert cook(trace).requests == []  # its recorder is alive
    os.close(log._descriptor)
    found = cook(trace)
    assert sorted(str(message.content) for message in found.messages) == ["one", "three", "two"]
    assert all(request.interrupted for request in found.requests)
    with recording(trace, "http://127.0.0.1:9") as recorder:
        recorder.stop()
    assert len(records(trace)) == 3
    assert len(cook(trace).requests) == 3
    assert not trace.with_name(trace.name + ".journal").exists()


def test_an_emptied_log_holds_no_call(trace: Path) -> None:
    trace.touch()
    log = EarlyLog(trace.with_name(trace.name + ".journal"))
    log.write([early_call("one")])
    log.clear()
    log.write([early_call("two")])
    os.close(log._descriptor)
    assert [message.content for message in cook(trace).messages] == ["two"]
