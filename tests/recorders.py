"""Real recorders and real upstreams on loopback: what the tests of `unspool record` share."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

Handler = Callable[["Connection"], None]
PATIENCE = 60.0
"""Seconds that anything may take before a test fails."""


_HOST = re.compile(rb"Host: (?:a|here)(?=\r\n)")


class Connection:
    """One end of a connection, read piece by piece."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self.rest = b""
        sock.settimeout(PATIENCE)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, *pieces: bytes) -> None:
        """Send the pieces. In requests, the names `a` and `here` stand for the address that is called."""
        address, port = self.socket.getpeername()[:2]
        for piece in pieces:
            self.socket.sendall(_HOST.sub(f"Host: {address}:{port}".encode(), piece))

    def until(self, mark: bytes) -> bytes:
        """All bytes up to the mark, with it."""
        while mark not in self.rest:
            if not (piece := self.socket.recv(65536)):
                raise EOFError(f"closed after {self.rest[-200:]!r}")
            self.rest += piece
        data, _, self.rest = self.rest.partition(mark)
        return data + mark

    def exactly(self, size: int) -> bytes:
        pieces, left = [self.rest[:size]], size - len(self.rest[:size])
        self.rest = self.rest[size:]
        while left:
            if not (piece := self.socket.recv(min(left, 1 << 20))):
                raise EOFError("closed in the middle")
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)

    def all(self) -> bytes:
        """Until the other end closes."""
        data, self.rest = [self.rest], b""
        with suppress(ConnectionResetError):
            while piece := self.socket.recv(1 << 20):
                data.append(piece)
        return b"".join(data)

    def request(self) -> tuple[bytes, bytes]:
        """The next request: its head, and its body as it stands on the wire."""
        head = self.until(b"\r\n\r\n")
        fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:-2])
        if fields.get(b"transfer-encoding", b"").strip() == b"chunked":
            return head, self.until(b"0\r\n\r\n")
        return head, self.exactly(int(fields.get(b"content-length", b"0")))

    def answer(self) -> tuple[bytes, bytes]:
        """The next answer, the same way."""
        return self.request()

    def close(self) -> None:
        self.socket.close()


class Upstream:
    """A server that does with each connection what the handler says."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._server = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self._server.getsockname()[1]
        self.seen: list[tuple[bytes, bytes]] = []
        self.faults: list[Exception] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                sock, _ = self._server.accept()
                threading.Thread(target=self._serve, args=(Connection(sock),), daemon=True).start()

    def _serve(self, connection: Connection) -> None:
        try:
            self._handler(connection)
        except (EOFError, ConnectionError):
            pass
        except Exception as fault:
            self.faults.append(fault)
        finally:
            connection.close()

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)  # or the thread that accepts would keep it open
        self._server.close()


@contextmanager
def upstream(handler: Handler) -> Iterator[Upstream]:
    server = Upstream(handler)
    try:
        yield server
    finally:
        server.close()
    assert server.faults == []


def answering(*answers: bytes, seen: list[tuple[bytes, bytes]] | None = None) -> Handler:
    """One answer after another, on each connection from the beginning; the last one again and again."""

    def handle(connection: Connection) -> None:
        number = 0
        while True:
            request = connection.request()
            if seen is not None:
                seen.append(request)
            connection.send(answers[min(number, len(answers) - 1)])
            number += 1

    return handle


def body(data: bytes, kind: str = "application/json", status: str = "200 OK", *more: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(data)}", *more]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


def chunked(*pieces: bytes, kind: str = "text/event-stream") -> list[bytes]:
    """Head, chunks and end of a stream."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    return [head, *(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces), b"0\r\n\r\n"]


def post(path: str, data: bytes, *more: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: here", f"Content-Length: {len(data)}", *more]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


def chat(text: str, **more: Any) -> bytes:
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": text}], **more}).encode()


def said(text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()


def delta(text: str) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}).encode() + b"\n\n"


class Running:
    """A process of `unspool`, and the port that it says it listens on."""

    def __init__(self, *arguments: str | Path, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "unspool", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1].decode()
        self.url: str = json.loads(line)["url"]
        self.port = int(self.url.rsplit(":", 1)[1])
        self.connections: list[Connection] = []

    def connect(self) -> Connection:
        self.connections.append(Connection(socket.create_connection(("127.0.0.1", self.port), PATIENCE)))
        return self.connections[-1]

    def send(self, *pieces: bytes) -> tuple[bytes, bytes]:
        """One request over a connection of its own; the answer's head and body."""
        connection = self.connect()
        connection.send(*pieces)
        answer = connection.answer()
        connection.close()
        return answer

    def stop(self, number: int = signal.SIGTERM) -> tuple[str, list[dict[str, Any]]]:
        """What it said to people, and the events that it told; by now all is written."""
        self.process.send_signal(number)
        out, errors = self.process.communicate(timeout=PATIENCE * 3)
        return errors.decode(), [json.loads(line) for line in out.splitlines()]

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=PATIENCE)


@contextmanager
def recording(trace: Path, target: str | None, *options: str, **environment: str) -> Iterator[Running]:
    """`unspool record` on a free port."""
    where = ["--target", target] if target else []
    running = Running(
        "record", "-o", trace, *where, "--port", "0", "--json", "--patience", "5", *options, **environment
    )
    try:
        yield running
    finally:
        for connection in running.connections:
            connection.close()
        if running.process.poll() is None:
            running.kill()
        for pipe in (running.process.stdout, running.process.stderr):
            if pipe is not None:
                pipe.close()


def records(trace: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in trace.read_bytes().splitlines()]


def in_flight(journal: Path) -> list[bytes]:
    """What the journal holds of each call; the file of one that ends meanwhile goes away under the reader."""
    held = []
    for file in sorted(journal.glob("*.call")):
        with suppress(FileNotFoundError):
            held.append(file.read_bytes())
    return held


def eventually(condition: Callable[[], Any]) -> None:
    """Other processes need a moment."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)
