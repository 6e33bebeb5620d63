"""Inputs that are no plain files: a named pipe, as of `<(…)` in a shell, read only once; UTF-16; an empty name."""

import gzip
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import Run

SAMPLES = Path(__file__).parent.parent / "samples"
LOG, TRACE = SAMPLES / "logs" / "codex.jsonl", SAMPLES / "traces" / "trip-planner.jsonl"
Piped = Callable[[Path], None]


@pytest.fixture
def piped(tmp_path: Path) -> Iterator[Piped]:
    """In place of a file a pipe, into which somebody writes what was in it, as soon as it is opened."""
    writers: list[subprocess.Popen[bytes]] = []

    def make(file: Path) -> None:
        source = file.rename(tmp_path / "data")
        os.mkfifo(file)
        writers.append(subprocess.Popen(["sh", "-c", 'exec cat "$1" > "$2"', "sh", source, file]))

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
    file = tmp_path / "given"
    file.write_bytes(gzip.compress(given.read_bytes()) if packed else given.read_bytes())
    expected = unspool(*command, file)
    piped(file)
    found = unspool(*command, file)
    assert found.returncode == expected.returncode == 0, found.stderr
    assert found.stdout == expected.stdout
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
    file = tmp_path / "given.jsonl"
    file.write_bytes(given.read_bytes())
    expected = unspool(*command, file)
    file.write_bytes(("\ufeff" + given.read_text(encoding="utf-8")).encode(coding))
    found = unspool(*command, file)
    assert (found.returncode, found.stderr) == (0, expected.stderr)
    assert found.stdout == expected.stdout
    assert len(found.stdout) > 100


@pytest.mark.parametrize("command", ["sessions", "show", "tools", "grep kettle"])
def test_an_empty_name_is_not_the_folder_that_one_is_in(unspool: Run, command: str) -> None:
    done = unspool(*command.split(), "")
    assert (done.returncode, done.stderr) == (2, b"unspool: an empty name is no file\n")


@pytest.fixture
def latin(tmp_path: Path) -> Path:
    """A folder and files whose names are no text in UTF-8: a log that is called by its file, a trace, neither."""
    (folder := tmp_path / os.fsdecode(b"caf\xe9")).mkdir()
    log = Path(__file__).parent / "readers" / "goose_jsonl" / "without_a_header.jsonl"
    (folder / os.fsdecode(b"friday\xe9.jsonl")).write_bytes(log.read_bytes())
    (folder / os.fsdecode(b"trace\xe9.jsonl")).write_bytes(TRACE.read_bytes())
    (folder / os.fsdecode(b"nothing\xe9.json")).write_text('{"a": 1}')
    return folder


@pytest.mark.parametrize(
    "command",
    [
        ("sessions", "--json"),
        ("show",),
        ("show", "--json"),
        ("grep", "{", "--json"),
        ("tools", "--json"),
        ("view", "--list"),
        ("cook", "-q", "--notes", "notes.jsonl"),
        ("export", "html", "-q", "-o", "-"),
        ("squash", "-q", "-o", "training"),
    ],
    ids=" ".join,
)
def test_names_that_are_no_text(unspool: Run, latin: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    arguments = [str(tmp_path / word) if word in ("notes.jsonl", "training") else word for word in command]
    for _ in range(2):  # once more from the cache
        done = unspool(*arguments, latin, UNSPOOL_CACHE=str(tmp_path / "cache"), UNSPOOL_HOME=str(tmp_path / "home"))
        assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr.decode()
    if command[0] in ("sessions", "cook"):
        assert "friday\N{REPLACEMENT CHARACTER}" in done.stdout.decode()
