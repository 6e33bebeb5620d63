"""Write a file whole or not at all."""

import os
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from unspool.errors import OutputNotWritable
from unspool.sources.files import BLOCK
from unspool.sources.files import STDIN as STDOUT


def write(path: str, pieces: Iterable[bytes]) -> None:
    """To standard output for `-`; else beside `path` first, and then in its place."""
    if path == STDOUT:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    if target.exists() and not target.is_file():  # /dev/null, a pipe: nothing that could be replaced
        with target.open("wb") as file:
            file.writelines(pieces)
        return
    try:
        handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    except OSError as error:
        raise OutputNotWritable(f"{path}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb", BLOCK) as file:
            file.writelines(pieces)
        Path(beside).chmod(_mode(target))
        Path(beside).replace(target)
    except OSError as error:
        raise OutputNotWritable(f"{path}: {error.strerror}") from error
    finally:
        with suppress(FileNotFoundError):
            Path(beside).unlink()


def _mode(target: Path) -> int:
    """That of the file which is replaced; else what a new file would have got."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
