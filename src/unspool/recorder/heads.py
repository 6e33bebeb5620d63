"""Heads that the proxy writes itself: requests as an upstream must get them, and the proxy's own answers."""

import msgspec

from unspool.recorder.callers import with_headers
from unspool.recorder.framing import END, Head
from unspool.recorder.routing import TOKEN_HEADER, UPSTREAM_HEADER, Upstream

_OURS = frozenset({"host", "proxy-connection", "proxy-authorization", "keep-alive", UPSTREAM_HEADER, TOKEN_HEADER})
_FIXED = frozenset({"transfer-encoding", "content-length", "upgrade", "te", "trailer", "connection", "close"})
_REASONS = {
    204: "No Content",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    421: "Misdirected Request",
    431: "Headers Too Large",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
    505: "Version Not Supported",
}


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


def own_answer(status: int, reason: str, shared: dict[str, str]) -> tuple[bytes, bytes]:
    """Return head and body of an answer by the proxy itself. `shared` are headers for a web app that may read it."""
    body = msgspec.json.encode({"error": {"type": "unspool_recorder", "message": reason}}) + b"\n"
    head = f"HTTP/1.1 {status} {_REASONS.get(status, 'Refused')}\r\nConnection: close\r\n"
    if status == 204:
        body = b""
    else:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return with_headers(head.encode() + b"\r\n", shared), body
