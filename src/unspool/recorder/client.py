"""The client's end of a connection: requests, passed on as they come, and the order in which answers leave.

    client ⇄ ClientSide ⇄ UpstreamSide ⇄ upstream
                   └────────┴─► Recording

Both sides live and die together, as if client and upstream were connected: what one closes is closed for the other.
Many clients hang up when they have read the last event of a stream, and not its end: that is waited for a moment.
A slow reader holds up whoever writes to it. Heads are read, bodies are only measured; nothing is decoded here.
"""

import asyncio
from functools import partial
from typing import TYPE_CHECKING, cast

from unspool.recorder.calls import Recording
from unspool.recorder.framing import END, Body, Endless, Head, Refused, Sized, check_start, request_body, request_head
from unspool.recorder.heads import own_answer, rewritten
from unspool.recorder.outbox import Outbox
from unspool.recorder.routing import Upstream
from unspool.recorder.secrecy import clean_path, clean_trailers, kept
from unspool.recorder.side import Side
from unspool.recorder.upstream import UpstreamSide, connect

if TYPE_CHECKING:
    from unspool.recorder.proxy import Proxy

_LARGEST_HEAD = 1 << 16
_AHEAD = 1 << 16
"""Bytes of further requests that are read while one is being answered."""
_LINGER = 2.0
_GRACE = 0.5
"""Seconds for the end of an answer whose client has hung up."""


class ClientSide(Side):
    def __init__(self, proxy: "Proxy") -> None:
        super().__init__()
        self._proxy, self.recorder = proxy, proxy.recorder
        self._peer = ""
        self._ahead = b""
        self._upstream: UpstreamSide | None = None
        self._head: Head | None = None
        self._body: Body | None = None
        self._asked = False
        """Whether the request of the call is over."""
        self._is_deaf = False
        """Whether further bytes of the client are thrown away."""
        self._started = False
        """Whether the client got anything of the answer."""
        self._tunnelled = False
        self.shared: dict[str, str] = {}
        """Headers for a web app that may read the answer."""
        self.call: Recording | None = None
        self._waiting: list[bytes] = []
        """Bytes for an upstream whose connection is not there yet."""
        self._to_client = Outbox(
            proxy.recorder,
            self._pass_down,
            hold=self._hold_upstream,
            release=self._release_upstream,
            unwritable=self._unwritable,
        )
        self._to_upstream = Outbox(
            proxy.recorder,
            self._pass_up,
            hold=partial(self.hold, "unwritten"),
            release=partial(self.release, "unwritten"),
            unwritable=self._unwritable,
        )
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
        self._to_client.clear()
        self.loop.call_later(_GRACE, self.gone)

    def gone(self) -> None:
        """Nothing more can come of this connection."""
        self._proxy.connections.discard(self)
        self.finish(None if self._tunnelled else "client")
        self._to_client.clear()
        self._to_upstream.clear()
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
        """Whether a call is on the connection, or its answer has not left yet."""
        unsent = self.is_open and self.transport.get_write_buffer_size() > 0
        return self.call is not None or bool(self._to_client) or unsent

    def rest(self) -> None:
        """Close the connection if no call is on it."""
        if self.call is None and not self._to_client and self.is_open:
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
                    if self._is_deaf:
                        return
                    self._ahead = data[at:]
                    if len(self._ahead) > _AHEAD:
                        self.hold("ahead")
                    return
                else:
                    at = self._pass_head(data, at)
        except Refused as refusal:
            if self._started or self._to_client:  # an answer is on its way: no second one
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
        self._head, self._asked, self._is_deaf = head, False, False
        self._check_caller(head)
        path = self._proxy.routes.admitted(head)
        size = body.size if isinstance(body, Sized) else 0
        if (reason := self.recorder.refusal(size)) is not None:
            raise Refused(reason, 503)
        try:
            upstream, path = self._proxy.routes.choose(head, path)
        except Refused:  # a call that went nowhere is still a call
            self._record(head, path, None, size)
            raise
        self._record(head, path, upstream.origin, size)
        self._body = body
        if body.done:
            self._request_over(body)
        self._send(upstream, rewritten(head, upstream, path))

    def _record(self, head: Head, path: str, origin: str | None, size: int) -> None:
        headers = kept(head.fields)
        self.call = self.recorder.begin(head.method, clean_path(path), origin, self._peer, headers, size)
        self.call.wake = self._go_on

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
        if self.call is not None:
            for piece in pieces:
                self.call.request(piece)
        if body.done:
            self._request_over(body)
        self._to_upstream.put(data if end - at == len(data) else data[at:end], self.call)
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
            self._to_upstream.put(head, self.call)
            return
        if side is not None:
            side.drop()
        self._upstream = None
        self._waiting = []
        self._to_upstream.put(head, self.call)
        self.hold("connecting")
        self._connecting = self.loop.create_task(self._connect(upstream))

    async def _connect(self, upstream: Upstream) -> None:
        try:
            side = await connect(self, upstream, self._proxy.tls if upstream.tls else None, self._proxy.timeout)
        except Refused as refusal:
            self.refuse(refusal.status, str(refusal))
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

    def _pass_up(self, data: bytes) -> None:
        if self._upstream is not None:
            self._upstream.write(data)
        else:
            self._waiting.append(data)

    # Answers.

    def interim(self, data: bytes) -> None:
        """Pass an answer on that others follow, such as 100 Continue."""
        self._to_client.put(partial(self._write, data), self.call, first=True)

    def pass_on(self, data: bytes, first: bool) -> None:
        """Pass a piece of the answer on, of which more follows."""
        self._to_client.put(data, self.call, first)

    def answered(self, data: bytes, first: bool) -> None:
        """Pass the last piece of the answer on. The next request waits until it has left."""
        call = self.call
        self.finish()
        if not self.is_open:
            self.gone()
            return
        if data:
            self._to_client.put(data, call, first, last=True)
        if self._asked:
            self._to_client.put(self._next, call, last=True)
        else:  # before all of the request was sent: nobody needs the rest of it
            self._stop_listening()
            self._to_client.put(self._linger, call, last=True)

    def _write(self, data: bytes) -> None:
        if self.is_open:
            self.transport.write(data)

    def _pass_down(self, data: bytes) -> None:
        self._started = True
        self._write(data)

    def _next(self) -> None:
        head, self._head, self._started = self._head, None, False
        upstream = self._upstream
        if self._proxy.closing or upstream is None or not upstream.keeps_alive or not (head and head.keeps_alive):
            self.transport.close()
            return
        self.release("ahead")
        if self._ahead:
            data, self._ahead = self._ahead, b""
            self._take(data)

    def _go_on(self) -> None:
        """The recorder has written more of the call."""
        self._to_upstream.go_on()
        self._to_client.go_on()

    def _hold_upstream(self) -> None:
        if self._upstream is not None:
            self._upstream.hold("unwritten")

    def _release_upstream(self) -> None:
        if self._upstream is not None:
            self._upstream.release("unwritten")

    def _unwritable(self) -> None:
        """--strict: what waits can never be written, so it never leaves."""
        self.call = None
        self._to_client.clear()
        self._to_upstream.clear()
        if not self.is_open:
            self.gone()
        elif self._started:
            self._drop_upstream()
            self.transport.abort()
        else:
            self.recorder.counts.refused += 1
            self.refuse(503, "unspool record could not write this call, and --strict passes nothing on unwritten")

    def finish(self, by: str | None = None, error: str | None = None) -> None:
        if self.call is not None:
            self.call.end(by, error)
            self.call = None

    def broken(self, by: str, reason: str, abort: bool) -> None:
        """The upstream went away before its answer was over."""
        self.finish(by, reason)
        self._stop_listening()
        # Bytes that leave in this moment would be lost if the connection were aborted at once.
        self._to_client.put(partial(self.loop.call_soon, self.transport.abort) if abort else self.transport.close)

    def refuse(self, status: int, reason: str) -> None:
        """Answer ourselves, and close."""
        if not self.is_open:
            return
        self._stop_listening()
        self._to_upstream.clear()
        self._waiting = []
        head, text = own_answer(status, reason, self.shared)
        call = self.call
        if call is not None:
            call.answer(status, {"content-type": "application/json"})
            call.response(text)
        self.finish(None, reason)
        headless = self._head is not None and self._head.method == "HEAD"
        self._head = self._head or Head(b"", [], [], "1.1")
        self._drop_upstream()
        self._to_client.put(head if headless else head + text, call, first=True, last=True)
        self._to_client.put(self._linger)

    def _drop_upstream(self) -> None:
        if self._connecting is not None:
            self._connecting.cancel()
        if self._upstream is not None:
            self._upstream.drop()
            self._upstream = None

    def _stop_listening(self) -> None:
        """Throw away what the client still sends."""
        self._body, self._is_deaf = None, True
        self._ahead = b""

    def _linger(self) -> None:
        """Closing while the client still sends would throw away what it has not read yet."""
        self.release_all()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(_LINGER, self.transport.close)
