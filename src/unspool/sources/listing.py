"""The files of a folder that may be logs, in one order wherever they are listed, all of them or a stretch.

The order is that of the paths as text. It is found folder by folder, so nothing need be held, and a stretch of a
hundred million files is listed without looking into the folders before and behind it.
"""

import os
from collections.abc import Iterator
from pathlib import Path, PurePath

from unspool.sources.files import JOURNAL, SECRETS, unfinished
from unspool.sources.storage import is_below, is_url, size

_ENDINGS = (".jsonl", ".json", ".ndjson", ".har", ".db", ".sqlite", ".sqlite3", ".md", ".txt", ".log")
SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv"})
_AFTER_SLASH = chr(ord("/") + 1)


def may_be_log(name: str) -> bool:
    """By its name; never what holds an agent's keys."""
    plain = name.removesuffix(".gz").removesuffix(".zst").lower()
    return name not in SECRETS and (plain.endswith(_ENDINGS) or ".jsonl." in name)


def is_listed(file: str, folder: str) -> bool:
    """Whether the file is one of `files_below` the folder; both as `storage.whole` has them."""
    if not is_below(file, folder):
        return False
    inner = PurePath(file).relative_to(folder)
    in_flight = inner.parent.name.endswith(JOURNAL)
    return (may_be_log(inner.name) or in_flight) and not SKIPPED.intersection(inner.parts)


def files_below(folder: str, start: str = "", end: str | None = None) -> Iterator[tuple[str, int]]:
    """Path and size of each, from `start` up to `end`, which is no part of it.

    Calls that a recorder had to leave in its journal are among them, and folders that may not be looked into: whoever
    reads one of these says so. Of the folder itself that is an OSError.
    """
    if is_url(folder):
        yield from _objects(folder, start, end)
        return
    os.scandir(folder).close()
    root = Path(folder).resolve()
    yield from _below(str(Path(folder)), root, start, end)


def _below(folder: str, root: Path, start: str, end: str | None) -> Iterator[tuple[str, int]]:
    try:
        with os.scandir(folder) as listed:
            entries = sorted((entry.name + "/" * entry.is_dir(follow_symlinks=False), entry) for entry in listed)
    except PermissionError:
        if folder >= start and (end is None or folder < end):
            yield folder, 0
        return
    except OSError:
        return
    for name, entry in entries:
        path = entry.name if folder == "." else entry.path
        if name.endswith("/") and entry.name.endswith(JOURNAL):
            calls = sorted(call for call in unfinished(Path(path)) if call >= start and (end is None or call < end))
            yield from ((call, size(call)) for call in calls)
        elif name.endswith("/"):
            if entry.name not in SKIPPED and not _outside(path, start, end):
                yield from _below(path, root, start, end)
        elif path >= start and (end is None or path < end) and may_be_log(entry.name):
            known = _size(entry, root)
            if known is not None:
                yield path, known


def _objects(folder: str, start: str, end: str | None) -> Iterator[tuple[str, int]]:
    from unspool.sources import remote

    def wanted(path: str, facts: remote.Facts) -> bool:
        if facts.is_folder:
            return facts.name not in SKIPPED and not _outside(path, start, end)
        return path >= start and (end is None or path < end) and may_be_log(facts.name)

    yield from ((path, facts.size) for path, facts in remote.below(folder, wanted))


def _outside(folder: str, start: str, end: str | None) -> bool:
    return folder + _AFTER_SLASH <= start or (end is not None and folder + "/" >= end)


def _size(entry: "os.DirEntry[str]", root: Path) -> int | None:
    """None for what is no file (a pipe would keep us waiting for ever), and for a link to what is listed itself."""
    try:
        if not entry.is_file() or (entry.is_symlink() and root in Path(entry.path).resolve().parents):
            return None
        return entry.stat().st_size
    except OSError:
        return None
