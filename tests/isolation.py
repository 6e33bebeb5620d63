"""The environment of tests: a home folder of their own, and no variable of the user's files or terminal."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from unspool.readers import READERS

_SETTINGS = ("UNSPOOL_CACHE", "UNSPOOL_CONFIG", "UNSPOOL_HOME", "UNSPOOL_KEY", "UNSPOOL_RECORD_TOKEN")
"""Variables that unspool itself reads. Others of that prefix choose what the tests use: a browser, a corpus."""

_FOLDERS = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "APPDATA", "LOCALAPPDATA")
"""Without these, the folders of a user are below the home folder."""

_TERMINAL = ("COLUMNS", "LINES", "NO_COLOR")
"""What a terminal says of itself. pytest-xdist sets the first for its workers, so tests would depend on `-n`."""


class _Environment(Mapping[str, str]):
    """Variables that all have one value. It collects the names that are looked up."""

    def __init__(self, value: str) -> None:
        self._value = value
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        return self._value

    def __iter__(self) -> Iterator[str]:
        raise TypeError("only single variables can be looked up")

    def __len__(self) -> int:
        raise TypeError("only single variables can be looked up")


def agents_variables() -> frozenset[str]:
    """Return the names of all variables that can move an agent's logs."""
    environments = [_Environment("/nowhere"), _Environment("")]
    for environment in environments:
        for reader in READERS.values():
            list(reader.places(environment, Path("/nowhere")))
    return frozenset().union(*(environment.names for environment in environments))


NOT_SET = frozenset((*_SETTINGS, *_FOLDERS, *_TERMINAL)) | agents_variables()


def variables(home: Path) -> dict[str, str | None]:
    """Return the variables for a test whose home folder is `home`. `None` means that a variable is not set."""
    return {**dict.fromkeys(NOT_SET), "HOME": str(home), "USERPROFILE": str(home)}


def change(values: Mapping[str, str | None]) -> dict[str, str | None]:
    """Set or delete these variables of this process, and return their previous values."""
    before = {name: os.environ.get(name) for name in values}
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    return before
