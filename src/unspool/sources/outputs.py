"""Files that a command writes. None of them replaces a file that the command reads, or an agent's log.

`unspool.ingest.outputs.output_for` makes them, and every writer asks it:

    target = output_for("out.json", inputs)  refuses what is named as an input, and names that agents use
    write(target, pieces)                    refuses, before the last rename, what was opened in the meantime
"""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec import Struct

from unspool.errors import OutputNotWritable
from unspool.sources import storage
from unspool.sources.files import DASH, JOURNAL
from unspool.sources.listing import may_be_log

_COMPANIONS = ("-wal", "-shm", "-journal")
"""SQLite adds these to the name of a database for the files that belong to it."""
_ADVICE = "Name another file for the output."


class LogPlace(Struct, frozen=True):
    """A folder in which an agent keeps its logs, and the patterns of their names."""

    agent: str
    folder: Path
    patterns: tuple[str, ...]


class Output:
    """A file that a command may write. `path` is as the user wrote it."""

    def __init__(self, path: str, places: Iterable[LogPlace] = ()) -> None:
        self.path = path
        self._name = storage.local_name(path)
        self._is_file = path != DASH and not storage.is_url(self._name)
        self._files = _with_databases(self._name) if self._is_file else []
        self._identities = {identity for file in self._files if (identity := identity_of(file)) is not None}
        storage.watch(self._identities)
        if (place := self._place(places)) is not None:
            self._refuse_place(place)

    def refuse(self, inputs: Iterable[str]) -> None:
        """Refuse to replace one of these files, or a file that may be read because it is in one of these folders."""
        is_url = storage.is_url(self._name)
        if not self._identities and not is_url:
            return  # there is nothing to overwrite
        for name in map(storage.local_name, inputs):
            if is_url or storage.is_url(name):
                self._refuse_url(name)
            elif (facts := _facts(name)) is None:
                continue  # a session by its id, or a name that the reader of inputs refuses
            elif stat.S_ISDIR(facts.st_mode):
                self._refuse_folder(name, facts)
            elif (facts.st_dev, facts.st_ino) in self._identities:
                raise OutputNotWritable(f"{self.path} is an input: it would be overwritten. {_ADVICE}")

    def confirm(self) -> None:
        """Refuse to replace a file that was opened since this was made. Called before the file gets its name."""
        if storage.was_opened(self._identities):
            raise OutputNotWritable(f"{self.path} was read as an input: it would be overwritten. {_ADVICE}")

    def release(self) -> None:
        """The file is written, or never will be."""
        storage.unwatch(self._identities)

    def _refuse_folder(self, name: str, folder: os.stat_result) -> None:
        for file in self._files:
            is_read = may_be_log(file.name) or file.parent.name.endswith(JOURNAL)
            if is_read and identity_of(file) is not None and _is_in(file, folder):
                raise OutputNotWritable(
                    f"{self.path} is an input, because {name} is: it would be overwritten. {_ADVICE} "
                    "If it is an earlier output, delete it first."
                )

    def _refuse_url(self, name: str) -> None:
        if name == DASH:
            return
        try:
            own, other = storage.whole(self._name), storage.whole(name)
            below = storage.is_url(self._name) and storage.is_below(own, other) and may_be_log(own.rpartition("/")[2])
            if own == other or (below and storage.exists(self.path)):
                raise OutputNotWritable(f"{self.path} is an input: it would be overwritten. {_ADVICE}")
        except OSError as error:
            raise OutputNotWritable(f"{self.path}: {error.strerror}") from error

    def _place(self, places: Iterable[LogPlace]) -> LogPlace | None:
        """Return the place whose agent would open this file."""
        inner: dict[object, list[tuple[str, ...]]] = {}
        for file in self._files:
            parts = file.parts
            for depth, folder in enumerate(reversed(file.parents), 1):
                for key in (str(folder), _directory(folder)):
                    if key is not None:
                        inner.setdefault(key, []).append(parts[depth:])
        for place in places:
            keys = (os.path.realpath(place.folder), _directory(place.folder))
            for names in (names for key in dict.fromkeys(keys) for names in inner.get(key, ())):
                if any(matches(names, pattern.split("/")) for pattern in place.patterns):
                    return place
        return None

    def _refuse_place(self, place: LogPlace) -> None:
        self.release()
        if self._identities:
            raise OutputNotWritable(f"{self.path} is a log of {place.agent}: it would be overwritten. {_ADVICE}")
        raise OutputNotWritable(
            f"{self.path}: {place.agent} keeps its logs in {place.folder}, and would take this file for one of them. "
            "Write to another folder."
        )


def identity_of(file: Path | str) -> storage.Identity | None:
    """Return device and inode of a regular file, the same for all its names. `None` if there is no such file."""
    facts = _facts(file)
    return (facts.st_dev, facts.st_ino) if facts is not None and stat.S_ISREG(facts.st_mode) else None


def refuse_inputs_in(folder: str, inputs: Iterable[str]) -> None:
    """Refuse to write to a folder that holds one of these files, under whatever name."""
    folder = storage.local_name(folder)
    if storage.is_url(folder) or not Path(folder).is_dir():
        return
    held = {identity_of(entry.path): entry.path for entry in os.scandir(folder)}
    held.pop(None, None)
    for name in map(storage.local_name, inputs) if held else ():
        if not storage.is_url(name) and (identity := identity_of(name)) in held:
            raise OutputNotWritable(
                f"{held[identity]} is an input: a file of that name may be written. Name another folder for the output."
            )


def matches(names: Sequence[str], pattern: Sequence[str]) -> bool:
    """Return whether a path, in parts, matches a pattern as `Path.glob` takes it. Case is ignored."""
    if not pattern:
        return not names
    if pattern[0] == "**":
        return any(matches(names[skipped:], pattern[1:]) for skipped in range(len(names) + 1))
    return bool(names) and fnmatchcase(names[0].casefold(), pattern[0].casefold()) and matches(names[1:], pattern[1:])


def spellings(path: str) -> Iterator[Path]:
    """Return the file's absolute path, once as it is named and once with all links followed."""
    named = Path(os.path.realpath(Path(path).parent), Path(path).name)
    yield from dict.fromkeys((named, Path(os.path.realpath(path))))


def _with_databases(path: str) -> list[Path]:
    """Return all spellings of the path. If it is a companion of a database, also those of the database."""
    files = list(spellings(path))
    for ending in _COMPANIONS:
        files += [file.with_name(file.name.removesuffix(ending)) for file in files if file.name[1:].endswith(ending)]
    return files


def _facts(file: Path | str) -> os.stat_result | None:
    try:
        return os.fstat(0) if file == DASH else os.stat(file)  # noqa: PTH116  # a path or a name
    except (OSError, ValueError):
        return None


def _directory(folder: Path) -> storage.Identity | None:
    facts = _facts(folder)
    return None if facts is None else (facts.st_dev, facts.st_ino)


def _is_in(file: Path, folder: os.stat_result) -> bool:
    return any(_directory(parent) == (folder.st_dev, folder.st_ino) for parent in file.parents)
