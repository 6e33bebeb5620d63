"""One direction of a WebSocket → its messages: frames put together, unmasked, unpacked (RFC 6455 and 7692).

    FIN, RSV1: packed, opcode │ MASK, length │ longer length │ mask │ payload

Only what is as the protocol has it is told: whoever keeps the bytes in any other case loses nothing.
"""

import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from unspool.sources.coding import room_of_body

_CONTINUED, _TEXT, _BINARY, _CLOSE, _PONG = 0, 1, 2, 8, 10
_END = b"\x00\x00\xff\xff"
"""What senders leave out at the end of a packed message."""
_FIN, _PACKED, _RESERVED = 0x80, 0x40, 0x30


class NoWebSocket(ValueError):
    """The bytes are none that a WebSocket would carry."""


def messages(pieces: Sequence[tuple[int, memoryview]], packed: bool) -> tuple[list[dict[str, Any]], bytes]:
    """What was said, and the bytes at the end of which no message came.

    A message has the milliseconds after which it was whole, and `text`, `bytes`, or the status of a `close`. `pieces`
    come with microseconds; `packed` says that both sides agreed on permessage-deflate.
    """
    said: list[dict[str, Any]] = []
    unpacker, room = zlib.decompressobj(-zlib.MAX_WBITS), room_of_body()
    opcode, is_packed, parts, rest = _CONTINUED, False, list[bytes](), bytearray()
    for micros, flags, payload in _frames(pieces, rest):
        kind = flags & 0x0F
        if _CLOSE <= kind <= _PONG and flags & ~0x0F == _FIN:
            if kind == _CLOSE:
                said.append({"ms": round(micros / 1000), "close": int.from_bytes(payload[:2]) or None})
            continue
        if (kind == _CONTINUED) != bool(parts) or kind > _BINARY or flags & _RESERVED:
            raise NoWebSocket("a frame that cannot follow")
        if kind != _CONTINUED:
            opcode, is_packed = kind, bool(flags & _PACKED)
        if flags & _PACKED and (not packed or parts):
            raise NoWebSocket("a frame that is packed, though nobody agreed to that")
        parts.append(payload)
        if flags & _FIN:
            whole, parts = b"".join(parts), []
            if is_packed:
                whole, unpacker = _unpacked(whole, unpacker, room)
                room -= len(whole)
            said.append({"ms": round(micros / 1000), **_told(opcode, whole)})
    return said, b"".join(parts) + rest


def _told(opcode: int, whole: bytes) -> dict[str, Any]:
    if opcode == _BINARY:
        return {"bytes": whole}
    try:
        return {"text": whole.decode()}
    except UnicodeDecodeError as error:
        raise NoWebSocket("text that is none") from error


def _unpacked(data: bytes, unpacker: Any, room: int) -> tuple[bytes, Any]:
    """The message, and what unpacks the next one: senders may refer to earlier messages, or begin anew."""
    try:
        whole = unpacker.decompress(data + _END, room + 1)
    except zlib.error as error:
        raise NoWebSocket(str(error)) from error
    if len(whole) > room:
        raise NoWebSocket(f"messages that unpack to more than {room_of_body():,} bytes")
    return whole, zlib.decompressobj(-zlib.MAX_WBITS) if unpacker.eof else unpacker


def _frames(pieces: Sequence[tuple[int, memoryview]], rest: bytearray) -> Iterator[tuple[int, int, bytes]]:
    """Time, first byte and payload of each; the time is that of the piece that ended it. `rest` is what has no end."""
    for micros, piece in pieces:
        rest += piece
        at = 0
        while (place := _place_of(rest, at)) is not None and place[1] <= len(rest):
            start, end = place
            payload = bytes(rest[start:end])
            yield micros, rest[at], _unmasked(payload, rest[start - 4 : start]) if rest[at + 1] & 0x80 else payload
            at = end
        del rest[:at]


def _place_of(data: bytearray, at: int) -> tuple[int, int] | None:
    """Where the payload of the frame at this place begins and ends; None if its head is not all there."""
    if len(data) < at + 2:
        return None
    size, extra = data[at + 1] & 0x7F, {126: 2, 127: 8}.get(data[at + 1] & 0x7F, 0)
    start = at + 2 + extra + (4 if data[at + 1] & 0x80 else 0)
    if len(data) < start:
        return None
    if extra:
        size = int.from_bytes(data[at + 2 : at + 2 + extra])
    return start, start + size


def _unmasked(data: bytes, mask: bytearray) -> bytes:
    size = len(data)
    key = (mask * (size // 4 + 1))[:size]
    return (int.from_bytes(data) ^ int.from_bytes(key)).to_bytes(size)
