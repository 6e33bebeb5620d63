"""Folders with agents' logs, and what reading them may cost. Run as a program, it writes one of the folders.

python bench/log_data.py FOLDER_NAME FOLDER [--quick]
"""

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import claude_logs
import codex_logs
import gemini_logs
from prose import Prose

_SEED = "unspool 1"
RARE = "quixotry"
"""A word that stands in one event of a folder, the first prompt of the session in its middle."""
Session = Callable[[Prose, int, str], tuple[str, bytes]]


@dataclass(frozen=True)
class Logs:
    """A folder of one agent's sessions. `length`, median and mean, is in lines or messages."""

    session: Session
    length: tuple[int, int]
    megabytes: int
    quotes: float
    """See `Prose`: so that as many bytes are backslashes as in real logs."""
    bound: float
    """CPU of reading all events, as a multiple of the floor's."""


LOGS = {
    "claude": Logs(claude_logs.session, (300, 450), 200, 0.6, bound=2.0),
    "codex": Logs(codex_logs.session, (80, 130), 200, 0.45, bound=2.5),
    "gemini-json": Logs(gemini_logs.document, (12, 16), 200, 0.24, bound=2.5),
    "gemini-jsonl": Logs(gemini_logs.recording, (12, 16), 200, 0.24, bound=2.5),
}
SMALL = "small"
"""A folder of many small files, of all agents."""
_SMALL_FILES, _QUICK_FILES, _SMALL_LENGTH = 1000, 100, 4
QUICK_SHARE = 20
"""Of a folder: one part in so many is made for a first look."""


def write(name: str, folder: Path, quick: bool) -> None:
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was broken off
    folder.mkdir(parents=True)
    if name == SMALL:
        _write_small(folder, _QUICK_FILES if quick else _SMALL_FILES)
        return
    logs = LOGS[name]
    prose = Prose(f"{_SEED} {name}", logs.quotes)
    size, written, rare = logs.megabytes * 1_000_000 // (QUICK_SHARE if quick else 1), 0, f"{RARE} "
    while written < size:
        opening = rare if written >= size // 2 else ""
        rare = "" if opening else rare
        written += _write(folder, *logs.session(prose, prose.spread(*logs.length), opening))


def _write_small(folder: Path, files: int) -> None:
    prose, agents = Prose(f"{_SEED} {SMALL}"), cycle(LOGS.values())
    for _ in range(files):
        _write(folder, *next(agents).session(prose, _SMALL_LENGTH, ""))


def _write(folder: Path, name: str, data: bytes) -> int:
    return (folder / name).write_bytes(data)


if __name__ == "__main__":
    write(sys.argv[1], Path(sys.argv[2]), quick="--quick" in sys.argv)
