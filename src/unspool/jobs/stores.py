"""What the store takes in, whoever wrote it."""

from pathlib import Path

from unspool.errors import InputNotFound
from unspool.store.cross_stream import FRAMES, import_frames
from unspool.store.moving import LINES, Moved, import_store
from unspool.store.store import Store


def take_in(store: Store, folder: Path, *, strict: bool = False) -> Moved:
    if (folder / LINES).is_file():
        return import_store(store, folder, strict=strict)
    if (folder / FRAMES).is_file():
        return import_frames(store, folder, strict=strict)
    raise InputNotFound(
        f"{folder}: neither {LINES}, as `unspool store export` writes, nor {FRAMES} of cross.stream in it"
    )
