"""Secrets out of bodies before anything of them is written, also to the journal.

A request is written when it is whole. Of an answer each line is written when it has ended; what is no text, and has
no lines, when all of it is there. So a killed recorder leaves a little less behind than without --redact-body.
"""

from collections.abc import Callable, Iterator

import msgspec

from unspool.sources.callfile import Answered, Asked
from unspool.sources.coding import Decoder
from unspool.sources.files import Damaged

_LONGEST = 64 << 20
"""Bytes without a line end that are held back; what is longer is searched in parts."""


class BodyRedactor:
    """The pieces of one call, each kind by itself, in; the same without secrets out, unpacked."""

    def __init__(self, redact: Callable[[bytes], bytes]) -> None:
        self._redact = redact
        self._request: _Unpacked | _Sealed = _Unpacked("")
        self._response: _Unpacked | _Sealed = _Unpacked("")
        self._held: list[bytes] = []
        self._line: list[bytes] = []
        """The pieces of an answer's last line, which has not ended yet."""
        self._waiting = 0
        """How many bytes they are."""

    def feed(self, kind: bytes, payload: bytes) -> Iterator[tuple[bytes, bytes]]:
        match kind:
            case b"i":
                asked = msgspec.json.decode(payload, type=Asked)
                self._request = _Unpacked(asked.headers.get("content-encoding", ""))
                asked.path = self._redact(asked.path.encode()).decode()
                yield kind, msgspec.json.encode(asked)
            case b"h":
                answered = msgspec.json.decode(payload, type=Answered)
                self._response = _Unpacked(answered.headers.get("content-encoding", ""))
                if answered.status == 101:  # in frames, masked, packed: secrets would not be found in it
                    self._request, self._response = _Sealed(), _Sealed()
                yield kind, payload
            case b"q":
                self._held.append(self._request.feed(payload))
            case b"r":
                yield from self._lines(self._response.feed(payload))
            case b"Q" | b"R" | b"e":
                yield from self._rest()
                yield kind, payload
            case _:
                yield kind, payload

    def _lines(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        whole, newline, rest = data.rpartition(b"\n")
        if newline or self._waiting > _LONGEST:
            yield b"r", self._redact(b"".join([*self._line, whole, newline]))
            self._line, self._waiting = [], 0
        if rest:
            self._line.append(rest)
            self._waiting += len(rest)

    def _rest(self) -> Iterator[tuple[bytes, bytes]]:
        if self._held:
            yield b"q", self._redact(b"".join(self._held))
            self._held = []
        if self._line:
            yield b"r", self._redact(b"".join(self._line))
            self._line, self._waiting = [], 0


class _Unpacked:
    """A body without its content coding. What cannot be unpacked cannot be searched either, and is left out."""

    def __init__(self, codings: str) -> None:
        self._codings = codings
        self._decoder: Decoder | None = None
        self._lost = False

    def feed(self, piece: bytes) -> bytes:
        if self._lost:
            return b""
        try:
            self._decoder = self._decoder or Decoder(self._codings)
            return self._decoder.feed(piece)
        except Damaged as damage:
            self._lost = True
            return _left_out(damage)


class _Sealed:
    """Bytes of which nobody knows what they say."""

    _told = False

    def feed(self, _piece: bytes) -> bytes:
        told, self._told = self._told, True
        return b"" if told else _left_out("no HTTP any more")


def _left_out(why: object) -> bytes:
    return f"[left out, because it cannot be searched for secrets: {why}]".encode()
