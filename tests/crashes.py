"""Recorders under load that are killed, or whose disk fills up, and what their clients saw of it.

Used by the tests of `unspool record` and, for many rounds, by bench/stress.py.
"""

import asyncio
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unspool.errors import InputNotFound
from unspool.sources.files import Damaged, blocks, expand

PATIENCE = 60.0
"""Seconds that starting and stopping a process may take."""
_EVENTS, _PAUSE = 5, 0.05
"""The events of a streamed answer, and the seconds between two of them."""
_END = b"data: [DONE]\n\n"
_BUSY = """
import os, sys
while True:
    with open(sys.argv[1], "wb") as file:
        for _ in range(64):
            file.write(bytes(1 << 20))
            file.flush()
            os.fsync(file.fileno())
"""


@dataclass
class Seen:
    """The names of calls, by what their clients saw of the answer."""

    begun: set[str] = field(default_factory=set)
    whole: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)


@dataclass
class Lost:
    """Calls that a recorder lost, and how many there were."""

    whole: int = 0
    """Answers that clients saw whole, and of which there is no record."""
    incomplete: int = 0
    """Answers that clients saw whole, and of which the record lacks a part."""
    begun: int = 0
    """Calls without a record of whose answer a client saw at least one byte."""
    seen_whole: int = 0
    seen_begun: int = 0

    def add(self, other: "Lost") -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


# The upstream.


class _Stream(asyncio.Protocol):
    """Answers each request with a slow stream of events, or with a plain body if the path is /plain."""

    def __init__(self) -> None:
        self._data = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport

    def data_received(self, data: bytes) -> None:
        self._data += data
        while (end := self._data.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._data[:end]).lower()
            whole = end + 4 + int(head.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
            if len(self._data) < whole:
                return
            del self._data[:whole]
            self._task = asyncio.get_running_loop().create_task(self._answer(head.split(b" ")[1]))

    async def _answer(self, path: bytes) -> None:
        if path == b"/plain":
            text = json.dumps({"choices": [{"message": {"content": "x" * 2000}}]}).encode()
            self._transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(text), text))
            return
        self._transport.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        for number in range(_EVENTS):
            await asyncio.sleep(_PAUSE)
            self._write(b'data: {"choices":[{"delta":{"content":"%d"}}]}\n\n' % number)
        self._write(_END)
        self._transport.write(b"0\r\n\r\n")

    def _write(self, data: bytes) -> None:
        self._transport.write(b"%x\r\n%b\r\n" % (len(data), data))


def _serve(port: int) -> None:
    async def forever() -> None:
        server = await asyncio.get_running_loop().create_server(_Stream, "127.0.0.1", port, backlog=512)
        await server.serve_forever()

    asyncio.run(forever())


# Clients.


async def _calls(port: int, path: str, names: Iterator[str], size: int, seen: Seen) -> None:
    """Make one call after the other until there are no more names, or the recorder is gone."""
    for name in names:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            return
        try:
            await _call(reader, writer, port, path, name, size, seen)
        except (OSError, asyncio.IncompleteReadError):
            continue
        finally:
            writer.close()


async def _call(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    port: int,
    path: str,
    name: str,
    size: int,
    seen: Seen,
) -> None:
    message = {"role": "user", "content": f"{name} {'x' * size}"}
    body = json.dumps({"model": "m", "stream": True, "messages": [message]}).encode()
    session = f"X-Session-Id: {name.partition('-')[0]}"
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{session}\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    start = await reader.readexactly(12)
    if not start.endswith(b" 200"):
        seen.refused.add(name)
        return
    seen.begun.add(name)
    fields = (await reader.readuntil(b"\r\n\r\n")).lower()
    if b"content-length:" in fields:
        await reader.readexactly(int(fields.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0]))
    else:
        await reader.readuntil(b"\r\n0\r\n\r\n")
    seen.whole.add(name)


async def _load(port: int, path: str, clients: int, calls: int | None, size: int, seen: Seen) -> None:
    def names(client: int) -> Iterator[str]:
        number = 0
        while calls is None or number < calls:
            yield f"c{client}-{number}"
            number += 1

    await asyncio.gather(*(_calls(port, path, names(client), size, seen) for client in range(clients)))


# Processes.


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def running(
    command: Sequence[str], port: int = 0, errors: int = subprocess.DEVNULL
) -> Iterator[subprocess.Popen[bytes]]:
    """A process, from when it listens on the port."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
    deadline = time.monotonic() + PATIENCE
    try:
        while port:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def upstream() -> Iterator[int]:
    """The port of an upstream."""
    port = _free_port()
    with running([sys.executable, __file__, str(port)], port):
        yield port


@contextmanager
def busy_disk(folder: Path) -> Iterator[None]:
    """A process that writes and syncs all the time."""
    with running([sys.executable, "-c", _BUSY, str(folder / "busy")]):
        yield


@contextmanager
def recorder(trace: Path, target: int, *options: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A recorder and its port. It writes its messages to the file `messages` beside the trace."""
    port = _free_port()
    where = ["--target", f"http://127.0.0.1:{target}", "--port", str(port), "-o", str(trace)]
    command = [sys.executable, "-m", "unspool", "record", *where, "-q", "--patience", "5", *options]
    with (
        trace.with_name("messages").open("ab") as messages,
        running(command, port, messages.fileno()) as process,
    ):
        yield process, port


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait(PATIENCE)


# What is left.


def records(trace: Path) -> dict[str, bool]:
    """Return the names of the calls that readers find, and whether the record has all of the answer."""
    found: dict[str, bool] = {}
    try:
        paths = list(expand([trace]))
    except InputNotFound:  # a folder without any record
        return {}
    for path in paths:
        pieces = []
        try:
            pieces += list(blocks(path))
        except Damaged:  # the torn end of a compact trace
            pieces += _whole_blocks(path)
        for line in b"".join(pieces).splitlines():
            try:
                record = json.loads(line)
            except ValueError:  # a torn line
                continue
            name = str((record["request"] or {}).get("messages", [{"content": "? "}])[0]["content"]).partition(" ")[0]
            # A recorder that is killed between writing a record and removing the call's own file can leave both.
            is_whole = _END.decode().strip() in (record["response"] or {}).get("sse_lines", ())
            found[name] = is_whole or found.get(name, False)
    return found


def _whole_blocks(path: str) -> Iterator[bytes]:
    try:
        yield from blocks(path)
    except Damaged:
        return


def lost(seen: Seen, found: dict[str, bool]) -> Lost:
    return Lost(
        whole=len(seen.whole - found.keys()),
        incomplete=len({name for name in seen.whole & found.keys() if not found[name]}),
        begun=len(seen.begun - found.keys()),
        seen_whole=len(seen.whole),
        seen_begun=len(seen.begun),
    )


def kill(folder: Path, streams: int, seconds: float, *options: str) -> dict[str, Lost]:
    """Kill a recorder some seconds after its first answer. Return what readers and the next recorder do not find.

    Under --durable also what is not in the log alone, as if the other files had not reached the disk.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    by_session = "--by-session" in options
    trace = folder / ("logs" if by_session else "trace.jsonl")
    seen = Seen()
    with upstream() as target:
        with recorder(trace, target, *options) as (process, port):

            async def load() -> None:
                calls = asyncio.create_task(_load(port, "/stream", streams, None, 5000, seen))
                try:
                    async with asyncio.timeout(PATIENCE):
                        while not seen.begun:
                            await asyncio.sleep(0.01)
                except TimeoutError:
                    process.kill()
                    raise
                asyncio.get_running_loop().call_later(seconds, process.kill)
                await calls

            asyncio.run(load())
        if not by_session:
            trace.touch()
        counts = {"readers": lost(seen, records(trace))}
        if "--durable" in options:
            with _without_unsynced(folder, trace):
                counts["log alone"] = lost(seen, records(trace))
        with recorder(trace, target, *options) as (process, _):
            _end(process)
        counts["next recorder"] = lost(seen, records(trace))
    return counts


@contextmanager
def _without_unsynced(folder: Path, trace: Path) -> Iterator[None]:
    """Remove, for a while, all files but the log: nothing else has to be on the disk."""
    backup = folder.with_name(folder.name + "-backup")
    shutil.rmtree(backup, ignore_errors=True)
    shutil.copytree(folder, backup)
    for file in folder.rglob("*"):
        if file.is_file() and file.suffix != ".wal":
            file.unlink()
    if trace.suffix:
        trace.touch()
    try:
        yield
    finally:
        shutil.rmtree(folder)
        backup.rename(folder)


def fill(folder: Path, clients: int, calls: int, size: int, *options: str) -> tuple[Seen, set[str]]:
    """Record to a small disk until it is full. Return what clients saw, and begun calls without a record."""
    trace = folder / "trace.jsonl"
    seen = Seen()
    with upstream() as target, recorder(trace, target, "--strict", *options) as (process, port):
        asyncio.run(_load(port, "/plain", clients, calls, size, seen))
        _end(process)
    return seen, seen.begun - records(trace).keys()


@contextmanager
def small_disk(folder: Path, megabytes: int = 2) -> Iterator[Path]:
    """A file system in memory of this size. Only root can mount one."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def can_mount(folder: Path) -> bool:
    if os.geteuid() or shutil.which("mount") is None:
        return False
    folder.mkdir(parents=True, exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], check=False).returncode:
        return False
    subprocess.run(["umount", str(folder)], check=True)
    return True


def some_seconds(chance: random.Random) -> float:
    """Return after which time to kill: late enough for answers to be whole, at any point of a round."""
    return 0.6 + chance.random() * 1.5


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
