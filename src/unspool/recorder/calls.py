"""A call as the event loop sees it, and the counts of a run."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias
from uuid import uuid4

import msgspec
from msgspec import Struct

from unspool.sources.callfile import Answered, Ended

if TYPE_CHECKING:
    from unspool.recorder.redacting import BodyRedactor

_encode = msgspec.json.encode
Item: TypeAlias = "tuple[Recording, bytes, int, bytes] | None"
"""A piece of a call: its kind, microseconds since the call began, and payload. None ends the recorder."""


class Counts(Struct):
    recorded: int = 0
    passed: int = 0
    """Calls forwarded without a record because too much waited for the disk."""
    failed: int = 0
    """Calls forwarded without a record because the disk took nothing, or a body could not be redacted."""
    late: int = 0
    """Calls whose answers were passed on before the disk had taken what the options promise."""
    refused: int = 0
    """Calls answered with 503 under --strict."""
    kept: int = 0
    """Calls that are in the journal because the trace could not be written."""
    broken: int = 0
    """Recorded calls that were interrupted, or ended with an error."""
    foreign: int = 0
    """Requests of web pages, or for another host, that were refused and not recorded."""
    sent: int = 0
    received: int = 0
    sessions: set[str] = msgspec.field(default_factory=set)

    @property
    def unrecorded(self) -> int:
        """Calls that were forwarded and are not in the trace. (Each part of it is counted by one thread alone.)"""
        return self.passed + self.failed


class Recording:
    """One call, as the proxy sees it. No method waits for the disk.

    `noted` counts the pieces that the event loop handed over, `written` those in the call's own file, and `synced`
    those that survive a power cut. `asked` is the value of `noted` after the last piece of the request. Each counter
    is set by one thread alone.
    """

    __slots__ = (
        *("_left", "_put", "asked", "began", "id", "lost", "noted", "released", "reserved", "synced", "waits"),
        *("wake", "written"),
        *(
            "added",
            "closed",
            "descriptor",
            "frames",
            "logged",
            "number",
            "over",
            "path",
            "redactor",
            "size",
            "unwritten",
        ),
    )

    def __init__(self, put: Callable[["Recording", bytes, int, bytes], None]) -> None:
        self._put, self.began, self._left = put, time.monotonic_ns(), 0
        self.id = str(uuid4())
        self.noted = self.asked = self.written = self.synced = self.reserved = 0
        self.lost = self.released = self.waits = False
        self.wake: Callable[[], None] | None = None
        # The writing thread owns the attributes below.
        self.path, self.descriptor, self.size, self.number, self.closed = "", -1, 0, 0, False
        self.added = self.unwritten = self.logged = 0
        self.over = False
        self.frames: list[bytes] = []
        self.redactor: BodyRedactor | None = None

    def allows(self, written: int, synced: int) -> bool:
        """Return whether so many pieces are safe, or nothing waits for this call any more."""
        return (self.written >= written and self.synced >= synced) or self.released or self.lost

    def note(self, kind: bytes, payload: bytes = b"") -> None:
        if not self.lost:
            self.noted += 1
            self._put(self, kind, ((self._left or time.monotonic_ns()) - self.began) // 1000, payload)

    def request(self, piece: bytes) -> None:
        self.note(b"q", piece)
        self.asked = self.noted

    def request_over(self, trailers: dict[str, str] | None = None) -> None:
        self.note(b"Q", _encode(trailers) if trailers else b"")
        self.asked = self.noted

    def answer(self, status: int, headers: dict[str, str]) -> None:
        self.note(b"h", _encode(Answered(status, headers)))

    def response(self, piece: bytes) -> None:
        self.note(b"r", piece)

    def response_over(self, trailers: dict[str, str] | None = None) -> None:
        self.note(b"R", _encode(trailers) if trailers else b"")

    def left(self) -> None:
        """The client has hung up: later pieces get this time, as the call is over for the client."""
        self._left = time.monotonic_ns()

    def end(self, by: str | None = None, error: str | None = None) -> None:
        self.note(b"e", _encode(Ended(by, error)))
