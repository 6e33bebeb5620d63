"""What a command may write, by the rules of `sources.outputs` and the places where agents keep their logs."""

import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from unspool.errors import OutputNotWritable
from unspool.sources.files import DASH, is_database
from unspool.sources.outputs import LogPlace, Output, spellings
from unspool.sources.storage import is_url, joined, local_name

_UNRELATED = frozenset({"HOME", "OLDPWD", "PWD"})
"""Variables that name a folder, and move no agent's logs."""
_SYSTEM_FOLDERS = frozenset({"Library", "AppData"})
"""Folders of macOS and Windows in which programs keep their data. Elsewhere the names begin with a dot."""


def output_for(path: str, inputs: Iterable[str] = (), names: Iterable[str] = ()) -> Output:
    """Return the output that may be written to `path`, or raise `OutputNotWritable`. Every writer asks here.

    It may be none of the inputs: files, folders, URLs, or `-`. Other inputs, such as a session's id, are checked when
    the file is written. It may not have a name that an agent would open as its log. If `path` is a folder, `names` are
    examples of the files to be written there.
    """
    files = [joined(path, name) for name in names]
    for file in files:
        _checked(file, ()).release()
    return _checked(path, inputs)


def trace_output(path: str) -> Output:
    """Return the trace that a recorder may append to. It may hold recorded calls already, but not be an agent's log."""
    target = output_for(path)
    if path != DASH and not is_url(path) and Path(path).is_file() and Path(path).stat().st_size:
        _refuse_log(path)
    return target


def _checked(path: str, inputs: Iterable[str]) -> Output:
    if not path:
        raise OutputNotWritable("the name of the output is empty. Name a file, or - for standard output.")
    name = local_name(path)
    places = _places() if name != DASH and not is_url(name) and may_be_agents(name) else ()
    target = Output(path, places)
    target.refuse(inputs)
    return target


def _places() -> Iterator[LogPlace]:
    from unspool.ingest.finding import places  # imports all readers, which takes longer than many commands

    for reader, folder, patterns in places():
        yield LogPlace(reader.title, folder, patterns)


def may_be_agents(path: str) -> bool:
    """Return whether an agent may keep its logs there, without asking the readers.

    Agents use folders whose names begin with a dot, or those of the system for data of programs. Only databases may be
    in any folder, and only variables move the rest.
    """
    for file in spellings(path):
        plain = file.name.lower()
        if ".db" in plain or ".sqlite" in plain:
            return True
        if any(part.startswith(".") or part in _SYSTEM_FOLDERS for part in file.parts):
            return True
        if not _named_paths(tuple(os.environ.items())).isdisjoint((file, *file.parents)):
            return True
    return False


@lru_cache(maxsize=4)
def _named_paths(variables: tuple[tuple[str, str], ...]) -> frozenset[Path]:
    """Return all paths that variables may name; one variable may name several, separated by commas."""
    names = {name for variable, value in variables if variable not in _UNRELATED for name in value.split(",")}
    stripped = filter(None, map(str.strip, names))
    return frozenset(
        Path(os.path.realpath(os.path.expanduser(name)))  # noqa: PTH111  # Path raises for an unknown user
        for name in stripped
    )


def _refuse_log(path: str) -> None:
    from unspool.ingest.conversations import holds_calls
    from unspool.ingest.logs import open_log

    if is_database(path):
        raise OutputNotWritable(f"{path} is a database, not a trace. Name another file for the output.")
    log = None if holds_calls(path) else open_log(path)
    if log is not None:
        raise OutputNotWritable(
            f"{path} is a log of {log.reader.title}, not a trace: recorded calls would be added to it. "
            "Name another file for the output."
        )
