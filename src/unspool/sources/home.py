"""Where unspool keeps what is its own: data that must not be lost, and caches that may be."""

import os
import sys
from pathlib import Path


def data_folder() -> Path:
    """`$UNSPOOL_HOME`, or where this system keeps what a program must not lose."""
    if own := os.environ.get("UNSPOOL_HOME"):
        return Path(own)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "unspool"
    if sys.platform == "win32":
        return _local() / "unspool"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "unspool"


def cache_folder() -> Path:
    """`$UNSPOOL_CACHE`, or where this system keeps what may be deleted."""
    if own := os.environ.get("UNSPOOL_CACHE"):
        return Path(own)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "unspool"
    if sys.platform == "win32":
        return _local() / "unspool" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unspool"


def _local() -> Path:
    return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")


def write_private(path: Path, data: bytes) -> None:
    """A file that only its owner can read, whole or not at all; its folder is made, for its owner alone."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = path.with_suffix(f".{os.getpid()}")
    beside.unlink(missing_ok=True)  # of a process that was killed, and had our number
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
