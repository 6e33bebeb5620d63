"""Compact traces: what was said before is not stored again, because one zstd stream goes through all records.

    5C 2A 4D 18 │ size │ "usp1" │ stream │ checksum │ zstd, flushed after one record
    5C 2A 4D 18 │ size │ "usp1" │ stream │ checksum │ …

Each recorder process has a stream of its own, and several may write to one file: each record is a frame that says whose
it is. To zstd itself these are frames to be skipped. A torn end costs the record that was being written.
"""

import os
import zlib
from collections.abc import Iterable, Iterator
from io import BufferedReader
from struct import Struct as Layout
from typing import TYPE_CHECKING, BinaryIO

from unspool.sources.files import BLOCK, COMPACT, Damaged
from unspool.sources.limits import max_record, too_large

if TYPE_CHECKING:
    from typing_extensions import Buffer

_HEAD = Layout("<4sI4sQI")
_TAG = COMPACT[4:]
_OUTER = 8
"""Bytes before those that the size counts."""
_WINDOW = 26
"""64 MB: twenty conversations of 500 KB lie within a sixth of it."""
_LEVEL = 6
"""For what is new; what was said before costs the same at any level."""
_MATCH = 6
"""Bytes that must be the same to be referred to: of prose, shorter ones cost more than they save."""
_LARGEST = 1 << 27
"""The window that a stream may ask for: twice what a recorder uses."""
_STEP = 1 << 10
"""Bytes that are unpacked at once. Each 4 bytes can stand for 128 KB, so these for 32 MB."""


class Packer:
    """One process's stream. Each line that it packs refers to those before it, so all must be written, in order."""

    def __init__(self) -> None:
        import zstandard

        settings = zstandard.ZstdCompressionParameters.from_level(
            _LEVEL, window_log=_WINDOW, min_match=_MATCH, enable_ldm=True
        )
        self._stream = int.from_bytes(os.urandom(8))
        self._packer = zstandard.ZstdCompressor(compression_params=settings).compressobj()
        self._flush = zstandard.COMPRESSOBJ_FLUSH_BLOCK

    def pack(self, *line: "Buffer") -> bytes:
        """The frame that holds the line, which may come in pieces."""
        pieces = [self._packer.compress(memoryview(piece)) for piece in line]
        packed = b"".join([*pieces, self._packer.flush(self._flush)])
        return (
            _HEAD.pack(COMPACT[:4], len(packed) + _HEAD.size - _OUTER, _TAG, self._stream, zlib.crc32(packed)) + packed
        )


def is_compact(path: str) -> bool:
    """Also if it was torn in its first record."""
    with open(path, "rb") as file:
        start = file.read(_HEAD.size)
        return len(start) >= 4 and COMPACT.startswith(start[:4] + start[8:12])


def _is_head(data: bytes) -> bool:
    return len(data) == _HEAD.size and data[:4] == COMPACT[:4] and data[8:12] == _TAG


def unpack(file: BufferedReader) -> Iterator[bytes]:
    """The lines of all records, in order. What is damaged is told at the end, behind all that could be read."""
    reading = _Reading()
    for stream, checksum, packed in reading.frames(file):
        yield from reading.pieces(stream, checksum, packed)
    if reading.faults:
        raise Damaged("; ".join(reading.faults))


class _Reading:
    """The streams of a file, each as far as it was read."""

    def __init__(self) -> None:
        import zstandard

        self._zstd = zstandard
        self._streams: dict[int, zstandard.ZstdDecompressionObj] = {}
        self._broken: set[int] = set()
        self.faults: list[str] = []

    def line(self, stream: int, checksum: int, packed: bytes) -> bytes | None:
        """Return the line of a record; None if it, or an earlier record of its stream, is damaged."""
        line = b"".join(self.pieces(stream, checksum, packed))
        return None if stream in self._broken else line

    def pieces(self, stream: int, checksum: int, packed: bytes) -> Iterator[bytes]:
        """The same line in pieces, so that a line of any length takes little memory."""
        if stream in self._broken:
            return
        if stream not in self._streams:  # objects of one decompressor share its state
            self._streams[stream] = self._zstd.ZstdDecompressor(max_window_size=_LARGEST).decompressobj()
        try:
            if zlib.crc32(packed) != checksum:
                raise self._zstd.ZstdError("its checksum is wrong")
            for at in range(0, len(packed), _STEP):
                yield self._streams[stream].decompress(packed[at : at + _STEP])
        except self._zstd.ZstdError as error:
            self._broken.add(stream)
            self.faults.append(f"a record is damaged, and with it what the same recorder wrote later: {error}")

    def frames(self, file: BufferedReader | BinaryIO) -> Iterator[tuple[int, int, bytes]]:
        """Whole ones. Bytes between them, of which nobody knows what they are, are passed over."""
        lost = 0
        data = file.read(_HEAD.size)
        while len(data) == _HEAD.size:
            if not _is_head(data):
                data, lost = data[1:] + file.read(1), lost + 1
                continue
            _, size, _, stream, checksum = _HEAD.unpack(data)
            if size > max_record():
                self.faults.append(too_large("a packed record", size))
                self._broken.add(stream)
                _skip(file, size + _OUTER - _HEAD.size)
                data = file.read(_HEAD.size)
                continue
            packed = file.read(size + _OUTER - _HEAD.size)
            if len(packed) < size + _OUTER - _HEAD.size:
                self.faults.append("the last record is cut off")
                data = b""
                break
            yield stream, checksum, packed
            data = file.read(_HEAD.size)
        if data:
            self.faults.append("the last record is cut off")
        if lost:
            self.faults.append(f"{lost:,} bytes belong to no record")


def _skip(file: BufferedReader | BinaryIO, size: int) -> None:
    while size > 0 and (block := file.read(min(size, BLOCK))):
        size -= len(block)


def whole_until(file: BinaryIO, start: int) -> int:
    """Where the last whole frame from `start` on ends: behind it lies what a killed recorder left torn."""
    end = file.seek(0, os.SEEK_END)
    while start + _HEAD.size <= end:
        file.seek(start)
        data = file.read(_HEAD.size)
        if not _is_head(data):
            break
        size = _OUTER + _HEAD.unpack(data)[1]
        if start + size > end:
            break
        start += size
    return start


def lines_from(path: str, offset: int) -> Iterable[bytes]:
    """The lines of the records whose frames begin at the offset or behind it."""
    with open(path, "rb") as file:
        reading = _Reading()
        at = 0
        for stream, checksum, packed in reading.frames(file):
            line = reading.line(stream, checksum, packed)
            if line is not None and at >= offset:
                yield line
            at += _HEAD.size + len(packed)
