"""A recorder that runs: its port, its signals, its end."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Any, TypeVar

from unspool.errors import UnspoolError
from unspool.recorder.proxy import Proxy

T = TypeVar("T")
_BACKLOG = 1024
_SWITCH_SECONDS = 0.0005


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address. A name counts if all that it stands for do."""
    try:
        return all(ip_address(found[4][0]).is_loopback for found in socket.getaddrinfo(host, None))
    except (OSError, ValueError):
        return False


def run(job: Coroutine[Any, Any, T]) -> T:
    """Run an event loop beside other threads: uvloop's where it is installed."""
    # After each system call the writing thread waits for the interpreter: a busy loop may keep it for so long.
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        import uvloop
    except ImportError:
        return asyncio.run(job)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(job)


def allow_files() -> None:
    """As many open files as this system lets us have: a call needs three."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < 65_536:
        most = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))


@asynccontextmanager
async def listening(make: Callable[[], asyncio.BaseProtocol], host: str, port: int) -> AsyncIterator[asyncio.Server]:
    """A server on the port, or on a free one for 0."""
    loop = asyncio.get_running_loop()
    try:
        server = await loop.create_server(make, host, port, backlog=_BACKLOG)
    except (OSError, OverflowError) as error:
        number = getattr(error, "errno", None)
        reason = os.strerror(number) if isinstance(number, int) and number > 0 else error
        raise UnspoolError(f"cannot listen on {host}:{port}: {reason}") from error
    try:
        yield server
    finally:
        server.close()


def port_of(server: asyncio.Server) -> int:
    return int(server.sockets[0].getsockname()[1])


class Stopping:
    """SIGTERM and SIGINT: the first ends the serving, the second the waiting for calls in flight."""

    def __init__(self) -> None:
        self.asked, self.at_once = asyncio.Event(), asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._signalled)

    def _signalled(self) -> None:
        (self.at_once if self.asked.is_set() else self.asked).set()


async def drain(proxy: Proxy, say: Callable[[str], None], patience: float, at_once: asyncio.Event) -> None:
    """Calls in flight may end, unless that takes longer than `patience` seconds."""
    proxy.drain()
    if proxy.busy and patience:
        say(f"waiting for {proxy.busy:,} call{'s' if proxy.busy > 1 else ''} to end; once more stops at once")
    loop = asyncio.get_running_loop()
    deadline = loop.time() + patience
    while proxy.busy and loop.time() < deadline and not at_once.is_set():
        await asyncio.sleep(0.02)
    for side in list(proxy.connections):
        side.finish("recorder")
        side.transport.abort()
    await asyncio.sleep(0)
