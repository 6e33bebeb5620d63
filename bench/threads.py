"""What the store of threads costs: figures that `thread_store.py` measures, each in a process of its own."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import child
from report import FigureRow

_PROGRAM = Path(__file__).with_name("thread_store.py")
CASES = {
    "thread-resolve": ("ms", 30.0),
    "thread-append": ("ms", 2.0),
    "thread-others": ("× a store alone", 1.5),
    "thread-forks": ("× one", 1.1),
}
"""Name → the unit of its figure, and the bound."""


def measure(name: str, quick: bool) -> Iterator[FigureRow]:
    folder = child.FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    try:
        options = ["--quick"] if quick else []
        _, printed = child.run([sys.executable, str(_PROGRAM), name, str(folder), *options])
        unit, bound = CASES[name]
        yield FigureRow(name, float(printed), unit, None if quick else bound)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
