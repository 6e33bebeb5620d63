"""What `unspool record` adds: latency, CPU, memory, and bytes on the disk. Direct and through the recorder, in one run.

python bench/record.py [latency] [streams] [compact] [--quick] [--json] [-- PROXY COMMAND with {port} {upstream}]

latency   A conversation that grows to bodies of 500 KB, streamed answers. Each call is made directly and through the
          recorder, in turns; the first byte of the answer counts.
streams   200 concurrent streams of 50 events a second.
compact   75 MB of growing traffic in one conversation, in 20 that are interleaved, and in 20 that have nothing in
          common, with --compact.

With a command behind `--`, another proxy is measured in place of ours. All runs on loopback; the upstream is this
file, run as a process of its own.
"""

import argparse
import asyncio
import json
import os
import shlex
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import child
from prose import Prose

_TICK = os.sysconf("SC_CLK_TCK")
_CALLS, _SIZE, _EVENTS = 150, 500_000, 20
_STREAMS, _RATE = 200, 50
_EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"%b"}}]}\n\n'


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


# The upstream.


class Scripted(asyncio.Protocol):
    """Streams events: at once, after a while (/wait/MILLISECONDS), or so many a second (/rate/COUNT/RATE)."""

    def __init__(self) -> None:
        self._data, self._wanted = bytearray(), -1
        self._path = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._data += data
        if self._wanted < 0 and (end := self._data.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._data[:end]).lower()
            self._path = head.split(b" ", 2)[1]
            self._wanted = end + 4 + int(head.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
        if 0 <= self._wanted <= len(self._data):
            del self._data[: self._wanted]
            self._wanted = -1
            asyncio.get_running_loop().create_task(self._answer())

    async def _answer(self) -> None:
        _, _, *rated = self._path.split(b"/") if self._path.startswith(b"/rate/") else (b"", b"")
        count, rate = (int(rated[0]), int(rated[1])) if rated else (_EVENTS, 0)
        if self._path.startswith(b"/wait/"):
            await asyncio.sleep(int(self._path.rpartition(b"/")[2]) / 1000)
        write = self._transport.write  # type: ignore[attr-defined]
        write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        start = time.monotonic()
        for number in range(count):
            if rate:
                await asyncio.sleep(start + number / rate - time.monotonic())
            write(chunk(_EVENT % b"%.6f" % time.monotonic()))
        write(chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n")


def serve(port: int) -> None:
    async def forever() -> None:
        server = await asyncio.get_running_loop().create_server(Scripted, "127.0.0.1", port, backlog=512)
        await server.serve_forever()

    import uvloop

    uvloop.run(forever())


# Processes.


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def process(command: list[str], port: int) -> Iterator[int]:
    """A server that takes connections; its process id."""
    started = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.05)
        yield started.pid
    finally:
        started.send_signal(signal.SIGTERM)
        _, errors = started.communicate(timeout=60)
        if started.returncode:
            print(errors.decode()[-2000:], file=sys.stderr)


def cpu(pid: int) -> float:
    """Seconds, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def peak(pid: int) -> float:
    """MB."""
    found = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(found.split()[1]) * 1024 / 1e6


def recorder(trace: Path, upstream: int, port: int, proxy: str, *options: str) -> list[str]:
    if proxy:
        return shlex.split(proxy.format(port=port, upstream=f"http://127.0.0.1:{upstream}", trace=trace))
    where = ["--target", f"http://127.0.0.1:{upstream}", "--port", str(port), "-o", str(trace), "-q"]
    return [sys.executable, "-m", "unspool", "record", *where, *options]


# Conversations.


_SHARED = 100_000
"""Bytes of system prompt and tools: all sessions of an agent have the same."""


class Growing:
    """A conversation whose requests grow by a tenth, to `size` bytes, within so many calls."""

    def __init__(self, name: str, size: int, calls: int, alike: bool = True) -> None:
        self._prose = Prose(name)
        self._text = b'{"model":"m","stream":true,"prompt_cache_key":"%b","messages":[' % name.encode()
        system = Prose("shared" if alike else f"own {name}").text(_SHARED)
        self._text += json.dumps({"role": "system", "content": system}).encode()
        history = {"role": "user", "content": self._prose.text(size * 9 // 10 - _SHARED)}
        self._text += b"," + json.dumps(history, ensure_ascii=False).encode()
        self._step = max(200, size // 10 // calls)

    def next(self) -> bytes:
        message = {"role": "user", "content": self._prose.text(self._step)}
        self._text += b"," + json.dumps(message, ensure_ascii=False).encode()
        return self._text + b"]}"


def post(port: int, path: str, data: bytes) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {len(data)}\r\n\r\n"
    return head.encode() + data


def ask(connection: socket.socket, request: bytes) -> tuple[float, int]:
    """Seconds to the first byte of the answer, and the bytes of all of it."""
    start = time.perf_counter()
    connection.sendall(request)
    data = connection.recv(65536)
    first = time.perf_counter() - start
    while not data.endswith(b"0\r\n\r\n"):
        data += connection.recv(65536)
    return first, len(data)


def latency(folder: Path, quick: bool, proxy: str) -> dict[str, Any]:
    calls = 40 if quick else _CALLS
    up, port = free_port(), free_port()
    upstream = [sys.executable, __file__, "--serve", str(up)]
    times: tuple[list[float], list[float]] = ([], [])
    sent = received = 0
    with process(upstream, up), process(recorder(folder / "latency.jsonl", up, port, proxy), port) as pid:
        growing = Growing("latency", _SIZE, calls)
        ends = [socket.create_connection(("127.0.0.1", number)) for number in (up, port)]
        for end in ends:
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            ask(end, post(port, "/v1/chat/completions", b"{}"))
        time.sleep(0.5)
        before = cpu(pid)
        for _ in range(calls):
            request = post(port, "/v1/chat/completions", growing.next())
            for end, found in zip(ends, times, strict=True):
                first, size = ask(end, request)
                found.append(first)
                time.sleep(0.01)
            sent, received = sent + len(request), received + size
        time.sleep(0.5)
        used, memory = cpu(pid) - before, peak(pid)
        for end in ends:
            end.close()
    direct, through = (sorted(found) for found in times)
    allowed = calls * 2e-3 + (sent + received) * 3e-9 + calls * (_EVENTS + 1) * 60e-6
    return {
        "calls": calls,
        "MB": round(sent / 1e6, 1),
        "direct_median_ms": round(statistics.median(direct) * 1e3, 2),
        "added_median_ms": round((statistics.median(through) - statistics.median(direct)) * 1e3, 2),
        "added_p99_ms": round((_p99(through) - _p99(direct)) * 1e3, 2),
        "cpu_ms_a_call": round(used / calls * 1e3, 2),
        "cpu_of_allowed": round(used / allowed, 2),
        "peak_MB": round(memory),
    }


def _p99(ordered: list[float]) -> float:
    return ordered[min(len(ordered) - 1, round(len(ordered) * 0.99))]


def streams(folder: Path, quick: bool, proxy: str) -> dict[str, Any]:
    seconds = 3 if quick else 10
    count = seconds * _RATE
    up, port = free_port(), free_port()
    upstream = [sys.executable, __file__, "--serve", str(up)]
    with process(upstream, up), process(recorder(folder / "streams.jsonl", up, port, proxy), port) as pid:
        before = cpu(pid)
        late = asyncio.run(_listen(port, count))
        time.sleep(0.5)
        used, memory = cpu(pid) - before, peak(pid)
    late.sort()
    events = _STREAMS * count
    return {
        "streams": _STREAMS,
        "events": len(late),
        "lost": events - len(late),
        "late_median_ms": round(statistics.median(late) * 1e3, 1),
        "late_p99_ms": round(_p99(late) * 1e3, 1),
        "cpu_us_an_event": round(used / events * 1e6, 1),
        "cpu_share": round(used / seconds, 2),
        "peak_MB": round(memory),
    }


async def _listen(port: int, count: int) -> list[float]:
    """How long after it was sent each event came, of all streams."""
    late: list[float] = []

    async def one(number: int) -> None:
        await asyncio.sleep(number / _STREAMS)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "x" * 20_000}]})
        writer.write(post(port, f"/rate/{count}/{_RATE}", body.encode()))
        while (line := await reader.readline()) != b"0\r\n":
            if line.startswith(b'data: {"choices"'):
                late.append(time.monotonic() - float(line.partition(b'content":"')[2][:-6].rstrip(b'"}]')))
        writer.close()

    await asyncio.gather(*(one(number) for number in range(_STREAMS)))
    return late


def compact(folder: Path, quick: bool, proxy: str) -> dict[str, Any]:
    """Through the recorder too, because what it writes around the bodies counts as well."""
    told: dict[str, Any] = {}
    for name, conversations in (("one", 1), ("twenty", 20), ("distinct", 20)):
        up, port = free_port(), free_port()
        calls = 40 if quick else _CALLS
        trace = folder / f"{name}.zst"
        sent = 0
        command = recorder(trace, up, port, proxy, "--compact")
        with process([sys.executable, __file__, "--serve", str(up)], up), process(command, port) as pid:
            each = calls // conversations + 1
            talks = [Growing(f"{name}-{at}", _SIZE, each, name != "distinct") for at in range(conversations)]
            before = cpu(pid)
            with socket.create_connection(("127.0.0.1", port)) as end:
                for number in range(calls):
                    request = post(port, "/v1/chat/completions", talks[number % conversations].next())
                    sent += len(request) + ask(end, request)[1]
            time.sleep(0.5)
            told[f"{name}_cpu_ms_a_call"] = round((cpu(pid) - before) / calls * 1e3, 2)
            told[f"{name}_peak_MB"] = round(peak(pid))
        told[f"{name}_MB"] = round(sent / 1e6, 1)
        told[f"{name}_stored_MB"] = round(trace.stat().st_size / 1e6, 3)
    return told


_PARTS = {"latency": latency, "streams": streams, "compact": compact}


def main() -> None:
    ours, _, proxy = " ".join(sys.argv[1:]).partition(" -- ")
    parser = argparse.ArgumentParser(description="What unspool record adds.")
    parser.add_argument("parts", metavar="PART", nargs="*", help=f"of {', '.join(_PARTS)}; default: all")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(ours.split())
    if options.serve:
        serve(options.serve)
        return
    folder = child.FOLDER / "record"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in options.parts or _PARTS:
        told = _PARTS[name](folder, options.quick, proxy)
        shown = "  ".join(f"{key} {value}" for key, value in told.items())
        print(json.dumps({name: told}) if options.json else f"{name:<8} {shown}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
