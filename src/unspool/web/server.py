"""Serve until somebody presses Ctrl-C."""

import contextlib
import logging
import secrets
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn

from unspool.errors import InputNotFound
from unspool.jobs.view.catalog import Catalog
from unspool.web.app import application
from unspool.web.live import Live

PORT = 7766
"""The same each time, so that links keep working; another if it is taken."""


def serve(catalog: Catalog, version: str, port: int | None, ready: Callable[[str, str], None]) -> None:
    """Serve until Ctrl-C.

    As soon as browsers can connect, call `ready` with two addresses: one to print, and one to open a browser with,
    which is valid once.
    """
    listening = _listen(port)
    port = listening.getsockname()[1]
    token, ticket = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
    live = Live(catalog)
    app = application(catalog, live, token, ticket, port, version)
    config = uvicorn.Config(app, log_level="error", lifespan="off", timeout_graceful_shutdown=1, server_header=False)
    server = _Server(config, live)
    address = f"http://127.0.0.1:{port}/"
    ready(f"{address}?token={token}", f"{address}?once={ticket}")
    with contextlib.suppress(KeyboardInterrupt):  # that is how it ends
        server.run(sockets=[listening])


class _Server(uvicorn.Server):
    """Ends what browsers listen to, so that nothing has to be waited for and cut off."""

    def __init__(self, config: uvicorn.Config, live: Live) -> None:
        super().__init__(config)
        self._live = live

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._live.end()
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # a page that is cut off is no error any more
        super().handle_exit(sig, frame)


def _listen(port: int | None) -> socket.socket:
    """From here on connections wait until the server takes them."""
    for wanted in (port,) if port is not None else (PORT, 0):
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(("127.0.0.1", wanted))
        except OSError as error:
            listening.close()
            if port is not None:
                raise InputNotFound(f"port {port}: {error.strerror}") from error
            continue
        listening.listen(128)
        return listening
    raise InputNotFound("no free port on 127.0.0.1")
