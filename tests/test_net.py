"""A fault of unspool's own in one file: a note about that file, and all else is read."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from brittle import FAILS, SAYS, STOPS, UNCLAIMED, UNCLOSED, registered
from conftest import Write
from logs import Claude
from unspool.cli import unspool as command
from unspool.errors import FileFault, InputNotFound
from unspool.ingest import heads
from unspool.ingest.logs import open_log
from unspool.jobs.cook import cook
from unspool.jobs.grep import Query, grep
from unspool.jobs.sessions import list_sessions
from unspool.jobs.squash import squash
from unspool.jobs.squash.settings import Settings
from unspool.jobs.tools import tools
from unspool.jobs.view.catalog import Catalog
from unspool.model import Event, Note

FAULT = "because of a fault of its own (KeyError: 'part'). Please report it."


@pytest.fixture(autouse=True)
def _brittle(monkeypatch: pytest.MonkeyPatch, home: Path) -> Iterator[None]:
    monkeypatch.setenv("UNSPOOL_CACHE", str(home / "cache"))
    heads._latest.clear()
    yield from registered(monkeypatch)
    heads._latest.clear()


@pytest.fixture
def folder(tmp_path: Path, write: Write) -> Path:
    """A good log between two that fail: one at a record, one when it is recognised."""
    (tmp_path / "logs").mkdir()
    write(SAYS, FAILS, {**SAYS, "text": "Goodbye"}, name="logs/a.jsonl")
    good = Claude().user("Mend it").calls("t1", "Bash", command="make").result("t1", "made").says("Done")
    good.save(tmp_path / "logs" / "m.jsonl")
    write(UNCLAIMED, name="logs/z.jsonl")
    return tmp_path / "logs"


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments], obj="")


def test_a_record_costs_only_itself(folder: Path) -> None:
    log = open_log(str(folder / "a.jsonl"))
    assert log is not None
    first, note, last = log
    assert isinstance(first, Event)
    assert isinstance(last, Event)
    assert isinstance(note, Note)
    assert (note.kind, note.origin.line) == ("internal", 2)
    assert note.reason == f"unspool could not read this record {FAULT}"


def test_what_was_read_before_the_end_failed_is_kept(write: Write) -> None:
    log = open_log(str(write(SAYS, UNCLOSED)))
    assert log is not None
    _, note = log
    assert isinstance(note, Note)
    assert (note.kind, "MemoryError" in note.reason) == ("internal", True)


def test_the_net_can_be_turned_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSPOOL_RAISE", "1")
    log = open_log(str(folder / "a.jsonl"))
    assert log is not None
    with pytest.raises(KeyError, match="part"):
        list(log)
    with pytest.raises(IndexError, match="no such place"):
        open_log(str(folder / "z.jsonl"))


def test_an_interrupt_passes_through(write: Write) -> None:
    log = open_log(str(write(SAYS, STOPS)))
    assert log is not None
    with pytest.raises(KeyboardInterrupt):
        list(log)


def test_errors_for_the_user_pass_through(tmp_path: Path) -> None:
    with pytest.raises(InputNotFound, match="No such file"):
        list_sessions([str(tmp_path / "gone.jsonl")])


def test_a_file_that_cannot_be_recognised_says_so_where_it_is_alone(folder: Path) -> None:
    with pytest.raises(FileFault, match=r"z\.jsonl: unspool could not read this file .* \(IndexError: no such place\)"):
        open_log(str(folder / "z.jsonl"))
    done = run("sessions", folder / "z.jsonl")
    assert isinstance(done.exception, InputNotFound)


@pytest.mark.parametrize("named", [False, True], ids=["a folder", "files by name"])
def test_sessions(folder: Path, named: bool) -> None:
    listed = list_sessions(sorted(map(str, folder.iterdir())) if named else [str(folder)])
    assert sorted((row.agent, row.prompt) for row in listed.rows) == [("brittle", "Hello"), ("claude_code", "Mend it")]
    (reason,) = listed.lost
    assert "z.jsonl: unspool could not read this file" in reason


def test_grep(folder: Path) -> None:
    found = {Path(path).name: searched for path, searched in grep(Query("e"), [str(folder)])}
    assert [bool(searched.hits) for searched in found.values()] == [True, True, False]
    assert [searched.notes for searched in found.values()] == [1, 0, 0]
    assert "IndexError" in found["z.jsonl"].fault
    assert "1 file could not be read: " in run("grep", "Mend", folder).output


def test_tools(folder: Path) -> None:
    seen, (lost,) = tools([str(folder)])
    assert [(tool.agent, tool.name) for tool in seen] == [("claude_code", "Bash")]
    assert "IndexError" in lost


def test_cook(folder: Path) -> None:
    cooked = cook(folder)
    assert [message.content for message in cooked.messages if message.role == "user"] == ["Mend it"]
    assert sorted((note.kind, Path(note.origin.file).name) for note in cooked.notes if note.kind == "internal") == [
        ("internal", "a.jsonl"),
        ("internal", "z.jsonl"),
    ]


def test_strict_counts_it_as_a_fault(folder: Path, tmp_path: Path) -> None:
    assert run("cook", "--strict", folder, "-o", tmp_path / "out.json").exception.exit_status == 1  # type: ignore[union-attr]
    assert run("squash", "--strict", folder, "-o", tmp_path / "out").exception.exit_status == 1  # type: ignore[union-attr]


def test_squash(folder: Path, tmp_path: Path) -> None:
    squashed = squash(folder, out=tmp_path / "out", settings=Settings(key=bytes(32)))
    assert squashed.records == 1
    assert squashed.counts["notes internal"] == 2


def test_view(folder: Path) -> None:
    catalog = Catalog([str(folder)])
    assert sorted(row.agent or "" for row in catalog.rows()) == ["brittle", "claude_code"]
    assert ["IndexError" in reason for reason in catalog.lost] == [True]
    assert Catalog([str(folder / "m.jsonl"), str(folder / "z.jsonl")]).lost == catalog.lost


@pytest.mark.parametrize("name", ["show", "pretty"])
def test_a_run_is_shown_to_its_end(name: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    done = run(name, folder / "a.jsonl")
    shown = done.output + "".join(capfd.readouterr())
    assert done.exit_code == 0
    assert "1 record not understood" in shown
    assert "KeyError: 'part'" in shown
    assert shown.index("Hello") < shown.index("Goodbye")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("sessions",), "Mend it"),
        (("grep", "Mend"), "Mend it"),
        (("tools",), "Bash"),
        (("squash", "-o", "out"), "1 record in out"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_in_several_processes(folder: Path, tmp_path: Path, arguments: tuple[str, ...], shown: str) -> None:
    program = [sys.executable, str(Path(__file__).with_name("brittle.py"))]
    done = subprocess.run(
        [*program, *arguments, str(folder), "--jobs", "2"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout + done.stderr
    if arguments[0] == "squash":
        assert "2  notes internal" in done.stderr
    else:
        assert "1 file could not be read" in done.stderr
        assert "IndexError: no such place" in done.stderr
