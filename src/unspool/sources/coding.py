"""Content codings of HTTP bodies, unpacked piece by piece: gzip, deflate, zstd, br, one over another.

A body that breaks off gives what had arrived. What cannot be unpacked is a `Damaged`: the caller keeps it packed.
"""

import zlib
from collections.abc import Iterator
from typing import Protocol

from unspool.sources.files import Damaged
from unspool.sources.limits import max_record

_LARGEST = 1 << 28


def room_of_body() -> int:
    """Return the bytes that one body may unpack to: a few packed bytes can stand for any number."""
    return min(_LARGEST, max_record())


class _Unpacker(Protocol):
    def __call__(self, piece: bytes, room: int) -> bytes: ...


class Decoder:
    """Feed it the pieces of a body. `codings` is what Content-Encoding says."""

    def __init__(self, codings: str) -> None:
        names = [name for name in (part.strip().lower() for part in codings.split(",")) if name not in ("", "identity")]
        self._unpackers = [_unpacker(name) for name in reversed(names)]
        self._room = room_of_body()

    def feed(self, piece: bytes) -> bytes:
        for unpack in self._unpackers:
            piece = unpack(piece, self._room)
        if self._unpackers:
            self._room -= len(piece)
        return piece


def _unpacker(name: str) -> _Unpacker:
    match name:
        case "gzip" | "x-gzip":
            return _zlib(zlib.MAX_WBITS | 16)
        case "deflate":
            return _deflate()
        case "zstd":
            return _zstd()
        case "br":
            return _brotli()
    raise Damaged(f"the content coding {name!r} is not known")


def _zlib(bits: int) -> _Unpacker:
    state = zlib.decompressobj(bits)

    def unpack(piece: bytes, room: int) -> bytes:
        nonlocal state
        pieces: list[bytes] = []
        try:
            for step in _steps(piece, 1 << 16):  # behind each member the rest is copied: so it must be short
                left = step
                while left:
                    if state.eof:  # members one after another are one body
                        state = zlib.decompressobj(bits)
                    pieces.append(state.decompress(left, room + 1))
                    room -= len(pieces[-1])
                    _check(room)
                    left = state.unused_data if state.eof else state.unconsumed_tail
        except zlib.error as error:
            raise Damaged(str(error)) from error
        return b"".join(pieces)

    return unpack


def _deflate() -> _Unpacker:
    """Zlib's form, as the standard says, or the bare one, as some servers have it."""
    unpack: _Unpacker | None = None

    def first(piece: bytes, room: int) -> bytes:
        nonlocal unpack
        if not piece:
            return b""
        if unpack is None:
            unpack = _zlib(zlib.MAX_WBITS if piece[0] & 0x0F == 8 else -zlib.MAX_WBITS)
        return unpack(piece, room)

    return first


def _zstd() -> _Unpacker:
    import zstandard

    unpacker = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    frame = unpacker.decompressobj()

    def unpack(piece: bytes, room: int) -> bytes:
        nonlocal frame
        pieces: list[bytes] = []
        try:
            for step in _steps(piece, 1 << 10):  # little at once, because it may unpack to very much
                left = step
                while left:
                    if frame.eof:
                        frame = unpacker.decompressobj()
                    pieces.append(frame.decompress(left))
                    room -= len(pieces[-1])
                    _check(room)
                    left = frame.unused_data if frame.eof else b""
        except zstandard.ZstdError as error:
            raise Damaged(str(error)) from error
        return b"".join(pieces)

    return unpack


def _brotli() -> _Unpacker:
    try:
        import brotli
    except ImportError as error:
        raise Damaged("brotli is not installed") from error
    state = brotli.Decompressor()

    def unpack(piece: bytes, room: int) -> bytes:
        try:
            data: bytes = state.process(piece, output_buffer_limit=room + 1)
        except brotli.error as error:
            raise Damaged(str(error)) from error
        _check(room - len(data))
        return data

    return unpack


def _steps(piece: bytes, size: int) -> Iterator[bytes]:
    return (piece[at : at + size] for at in range(0, len(piece), size))


def _check(room: int) -> None:
    if room < 0:
        raise Damaged(f"the body unpacks to more than {room_of_body():,} bytes")
