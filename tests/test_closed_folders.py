"""What may not be read, in a folder that was given: it is named, and what may be read is read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Run
from logs import Claude


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """With a log, and a folder that belongs to somebody else."""
    folder = tmp_path / "logs"
    closed = folder / "root"
    closed.mkdir(parents=True)
    Claude().user("Mend it").calls("t1", "Bash", command="make").says("Mended.").save(folder / "log.jsonl")
    closed.chmod(0)
    yield folder
    closed.chmod(0o700)


def test_a_folder_that_was_named(ordinary: Run, folder: Path) -> None:
    closed = folder / "root"
    for command in ("cook", "sessions", "show", "grep x", "tools", "view --list", "export markdown", "squash -o out"):
        done = ordinary(*command.split(), closed)
        assert (done.returncode, done.stderr.decode()) == (2, f"unspool: {closed}: Permission denied\n")


@pytest.mark.parametrize("command", ["sessions", "sessions --json", "tools", "tools --json", "view --list"])
def test_lists_say_what_they_could_not_look_into(ordinary: Run, folder: Path, command: str) -> None:
    told = f"1 file could not be read: {folder / 'root'}: Permission denied"
    done = ordinary(*command.split(), folder)
    assert done.returncode == 0
    assert (b"Bash" if "tools" in command else b"Mend it") in done.stdout
    assert done.stderr.decode().splitlines()[-1] == told


def test_cook_and_squash_note_it(ordinary: Run, folder: Path, tmp_path: Path) -> None:
    cooked = ordinary("cook", folder, "-o", tmp_path / "cooked.json")
    assert cooked.returncode == 0
    assert f"unreadable {folder / 'root'}: {folder / 'root'}: Permission denied" in cooked.stderr.decode()
    squashed = ordinary("squash", folder, "-o", tmp_path / "out", "--rejects", tmp_path / "rejects.jsonl")
    assert squashed.returncode == 0
    assert "1 record in" in squashed.stderr.decode()
    assert "Permission denied" in (tmp_path / "rejects.jsonl").read_text()


def test_where_agents_keep_their_logs(ordinary: Run, folder: Path, tmp_path: Path) -> None:
    """An agent that ran as root, in a container, leaves folders that are root's."""
    projects = tmp_path / "home" / ".claude" / "projects"
    projects.parent.mkdir(parents=True)
    folder.rename(projects)
    try:
        machine = {"HOME": str(tmp_path / "home"), "UNSPOOL_CACHE": str(tmp_path / "cache")}
        told = f"{projects / 'root'}: Permission denied"
        assert told in ordinary("sessions", **machine).stderr.decode()
        assert told in ordinary("sources", "--json", **machine).stdout.decode()
    finally:
        projects.rename(folder)
