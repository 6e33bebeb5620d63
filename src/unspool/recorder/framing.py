"""HTTP/1.1 on the wire: what a head says, and where its body ends. Bytes are found, never changed.

httptools reads heads, and is strict: no folded lines, no bare line ends, one length. Bodies are passed on as they came,
chunk sizes, extensions and trailers too; what lies in the chunks is handed out beside, for the record.
"""

import re
from typing import Any, Protocol, TypeAlias

import httptools
from msgspec import Struct

Fields: TypeAlias = list[tuple[str, bytes]]

END = b"\r\n\r\n"
_BLANKS = " \t"
"""Python knows more of them, and HTTP does not."""
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n\0]*)?\r\n")
_TRAILER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\r\n\0]*)\r\n")
_NO_REQUEST = re.compile(rb"[^A-Za-z\r]|[^\r\n]*\n")
"""What no request begins with: TLS, or a line that ends with LF alone."""
_LONGEST = 1 << 14
_MOST_TRAILERS = 128


class Refused(Exception):
    """A message that may mean one thing to us and another to whom we pass it: nobody gets it."""

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.status = status


class Head(Struct):
    """Of a request or of an answer. `lines` are its header lines, byte for byte."""

    start: bytes
    lines: list[bytes]
    fields: Fields
    """Names in small letters."""
    version: str
    method: str = ""
    target: str = ""
    status: int = 0

    def all(self, name: str) -> list[str]:
        return [value.decode("latin-1").strip(_BLANKS) for key, value in self.fields if key == name]

    def first(self, name: str) -> str:
        return next(iter(self.all(name)), "")

    def tokens(self, name: str) -> list[str]:
        """The words of a header that is a list."""
        return [word for value in self.all(name) for part in value.split(",") if (word := part.strip(_BLANKS).lower())]

    @property
    def keeps_alive(self) -> bool:
        said = self.tokens("connection")
        return "close" not in said and (self.version == "1.1" or "keep-alive" in said)


class _Gathered:
    """What httptools calls back with."""

    def __init__(self) -> None:
        self.url = b""
        self.fields: Fields = []

    def on_url(self, url: bytes) -> None:
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self.fields.append((name.decode("latin-1").lower(), value))


def check_start(data: bytes, at: int = 0) -> None:
    """Of a head that is not whole yet: whoever waits for an answer to what can be none would wait for ever."""
    if _NO_REQUEST.match(data, at):
        raise Refused("this is no HTTP request: the address to call begins with http://, not https://")


def request_head(raw: bytes) -> Head:
    """`raw` ends with the empty line."""
    gathered = _Gathered()
    parser = httptools.HttpRequestParser(gathered)
    _parse(parser, raw)
    target, method = gathered.url.decode("latin-1"), parser.get_method().decode()
    if method == "CONNECT" or not (target.startswith("/") or target == "*"):
        raise Refused("this is no forward proxy: only paths are served, not addresses", 403)
    head = _head(raw, gathered.fields, parser.get_http_version())
    head.method, head.target = method, target
    if len(head.all("host")) > 1:
        raise Refused("more than one Host")
    return head


def response_head(raw: bytes) -> Head:
    gathered = _Gathered()
    parser = httptools.HttpResponseParser(gathered)
    _parse(parser, raw)
    head = _head(raw, gathered.fields, parser.get_http_version())
    head.status = parser.get_status_code()
    return head


def _parse(parser: Any, raw: bytes) -> None:
    try:
        parser.feed_data(raw)
    except httptools.HttpParserUpgrade:
        pass
    except httptools.HttpParserError as error:
        raise Refused(str(error)) from error


def _head(raw: bytes, fields: Fields, version: str) -> Head:
    start, *lines = raw[: -len(END)].split(b"\r\n")
    if len(lines) != len(fields) or version not in ("1.0", "1.1"):
        raise Refused(f"HTTP/{version} as we do not speak it", 505 if version not in ("1.0", "1.1") else 400)
    return Head(start, lines, fields, version)


class Body(Protocol):
    """Where a body ends."""

    done: bool
    trailers: list[tuple[str, str]]

    def feed(self, data: bytes, at: int) -> tuple[int, list[bytes]]:
        """How far the body reaches in these bytes, and the pieces of its content."""


class Sized:
    """A body of so many bytes."""

    def __init__(self, size: int) -> None:
        self.size, self._left, self.done = size, size, not size
        self.trailers: list[tuple[str, str]] = []

    def feed(self, data: bytes, at: int) -> tuple[int, list[bytes]]:
        end = min(len(data), at + self._left)
        self._left -= end - at
        self.done = not self._left
        return end, [data if end - at == len(data) else data[at:end]] if end > at else []


class Endless:
    """A body that ends with its connection, or bytes that are no HTTP any more."""

    def __init__(self) -> None:
        self.done = False
        self.trailers: list[tuple[str, str]] = []

    def feed(self, data: bytes, at: int) -> tuple[int, list[bytes]]:
        return len(data), [data[at:] if at else data]


class Chunked:
    """Chunks, each with its size before it; then trailers."""

    def __init__(self) -> None:
        self.done = False
        self.trailers: list[tuple[str, str]] = []
        self._left = 0
        self._line = b""
        self._take = self._size

    def feed(self, data: bytes, at: int) -> tuple[int, list[bytes]]:
        pieces: list[bytes] = []
        size = len(data)
        while at < size and not self.done:
            if self._left:
                piece = data[at : at + self._left]
                pieces.append(piece)
                at += len(piece)
                self._left -= len(piece)
                continue
            end = data.find(b"\n", at) + 1
            self._line += data[at : end or size]
            if len(self._line) > _LONGEST:
                raise Refused("a line between chunks is too long")
            at = end or size
            if end:
                line, self._line = self._line, b""
                self._take(line)
        return at, pieces

    def _size(self, line: bytes) -> None:
        if (found := _SIZE.fullmatch(line)) is None:
            raise Refused("the size of a chunk is none")
        self._left = int(found[1], 16)
        self._take = self._behind if self._left else self._trailer

    def _behind(self, line: bytes) -> None:
        if line != b"\r\n":
            raise Refused("a chunk is longer than its size")
        self._take = self._size

    def _trailer(self, line: bytes) -> None:
        if line == b"\r\n":
            self.done = True
        elif (found := _TRAILER.fullmatch(line)) is None or len(self.trailers) >= _MOST_TRAILERS:
            raise Refused("a trailer that is none, or too many of them")
        else:
            self.trailers.append((found[1].decode("latin-1").lower(), found[2].decode("latin-1").strip()))


def request_body(head: Head) -> Body:
    codings, sizes = head.tokens("transfer-encoding"), head.all("content-length")
    if codings:
        if sizes or codings[-1] != "chunked" or codings.count("chunked") > 1 or head.version == "1.0":
            raise Refused("Transfer-Encoding and Content-Length contradict each other, or make no sense")
        return Chunked()
    return Sized(_length(sizes))


def response_body(head: Head, method: str) -> Body:
    if method == "HEAD" or head.status in (204, 304) or 100 <= head.status < 200:
        return Sized(0)
    codings, sizes = head.tokens("transfer-encoding"), head.all("content-length")
    if codings and sizes:
        raise Refused("Transfer-Encoding and Content-Length contradict each other")
    if codings:
        return Chunked() if codings[-1] == "chunked" else Endless()
    return Sized(_length(sizes)) if sizes else Endless()


def _length(sizes: list[str]) -> int:
    if len(sizes) > 1 or (sizes and not re.fullmatch(r"[0-9]{1,18}", sizes[0])):
        raise Refused("Content-Length is no length")
    return int(sizes[0]) if sizes else 0
