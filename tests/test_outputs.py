"""What a command writes never replaces what it reads, nor an agent's log: each command, each option, each spelling."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from calls import call
from conftest import Run, Write
from isolation import NOT_SET
from logs import SHOP, Claude, Machine
from unspool.cli import unspool as root
from unspool.ingest.outputs import may_be_agents
from unspool.readers import READERS
from unspool.sources.outputs import matches, spellings

Command = list[str | Path]
FILES: dict[str, Callable[[str | Path, str | Path], Command]] = {
    "cook --output": lambda source, target: ["cook", source, "-o", target],
    "cook --notes": lambda source, target: ["cook", source, "-o", os.devnull, "--notes", target],
    "export html --output": lambda source, target: ["export", "html", source, "-o", target],
    "export markdown --output": lambda source, target: ["export", "markdown", source, "-o", target],
    "pretty --tee": lambda source, target: ["pretty", source, "--tee", target],
    "record unpack --output": lambda source, target: ["record", "unpack", source, "-o", target],
    "squash --rejects": lambda source, target: ["squash", source, "-o", "squashed", "--rejects", target],
    "squash --shards --rejects": lambda source, target: [
        *("squash", source, "-o", "squashed", "--shards", "2", "--rejects", target)
    ],
}
"""Commands that read the first file or folder, and write the second file."""
FOLDERS: dict[str, Callable[[Path, Path], Command]] = {
    "squash --output": lambda trace, folder: ["squash", trace, "-o", folder],
    "squash --shards --output": lambda trace, folder: ["squash", trace, "-o", folder, "--shards", "2"],
    "record --output": lambda _, folder: ["record", "--port", "0", "--by-session", "-o", folder.parent],
    "store export folder": lambda _, folder: ["store", "export", folder],
}
"""Commands that write files to a folder which an agent would take for its own."""
APPENDING: dict[str, Callable[[Path], Command]] = {
    "record --output": lambda target: ["record", "--port", "0", "-o", target],
    "run --output": lambda target: ["run", "-o", target, "--", "true"],
}
NO_LOGS = {"export html --site"}
"""They write no file that an agent would open."""
READ = {
    *("ask --attach", "cook inputs", "document files", "export html paths", "export markdown path", "grep paths"),
    *("pretty --env-file", "pretty file", "record unpack trace", "replay requests", "request --tools"),
    *("serve-recorded traces", "servers add --cwd", "sessions --project", "sessions paths", "show session"),
    *("squash --tokenizer", "squash logs", "store import folder", "thread add --turns", "tools paths", "view paths"),
}
"""Options and arguments that name files to be read."""
IN_FOLDERS = sorted(set(FILES) - {"pretty --tee", "record unpack --output", "export markdown --output"})


def parameters(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[str]:
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            inner = command.get_command(click.Context(command), name)
            assert inner is not None
            yield from parameters(inner, (*path, name))
    for parameter in command.params:
        names_file = any(
            word in (parameter.metavar or "") for word in ("FILE", "DIR", "FOLDER", "INPUT", "LOGS", "OUT", "PATH")
        )
        if names_file:
            yield " ".join((*path, parameter.opts[-1]))


def test_each_option_that_names_a_file_is_known_to_read_or_to_write() -> None:
    """A new option belongs into one of the tables above: if it writes, its refusals are tested."""
    assert set(parameters(root)) == {name for name in {*FILES, *FOLDERS, *APPENDING} if "--shards" not in name} | (
        NO_LOGS | READ
    )


@pytest.fixture
def trace(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "traces").mkdir()
    monkeypatch.chdir(tmp_path)
    return write(call("u", answer="a"), name="traces/trace.jsonl")


def linked(link: Path, target: Path) -> Path:
    link.symlink_to(target)
    return link


def hard_linked(link: Path, target: Path) -> Path:
    link.hardlink_to(target)
    return link


SPELLINGS: dict[str, Callable[[Path], Path | str]] = {
    "the same": lambda path: path,
    "relative": lambda path: path.relative_to(Path.cwd()),
    "./": lambda path: f"./{path.relative_to(Path.cwd())}",
    "..": lambda path: path.parent / ".." / path.parent.name / path.name,
    "symbolic link": lambda path: linked(Path("link.jsonl"), path),
    "hard link": lambda path: hard_linked(Path("link.jsonl"), path),
    "linked folder": lambda path: linked(Path("folder"), path.parent) / path.name,
}


@pytest.mark.parametrize("spelled", SPELLINGS)
@pytest.mark.parametrize("writer", FILES)
def test_a_named_input_is_not_replaced(unspool: Run, trace: Path, writer: str, spelled: str) -> None:
    refused(unspool, trace, *FILES[writer](trace, SPELLINGS[spelled](trace)))


@pytest.mark.parametrize("spelled", SPELLINGS)
@pytest.mark.parametrize("writer", IN_FOLDERS)
def test_a_file_of_a_named_folder_is_not_replaced(unspool: Run, trace: Path, writer: str, spelled: str) -> None:
    refused(unspool, trace, *FILES[writer](trace.parent, SPELLINGS[spelled](trace)))


def contents() -> dict[Path, bytes]:
    """Return all files below the current folder, but those that unspool keeps for itself: a cache, a key."""
    files = (path for path in Path.cwd().rglob("*") if path.is_file() and path.parent.name != "unspool")
    return {path: path.read_bytes() for path in files}


def refused(unspool: Run, before: Path, *arguments: str | Path, said: bytes = b"would be overwritten") -> None:
    """The command exits with 2 and a sentence, and no file is other than before."""
    files = contents()
    assert before.resolve() in {path.resolve() for path in files}
    done = unspool(*arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr
    assert done.stderr.count(b"\n") == 1, done.stderr
    assert contents() == files


def test_an_earlier_output_among_the_inputs_is_not_replaced(unspool: Run, trace: Path) -> None:
    """It would be read as an input, too. What is never read can be written again."""
    out = trace.parent / "cooked.json"
    assert unspool("cook", trace.parent, "-o", out).returncode == 0
    refused(unspool, out, "cook", trace.parent, "-o", out, said=b"delete it first")
    page = trace.parent / "page.html"
    for _ in range(2):
        assert unspool("export", "html", trace, "-o", page).returncode == 0


def test_a_stream_is_not_replaced_while_it_is_read(trace: Path) -> None:
    """The input is known by its descriptor alone."""
    for command in (["cook", "-", "-o", str(trace)], ["pretty", "--tee", str(trace)]):
        with trace.open("rb") as stream:
            done = subprocess.run(
                [sys.executable, "-m", "unspool", *command], stdin=stream, capture_output=True, check=False
            )
        assert (done.returncode, b"would be overwritten" in done.stderr) == (2, True)
        assert trace.stat().st_size


def test_an_input_in_the_folder_of_records_is_not_replaced(unspool: Run, trace: Path) -> None:
    (out := Path("out")).mkdir()
    hard_linked(out / "2026-03-02.jsonl", trace)
    refused(unspool, trace, "squash", trace, "-o", out, said=b"is an input")
    refused(unspool, trace, "squash", trace, "-o", out, "--shards", "2", said=b"is an input")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine on which somebody works in the home folder. Its environment is that of the test."""
    machine = Machine(tmp_path)
    for name in ("HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, machine.environment[name])
    monkeypatch.chdir(tmp_path)
    return machine


@pytest.mark.parametrize("session", [SHOP, SHOP[:8], "latest"])
@pytest.mark.parametrize("writer", ["cook --output", "export html --output", "export markdown --output"])
def test_the_log_of_a_session_by_its_name_is_not_replaced(
    unspool: Run, machine: Machine, writer: str, session: str
) -> None:
    log = machine.claude(Claude().user("Mend it").says("Done"))
    refused(unspool, log, *FILES[writer](session, log), said=b"is a log of Claude Code")
    other = hard_linked(Path("link.md"), log)
    refused(unspool, log, *FILES[writer](session, other), said=b"was read as an input")


@pytest.mark.parametrize("name", ["new.jsonl", "NEW.JSONL", "notes.md"])
@pytest.mark.parametrize("writer", FILES)
def test_a_name_that_an_agent_would_open_is_not_taken(
    unspool: Run, machine: Machine, write: Write, writer: str, name: str
) -> None:
    folder = machine.claude(Claude().user("Mend it").says("Done")).parent
    trace = write(call("u", answer="a"))
    if name.endswith(".md"):
        assert unspool(*FILES[writer](trace, folder / name)).returncode == 0
    else:
        refused(unspool, trace, *FILES[writer](trace, folder / name), said=b"Claude Code keeps its logs in")


@pytest.mark.parametrize("writer", FOLDERS)
def test_a_folder_that_an_agent_would_look_into_is_not_written_to(
    unspool: Run, machine: Machine, write: Write, writer: str
) -> None:
    log = machine.claude(Claude().user("Mend it").says("Done"))
    trace = write(call("u", answer="a"))
    refused(unspool, log, *FOLDERS[writer](trace, log.parent.with_name("new")), said=b"Claude Code keeps its logs in")


@pytest.mark.parametrize("writer", APPENDING)
def test_a_recorder_does_not_append_to_a_log(unspool: Run, machine: Machine, writer: str) -> None:
    log = machine.claude(Claude().user("Mend it").says("Done"))
    refused(unspool, log, *APPENDING[writer](log), said=b"is a log of Claude Code")
    elsewhere = Claude().user("Mend it").says("Done").save(Path("mine.jsonl"))
    refused(unspool, elsewhere, *APPENDING[writer](elsewhere), said=b"is a log of Claude Code, not a trace")


@pytest.mark.parametrize("writer", APPENDING)
def test_a_recorder_does_not_append_to_a_database(unspool: Run, trace: Path, writer: str) -> None:
    with sqlite3.connect(path := trace.with_suffix(".data")) as database:
        database.execute("CREATE TABLE message (id TEXT)")
    database.close()
    refused(unspool, path, *APPENDING[writer](path), said=b"is a database, not a trace")


def test_a_recorder_appends_to_a_trace(unspool: Run, trace: Path) -> None:
    before = trace.read_bytes()
    assert unspool("run", "-o", trace, "--", "true").returncode == 0
    assert trace.read_bytes() == before


@pytest.mark.parametrize("ending", ["", "-wal", "-shm", "-journal"])
def test_a_database_and_its_companions_are_not_replaced(
    unspool: Run, machine: Machine, write: Write, ending: str
) -> None:
    trace = write(call("u", answer="a"))
    for folder, said in ((machine.home / ".local/share/opencode", b"OpenCode"), (Path("mine"), b"is an input")):
        folder.mkdir(parents=True)
        with sqlite3.connect(folder / "opencode.db") as database:
            database.execute("CREATE TABLE message (id TEXT)")
        database.close()
        if folder == Path("mine"):
            (folder / "opencode.db").rename(folder / "other.db")
            refused(unspool, trace, "export", "html", folder, "-o", folder / f"other.db{ending}", said=said)
        else:
            refused(unspool, trace, "cook", trace, "-o", folder / f"opencode.db{ending}", said=said)


@pytest.mark.usefixtures("machine")
def test_the_current_folder_stays_writable_though_an_agent_keeps_logs_there(unspool: Run, write: Write) -> None:
    trace, aider = write(call("u", answer="a")), Path(".aider.chat.history.md")
    assert unspool("export", "markdown", trace, "-o", "out.md").returncode == 0
    refused(unspool, trace, "export", "markdown", trace, "-o", aider, said=b"Aider keeps its logs in")
    aider.write_text("# aider chat started at 2026-03-02 10:00:00\n", "utf-8")
    refused(unspool, trace, "export", "markdown", trace, "-o", f"./{aider}", said=b"is a log of Aider")


@pytest.mark.parametrize("variable", [None, *sorted(NOT_SET)])
def test_no_place_of_an_agent_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str | None
) -> None:
    """Readers are asked only about paths that look as if an agent kept its logs there."""
    monkeypatch.chdir(tmp_path)
    if variable is not None:
        monkeypatch.setenv(variable, "moved")
    for reader in READERS.values():
        for place in reader.places(os.environ, Path.home()):
            for pattern in place.patterns:
                file = place.folder / pattern.replace("**", "a").replace("*", "b")
                assert may_be_agents(str(file)), (reader.name, file)


@pytest.mark.parametrize(
    ("name", "pattern", "fits"),
    [
        ("a/b.jsonl", "*/*.jsonl", True),
        ("a/B.JSONL", "*/*.jsonl", True),
        ("b.jsonl", "*/*.jsonl", False),
        ("a/b/c.jsonl", "*/*.jsonl", False),
        ("c.jsonl", "**/*.jsonl", True),
        ("a/b/c.jsonl", "**/*.jsonl", True),
        ("a/x/b/c.md", "a/**/c.md", True),
        ("a/x/b/d.md", "a/**/c.md", False),
    ],
)
def test_patterns(name: str, pattern: str, fits: bool) -> None:
    assert matches(name.split("/"), pattern.split("/")) is fits


def test_spellings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "real").mkdir()
    linked(tmp_path / "folder", tmp_path / "real")
    linked(tmp_path / "real/link", tmp_path / "file")
    assert list(spellings("./folder/../folder/link")) == [tmp_path / "real/link", tmp_path / "file"]


@pytest.mark.parametrize("protocol", ["file", "local"])
@pytest.mark.parametrize("writer", ["cook --output", "cook --notes", "squash --rejects", "export html --output"])
def test_a_url_of_a_local_file_is_the_file(unspool: Run, trace: Path, writer: str, protocol: str) -> None:
    url = f"{protocol}://{trace}"
    refused(unspool, trace, *FILES[writer](url, trace))
    refused(unspool, trace, *FILES[writer](trace, url))


def test_a_url_of_a_local_folder_is_the_folder(unspool: Run, trace: Path) -> None:
    refused(unspool, trace, *FILES["cook --output"](f"file://{trace.parent}", trace))
    squash: Command = ["squash", f"file://{trace.parent}", "-o", trace.parent]
    refused(unspool, trace, *squash, said=b"is the input and the output")


@pytest.mark.parametrize("writer", ["cook --output", "cook --notes", "export markdown --output"])
def test_an_output_without_a_name_is_refused(unspool: Run, trace: Path, writer: str) -> None:
    refused(unspool, trace, *FILES[writer](trace, ""), said=b"the name of the output is empty")


def test_an_output_folder_without_a_name_is_refused(unspool: Run, trace: Path) -> None:
    refused(unspool, trace, "squash", trace, "-o", "", said=b"the name of the output folder is empty")
