"""Fixtures of the tests of the five documents."""

from collections.abc import Callable
from typing import Any

import pytest

import unspool
from conftest import Write
from seeds.records import Graph


@pytest.fixture
def cook(write: Write) -> Callable[..., Graph]:
    """Cook some records, each a line of a file."""

    def run(*records: dict[str, Any]) -> Graph:
        return Graph(unspool.cook(write(*records)))

    return run
