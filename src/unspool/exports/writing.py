"""Write a file whole or not at all."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from unspool.errors import OutputNotWritable
from unspool.sources.files import BLOCK, DASH


def write(path: str, pieces: Iterable[bytes]) -> None:
    """To standard output for `-`; else beside the file first, and then in its place. A link stays a link."""
    if path == DASH and sys.stdout is None:
        raise OutputNotWritable("standard output is closed")
    try:
        if path == DASH:
            sys.stdout.buffer.writelines(pieces)
            sys.stdout.buffer.flush()
        elif Path(path).exists() and not Path(path).is_file():  # a device or a pipe: nothing that could be replaced
            with open(path, "wb") as file:
                file.writelines(pieces)
        else:
            _replace(Path(path).resolve(), pieces)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputNotWritable(f"{path}: {error.strerror}") from error


def _replace(target: Path, pieces: Iterable[bytes]) -> None:
    import tempfile  # 5 ms that standard output need not pay

    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.", suffix=".part")
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb", BLOCK) as file:
            file.writelines(pieces)
        beside.chmod(_mode(target))
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _mode(target: Path) -> int:
    """That of the file which is replaced; else what a new file would have got."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
