"""Inputs that are no plain files: a named pipe, as of `<(…)` in a shell, which can be read only once; UTF-16."""

import gzip
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import Run

SAMPLES = Path(__file__).parent.parent / "samples"
LOG, TRACE = SAMPLES / "logs" / "codex.jsonl", SAMPLES / "traces" / "trip-planner.jsonl"
Piped = Callable[[bytes], Path]


@pytest.fixture
def piped(tmp_path: Path) -> Iterator[Piped]:
    """Somebody writes it into a pipe, as soon as it is opened."""
    writers: list[subprocess.Popen[bytes]] = []

    def make(data: bytes) -> Path:
        source, pipe = tmp_path / "data", tmp_path / "pipe"
        source.write_bytes(data)
        os.mkfifo(pipe)
        writers.append(subprocess.Popen(["sh", "-c", 'exec cat "$1" > "$2"', "sh", source, pipe]))
        return pipe

    yield make
    for writer in writers:
        writer.kill()
        writer.wait()


@pytest.mark.parametrize(
    ("command", "given"),
    [
        (["cook", "-q"], TRACE),
        (["sessions", "--json"], LOG),
        (["show"], LOG),
        (["grep", "--raw", "price"], LOG),
        (["tools"], LOG),
        (["export", "markdown"], LOG),
        (["view", "--list"], TRACE),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
def test_a_pipe_is_read_as_the_file_is(
    command: list[str], given: Path, packed: bool, piped: Piped, tmp_path: Path, unspool: Run
) -> None:
    data = gzip.compress(given.read_bytes()) if packed else given.read_bytes()
    (tmp_path / "file").write_bytes(data)
    expected = unspool(*command, tmp_path / "file")
    pipe = piped(data)
    found = unspool(*command, pipe)
    assert found.returncode == expected.returncode == 0, found.stderr
    assert found.stdout.replace(bytes(pipe), bytes(tmp_path / "file")) == expected.stdout
    assert len(found.stdout) > 100


@pytest.mark.parametrize("coding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    ("command", "given"),
    [
        (["cook", "-q"], TRACE),
        (["show"], LOG),
        (["pretty"], LOG),
        (["view", "--list"], TRACE),
        (["grep", "price"], LOG),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_what_windows_wrote_is_read(command: list[str], given: Path, coding: str, tmp_path: Path, unspool: Run) -> None:
    plain, wide = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    plain.write_bytes(given.read_bytes())
    wide.write_bytes(("\ufeff" + given.read_text(encoding="utf-8")).encode(coding))
    expected, found = unspool(*command, plain), unspool(*command, wide)
    assert (found.returncode, found.stderr) == (0, expected.stderr)
    assert found.stdout.replace(bytes(wide), bytes(plain)) == expected.stdout
    assert len(found.stdout) > 100
