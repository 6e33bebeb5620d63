"""What there is to squash: session files, and everything else as `ingest.conversations` takes it apart."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from unspool.errors import InputNotFound, UnspoolError
from unspool.jobs.squash.entries import holds_entries
from unspool.jobs.squash.settings import Strategy, Task
from unspool.sources.files import DASH, expand


def tasks(logs: Sequence[str], out: str, strategy: Strategy = "snapshot", agent: str | None = None) -> list[Task]:
    """Each file once, in a stable order. What an earlier run wrote is no input.

    Without logs: all that an agent has kept on this machine.
    """
    written = Path(out).resolve()
    found: dict[tuple[Path, str], Task] = {}
    for given in logs or [""]:
        if given and Path(given).resolve() == written:
            raise UnspoolError(f"{given} is the input and the output: name another folder for the records")
        fast = strategy == "snapshot" and agent is None
        files = _session_files(given, written) if fast else None
        for task in files if files is not None else _units(given, written, fast, agent):
            session = task.unit.found.id if task.unit is not None and task.unit.found is not None else ""
            found.setdefault((Path(task.path).resolve(), session), task)
    return list(found.values())


def _session_files(given: str, written: Path) -> list[Task] | None:
    """The files in a folder, or one file, if they are nothing but session files."""
    if given == DASH or not Path(given).exists():
        return None
    root = given if Path(given).is_dir() else None
    mixed = root is not None and _is_below(written, Path(given).resolve())
    try:
        files = [path for path in expand([given]) if not mixed or not _is_below(path, written)]
    except InputNotFound:
        return None
    return [Task(path, root) for path in files] if all(_is_session_file(path, root) for path in files) else None


def _is_session_file(path: str, root: str | None) -> bool:
    """A file of a folder that cannot be read is left to the run, which reports it. One that was named must be there."""
    try:
        return holds_entries(path)
    except OSError as error:
        if root is None:
            raise InputNotFound(f"{path}: {error.strerror}") from error
        return True


def _units(given: str, written: Path, fast: bool, agent: str | None) -> Iterator[Task]:
    from unspool.ingest.conversations import units  # readers are many, and session files need none

    if given == DASH:
        raise InputNotFound("squash reads files and folders, not standard input")
    for unit in units([given] if given else [], agent):
        if unit.root is not None and _is_below(unit.path, written):
            continue
        plain = fast and unit.found is None and _is_session_file(unit.path, unit.root)
        yield Task(unit.path, unit.root, None if plain else unit)


def _is_below(path: str | Path, folder: Path) -> bool:
    return folder in Path(path).resolve().parents
