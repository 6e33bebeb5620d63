"""Write a file whole or not at all."""

import sys
from collections.abc import Iterable
from pathlib import Path

from unspool.errors import OutputNotWritable
from unspool.sources.files import DASH
from unspool.sources.outputs import Output
from unspool.sources.storage import is_url, replacing


def refuse_unwritable(path: str) -> None:
    """What is to be written at the end of hours should be told at their beginning to have no place."""
    if path == DASH or is_url(path):
        return
    if Path(path).is_dir():
        raise OutputNotWritable(f"{path}: Is a directory")
    if not Path(path).resolve().parent.is_dir():
        raise OutputNotWritable(f"{path}: No such file or directory")


def write(target: Output, pieces: Iterable[bytes]) -> None:
    """Write to standard output for `-`; else to a new file, which then replaces the old one. A link stays a link."""
    path = target.path
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
            with replacing(str(Path(path).resolve()), make_folder=False, confirm=target.confirm) as file:
                file.writelines(pieces)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputNotWritable(f"{path}: {error.strerror}") from error
    finally:
        target.release()
