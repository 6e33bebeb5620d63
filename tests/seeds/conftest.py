"""Fixtures of the tests of the five documents."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Run, Write
from seeds.records import Graph
from seeds.sessions import Squash
from unspool import cook as cook_files


@pytest.fixture
def cook(write: Write) -> Callable[..., Graph]:
    """Cook some records, each a line of a file."""

    def run(*records: dict[str, Any]) -> Graph:
        return Graph(cook_files(write(*records)))

    return run


@pytest.fixture
def squash(unspool: Run, tmp_path: Path) -> Squash:
    """Save sessions, and run the command on them."""
    return Squash(unspool, tmp_path)
