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
    beside = target.with_name(f".{target.name[:100]}.{os.urandom(6).hex()}.part")
    try:
        with open(beside, "xb", BLOCK) as file:
            if target.exists():
                beside.chmod(target.stat().st_mode & 0o777)
            file.writelines(pieces)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
