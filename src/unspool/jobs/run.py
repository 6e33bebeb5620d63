"""Run: a command with a recorder of its own, in the same terminal, with its own exit status."""

import asyncio
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from types import FrameType

from msgspec import Struct
from msgspec.structs import replace

from unspool.jobs.record import Say, Settings, prepared
from unspool.recorder.calls import Counts
from unspool.recorder.pointing import agent_of, placed, point
from unspool.recorder.proxy import Proxy
from unspool.recorder.serving import drain, run

_FORWARDED = (signal.SIGTERM, signal.SIGHUP)
_PATIENCE = 2.0
"""Seconds for calls that outlive the command: of a child that it left behind."""


class Ran(Struct):
    status: int
    counts: Counts
    fault: str | None = None
    """Why the command could not be started."""


def run_recorded(command: Sequence[str], settings: Settings, say: Say, agent: str | None = None) -> Ran:
    """The recorder is there before the command starts, and ends after it."""
    agent = agent or agent_of(command)
    with tempfile.TemporaryDirectory(prefix="unspool-") as folder, socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        pointing = point(agent, url, Path(folder), single=settings.target is not None)
        proxy = prepared(replace(settings, upstreams={**pointing.upstreams, **settings.upstreams}), say)
        proxy.recorder.start()
        background = Background(proxy, server, say)
        try:
            words = placed(command, pointing.arguments, agent)
            status, fault = _run(words, {**os.environ, **pointing.environment})
        finally:
            background.stop()
            proxy.recorder.close()
            proxy.recorder.counts.foreign = proxy.callers.refused
    return Ran(status, proxy.recorder.counts, fault)


class Background:
    """The proxy in a thread of its own: this one waits for the command, and gets the signals."""

    def __init__(self, proxy: Proxy, server: socket.socket, say: Say) -> None:
        self._proxy, self._socket, self._say = proxy, server, say
        self._ready: Future[Callable[[], object]] = Future()
        self._thread = Thread(target=run, args=(self._serve(),), name="proxy", daemon=True)
        self._thread.start()
        self._end = self._ready.result()

    async def _serve(self) -> None:
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        try:
            server = await loop.create_server(self._proxy.client, sock=self._socket)
        except OSError as error:
            self._ready.set_exception(error)
            return
        self._ready.set_result(lambda: loop.call_soon_threadsafe(over.set))
        await over.wait()
        server.close()
        await drain(self._proxy, lambda _: None, _PATIENCE, asyncio.Event())

    def stop(self) -> None:
        self._end()
        self._thread.join()


def _run(command: Sequence[str], environment: dict[str, str]) -> tuple[int, str | None]:
    """The command's status as a shell tells it, and why it could not be started if it could not."""
    started: list[subprocess.Popen[bytes]] = []

    def forward(number: int, _frame: FrameType | None) -> None:
        for process in started:
            process.send_signal(number)

    def leave(_number: int, _frame: FrameType | None) -> None:
        """Ctrl-C reaches the command by itself: it is in the same terminal."""

    before = {number: signal.signal(number, forward) for number in _FORWARDED}
    before[signal.SIGINT] = signal.signal(signal.SIGINT, leave)
    try:
        started.append(subprocess.Popen(command, env=environment))
        status = started[0].wait()
    except FileNotFoundError:
        return 127, f"{command[0]}: command not found"
    except OSError as error:
        return 126, f"{command[0]}: {error.strerror}"
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return (128 - status if status < 0 else status), None
