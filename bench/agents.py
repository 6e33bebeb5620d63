"""Reading agents' logs, measured: into events, in two processes, searched, and listed a second time."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import child
from log_data import LOGS, RARE, SMALL
from report import Row, WallRow

_HERE = Path(__file__).resolve().parent
_PYTHON = sys.executable
FLOOR = """
import os, sys, orjson
for entry in os.scandir(sys.argv[1]):
    with open(entry.path, "rb") as file:
        if entry.name.endswith(".json"):
            orjson.loads(file.read())
        else:
            for line in file: orjson.loads(line)
"""
_KINDS = ("events", "jobs", "grep-rare", "grep-word", "grep-often", "grep-any", "grep-jobs")
_AGAIN = "sessions-again"
_PEAK, _WALL, _RARE, _ANY, _AGAIN_CPU = 100, 1.3, 0.7, 3.0, 0.3
"""Bounds: MB, and multiples of the floor; of the second list, CPU seconds."""
_WORD_PATTERN = f"{RARE[:-1]}{RARE[-1]}+"
"""A regular expression as people write them: a word stands in whatever it matches."""
_OFTEN = "pytest"
"""It stands in one command in thirty: in many files, and in few of their events."""
ANY_PATTERN = ".".join(RARE[::2])
"""One that has no such word, and finds the same: every event must be looked into."""
_FOLDERS = {name: {kind: f"{kind}-{name}" for kind in _KINDS} for name in LOGS} | {SMALL: {_AGAIN: _AGAIN}}
CASES = [case for kinds in _FOLDERS.values() for case in kinds.values()]


def by_folder(cases: Sequence[str]) -> dict[str, list[str]]:
    """Which of the cases read which folder."""
    found = {name: [case for case in kinds.values() if case in cases] for name, kinds in _FOLDERS.items()}
    return {name: wanted for name, wanted in found.items() if wanted}


def measure(name: str, cases: Sequence[str], quick: bool) -> Iterator[Row | WallRow]:
    """The cases of one folder, so that it is made once."""
    folder = child.FOLDER / name
    try:
        child.run([_PYTHON, str(_HERE / "log_data.py"), name, str(folder), *(["--quick"] if quick else [])])
        size = sum(file.stat().st_size for file in folder.iterdir())
        if name == SMALL:
            yield _again(folder, size, quick)
        else:
            kinds = [kind for kind, case in _FOLDERS[name].items() if case in cases]
            yield from _reading(name, folder, size, kinds, quick)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _forget()


def _reading(name: str, folder: Path, size: int, kinds: Sequence[str], quick: bool) -> Iterator[Row | WallRow]:
    jobs = {
        "events": [_PYTHON, str(_HERE / "reading.py"), str(folder)],
        "jobs": _unspool("sessions", str(folder), "--jobs", "2"),
        "grep-rare": _unspool("grep", RARE, str(folder), "--jobs", "1"),
        "grep-word": _unspool("grep", "-E", _WORD_PATTERN, str(folder), "--jobs", "1"),
        "grep-often": _unspool("grep", _OFTEN, str(folder), "--jobs", "1"),
        "grep-any": _unspool("grep", "-E", ANY_PATTERN, str(folder), "--jobs", "1"),
        "grep-jobs": _unspool("grep", "-E", ANY_PATTERN, str(folder), "--jobs", "2"),
    }
    bounds = {"events": LOGS[name].bound, "jobs": _WALL, "grep-rare": _RARE}
    commands = [[_PYTHON, "-c", FLOOR, str(folder)], *(jobs[kind] for kind in kinds)]
    floor, *costs = child.best(commands, 3, before=_forget)
    for kind, cost in zip(kinds, costs, strict=True):
        case = _FOLDERS[name][kind]
        bound, peak = (None, None) if quick else (bounds.get(kind, _ANY), _PEAK)
        if kind in ("jobs", "grep-jobs"):
            yield WallRow(case, floor.wall, cost.wall, size, bound)
        else:
            yield Row(case, floor.cpu, cost.cpu, size, cost.peak, bound, peak)


def _again(folder: Path, size: int, quick: bool) -> Row:
    """The list of sessions in files that have not changed since it was last asked for."""
    job = _unspool("sessions", str(folder))
    _forget()
    child.run(job)
    floor, cost = child.best([[_PYTHON, "-c", "pass"], job], 3)
    return Row(_AGAIN, floor.cpu, cost.cpu, size, cost.peak, most=None if quick else _AGAIN_CPU)


def _forget() -> None:
    shutil.rmtree(child.CACHE, ignore_errors=True)


def _unspool(*arguments: str) -> list[str]:
    return [_PYTHON, "-m", "unspool", *arguments]
