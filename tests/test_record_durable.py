"""`unspool record --durable`: no answer is ahead of the disk, and the log alone is enough after a power cut."""

import errno
import json
import os
import re
import shutil
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from recorders import (
    PATIENCE,
    Connection,
    Handler,
    Running,
    answering,
    body,
    chat,
    chunked,
    delta,
    eventually,
    post,
    recording,
    records,
    said,
    upstream,
)
from test_record_bounds import Recording
from unspool.jobs.cook import cook
from unspool.recorder import write_ahead

_CALLS = 6
_ENTRY = struct.Struct("<IcIQI")


def streaming(go_on: threading.Event | None = None) -> Handler:
    """Answers with an event that repeats the prompt, and waits before the last one until `go_on` is set."""

    def handle(connection: Connection) -> None:
        while True:
            _, data = connection.request()
            name = json.loads(data)["messages"][0]["content"]
            *pieces, end = chunked(delta(f"said-{name}"), b"data: [DONE]\n\n")
            connection.send(*pieces[:-1])
            time.sleep(0.02)  # or the proxy would get all of it at once
            if go_on is not None:
                go_on.wait(PATIENCE)
            connection.send(pieces[-1], end)

    return handle


class SystemCall(NamedTuple):
    name: str
    file: str
    data: bytes
    start: int
    """The line of the trace on which it begins."""
    end: int


def traced(lines: list[str]) -> list[SystemCall]:
    """Return the system calls of a trace by strace, those of several threads put together."""
    calls: list[SystemCall] = []
    open_calls: dict[tuple[str, str], tuple[str, str, bytes, int]] = {}
    for number, line in enumerate(lines):
        process, _, text = line.partition(" ")
        text = text.strip()
        if resumed := re.match(r"<\.\.\. (\w+) resumed>", text):
            name, file, data, start = open_calls.pop((process, resumed[1]))
            calls.append(SystemCall(name, file, data, start, number))
        elif begun := re.match(r"(\w+)\(\d+<(.*?)>(?=[,) ])", text):
            data = b"".join(bytes.fromhex(each.replace("\\x", "")) for each in re.findall(r'"((?:\\x..)*)"', text))
            if text.endswith("<unfinished ...>"):
                open_calls[process, begun[1]] = (begun[1], begun[2], data, number)
            else:
                calls.append(SystemCall(begun[1], begun[2], data, number, number))
    return sorted(calls, key=lambda call: call.start)


def path_of(call: SystemCall) -> str:
    """Return the path, which strace may print in hexadecimal, too."""
    return bytes.fromhex(call.file.replace("\\x", "")).decode() if call.file.startswith("\\x") else call.file


def entries(data: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield number, kind and payload of what one write added to a log."""
    while len(data) >= _ENTRY.size:
        number, kind, length, _, _ = _ENTRY.unpack_from(data)
        yield number, kind, data[_ENTRY.size : _ENTRY.size + length]
        data = data[_ENTRY.size + length :]


@contextmanager
def strace(process: int, output: Path) -> Iterator[None]:
    names = "trace=fdatasync,write,writev,sendto,sendmsg"
    options = ["-f", "-yy", "-xx", "-s", "100000", "-e", names, "-o", str(output)]
    tracer = subprocess.Popen(["strace", *options, "-p", str(process)], stderr=subprocess.PIPE)
    assert tracer.stderr is not None
    first = tracer.stderr.readline()
    if b"attached" not in first:
        tracer.communicate()
        pytest.skip(f"strace cannot attach here: {first.decode().strip()}")
    try:
        yield
    finally:
        tracer.terminate()
        tracer.communicate(timeout=PATIENCE)


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
@pytest.mark.parametrize("options", [("--durable",), ("--durable", "--strict")])
def test_no_held_byte_leaves_before_fdatasync_returned(tmp_path: Path, options: tuple[str, ...]) -> None:
    trace, output = tmp_path / "trace.jsonl", tmp_path / "strace.txt"
    with upstream(streaming()) as server, recording(trace, server.url, *options) as recorder:
        connections = [recorder.connect() for _ in range(_CALLS)]
        with strace(recorder.process.pid, output):
            for number, connection in enumerate(connections):
                connection.send(post("/v1/chat/completions", chat(f"mark-{number}.", stream=True)))
            for connection in connections:
                connection.until(b"\r\n0\r\n\r\n")
        recorder.stop()
    calls = traced(output.read_text(encoding="utf-8", errors="replace").splitlines())
    for number in range(_CALLS):
        check_order(calls, f"mark-{number}.".encode())


def check_order(calls: list[SystemCall], mark: bytes) -> None:
    """Check that the call with this prompt was synced before its answer's first and last bytes left."""
    logged = [call for call in calls if path_of(call).endswith(".wal") and call.name in ("write", "writev")]
    syncs = [call for call in calls if call.name == "fdatasync" and path_of(call).endswith(".wal")]
    (number,) = {entry[0] for call in logged for entry in entries(call.data) if entry[1] == b"q" and mark in entry[2]}

    def synced_after(kind: bytes) -> int:
        """Return the line on which the first sync ends that began after this kind of piece was in the log."""
        (written,) = [call.end for call in logged if any(entry[:2] == (number, kind) for entry in entries(call.data))]
        return min(sync.end for sync in syncs if sync.start > written)

    (client,) = {call.file for call in calls if b"said-" + mark in call.data and call.file.startswith("TCP:")}
    sent = [call for call in calls if call.file == client and call.name != "fdatasync"]
    assert sent[0].data.startswith(b"HTTP/1.1 200")
    assert synced_after(b"Q") < sent[0].start
    assert sent[-1].data.endswith(b"0\r\n\r\n")
    assert synced_after(b"e") < sent[-1].start


def cut_power(trace: Path) -> Path:
    """Leave of what a recorder wrote only what it had synced. Return the log."""
    journal = trace.with_name(trace.name + ".journal")
    trace.write_bytes(b"")
    for call in journal.glob("*.call"):
        call.unlink()
    (log,) = journal.glob("*.wal")
    return log


def killed(trace: Path, *options: str) -> None:
    """A --durable recorder that is killed with a call that is over, and another that is not."""
    go_on = threading.Event()
    go_on.set()
    with upstream(streaming(go_on)) as server, recording(trace, server.url, "--durable", *options) as recorder:
        for name in ("first", "second"):
            recorder.connect().send(post("/v1/chat/completions", chat(name, stream=True)))
            if name == "first":
                recorder.connections[0].until(b"\r\n0\r\n\r\n")
                go_on.clear()
        recorder.connections[1].until(b"said-second")
        recorder.kill()
        go_on.set()


def prompts(trace: Path) -> list[str]:
    return sorted(record["request"]["messages"][0]["content"] for record in records(trace))


def test_after_a_power_cut_readers_and_the_next_recorder_find_all_calls(trace: Path) -> None:
    killed(trace)
    log = cut_power(trace)
    with log.open("ab") as file:
        file.write(b"torn in the middle of an entry")
    assert sorted(request.interrupted for request in cook(trace).requests) == [False, True]
    with recording(trace, "http://127.0.0.1:9") as recorder:
        errors, _ = recorder.stop()
    assert "2 calls taken in from the journal" in errors
    assert prompts(trace) == ["first", "second"]
    assert not log.parent.exists()


def test_after_kill_9_no_call_is_read_twice(trace: Path) -> None:
    """Each call is in the log, and in the trace or in a file of its own."""
    killed(trace)
    assert len(cook(trace).requests) == 2
    with recording(trace, "http://127.0.0.1:9", "--durable") as recorder:
        recorder.stop()
    assert prompts(trace) == ["first", "second"]
    assert not trace.with_name(trace.name + ".journal").exists()


def test_a_record_whose_mark_was_lost_is_not_written_twice(trace: Path) -> None:
    """The trace reached the disk, and the last entry of the log, which says so, did not."""
    killed(trace)
    (log,) = trace.with_name(trace.name + ".journal").glob("*.wal")
    data = log.read_bytes()
    mark = next(at for at in range(len(data)) if data[at : at + 9] == b'{"file":"')
    start = mark - _ENTRY.size
    log.write_bytes(data[:start])
    for call in log.parent.glob("*.call"):
        call.unlink()
    assert prompts(trace) == ["first"]
    with recording(trace, "http://127.0.0.1:9") as recorder:
        recorder.stop()
    assert prompts(trace).count("first") == 1


def test_a_damaged_entry_ends_the_log(trace: Path) -> None:
    killed(trace)
    log = cut_power(trace)
    data = log.read_bytes()
    place = data.index(b"second")
    log.write_bytes(data[:place] + b"SECOND" + data[place + 6 :])
    assert [request.interrupted for request in cook(trace).requests] in ([False], [False, True])
    assert not any(message.content in ("SECOND", "second") for message in cook(trace).messages)


def test_redacted_bodies_are_redacted_in_the_log_too(trace: Path) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    go_on = threading.Event()
    with (
        upstream(streaming(go_on)) as server,
        recording(trace, server.url, "--durable", "--redact-body") as recorder,
    ):
        connection = recorder.connect()
        connection.send(post("/v1/chat/completions", chat(f"my token is {secret}", stream=True)))
        connection.until(b"said-")
        recorder.kill()
        go_on.set()
    data = b"".join(file.read_bytes() for file in trace.parent.rglob("*") if file.is_file())
    assert b"my token is" in data
    assert secret.encode() not in data


@pytest.fixture
def in_process(tmp_path: Path) -> Iterator[Callable[..., Recording]]:
    """Recorders in this process, on an upstream that answers at once."""
    started: list[Recording] = []
    with upstream(answering(body(said("hi")))) as server:

        def start(**options: Any) -> Recording:
            started.append(Recording(tmp_path / "trace.jsonl", server.url, durable=True, **options))
            return started[-1]

        yield start
        for each in started:
            each.close()


def test_a_full_log_is_replaced_and_nothing_is_lost_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_ahead, "LIMIT", 100_000)
    trace, journal = tmp_path / "trace.jsonl", tmp_path / "trace.jsonl.journal"
    go_on = threading.Event()
    with upstream(streaming(go_on)) as server:
        recording = Recording(trace, server.url, strict=False, durable=True)
        long = recording.connect()
        long.send(post("/v1/chat/completions", chat("long", stream=True)))
        long.until(b"said-long")
        first = {log.name for log in journal.glob("*.wal")}
        go_on.set()
        for number in range(12):
            recording.ask(f"{number} {'x' * 20_000}")
        go_on.clear()
        eventually(
            lambda: len(list(journal.glob("*.wal"))) == 1 and first.isdisjoint(log.name for log in journal.iterdir())
        )
        copy = tmp_path / "copy"
        shutil.copytree(journal, copy / journal.name, ignore=shutil.ignore_patterns("*.call"))
        shutil.copy(trace, copy)
        recording.close()
    assert len(cook(copy / "trace.jsonl").requests) == 13
    assert not journal.exists()
    assert len(records(trace)) == 13


def test_a_disk_that_cannot_sync_is_told_and_answers_go_on(
    in_process: Callable[..., Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = in_process(strict=False)
    assert recording.ask("before") == said("hi")
    monkeypatch.setattr(os, "fdatasync", failing)
    assert recording.ask("meanwhile") == said("hi")
    assert recording.recorder.counts.late == 1
    assert "answers are passed on before their calls are synced" in recording.told[0]
    monkeypatch.undo()
    assert recording.ask("after") == said("hi")
    eventually(lambda: recording.recorder.counts.recorded == 3)
    assert recording.recorder.counts.late == 1


def test_strict_and_durable_answer_503_while_the_disk_cannot_sync(
    in_process: Callable[..., Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = in_process(strict=True)
    assert recording.ask("before") == said("hi")
    monkeypatch.setattr(os, "fdatasync", failing)
    assert b"could not write" in recording.ask("meanwhile")
    monkeypatch.undo()
    eventually(lambda: recording.ask("after") == said("hi"))


def failing(_descriptor: int) -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_an_answer_waits_for_the_sync(in_process: Callable[..., Recording], monkeypatch: pytest.MonkeyPatch) -> None:
    recording = in_process(strict=False)
    go_on, sync = threading.Event(), os.fdatasync

    def slow(descriptor: int) -> None:
        go_on.wait(PATIENCE)
        sync(descriptor)

    monkeypatch.setattr(os, "fdatasync", slow)
    connection = recording.connect()
    connection.send(post("/v1/chat/completions", chat("x")))
    connection.socket.settimeout(0.5)
    with pytest.raises(TimeoutError):
        connection.answer()
    go_on.set()
    connection.socket.settimeout(PATIENCE)
    assert connection.answer()[1] == said("hi")


def test_the_log_of_a_running_recorder_is_not_read(trace: Path) -> None:
    go_on = threading.Event()
    with upstream(streaming(go_on)) as server, recording(trace, server.url, "--durable") as recorder:
        connection = recorder.connect()
        connection.send(post("/v1/chat/completions", chat("x", stream=True)))
        connection.until(b"said-x")
        assert cook(trace).requests == []
        second: Running
        with recording(trace, server.url) as second:
            second.stop()
        assert records(trace) == []
        go_on.set()
        connection.until(b"\r\n0\r\n\r\n")
        recorder.stop()
    assert prompts(trace) == ["x"]
