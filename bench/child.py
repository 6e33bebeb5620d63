"""Child processes and what they cost.

A child's peak memory is never less than its parent's (the system counts from before the child's own program begins),
so the parent must stay small: the inputs are made in child processes too.

Python children find their modules compiled, as those of an installed package are, whatever this process was told about
bytecode; it is kept in the benchmark's own folder, and so is the cache of what logs hold.
"""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / ".bench"
CACHE = FOLDER / "cache"
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"} | {
    "PYTHONPYCACHEPREFIX": str(FOLDER / "bytecode"),
    "UNSPOOL_CACHE": str(CACHE),
}
_PEAK_UNIT = 1 if os.uname().sysname == "Darwin" else 1024


class ChildFailed(Exception):
    """A child ended with a status other than 0; the text is the end of what it said."""


@dataclass(frozen=True)
class Cost:
    cpu: float
    """Seconds, user and system, start of the interpreter included."""
    peak: int
    """Bytes; of several processes, those of the largest."""
    wall: float = 0.0
    """Seconds that one waited."""


def run(command: Sequence[str]) -> tuple[Cost, str]:
    """What the command cost and what it printed."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env=ENVIRONMENT)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except KeyboardInterrupt:
            process.kill()
            raise
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode:
            raise ChildFailed(f"{' '.join(command)}: status {process.returncode}\n{errors.read()[-2000:]}")
        return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _PEAK_UNIT, wall), output.read()


def best(commands: Sequence[Sequence[str]], times: int, before: Callable[[], None] = lambda: None) -> list[Cost]:
    """For each command its least times and its largest peak. They take turns, so that noise meets all of them.

    `before` is called before each run.
    """
    costs: list[list[Cost]] = [[] for _ in commands]
    for _ in range(times):
        for command, found in zip(commands, costs, strict=True):
            before()
            found.append(run(command)[0])
    return [
        Cost(min(cost.cpu for cost in found), max(cost.peak for cost in found), min(cost.wall for cost in found))
        for found in costs
    ]
