"""The upstream's end of a call: its answers, passed on to the client as they come."""

import asyncio
import ssl
from typing import TYPE_CHECKING, cast

from unspool.recorder.callers import with_headers
from unspool.recorder.framing import END, Body, Endless, Head, Refused, response_body, response_head
from unspool.recorder.routing import Upstream
from unspool.recorder.secrecy import clean_trailers, kept
from unspool.recorder.side import Side

if TYPE_CHECKING:
    from unspool.recorder.client import ClientSide

_LARGEST_HEAD = 1 << 18
_CONNECT_SECONDS = 30.0


class UpstreamSide(Side):
    def __init__(self, client: "ClientSide", upstream: Upstream, timeout: float | None) -> None:
        super().__init__()
        self._client, self.upstream, self._timeout = client, upstream, timeout
        self._head = b""
        self._body: Body | None = None
        self._request: Head | None = None
        self._calls = 0
        self.heard = False
        """Whether anything of the answer has come."""
        self._last = 0.0
        self.keeps_alive = True

    def begin(self, request: Head | None) -> None:
        """A request follows."""
        self._request, self.heard, self._body, self._head = request, False, None, b""
        self._calls += 1
        self._last = self.loop.time()
        if self._calls == 1 and self._timeout:
            self.loop.call_later(self._timeout, self._watch, self._timeout)

    def write(self, data: bytes) -> None:
        if self.is_open:
            self.transport.write(data)
            self._last = self.loop.time()

    def drop(self) -> None:
        if self.is_open:
            self.is_open = False
            if self.transport.get_write_buffer_size():
                self.transport.abort()
            else:
                self.transport.close()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        self._last = self.loop.time()
        if self._request is None or not self.is_open:  # an answer that nobody asked for
            self.drop()
            self._client.rest()
            return
        try:
            if self._body is None:
                self._pass_head(data)
            else:
                self._pass_body(data, 0)
        except Refused as refusal:
            self._fail(502, f"{self.upstream.origin} answers what is no HTTP/1.1: {refusal}")

    def connection_lost(self, error: Exception | None) -> None:
        if not self.is_open:
            return
        self.is_open = self.keeps_alive = False
        if self._request is None:
            self._client.rest()
        elif isinstance(self._body, Endless) and error is None:
            self._over()
        elif not self._client.is_open:
            self._client.gone()
        elif self.heard or self._calls > 1:
            reason = "the upstream closed the connection before its answer was over"
            self._client.broken("upstream", f"{reason}{f': {error}' if error else ''}", abort=error is not None)
        else:
            self._fail(502, f"{self.upstream.origin} closed the connection without an answer")

    def pause_writing(self) -> None:
        self._client.hold("upstream")

    def resume_writing(self) -> None:
        self._client.release("upstream")

    # Answers.

    def _pass_head(self, data: bytes) -> None:
        data = self._head + data
        end = data.find(END)
        if end < 0:
            if len(data) > _LARGEST_HEAD:
                raise Refused("the headers are too large")
            self._head = data
            return
        end += len(END)
        raw, self._head = data[:end], b""
        head = response_head(raw)
        if self._client.shared:
            raw = with_headers(raw, self._client.shared)
            data, end = raw + data[end:], len(raw)
        call, request = self._client.call, self._request
        if head.status < 200 and head.status != 101:  # not yet the answer: others may follow in the same bytes
            self._client.interim(raw)
            if end < len(data):
                self._pass_head(data[end:])
            return
        self._body = body = Endless() if head.status == 101 else response_body(head, request.method if request else "")
        self.heard = True
        self.keeps_alive = head.keeps_alive and not isinstance(body, Endless)
        if call is not None:
            call.answer(head.status, kept(head.fields))
        if head.status == 101:
            self._client.tunnel()
        if body.done:
            self._over(raw, first=True)
        elif end == len(data):
            self._client.pass_on(raw, first=True)
        else:
            self._pass_body(data, end, raw)

    def _pass_body(self, data: bytes, at: int, head: bytes = b"") -> None:
        body = self._body
        if body is None:
            return
        end, pieces = body.feed(data, at)
        if pieces and not self._client.is_open:  # it has hung up, and did not get all
            self._client.gone()
            return
        call = self._client.call
        if call is not None:
            for piece in pieces:
                call.response(piece)
        passed = data if end == len(data) and (head or not at) else head + data[at:end]
        if body.done:
            if end < len(data):
                self.keeps_alive = False  # more than was asked for
            self._over(passed, first=bool(head))
        else:
            self._client.pass_on(passed, first=bool(head))

    def _over(self, data: bytes = b"", first: bool = False) -> None:
        """The answer is over with these bytes, or with the end of the connection."""
        body, self._body, self._request = self._body, None, None
        if (call := self._client.call) is not None:
            call.response_over(clean_trailers(body.trailers) if body else None)
        self._client.answered(data, first)

    def _fail(self, status: int, reason: str) -> None:
        self.drop()
        if not self.heard:
            self._client.refuse(status, reason)
        else:
            self._client.broken("upstream" if status == 502 else "timeout", reason, abort=True)

    def _watch(self, timeout: float) -> None:
        """--timeout: an upstream that says nothing for so long is given up."""
        if not self.is_open:
            return
        waiting = self._request is not None and not self._holds  # it may be the client who is slow
        silent = self.loop.time() - self._last if waiting else 0.0
        if silent >= timeout:
            self._fail(504, f"{self.upstream.origin} said nothing for {timeout:g} s")
        else:
            self.loop.call_later(timeout - silent, self._watch, timeout)


async def connect(
    client: "ClientSide", upstream: Upstream, tls: ssl.SSLContext | None, timeout: float | None
) -> UpstreamSide:
    """Return a new connection to the upstream. A `Refused` says why there is none."""
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            _, side = await asyncio.get_running_loop().create_connection(
                lambda: UpstreamSide(client, upstream, timeout),
                upstream.host,
                upstream.port,
                ssl=tls,
                server_hostname=upstream.host if upstream.tls else None,
            )
    except TimeoutError as error:
        reason = f"{upstream.origin} did not take the connection within {_CONNECT_SECONDS:.0f} s"
        raise Refused(reason, 504) from error
    except (OSError, ssl.SSLError) as error:
        raise Refused(f"{upstream.origin}: {error.strerror or error}", 502) from error
    return side
