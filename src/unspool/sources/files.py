"""Files, folders, object storage and standard input, plain or compressed, as blocks of bytes.

expand(["traces/"])   →  traces/a.jsonl, traces/b.jsonl.gz, …
blocks("a.zst")       →  b"…", b"…"       256 KB each, after decompression
"""

import codecs
import errno
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from io import BufferedReader, BytesIO, FileIO, RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, cast

from unspool.errors import InputNotFound
from unspool.sources.limits import max_record, too_large
from unspool.sources.storage import is_url, local, opened

if TYPE_CHECKING:
    from typing_extensions import Buffer

BLOCK = 1 << 18
"""Bytes that are read at once: as many as stay in a processor's cache until they are taken apart."""
_PACKED = 1 << 14
"""Bytes of compressed data that are read at once."""
_STEP, _SMALL_STEP = 512, 64
"""Bytes of zstd data that are unpacked at once. Each 4 bytes can stand for 128 KB, so 512 bytes for 16 MB."""
_LARGE_WINDOW = 1 << 27
"""The window that any zstd frame may ask for: as much as zstd itself allows without being told."""
DASH = "-"
"""Standard input or output."""
ENDINGS = tuple(name + packed for packed in ("", ".gz", ".zst") for name in (".jsonl", ".json", ".ndjson", ".har"))
SECRETS = frozenset({"auth.json", "oauth_creds.json", ".credentials.json", "credentials.json", "google_accounts.json"})
"""Files in agents' folders that hold keys: never opened, unless somebody names one."""
_NO_TRACE = f"no file in this folder ends in {', '.join(ENDINGS[:4])} (or .gz, .zst)"
SQLITE = b"SQLite format 3\0"
"""How a database begins."""
COMPACT = b"\x5c\x2a\x4d\x18usp1"
"""How a frame of a compact trace begins; between the two halves stands its size."""
JOURNAL = ".journal"
"""Beside `trace.jsonl` lies `trace.jsonl.journal/`, with a file for each call in flight."""
CALL = b"\xc5cal"
"""How the file of a call in flight begins."""
_GZIP, _ZSTD, _SKIPPED = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x2a\x4d\x18"


class _Rejoined(RawIOBase):
    """A file from which the beginning was read already."""

    def __init__(self, head: bytes, rest: FileIO | BufferedReader) -> None:
        self._head = head
        self._more = rest.read1 if isinstance(rest, BufferedReader) else rest.read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "Buffer") -> int:
        size = len(memoryview(buffer))
        data = self._head[:size] or self._more(size)
        self._head = self._head[size:]
        memoryview(buffer)[: len(data)] = data
        return len(data)


class Damaged(ValueError):
    """Compressed data that breaks off or makes no sense from here on."""


class TooLarge(Damaged):
    """More than one record may have."""


def expand(inputs: Iterable[str | os.PathLike[str]]) -> Iterator[str]:
    """Each file to read once, in a stable order. A folder gives the files below it whose names end like traces."""
    read = set()
    for path in _expanded(inputs):
        if (place := place_of(path)) not in read:
            read.add(place)
            yield path


def place_of(path: str) -> str:
    """The same for all spellings of a file's name."""
    return path if path == DASH or is_url(path) else os.path.abspath(path)  # noqa: PTH100  # links may differ


def _expanded(inputs: Iterable[str | os.PathLike[str]]) -> Iterator[str]:
    for given in map(str, inputs):
        if not given:
            raise InputNotFound("an empty name is no file")
        if is_url(given):
            yield from _objects(given)
            continue
        path = Path(given)
        try:
            path.stat()
        except OSError as error:
            if given != DASH:
                raise InputNotFound(f"{given}: {error.strerror}") from error
        if given == DASH or not path.is_dir():
            yield given
            yield from unfinished(path.with_name(path.name + JOURNAL)) if path.name else ()
        else:
            if _is_closed(path):
                raise InputNotFound(f"{given}: {os.strerror(errno.EACCES)}")
            everything = [path, *path.rglob("*")]
            below = sorted(
                str(file) for file in everything if (file.is_file() if is_trace(file.name) else _is_closed(file))
            )
            below += [call for file in everything if file.name.endswith(JOURNAL) for call in unfinished(file)]
            if not below:
                raise InputNotFound(f"{given}: {_NO_TRACE}")
            yield from below


def _is_closed(path: Path) -> bool:
    """A folder that may not be looked into: it stands among the files, and whoever reads it says so."""
    return path.is_dir() and not os.access(path, os.R_OK | os.X_OK)


def _objects(url: str) -> list[str]:
    from unspool.sources import remote

    try:
        found = remote.facts(url)
        if found is None:
            raise InputNotFound(f"{url}: {remote.ABSENT}")
        if not found.is_folder:
            return [url]
        below = [path for path, facts in remote.below(url) if is_trace(facts.name)]
    except OSError as error:
        raise InputNotFound(f"{url}: {error.strerror}") from error
    if not below:
        raise InputNotFound(f"{url}: {_NO_TRACE}")
    return sorted(below)


def is_trace(name: str) -> bool:
    """By the name of the file; never what holds an agent's keys."""
    return name.lower().endswith(ENDINGS) and name not in SECRETS


def unfinished(journal: Path) -> Iterator[str]:
    """Calls that a recorder had to leave in its journal: part of the trace beside which it lies."""
    if journal.is_dir():
        from unspool.sources.callfile import left_behind

        yield from left_behind(journal)


def blocks(path: str, size: int = BLOCK) -> Iterator[bytes]:
    """The file's bytes, decompressed, at first `size` of them. Content decides about compression, never the name."""
    try:
        with _opened(path, size) as file:
            bite, whole = _first_bite(file, size)
            start = file.read(bite)
            while len(start) < 12 and (more := file.read(12 - len(start))):  # a pipe whose first write was short
                start += more
            if start.startswith(_GZIP):
                yield from _unzip(BufferedReader(_Rejoined(start, file)))
            elif start[:4] + start[8:12] == COMPACT:
                from unspool.sources.compact import unpack

                yield from unpack(BufferedReader(_Rejoined(start, file)))
            elif start.startswith(CALL):
                yield from _composed(path, BufferedReader(_Rejoined(start, file)), whole)
            elif _is_zstd(start[:4]):
                yield from _unpack(BufferedReader(_Rejoined(start, file)))
            elif _is_utf_16(start):
                yield from _recoded(BufferedReader(_Rejoined(start, file)))
            else:
                while start:
                    yield start
                    start = b"" if len(start) == whole else file.read(BLOCK)
    except OSError as error:
        raise InputNotFound(f"{path}: {error.strerror}") from error


def _opened(path: str, bite: int) -> AbstractContextManager[FileIO | BufferedReader]:
    if path == DASH:
        return nullcontext(standard_input())
    return opened(path, bite=bite) if is_url(path) else local(path)


def standard_input() -> BufferedReader:
    """Its bytes. A program may be started without one."""
    if sys.stdin is None:
        raise InputNotFound("standard input is closed")
    return cast(BufferedReader, sys.stdin.buffer)


def stdin_text() -> str:
    """All that standard input holds, without the end of its last line."""
    return as_utf_8(standard_input().read()).decode("utf-8", "replace").rstrip("\r\n")


def _first_bite(file: FileIO | BufferedReader, size: int) -> tuple[int, int]:
    """How much to read at first, and how much there is in all, 0 if that is not known. Most files are small, and there
    are many of them: no more than there is, and no second look."""
    whole = os.fstat(file.fileno()).st_size if isinstance(file, FileIO) else 0
    return (min(size, whole + 1) if whole else size), whole


def _composed(path: str, file: BufferedReader, size: int) -> Iterator[bytes]:
    """Yield the record of a call in flight, or the records of the calls that only a recorder's log holds."""
    from unspool.sources.callfile import LOG, read_call
    from unspool.sources.composing import parts_of, record_of

    if path.endswith(LOG):
        from unspool.sources.call_log import logged_records

        yield from logged_records(Path(path))
        return
    if size > max_record():
        raise Damaged(too_large("the file of a call in flight", size))
    if (call := read_call(file)) is None:
        raise Damaged("the file of a call that had hardly begun")
    yield b"".join(parts_of(record_of(call)))


def _unzip(file: BufferedReader) -> Iterator[bytes]:
    import gzip

    unpacked = gzip.GzipFile(fileobj=file)
    try:
        while block := unpacked.read1(BLOCK):  # read would throw away the good bytes before a damaged place
            yield block
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise Damaged(str(error)) from error


def _unpack(file: BufferedReader) -> Iterator[bytes]:
    """Unpack zstd frames as one stream, in pieces of about a block."""
    held: list[bytes] = []
    size = 0
    try:
        for piece in _unpacked_steps(file):
            held.append(piece)
            size += len(piece)
            if size >= BLOCK:
                yield b"".join(held)
                held, size = [], 0
    except Damaged:
        yield b"".join(held)
        raise
    yield b"".join(held)


def _unpacked_steps(file: BufferedReader) -> Iterator[bytes]:
    """Unpack a little at once: the result of one step is held in memory, whatever the data stands for."""
    import zstandard  # 10 ms that plain files need not pay

    unpacker = zstandard.ZstdDecompressor(max_window_size=_max_window())
    frame, whole = unpacker.decompressobj(), True
    step = _STEP
    try:
        while block := file.read(_PACKED):
            at = 0
            while at < len(block):
                piece = block[at : at + step]
                at += step
                while piece:
                    unpacked = frame.decompress(piece)
                    yield unpacked
                    step = _STEP if len(unpacked) < BLOCK else _SMALL_STEP
                    piece, whole = frame.unused_data, frame.eof
                    if whole:
                        frame = unpacker.decompressobj()
    except zstandard.ZstdError as error:
        raise Damaged(str(error)) from error
    if not whole:
        raise Damaged("the last frame is cut off")


def _max_window() -> int:
    """Return the memory that a zstd frame may ask for: long windows make growing conversations small, but a frame of
    a few bytes can ask for 2 GB."""
    return min(1 << 31, max(_LARGE_WINDOW, 1 << max_record().bit_length()))


def _recoded(file: BufferedReader) -> Iterator[bytes]:
    """As UTF-8. Windows' own shell writes what it is told to write into a file as UTF-16."""
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    while block := file.read(BLOCK):
        yield decoder.decode(block).encode()
    yield decoder.decode(b"", final=True).encode()


def as_utf_8(data: bytes) -> bytes:
    """What somebody wrote, without the mark that Windows' editors and shells put before it; UTF-16 as UTF-8."""
    return data.decode("utf-16", "replace").encode() if _is_utf_16(data[:4]) else data.removeprefix(codecs.BOM_UTF8)


def unpacked(data: bytes) -> bytes:
    """Unpack bytes that were packed by themselves, as in the cell of a database. Return plain bytes unchanged."""
    if data.startswith(_GZIP):
        return whole(_unzip(BufferedReader(BytesIO(data))), "a packed value")
    if _is_zstd(data[:4]):
        return whole(_unpack(BufferedReader(BytesIO(data))), "a packed value")
    return data


def whole(pieces: Iterable[bytes], what: str = "this document") -> bytes:
    """Join the pieces of a value that is read whole. Raise TooLarge if they are more than a record may have."""
    held: list[bytes] = []
    size, most = 0, max_record()
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size > most:
            raise TooLarge(too_large(what, size))
    return b"".join(held)


def _is_zstd(start: bytes) -> bool:
    """A frame, or one of the sixteen kinds of frames to be skipped that may stand before it."""
    return start == _ZSTD or (start[1:] == _SKIPPED and start[0] >> 4 == 5)


def _is_utf_16(start: bytes) -> bool:
    """Its mark, and then a letter of ASCII, as JSON begins with one: the mark alone may be any damage."""
    marks = {codecs.BOM_UTF16_LE: start[3:4], codecs.BOM_UTF16_BE: start[2:3]}
    return marks.get(start[:2]) == b"\0"


def legible(path: str) -> str:
    """A file's name, or a word of the command line, as text, as well as it can be: not everything there is text."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path).decode("utf-8", "replace")
    return path


def is_database(path: str) -> bool:
    """Whether the file is one of SQLite's."""
    try:
        with opened(path) as file:
            return file.read(len(SQLITE)) == SQLITE
    except OSError as error:
        raise InputNotFound(f"{path}: {error.strerror}") from error


def is_packed(path: str) -> bool:
    """Whether its bytes are not those that are read: compressed, no UTF-8, a call in flight. False for standard input,
    which cannot be looked into."""
    if path == DASH or (not is_url(path) and Path(path).is_dir()):
        return False
    with opened(path) as file:
        start = file.read(4)
        return start.startswith((_GZIP, CALL)) or _is_zstd(start) or _is_utf_16(start)
