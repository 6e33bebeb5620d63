"""Where agents keep their logs on this machine, and which files or sessions a word of the command line means."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from unspool.dialect import Reader
from unspool.errors import InputNotFound, UnknownFormat
from unspool.readers import READERS
from unspool.sources.files import DASH, place_of
from unspool.sources.listing import files_below
from unspool.sources.storage import exists, is_folder

_ID = re.compile(r"[\w-]+")


def places() -> Iterator[tuple[Reader, Path, tuple[str, ...]]]:
    """Each folder where an agent may keep logs, with the patterns of their names."""
    for reader in READERS.values():
        for place in reader.places(os.environ, Path.home()):
            yield reader, place.folder, place.patterns


def installed(agent: str | None = None) -> Iterator[str]:
    """Yield the logs of one agent or of all agents on this machine, each once."""
    seen: set[str] = set()
    for reader, folder, patterns in places():
        if agent not in (None, reader.agent):
            continue
        for path in below(folder, patterns):
            if path not in seen:
                seen.add(path)
                yield path


def below(folder: Path, patterns: Iterable[str]) -> Iterator[str]:
    """The files of a place, in a stable order."""
    try:
        found = [path for pattern in patterns for path in sorted(folder.glob(pattern)) if path.is_file()]
    except OSError:  # not ours to look into: `state_of` says so
        return
    yield from map(str, found)
    yield from _closed(folder, patterns)


def _closed(folder: Path, patterns: Iterable[str]) -> list[str]:
    """Folders in it that hold logs, by their names, and that may not be looked into: whoever reads one says so."""
    holders = {pattern.partition("/")[0] for pattern in patterns if "/" in pattern}
    try:
        with os.scandir(folder) as inner:
            return sorted(
                entry.path
                for entry in inner
                if any(fnmatchcase(entry.name, holder) for holder in holders)
                and entry.is_dir()
                and not os.access(entry.path, os.R_OK | os.X_OK)
            )
    except OSError:
        return []


def state_of(folder: Path) -> Literal["open", "closed", "absent"]:
    """Whether the folder is there, and can be looked into."""
    try:
        if not folder.is_dir():
            return "absent"
    except OSError:
        return "closed"
    return "open" if os.access(folder, os.R_OK | os.X_OK) else "closed"


def given(paths: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """The files that these paths mean, and whether each was named itself; a folder gives what may be a log in it."""
    for path in paths:
        if not path:
            raise InputNotFound("an empty name is no file")
        if path != DASH and not exists(path):
            raise InputNotFound(f"{path}: No such file or directory")
        if is_folder(path):
            try:
                for file, _ in files_below(path):
                    yield file, False
            except OSError as error:
                raise InputNotFound(f"{path}: {error.strerror}") from error
        else:
            yield path, True


def is_session(name: str) -> bool:
    """Whether it can only be a session's id: no such file is there, and it does not look like the name of one."""
    return name != DASH and _ID.fullmatch(name) is not None and not Path(name).exists()


def no_log(path: str) -> UnknownFormat:
    """What is said of a file that was named, and that no reader claims."""
    return UnknownFormat(f"{path}: no agent's log that we know (recorded API calls are shown by `unspool view`)")


def meant(paths: Sequence[str]) -> tuple[list[str], set[str]]:
    """The files that these paths mean, all logs on this machine if there are none: each once, and which were named."""
    if not paths:
        return list(installed()), set()
    files: dict[str, str] = {}
    alone: set[str] = set()
    for path, named in given(paths):
        place = place_of(path)
        if named:
            alone.add(path)
        if named or place not in files:
            files[place] = path
    return list(files.values()), alone
