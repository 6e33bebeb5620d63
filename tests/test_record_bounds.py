"""What `unspool record` does when the disk is slower than the calls: a lock that we hold stands for such a disk."""

import fcntl
import json
import resource
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from recorders import PATIENCE, Connection, answering, body, chat, eventually, post, records, said, upstream
from recorders import recording as recorded_to
from unspool.jobs.run import Background
from unspool.recorder.files import PlainFile
from unspool.recorder.proxy import Proxy
from unspool.recorder.recording import Recorder
from unspool.recorder.routing import Routes
from unspool.sources.callfile import MAGIC, Asked, frame, read_call
from unspool.sources.composing import parts_of, record_of

BOUND = 1 << 20
LARGE = "x" * (300 << 10)


class Recording:
    """A recorder in this process, with a small bound."""

    def __init__(
        self,
        trace: Path,
        target: str,
        strict: bool,
        redact: Callable[[bytes], bytes] | None = None,
        durable: bool = False,
    ) -> None:
        self.told: list[str] = []
        self.recorder = Recorder(
            PlainFile(trace), self.told.append, strict=strict, durable=durable, bound=BOUND, redact=redact
        )
        self.recorder.start()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._background = Background(Proxy(Routes(target, {}), self.recorder), self._socket, self.told.append)
        self.connections: list[Connection] = []

    def connect(self) -> Connection:
        self.connections.append(Connection(socket.create_connection(("127.0.0.1", self.port), PATIENCE)))
        return self.connections[-1]

    def ask(self, text: str) -> bytes:
        connection = self.connect()
        connection.send(post("/v1/chat/completions", chat(text)))
        return connection.answer()[1]

    def close(self) -> None:
        for connection in self.connections:
            connection.close()
        self._background.stop()
        self.recorder.close()
        self._socket.close()


@contextmanager
def slow(trace: Path) -> Iterator[None]:
    """Nobody can write to the trace meanwhile."""
    with open(trace, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def test_past_the_bound_calls_are_forwarded_unrecorded_and_it_is_said_once(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    with upstream(answering(body(said("hi")))) as server:
        recording = Recording(trace, server.url, strict=False)
        with slow(trace):
            for number in range(12):
                assert recording.ask(f"{number} {LARGE}") == said("hi")
            told = list(recording.told)
        eventually(lambda: not recording.recorder.full)
        eventually(lambda: len(recording.told) > len(told))
        assert recording.ask("again") == said("hi")
        recording.close()
    counts = recording.recorder.counts
    assert ["new calls go unrecorded" in line for line in told].count(True) == 1
    assert counts.unrecorded > 0
    assert counts.recorded == len(records(trace)) == 13 - counts.unrecorded
    assert records(trace)[-1]["request"] == json.loads(chat("again"))
    assert recording.told[len(told) :] == [f"recording again; {counts.unrecorded} calls went unrecorded"]


def test_an_answer_waits_for_its_request_for_a_quarter_of_a_second_at_most(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    with upstream(answering(body(said("hi")))) as server:
        recording = Recording(trace, server.url, strict=False)
        with slow(trace):
            assert recording.ask("first") == said("hi")  # from now on the writing thread waits for the trace
            eventually(lambda: not recording.recorder._queue.qsize())
            start = time.monotonic()
            assert recording.ask("second") == said("hi")
            waited = time.monotonic() - start
        recording.close()
    counts = recording.recorder.counts
    assert waited >= 0.25
    assert (counts.late, counts.unrecorded, counts.recorded) == (1, 0, 2)
    assert recording.told == ["the disk is slow: after 0.25 s answers are passed on before their request is written"]


def test_a_call_in_flight_past_twice_the_bound_keeps_what_had_come(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    with upstream(answering(body(said("hi")))) as server:
        recording = Recording(trace, server.url, strict=False)
        with slow(trace):
            assert recording.ask("first") == said("hi")
            eventually(lambda: not recording.recorder._queue.qsize())
            assert recording.ask("x" * (4 << 20)) == said("hi")
        recording.close()
    _, cut = records(trace)
    assert cut["error"] == "the disk was too slow to record the rest"
    assert cut["interrupted_by"] == "recorder"
    assert BOUND < cut["request_bytes"] < 4 << 20


def test_strict_rather_waits_than_loses(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    seen: list[tuple[bytes, bytes]] = []
    with upstream(answering(body(said("hi")), seen=seen)) as server:
        recording = Recording(trace, server.url, strict=True)
        answers: list[bytes] = []
        with slow(trace):
            assert recording.ask("first") == said("hi")
            many = [threading.Thread(target=lambda: answers.append(recording.ask(f"x{LARGE}"))) for _ in range(3)]
            for thread in many:
                thread.start()
            eventually(lambda: recording.recorder._queue.qsize() >= 3)
            threading.Event().wait(0.5)
            assert answers == []
            assert len(seen) == 1  # the upstream got no byte that is not written
        for thread in many:
            thread.join(PATIENCE)
        recording.close()
    assert answers == [said("hi")] * 3
    assert (recording.recorder.counts.unrecorded, recording.recorder.counts.late) == (0, 0)
    assert len(records(trace)) == 4
    assert not any(record["interrupted"] for record in records(trace))


def test_strict_forwards_nothing_while_the_disk_fails_and_then_goes_on(tmp_path: Path) -> None:
    """A file in the place of the journal's folder stands for a disk that takes nothing."""
    trace = tmp_path / "trace.jsonl"
    seen: list[tuple[bytes, bytes]] = []
    with upstream(answering(body(said("hi")), seen=seen)) as server:
        recording = Recording(trace, server.url, strict=True)
        journal = tmp_path / "trace.jsonl.journal"
        journal.write_text("in the way")
        assert "could not write" in json.loads(recording.ask("the first finds it out"))["error"]["message"]
        assert recording.recorder.failing
        assert "cannot record" in json.loads(recording.ask("refused"))["error"]["message"]
        journal.unlink()
        eventually(lambda: recording.ask("recorded") == said("hi"))  # those that are refused make it try again
        recording.close()
    assert [json.loads(data)["messages"][0]["content"] for _, data in seen] == ["recorded"]
    assert [record["request"] for record in records(trace)] == [json.loads(chat("recorded"))]
    assert recording.recorder.counts.unrecorded == 0
    assert recording.recorder.counts.refused >= 2


def test_a_body_that_cannot_be_searched_costs_no_other_call(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"

    def redact(data: bytes) -> bytes:
        if b"odd" in data:
            raise ValueError("what is this?")
        return data

    with upstream(answering(body(said("hi")))) as server:
        recording = Recording(trace, server.url, strict=False, redact=redact)
        assert recording.ask("odd") == said("hi")
        eventually(lambda: recording.recorder.failing)
        assert recording.ask("another") == said("hi")
        recording.close()
    assert [record["request"] for record in records(trace)] == [json.loads(chat("another"))]
    assert "could not be searched for secrets" in recording.told[0]
    assert "what is this?" in recording.told[0]
    assert recording.recorder.counts.unrecorded == 1
    assert not (tmp_path / "trace.jsonl.journal").exists()


def test_a_large_body_lies_in_memory_once(tmp_path: Path) -> None:
    size, piece = 20 << 20, b"x" * (1 << 16)
    asked = Asked("1", "2026-03-02T10:00:00Z", "POST", "/x", None, "", {})
    with (tmp_path / "1.call").open("wb") as file:
        file.write(MAGIC + b"".join(frame(b"i", 0, msgspec.json.encode(asked))))
        for text in (b'{"a":"', *[piece] * (size // len(piece)), b'"}'):
            file.writelines(frame(b"q", 1, text))
    tracemalloc.start()
    try:
        with (tmp_path / "1.call").open("rb") as file:
            call = read_call(file)
        assert call is not None
        parts = parts_of(record_of(call))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.4 * size
    record = json.loads(b"".join(parts))
    assert record["request"] == {"a": "x" * size}
    assert record["request_bytes"] == size + 8


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="no limits for other processes here")
def test_a_disk_with_too_little_room_left_is_none_to_record_on(tmp_path: Path) -> None:
    """The largest size of a file stands for it: the beginning is taken, and the rest is not."""
    trace = tmp_path / "trace.jsonl"
    with (
        upstream(answering(body(said("hi")))) as server,
        recorded_to(trace, server.url, "--strict") as recorder,
    ):
        limit = resource.prlimit(recorder.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(recorder.process.pid, resource.RLIMIT_FSIZE, (20_000, limit[1]))
        call = post("/v1/chat/completions", chat("x" * 40_000))
        for _ in range(5):
            time.sleep(0.05)
            assert b" 503 " in recorder.send(call)[0]
        resource.prlimit(recorder.process.pid, resource.RLIMIT_FSIZE, limit)
        eventually(lambda: b" 200 " in recorder.send(call)[0])
        errors, _ = recorder.stop()
    assert errors.count("calls are refused\n") == 1
    assert len(records(trace)) == 1
