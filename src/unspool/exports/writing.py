"""Write a file whole or not at all."""

import sys
from collections.abc import Iterable
from pathlib import Path

from unspool.errors import OutputNotWritable
from unspool.sources.files import DASH
from unspool.sources.storage import is_url, replacing


def refuse_unwritable(path: str) -> None:
    """What is to be written at the end of hours should be told at their beginning to have no place."""
    if path == DASH or is_url(path):
        return
    if Path(path).is_dir():
        raise OutputNotWritable(f"{path}: Is a directory")
    if not Path(path).resolve().parent.is_dir():
        raise OutputNotWritable(f"{path}: No such file or directory")


def write(path: str, pieces: Iterable[bytes]) -> None:
    """To standard output for `-`; else beside the file first, and then in its place. A link stays a link."""
    if path == DASH and sys.stdout is None:
        raise OutputNotWritable("standard output is closed")
    try:
        if path == DASH:
            sys.stdout.buffer.writelines(pieces)
            sys.stdout.buffer.flush()
        elif is_url(path):
            with replacing(path) as file:
                file.writelines(pieces)
        elif Path(path).exists() and not Path(path).is_file():  # a device or a pipe: nothing that could be replaced
            with open(path, "wb") as file:
                file.writelines(pieces)
        else:
            with replacing(str(Path(path).resolve()), make_folder=False) as file:
                file.writelines(pieces)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputNotWritable(f"{path}: {error.strerror}") from error
