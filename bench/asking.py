"""What asking a model costs beside the model: until the request is sent, and for each event of the answer.

The floor is a process that imports what `unspool ask` imports of others, and nothing else.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import child
from report import FigureRow

CASES = {"ask-start": ("ms", 120.0), "ask-event": ("ms", 1.0)}
"""Name → the unit of its figure, and the bound."""
_SERVER = Path(__file__).with_name("ask_server.py")
_ASK = [sys.executable, "-m", "unspool", "ask", "Hi", "-p", "anthropic/tin"]
_EXPECTED_FAILURE = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode != 3)"
_OTHERS = """
import os, sys, runpy
before = set(sys.modules)
os._exit = sys.exit
sys.argv[1:] = {arguments!r}
try:
    runpy.run_module("unspool", run_name="__main__")
except SystemExit:
    pass
known = sys.stdlib_module_names
tops = {{name.partition(".")[0] for name in sys.modules}} - known - {{"unspool", "__main__"}}
print(*sorted(name for name in sys.modules if name.partition(".")[0] in tops and sys.modules[name].__spec__), sep=",")
"""


def measure(name: str, quick: bool) -> Iterator[FigureRow]:
    home = child.FOLDER / name
    shutil.rmtree(home, ignore_errors=True)
    unit, bound = CASES[name]
    times = 3 if quick else 9
    try:
        value = _start(home, times) if name == "ask-start" else _event(home, times, 400 if quick else 4_000)
        yield FigureRow(name, value * 1000, unit, None if quick else bound)
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def _served(pieces: int, home: Path) -> Iterator[dict[str, str]]:
    """The environment of a process that asks this server."""
    server = subprocess.Popen([sys.executable, str(_SERVER), str(pieces)], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        port = server.stdout.readline().strip()
        key = {"ANTHROPIC_API_KEY": "none"}
        yield {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}", "UNSPOOL_HOME": str(home), **key}
    finally:
        server.kill()
        server.wait()


def _start(home: Path, times: int) -> float:
    """CPU seconds of ours until the request is sent; what follows a refusal is little, and is counted too."""
    with _served(0, home) as environment, _set(environment):
        done = subprocess.run(
            [sys.executable, "-c", _OTHERS.format(arguments=_ASK[3:])],
            capture_output=True,
            text=True,
            check=True,
        )
        others = done.stdout.split()[-1]
        asked = [sys.executable, "-c", _EXPECTED_FAILURE, *_ASK]
        around = [sys.executable, "-c", _EXPECTED_FAILURE, sys.executable, "-c", "import sys; sys.exit(3)"]
        imports = [sys.executable, "-c", f"import {others}"]
        alone = [sys.executable, "-c", "pass"]
        asking, wrapped, floor, bare = child.best([asked, around, imports, alone], times)
    return asking.cpu - (wrapped.cpu - bare.cpu) - floor.cpu


def _event(home: Path, times: int, pieces: int) -> float:
    """CPU seconds for one event, all of it counted: reading, decoding, showing, putting together."""
    costs = []
    for number in (pieces, 4):
        with _served(number, home) as environment, _set(environment):
            costs += child.best([_ASK], times)
    return (costs[0].cpu - costs[1].cpu) / (pieces - 4)


@contextmanager
def _set(environment: dict[str, str]) -> Iterator[None]:
    """For the children, which get a copy of what this process was started with."""
    before = dict(child.ENVIRONMENT)
    child.ENVIRONMENT.update(environment)
    os.environ.update(environment)
    try:
        yield
    finally:
        child.ENVIRONMENT.clear()
        child.ENVIRONMENT.update(before)
        for name in environment:
            os.environ.pop(name, None)
