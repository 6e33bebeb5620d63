"""The key of keyed hashes: who has it gets the same placeholders again, and nobody else can guess what they hide."""

import os
import tempfile
from pathlib import Path

from unspool.errors import OutputNotWritable
from unspool.sources.home import data_folder
from unspool.sources.storage import put_in_place

_LENGTH = 32


def key() -> bytes:
    """`$UNSPOOL_KEY`, or what a file in the data folder holds; it is made when first asked for.

    The file is text, so that `UNSPOOL_KEY=$(cat key)` means the same on another machine.
    """
    if own := os.environ.get("UNSPOOL_KEY"):
        return os.fsencode(own)
    file = data_folder() / "key"
    try:
        if not file.exists():
            _make(file)
        kept = file.read_bytes().strip()
    except OSError as error:
        raise OutputNotWritable(f"{file}: {error.strerror}: set UNSPOOL_KEY to do without this file") from error
    if not kept:
        raise OutputNotWritable(f"{file} is empty: delete it, or set UNSPOOL_KEY")
    return kept


def _make(file: Path) -> None:
    """Written beside, then linked into place: of two that do so at once, one wins, and both read the winner's whole."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".key.")  # readable by its owner alone
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as new:
            new.write(os.urandom(_LENGTH).hex().encode() + b"\n")
            new.flush()
            os.fsync(new.fileno())
        put_in_place(beside, file)
    finally:
        beside.unlink(missing_ok=True)
