"""Files, folders and standard input, plain or compressed, as blocks of bytes.

expand(["traces/"])   →  traces/a.jsonl, traces/b.jsonl.gz, …
blocks("a.zst")       →  b"…", b"…"       1 MB each, after decompression
"""

import gzip
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from io import BufferedReader
from pathlib import Path
from typing import cast

from unspool.errors import InputNotFound

BLOCK = 1 << 20
STDIN = "-"
ENDINGS = (
    ".jsonl",
    ".json",
    ".ndjson",
    ".jsonl.gz",
    ".json.gz",
    ".ndjson.gz",
    ".jsonl.zst",
    ".json.zst",
    ".ndjson.zst",
)
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class Damaged(ValueError):
    """Compressed data that breaks off or makes no sense from here on."""


def expand(inputs: Iterable[str | os.PathLike[str]]) -> Iterator[str]:
    """Each file to read, in a stable order. A folder gives the files below it whose names end like traces."""
    for path in map(Path, inputs):
        given = str(path)
        if given == STDIN or (path.exists() and not path.is_dir()):
            yield given
        elif path.is_dir():
            below = sorted(
                str(file) for file in path.rglob("*") if file.name.lower().endswith(ENDINGS) and file.is_file()
            )
            if not below:
                raise InputNotFound(f"{given}: no file in this folder ends in {', '.join(ENDINGS[:3])} (or .gz, .zst)")
            yield from below
        else:
            raise InputNotFound(f"{given}: no such file or folder")


def blocks(path: str) -> Iterator[bytes]:
    """The file's bytes, decompressed. Content decides about compression, never the name."""
    with nullcontext(cast(BufferedReader, sys.stdin.buffer)) if path == STDIN else _open(path) as file:
        start = file.peek(4)[:4]
        if start.startswith(_GZIP):
            # read1, because read would throw away the good bytes before a damaged place
            yield from _read(gzip.GzipFile(fileobj=file).read1, (EOFError, gzip.BadGzipFile, zlib.error))
        elif start == _ZSTD:
            import zstandard  # 10 ms that plain files need not pay

            # A long window is what makes growing conversations small; frames that follow one another are one stream.
            unpacker = zstandard.ZstdDecompressor(max_window_size=1 << 31)
            yield from _read(unpacker.stream_reader(file, read_across_frames=True).read, (zstandard.ZstdError,))
        else:
            yield from _read(file.read, ())


def _open(path: str) -> BufferedReader:
    try:
        return open(path, "rb")
    except OSError as error:
        raise InputNotFound(f"{path}: {error.strerror}") from error


def _read(read: Callable[[int], bytes], faults: tuple[type[Exception], ...]) -> Iterator[bytes]:
    try:
        while block := read(BLOCK):
            yield block
    except faults as error:
        raise Damaged(str(error)) from error
