"""The proxy: what all connections share."""

import asyncio
import ssl
from functools import cached_property, partial

from unspool.recorder.callers import Callers
from unspool.recorder.client import ClientSide
from unspool.recorder.outbox import wake
from unspool.recorder.recording import Recorder
from unspool.recorder.routing import Routes


class Proxy:
    """The routes, the recorder and the open connections."""

    def __init__(
        self, routes: Routes, recorder: Recorder, timeout: float | None = None, callers: Callers | None = None
    ) -> None:
        self.routes, self.recorder, self.timeout = routes, recorder, timeout
        self.callers = callers or Callers()
        self.connections: set[ClientSide] = set()
        self.closing = False

    def client(self) -> ClientSide:
        self.recorder.wake = partial(wake, asyncio.get_running_loop())
        return ClientSide(self)

    @cached_property
    def tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        return context

    @property
    def busy(self) -> int:
        return sum(side.is_busy for side in self.connections)

    def drain(self) -> None:
        """No further requests; connections that rest are closed."""
        self.closing = True
        for side in list(self.connections):
            side.rest()
