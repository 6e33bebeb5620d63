"""The proxy: one connection of a client, and one to its upstream, bytes passed on as they come.

    client ⇄ ClientSide ⇄ UpstreamSide ⇄ upstream
                   └────────┴─► Recording

Both sides live and die together, as if client and upstream were connected: what one closes is closed for the other.
Many clients hang up when they have read the last event of a stream, and not its end: that is waited for a moment.
A slow reader holds up whoever writes to it. Heads are read, bodies are only measured; nothing is decoded here.
"""

import asyncio
import ssl
from typing import cast

import msgspec

from unspool.recorder.callers import Callers, with_headers
from unspool.recorder.framing import END, Body, Endless, Head, Refused, check_start, request_body, request_head
from unspool.recorder.recording import Recorder, Recording
from unspool.recorder.routing import TOKEN_HEADER, UPSTREAM_HEADER, Routes, Upstream
from unspool.recorder.secrecy import clean_path, clean_trailers, kept
from unspool.recorder.side import Side
from unspool.recorder.upstream import UpstreamSide

_LARGEST_HEAD = 1 << 16
_AHEAD = 1 << 16
"""Bytes of further requests that are read while one is being answered."""
_CONNECT = 30.0
"""Seconds."""
_LINGER = 2.0
_GRACE = 0.5
"""Seconds for the end of an answer whose client has hung up."""
_OURS = frozenset({"host", "proxy-connection", "proxy-authorization", "keep-alive", UPSTREAM_HEADER, TOKEN_HEADER})
_FIXED = frozenset({"transfer-encoding", "content-length", "upgrade", "te", "trailer", "connection", "close"})
_REASONS = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 431: "Headers Too Large"}
_REASONS |= {
    421: "Misdirected Request",
    204: "No Content",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
    505: "Version Not Supported",
}


class Proxy:
    """What all connections share."""

    def __init__(
        self, routes: Routes, recorder: Recorder, timeout: float | None = None, callers: Callers | None = None
    ) -> None:
        self.routes, self.recorder, self.timeout = routes, recorder, timeout
        self.callers = callers or Callers()
        self.connections: set[ClientSide] = set()
        self.closing = False
        self._tls: ssl.SSLContext | None = None

    def client(self) -> "ClientSide":
        return ClientSide(self)

    @property
    def tls(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = ssl.create_default_context()
            self._tls.set_alpn_protocols(["http/1.1"])
        return self._tls

    @property
    def busy(self) -> int:
        return sum(side.is_busy for side in self.connections)

    def drain(self) -> None:
        """No further requests; connections that rest are closed."""
        self.closing = True
        for side in list(self.connections):
            side.rest()


class ClientSide(Side):
    def __init__(self, proxy: Proxy) -> None:
        super().__init__(proxy.recorder)
        self._proxy = proxy
        self._peer = ""
        self._ahead = b""
        self._upstream: UpstreamSide | None = None
        self._head: Head | None = None
        self._body: Body | None = None
        self._asked = self._answered = False
        """Whether request and answer of the call are over."""
        self._tunnelled = False
        self.shared: dict[str, str] = {}
        """Headers for a web app that may read the answer."""
        self.call: Recording | None = None
        self._waiting: list[bytes] = []
        self._connecting: asyncio.Task[None] | None = None

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        peer = transport.get_extra_info("peername")
        self._peer = f"{peer[0]}:{peer[1]}" if isinstance(peer, tuple) else ""
        own = transport.get_extra_info("sockname")
        self._port = own[1] if isinstance(own, tuple) else 0
        self.is_open = True
        self._proxy.connections.add(self)

    def data_received(self, data: bytes) -> None:
        if self._ahead:
            data, self._ahead = self._ahead + data, b""
        self._take(data)

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        self.is_open = False
        if self._connecting is not None:
            self._connecting.cancel()
        upstream = self._upstream
        if self.call is None or self._tunnelled or not self._asked or upstream is None or not upstream.heard:
            self.gone()
            return
        self.call.left()
        upstream.release("client")
        self.loop.call_later(_GRACE, self.gone)

    def gone(self) -> None:
        """Nothing more can come of this connection."""
        self._proxy.connections.discard(self)
        self.finish(None if self._tunnelled else "client")
        if self._upstream is not None:
            self._upstream.drop()

    def pause_writing(self) -> None:
        if self._upstream is not None:
            self._upstream.hold("client")

    def resume_writing(self) -> None:
        if self._upstream is not None:
            self._upstream.release("client")

    # Requests.

    @property
    def is_busy(self) -> bool:
        return self.call is not None

    def rest(self) -> None:
        """Close the connection if no call is on it."""
        if self.call is None and self.is_open:
            self.transport.close()

    def tunnel(self) -> None:
        """From here on it is no HTTP: whatever the client sends goes through, until one side has enough."""
        self._body, self._asked, self._tunnelled = Endless(), False, True
        self.release("ahead")
        data, self._ahead = self._ahead, b""
        if data:
            self._take(data)

    def _take(self, data: bytes) -> None:
        at = 0
        try:
            while at < len(data) and self.is_open:
                if self._body is not None:
                    at = self._pass_body(data, at, self._body)
                elif self._head is not None:
                    if self._answered:
                        return  # after a refusal, whatever still comes is thrown away
                    self._ahead = data[at:]
                    if len(self._ahead) > _AHEAD:
                        self.hold("ahead")
                    return
                else:
                    at = self._pass_head(data, at)
        except Refused as refusal:
            if self._upstream is not None and self._upstream.heard:  # its answer is on its way: no second one
                self.broken("client", str(refusal), abort=True)
            else:
                self.refuse(refusal.status, str(refusal))

    def _pass_head(self, data: bytes, at: int) -> int:
        while data.startswith(b"\r\n", at):  # some clients end a body with an empty line too many
            at += 2
        end = data.find(END, at)
        if (end if end >= 0 else len(data)) - at > _LARGEST_HEAD:
            raise Refused("the headers are too large", 431)
        if end < 0:
            check_start(data, at)
            self._ahead = data[at:]
            return len(data)
        raw = data[at : end + len(END)]
        head = request_head(raw)
        body = request_body(head)
        self._begin(head, body)
        return end + len(END)

    def _begin(self, head: Head, body: Body) -> None:
        self._head, self._asked, self._answered = head, False, False
        self._check_caller(head)
        recorder = self.recorder
        if recorder.strict and recorder.failing:
            recorder.try_again()
            raise Refused("the recorder cannot record, and was told to forward nothing then", 503)
        path = self._proxy.routes.admitted(head)
        try:
            upstream, path = self._proxy.routes.choose(head, path)
        except Refused:  # a call that went nowhere is still a call
            self.call = recorder.begin(head.method, clean_path(path), None, self._peer, kept(head.fields))
            raise
        self.call = recorder.begin(head.method, clean_path(path), upstream.origin, self._peer, kept(head.fields))
        self._body = body
        self._send(upstream, rewritten(head, upstream, path))
        if body.done:
            self._request_over(body)

    def _check_caller(self, head: Head) -> None:
        """Refuse what leaves no record: requests of web pages, and preflights, which are answered here."""
        callers = self._proxy.callers
        self.shared = callers.headers(head)
        if (refusal := callers.refusal(head, self._port)) is not None:
            raise Refused(refusal[1], refusal[0])
        if callers.is_preflight(head):
            raise Refused("", 204)

    def _pass_body(self, data: bytes, at: int, body: Body) -> int:
        end, pieces = body.feed(data, at)
        self._write(data if end - at == len(data) else data[at:end])
        if self.call is not None:
            for piece in pieces:
                self.call.request(piece)
        if body.done:
            self._request_over(body)
        if self.recorder.strict:
            self.stall()
        return end

    def _request_over(self, body: Body) -> None:
        self._body, self._asked = None, True
        if self.call is not None:
            self.call.request_over(clean_trailers(body.trailers))

    def _send(self, upstream: Upstream, head: bytes) -> None:
        """The head to the upstream, over the connection that is there, or over a new one."""
        side = self._upstream
        if side is not None and side.upstream == upstream and side.is_open and not side.transport.is_closing():
            side.begin(self._head)
            side.write(head)
            return
        if side is not None:
            side.drop()
        self._upstream = None
        self._waiting = [head]
        self.hold("connecting")
        self._connecting = self.loop.create_task(self._connect(upstream))

    async def _connect(self, upstream: Upstream) -> None:
        try:
            async with asyncio.timeout(_CONNECT):
                _, side = await self.loop.create_connection(
                    lambda: UpstreamSide(self, upstream, self.recorder, self._proxy.timeout),
                    upstream.host,
                    upstream.port,
                    ssl=self._proxy.tls if upstream.tls else None,
                    server_hostname=upstream.host if upstream.tls else None,
                )
        except TimeoutError:
            self.refuse(504, f"{upstream.origin} did not take the connection within {_CONNECT:.0f} s")
            return
        except (OSError, ssl.SSLError) as error:
            self.refuse(502, f"{upstream.origin}: {error.strerror or error}")
            return
        finally:
            self._connecting = None
        if not self.is_open:
            side.drop()
            return
        self._upstream = side
        side.begin(self._head)
        for piece in self._waiting:
            side.write(piece)
        self._waiting = []
        self.release("connecting")

    def _write(self, data: bytes) -> None:
        if self._upstream is not None:
            self._upstream.write(data)
        else:
            self._waiting.append(data)

    # Answers.

    def answered(self) -> None:
        """The answer has gone out, whole."""
        self._answered = True
        if not self.is_open:
            self.finish()
            self.gone()
        elif self._asked:
            self._next()
        else:  # before all of the request was sent: the rest of it is of no use to anybody
            self.finish()
            self._linger()

    def _next(self) -> None:
        self.finish()
        head, self._head = self._head, None
        upstream = self._upstream
        if self._proxy.closing or upstream is None or not upstream.keeps_alive or not (head and head.keeps_alive):
            self.transport.close()
            return
        self.release("ahead")
        if self._ahead:
            data, self._ahead = self._ahead, b""
            self._take(data)

    def finish(self, by: str | None = None, error: str | None = None) -> None:
        if self.call is not None:
            self.call.end(by, error)
            self.call = None

    def broken(self, by: str, reason: str, abort: bool) -> None:
        """The upstream went away before its answer was over."""
        self.finish(by, reason)
        if abort:
            self.transport.abort()
        else:
            self.transport.close()

    def refuse(self, status: int, reason: str) -> None:
        """Answer ourselves, and close."""
        if not self.is_open:
            return
        self._body, self._answered = None, True
        self._waiting = []
        text = msgspec.json.encode({"error": {"type": "unspool_recorder", "message": reason}}) + b"\n"
        head = f"HTTP/1.1 {status} {_REASONS.get(status, 'Refused')}\r\nConnection: close\r\n"
        if status == 204:
            text = b""
        else:
            head += f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n"
        headed = self._head is not None and self._head.method == "HEAD"
        self.transport.write(with_headers(head.encode() + b"\r\n", self.shared) + (b"" if headed else text))
        if self.call is not None:
            self.call.answer(status, {"content-type": "application/json"})
            self.call.response(text)
        self.finish(None, reason)
        self._head = self._head or Head(b"", [], [], "1.1")
        if self._upstream is not None:
            self._upstream.drop()
            self._upstream = None
        self._linger()

    def _linger(self) -> None:
        """Closing while the client still sends would throw away what it has not read yet."""
        self._body = None
        self._ahead = b""
        self.release_all()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(_LINGER, self.transport.close)


def rewritten(head: Head, upstream: Upstream, path: str) -> bytes:
    """The head as the upstream must get it: its own Host, and nothing that was meant for us alone."""
    dropped = _OURS | (set(head.tokens("connection")) - _FIXED)
    lines = [f"{head.method} {path} HTTP/{head.version}".encode("latin-1")]
    hosted = False
    for (name, _), line in zip(head.fields, head.lines, strict=True):
        if name == "host" and not hosted:
            lines.append(line[:5] + b" " + upstream.authority.encode())  # in its place, written as it was
            hosted = True
        elif name not in dropped:
            lines.append(line)
    if not hosted:
        lines.insert(1, b"Host: " + upstream.authority.encode())
    return b"\r\n".join(lines) + END
