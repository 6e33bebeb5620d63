"""What there is to squash: session files, and everything else as `ingest.conversations` takes it apart.

Tasks stand in the order in which LOGS were given, and within each in the order of the paths. So any stretch of that
order, between two `Key`s, can be listed by itself: a shard looks into its own files only.
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from unspool.errors import InputNotFound, UnspoolError
from unspool.jobs.squash.entries import holds_entries
from unspool.jobs.squash.settings import Strategy, Task
from unspool.sources.files import DASH
from unspool.sources.listing import files_below, is_listed
from unspool.sources.storage import exists, is_below, is_folder, is_url, local_name, looked_into, size, whole

Key: TypeAlias = tuple[int, str]
"""Where a task stands: the place of what was given, and the first path that holds it."""
Stretch: TypeAlias = tuple[Key, Key | None]
"""From the one key up to the other, which is no part of it."""
FIRST: Key = (0, "")


def tasks(
    logs: Sequence[str],
    out: str,
    strategy: Strategy = "snapshot",
    agent: str | None = None,
    stretch: Stretch = (FIRST, None),
) -> list[Task]:
    """Each file once, in a stable order. What an earlier run wrote is no input.

    Without logs: all that an agent has kept on this machine.
    """
    refuse(logs, out)
    written = whole(out)
    fast = strategy == "snapshot" and agent is None
    found: dict[tuple[str, str], Task] = {}
    for number, given in enumerate(logs or [""]):
        if not _reaches(stretch, number):
            continue
        for task in _given(given, _paths(stretch, number), written, fast, agent):
            session = task.unit.found.id if task.unit is not None and task.unit.found is not None else ""
            path = whole(task.path)
            if not any(means(before, path) for before in logs[:number]):
                found.setdefault((path, session), task)
    return list(found.values())


def listed(logs: Sequence[str], out: str, agent: str | None) -> Iterator[tuple[Key, int]]:
    """Where tasks stand, and the bytes there: what cutting into shards takes. Files are not looked into."""
    refuse(logs, out)
    written = whole(out)
    for number, given in enumerate(logs or [""]):
        if given and is_folder(given):
            yield from (((number, path), size) for path, size in _files(given, "", None, written))
        elif given and exists(given):
            yield (number, given), size(given)
        else:
            for task in _units(given, written, fast=False, agent=agent):
                yield (number, _first(task)), size_of(task)


def refuse(logs: Sequence[str], out: str) -> None:
    """What can only be a slip of the hand."""
    if not out:
        raise UnspoolError("the name of the output folder is empty: name a folder with -o")
    for given in logs:
        if given == DASH:
            raise InputNotFound("squash reads files and folders, not standard input")
        if whole(local_name(given)) == whole(local_name(out)):
            raise UnspoolError(f"{given} is the input and the output: name another folder for the records")


def files_of(task: Task) -> list[str]:
    """Return all files that the task reads."""
    found = task.unit.found if task.unit is not None else None
    return found.files if found is not None else [task.path]


def size_of(task: Task) -> int:
    return size(task.path)


def _reaches(stretch: Stretch, number: int) -> bool:
    (first, _), last = stretch
    return first <= number and (last is None or last > (number, ""))


def _paths(stretch: Stretch, number: int) -> tuple[str, str | None]:
    """The stretch as paths of one that was given."""
    (first, start), last = stretch
    return start if first == number else "", last[1] if last is not None and last[0] == number else None


def _given(given: str, paths: tuple[str, str | None], written: str, fast: bool, agent: str | None) -> list[Task]:
    """The tasks of one file, folder or session, as far as they stand between these paths."""
    start, end = paths
    if not given or not _is_there(given):
        found: list[Task] | None = None
    elif is_folder(given):
        found = _one_each([path for path, _ in _files(given, start, end, written)], given, fast, agent)
    elif start <= given and (end is None or given < end):
        found = _one_each([given], None, fast, agent)
    else:
        found = []
    if found is not None:
        return found
    units = _units(given, written, fast, agent)
    return [task for task in units if start <= _first(task) and (end is None or _first(task) < end)]


def _files(folder: str, start: str, end: str | None, written: str) -> Iterator[tuple[str, int]]:
    mixed = is_below(written, whole(folder))
    try:
        for path, bytes_in_it in files_below(folder, start, end):
            if not mixed or not is_below(whole(path), written):
                yield path, bytes_in_it
    except OSError as error:
        raise InputNotFound(f"{folder}: {error.strerror}") from error


def _is_there(given: str) -> bool:
    """A name that is nothing here may still be a session's; a URL may not."""
    try:
        there = exists(given)
    except OSError as error:
        raise InputNotFound(f"{given}: {error.strerror}") from error
    if not there and is_url(given):
        raise InputNotFound(f"{given}: No such file or directory")
    return there


def _one_each(files: Sequence[str], root: str | None, fast: bool, agent: str | None) -> list[Task] | None:
    """A task for each file, if these are files of calls; None if there is an agent's log, of which others may be part.

    Session files are told without what knows other traffic: readers and wires are many.
    """
    made: list[Task] = []
    for path in looked_into(files):
        if fast and _is_session_file(path, root):
            made.append(Task(path, root))
            continue
        from unspool.ingest.conversations import Unit, is_traffic

        if not is_traffic(path, root):
            return None
        made.append(Task(path, root, Unit(path, root, None, agent)))
    return made


def _is_session_file(path: str, root: str | None) -> bool:
    """A file of a folder that cannot be read is left to the run, which reports it. One that was named must be there."""
    try:
        return holds_entries(path)
    except OSError as error:
        if root is None:
            raise InputNotFound(f"{path}: {error.strerror}") from error
    except Exception as error:
        from unspool.ingest.net import file_note

        file_note(error, path)
    return True


def _units(given: str, written: str, fast: bool, agent: str | None) -> list[Task]:
    from unspool.ingest.conversations import units

    made: list[Task] = []
    for unit in units([given] if given else [], agent):
        # Only earlier output is left out, not what is in an output folder above the inputs: `squash logs -o .`.
        is_mixed = unit.root is not None and is_below(written, whole(unit.root))
        if not is_mixed or not is_below(whole(unit.path), written):
            plain = fast and unit.found is None and _is_session_file(unit.path, unit.root)
            made.append(Task(unit.path, unit.root, None if plain else unit))
    return sorted(made, key=_first)


def _first(task: Task) -> str:
    """Of the files that hold it, the one that is listed first."""
    return min(files_of(task))


def means(given: str, file: str) -> bool:
    """Whether the file is among those of what was given: then it is no task of what was given later."""
    return file == (other := whole(given)) or is_listed(file, other)
