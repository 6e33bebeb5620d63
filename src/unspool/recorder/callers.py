"""Who may call a server on this machine: programs, but no web page of another site.

A page can make its visitor's browser send requests to this machine. The browser then says so in `Origin` and
`Sec-Fetch-Site`, which programs do not send. A page whose own name was made to mean this machine (DNS rebinding) has
that name in `Host`.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from unspool.errors import UnspoolError

_LOCAL = ("127.0.0.1", "localhost", "[::1]")
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#\s]+")
_HTTP_PORT = 80
_MAX_AGE = "600"
"""Seconds for which a browser may remember the answer to a preflight."""
_WARNINGS = 10


class Request(Protocol):
    """The head of an HTTP request."""

    method: str

    def first(self, name: str) -> str: ...

    def all(self, name: str) -> list[str]: ...


class Callers:
    """The addresses under which a server may be called, and the web apps that may call it.

    With `checks_host=False`, any `Host` will do: for servers that ask for a token, which no page of another site knows.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        origins: Iterable[str] = (),
        checks_host: bool = True,
        say: Callable[[str], None] = lambda _text: None,
    ) -> None:
        self._names = {*_LOCAL, (f"[{host}]" if ":" in host else host).lower()}
        self._origins = frozenset(map(_origin, origins))
        self._checks_host, self._say = checks_host, say
        self._reported: set[str] = set()
        self.refused = 0
        """Requests that were refused."""

    def knows_host(self, host: str, port: int) -> bool:
        """Return whether a `Host` header names this server."""
        if not self._checks_host:
            return True
        name, colon, number = host.lower().rpartition(":")
        if not colon or number.endswith("]"):
            name, number = host.lower(), str(_HTTP_PORT)
        return name in self._names and number == str(port)

    def allows(self, origin: str, host: str) -> bool:
        """Return whether a page of this origin may call the server, which is called by the name `host`."""
        return origin.lower() in (*self._origins, f"http://{host}".lower())

    def refusal(self, request: Request, port: int) -> tuple[int, str] | None:
        """Return status and reason if the request must be refused. It is then counted."""
        host, origins = request.first("host"), request.all("origin")
        foreign = next((origin for origin in origins if not self.allows(origin, host)), None)
        if not self.knows_host(host, port):
            refused = 421, f"Host {host!r} is not an address of this server: call http://127.0.0.1:{port}"
        elif foreign is not None:
            refused = 403, f"web pages of {foreign} may not call this server: start it with --allow-origin {foreign}"
        elif not self.is_shared_with(request) and not is_same_site(request.all("sec-fetch-site")):
            refused = 403, "a web page of another site may not call this server"
        else:
            return None
        self.refused += 1
        if refused[1] not in self._reported and len(self._reported) < _WARNINGS:
            self._reported.add(refused[1])
            self._say(f"refused a request: {refused[1]}")
        return refused

    def is_shared_with(self, request: Request) -> bool:
        """Return whether the request comes from a web app that was allowed."""
        origins = request.all("origin")
        return bool(origins) and all(origin.lower() in self._origins for origin in origins)

    def is_preflight(self, request: Request) -> bool:
        """Return whether the browser of an allowed web app asks what it may send."""
        asks = request.method == "OPTIONS" and bool(request.first("access-control-request-method"))
        return asks and self.is_shared_with(request)

    def headers(self, request: Request) -> dict[str, str]:
        """Return the headers that let an allowed web app read the answer; for other callers none."""
        if not self.is_shared_with(request):
            return {}
        shared = {
            "access-control-allow-origin": request.first("origin"),
            "access-control-expose-headers": "*",
            "vary": "Origin",
        }
        if not self.is_preflight(request):
            return shared
        return {
            **shared,
            "access-control-allow-methods": request.first("access-control-request-method"),
            "access-control-allow-headers": request.first("access-control-request-headers"),
            "access-control-allow-private-network": "true",
            "access-control-max-age": _MAX_AGE,
        }


def is_same_site(sites: Sequence[str]) -> bool:
    """Return whether `Sec-Fetch-Site` speaks of no other site. Only browsers send it."""
    return all(site.lower() in ("same-origin", "none") for site in sites)


def with_headers(head: bytes, headers: dict[str, str]) -> bytes:
    """Return the head of an answer with these headers, in place of others that say who may read it."""
    if not headers:
        return head
    start, *lines = head.rstrip(b"\r\n").split(b"\r\n")
    kept = [line for line in lines if not line.lower().startswith(b"access-control-")]
    added = [f"{name}: {value}".encode("latin-1") for name, value in headers.items() if value]
    return b"\r\n".join((start, *kept, *added)) + b"\r\n\r\n"


def _origin(url: str) -> str:
    origin = url.rstrip("/").lower()
    if not _ORIGIN.fullmatch(origin):
        raise UnspoolError(
            f"--allow-origin {url!r} is not an origin: name one as http://localhost:3000, without a path"
        )
    return origin
