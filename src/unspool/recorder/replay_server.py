"""The server of `unspool serve-recorded`: reads requests, answers as it was recorded."""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import cast

import msgspec
from msgspec import Struct

from unspool.recorder.callers import Callers, with_headers
from unspool.recorder.framing import END, Body, Head, Refused, check_start, request_body, request_head
from unspool.recorder.replaying import Answer, Asked, RecordedCall, Recordings, answer_of, asked_of, difference
from unspool.sources.coding import Decoder
from unspool.sources.files import Damaged

_LARGEST_HEAD = 1 << 16


class Served(Struct):
    """One request, and what it was answered with."""

    method: str
    path: str
    status: int
    recording: RecordedCall | None


class Replay:
    """What all connections share."""

    def __init__(
        self,
        recordings: Recordings,
        timed: bool,
        in_order: bool,
        seen: Callable[[Served], None],
        callers: Callers | None = None,
    ) -> None:
        self.recordings, self.timed, self.in_order, self.seen = recordings, timed, in_order, seen
        self.callers = callers or Callers()

    def connection(self) -> "ReplaySide":
        return ReplaySide(self)

    def find(self, asked: Asked) -> RecordedCall | None:
        return self.recordings.next_for(asked) if self.in_order else self.recordings.find(asked)

    def unknown(self, asked: Asked) -> Answer:
        """404, with the recorded request that comes nearest, and what differs."""
        error: dict[str, object] = {"type": "not_recorded", "message": "no recorded request is like this one"}
        if (nearest := self.recordings.nearest(asked)) is not None:
            facts = {"id": nearest.id, "origin": str(nearest.origin), "method": nearest.method, "path": nearest.path}
            error |= {"nearest": facts, "difference": difference(nearest, asked)}
        data = msgspec.json.format(msgspec.json.encode({"error": error}), indent=2) + b"\n"
        return Answer(404, {"content-type": "application/json"}, [data], None, False, True)


class ReplaySide(asyncio.Protocol):
    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self._transport: asyncio.Transport
        self._data = b""
        self._head: Head | None = None
        self._body: Body | None = None
        self._pieces: list[bytes] = []
        self._answering: asyncio.Task[None] | None = None
        self._shared: dict[str, str] = {}
        """Headers for a web app that may read the answer."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._port = int(transport.get_extra_info("sockname")[1])

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        if self._answering is not None:
            self._answering.cancel()

    def data_received(self, data: bytes) -> None:
        self._data += data
        self._read()

    def _read(self) -> None:
        """One request after another: the next is looked at when this one is answered."""
        try:
            while self._data and self._answering is None:
                if self._body is None and not self._begun():
                    return
                body = self._body
                if body is not None:
                    at, pieces = body.feed(self._data, 0)
                    self._data = self._data[at:]
                    self._pieces += pieces
                    self._ask(body)
        except Refused as refusal:
            self._send(_error(refusal.status, str(refusal)), close=True)
            self._transport.close()

    def _begun(self) -> bool:
        end = self._data.find(END)
        if max(end, 0 if end >= 0 else len(self._data)) > _LARGEST_HEAD:
            raise Refused("the headers are too large", 431)
        if end < 0:
            check_start(self._data)
            return False
        self._head = request_head(self._data[: end + len(END)])
        self._body, self._pieces = request_body(self._head), []
        self._data = self._data[end + len(END) :]
        self._check_caller(self._head)
        if "100-continue" in self._head.tokens("expect"):
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._ask(self._body)
        return self._body is not None

    def _check_caller(self, head: Head) -> None:
        callers = self._replay.callers
        self._shared = callers.headers(head)
        if (refusal := callers.refusal(head, self._port)) is not None:
            self._replay.seen(Served(head.method, head.target, refusal[0], None))
            raise Refused(refusal[1], refusal[0])
        if callers.is_preflight(head):
            raise Refused("", 204)

    def _ask(self, body: Body) -> None:
        if body.done and self._head is not None and self._answering is None:
            self._body = None
            self._answering = asyncio.get_running_loop().create_task(self._answer(self._head, b"".join(self._pieces)))

    async def _answer(self, head: Head, data: bytes) -> None:
        try:
            codings = ", ".join(head.all("content-encoding"))
            asked = asked_of(head.method, head.target, Decoder(codings).feed(data))
        except Damaged as damage:
            asked = Asked(head.method, head.target, data)
            answer, recording = _error(400, f"the body cannot be unpacked: {damage}"), None
        else:
            recording = self._replay.find(asked)
            answer = self._replay.unknown(asked) if recording is None else answer_of(recording)
        self._replay.seen(Served(head.method, head.target, answer.status, recording))
        close = not head.keeps_alive or not answer.whole
        if answer.times is not None and self._replay.timed:
            await self._in_time(answer, close, head.method == "HEAD")
        else:
            self._send(answer, close, head.method == "HEAD")
        if close:
            self._transport.close()
            return
        self._answering = None
        self._read()

    async def _in_time(self, answer: Answer, close: bool, headed: bool) -> None:
        loop = asyncio.get_running_loop()
        start, times = loop.time(), answer.times or []
        await asyncio.sleep(times[0])
        self._transport.write(with_headers(_head(answer, close), self._shared))
        for piece, time in zip(answer.pieces, times, strict=True):
            await asyncio.sleep(start + time - loop.time())
            self._transport.write(b"" if headed else _chunk(piece))
        if answer.whole and not headed:
            self._transport.write(b"0\r\n\r\n")

    def _send(self, answer: Answer, close: bool, headed: bool = False) -> None:
        pieces = [] if headed else answer.pieces
        if answer.streamed:
            pieces = [*map(_chunk, pieces), b"0\r\n\r\n" if answer.whole and not headed else b""]
        self._transport.writelines([with_headers(_head(answer, close), self._shared), *pieces])


def _head(answer: Answer, close: bool) -> bytes:
    try:
        reason = HTTPStatus(answer.status).phrase
    except ValueError:
        reason = "Recorded"
    lines = [f"HTTP/1.1 {answer.status} {reason}", *(f"{name}: {value}" for name, value in answer.headers.items())]
    if answer.streamed:
        lines.append("transfer-encoding: chunked")
    elif answer.status >= 200 and answer.status not in (204, 304):
        # One that broke off promises more than comes, as it did then.
        lines.append(f"content-length: {sum(map(len, answer.pieces)) + (not answer.whole)}")
    if close:
        lines.append("connection: close")
    return "\r\n".join(lines).encode("latin-1", "replace") + END


def _chunk(piece: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(piece), piece) if piece else b""


def _error(status: int, reason: str) -> Answer:
    if status == 204:
        return Answer(status, {}, [], None, False, True)
    data = msgspec.json.encode({"error": {"type": "unspool_replay", "message": reason}}) + b"\n"
    return Answer(status, {"content-type": "application/json"}, [data], None, False, True)
