"""The command as a user meets it."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from subprocess import PIPE

import click
import pytest

from calls import call
from conftest import Run, Write
from unspool import __version__
from unspool.cli import COMMANDS
from unspool.cli.cook import FORMATS
from unspool.wires import WIRES


def test_version(unspool: Run) -> None:
    assert unspool("--version").stdout == f"unspool {__version__}\n".encode()


def test_help_lists_every_command(unspool: Run) -> None:
    text = unspool("--help").stdout.decode()
    assert all(name in text for name in COMMANDS)
    for name in COMMANDS:
        assert unspool(name, "--help").returncode == 0


def test_help_is_not_cut_and_names_what_is_wanted(unspool: Run) -> None:
    for name in COMMANDS:
        lines = unspool(name, "--help", COLUMNS="80").stdout.decode().splitlines()
        assert not [line for line in lines[1:] if line.endswith("...")], name
        assert not [line for line in lines if "INTEGER" in line or "FLOAT" in line], name


def test_a_command_that_is_misspelt(unspool: Run) -> None:
    done = unspool("prety", "x")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"No such command 'prety'. Did you mean 'pretty'?" in done.stderr
    assert b"Did you mean" not in unspool("xyzzy").stderr


THREADS = ("ask", "thread", "context", "document", "replay", "provider", "servers", "request", "response", "store")


@pytest.mark.parametrize("name", THREADS)
def test_programs_are_told_as_well_as_people(name: str) -> None:
    command = import_module(f"unspool.cli.{name}").command
    for each in command.commands.values() if isinstance(command, click.Group) else [command]:
        assert "--json" in [option for parameter in each.params for option in parameter.opts], each.name


def test_the_formats_are_the_wires() -> None:
    assert set(FORMATS) == {"auto", *WIRES}


def test_the_installed_command_runs() -> None:
    found = subprocess.run([Path(sys.executable).parent / "unspool", "--version"], capture_output=True, check=True)
    assert found.stdout.startswith(b"unspool ")


def test_output_and_summary_are_apart(unspool: Run, write: Write) -> None:
    done = unspool("cook", write(call("Mend the login", answer="a1"), b"oops", {"no": "record"}))
    assert done.returncode == 0
    assert len(json.loads(done.stdout)["requests"]) == 1
    summary = done.stderr.decode()
    assert "3 records in 1 file: 1 request, 1 unreadable, 1 skipped" in summary
    assert "Mend the login" in summary
    assert re.search(r"unreadable .*trace.jsonl:2: no JSON", summary)


def test_equal_notes_are_one_line(unspool: Run, write: Write) -> None:
    summary = unspool("cook", write(*[{"no": "record"}] * 30), "-o", os.devnull).stderr.decode()
    assert "trace.jsonl:1 and 29 more lines: no call" in summary
    assert len(summary.splitlines()) < 6


def test_a_file_as_output(unspool: Run, write: Write, tmp_path: Path) -> None:
    done = unspool(
        "cook", write(call("u", answer="a")), "-o", tmp_path / "out.json", "--notes", tmp_path / "notes.jsonl"
    )
    assert done.stdout == b""
    assert json.loads((tmp_path / "out.json").read_text())["version"] == 1
    assert (tmp_path / "notes.jsonl").read_text() == ""


def test_notes_go_to_a_file(unspool: Run, write: Write, tmp_path: Path) -> None:
    unspool("cook", write(b"oops"), "-q", "-o", os.devnull, "--notes", tmp_path / "notes.jsonl")
    (note,) = map(json.loads, (tmp_path / "notes.jsonl").read_text().splitlines())
    assert note["kind"] == "unreadable"
    assert note["origin"]["line"] == 1


def test_standard_input_and_several_inputs(unspool: Run, write: Write) -> None:
    first = write(call("u1", answer="a1"), name="1.jsonl")
    done = unspool("cook", first, "-", "-q", stdin=json.dumps(call("u2", answer="a2")).encode())
    files = [request["origin"]["file"] for request in json.loads(done.stdout)["requests"]]
    assert files == [str(first), "-"]
    assert done.stderr == b""


def test_format_is_obeyed(unspool: Run, write: Write) -> None:
    done = unspool("cook", write({"request": {"messages": []}}), "--format", "claude", "-q")
    assert json.loads(done.stdout)["requests"][0]["format"] == "claude"


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ((), 2, "Missing argument"),
        (("nope.jsonl",), 2, "nope.jsonl: No such file or directory"),
        (("--fromat", "x"), 2, "No such option"),
        (("-", "--format", "cobol"), 2, "'cobol' is not one of"),
        (("-", "-o", "/nonexistent/folder/x.json"), 2, "/nonexistent/folder/x.json: No such file or directory"),
        (("-", "-o", "/dev/full"), 2, "/dev/full: No space left on device"),
        (("-", "-o", "/tmp"), 2, "/tmp: Is a directory"),
        (("x" * 400,), 2, "File name too long"),
        (("",), 2, "an empty name is no file"),
        (("-", "--notes", "-"), 2, "--output and --notes are both '-'"),
    ],
)
def test_mistakes_are_named(unspool: Run, arguments: tuple[str, ...], status: int, words: str) -> None:
    done = unspool("cook", *arguments)
    assert done.returncode == status
    assert words in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_interrupted() -> None:
    command = [sys.executable, "-m", "unspool", "cook", "-"]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, bufsize=0) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        for _ in range(16):
            process.stdin.write(b"\n" * 65536)  # more than a pipe holds: so it has loaded, and reads
        process.send_signal(signal.SIGINT)
        assert process.stderr.read().endswith(b"unspool: interrupted\n")
        assert process.wait(60) == 130


def test_an_input_is_not_overwritten(unspool: Run, write: Write) -> None:
    path = write(call("u", answer="a"))
    before = path.read_bytes()
    done = unspool("cook", path, "-o", path)
    assert done.returncode == 2
    assert b"is an input: it would be overwritten" in done.stderr
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("cook samples -o out.json 2>&-", 0),
        ("cook samples -q -o out.json >&-", 0),
        ("cook samples -o out.json 2>/dev/full", 0),
        ("cook samples -q >&-", 2),
        ("cook - -q <&-", 2),
        ("--version >&-", 2),
        ("--version >/dev/full", 2),
    ],
)
def test_closed_streams(command: str, status: int, tmp_path: Path) -> None:
    (tmp_path / "samples").symlink_to(Path(__file__).parent.parent / "samples")
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m unspool {command}"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == status
    assert b"Traceback" not in done.stderr
    assert (tmp_path / "out.json").exists() == ("out.json" in command)


def test_a_compressed_pipe_may_begin_slowly(write: Write) -> None:
    path = write(call("u", answer="a"))
    script = f"(printf '\\x1f'; sleep .3; gzip -c {path} | tail -c +2) | {sys.executable} -m unspool cook - -q"
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    assert len(json.loads(done.stdout)["requests"]) == 1


def test_no_color_is_obeyed(unspool: Run, write: Write) -> None:
    assert b"\x1b" not in unspool("cook", write(call("u", answer="a")), "-o", os.devnull, NO_COLOR="1").stderr


def test_an_empty_folder_is_named(unspool: Run, tmp_path: Path) -> None:
    done = unspool("cook", tmp_path)
    assert done.returncode == 2
    assert b"no file in this folder" in done.stderr


def test_strict(unspool: Run, write: Write) -> None:
    assert unspool("cook", write(call("u", answer="a")), "--strict", "-q").returncode == 0
    done = unspool("cook", write(call("u", answer="a"), b"oops"), "--strict", "-q")
    assert done.returncode == 1
    assert json.loads(done.stdout)["requests"], "what could be read is written all the same"
    assert re.search(rb"--strict: 1 note, the first at .*:2: no JSON: ", done.stderr)


def test_a_closed_pipe_is_quiet(write: Write) -> None:
    path = write(*(call(f"u{n} " + "long " * 200, answer="a") for n in range(300)))
    command = f"{sys.executable} -m unspool cook -q {path} | head -c 10"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, check=False)
    assert done.stderr == b""
    assert done.returncode == 0


@pytest.mark.parametrize("arguments", ["--help", "cook --help"])
def test_help_that_nobody_reads_is_no_fault(arguments: str) -> None:
    command = f"{sys.executable} -m unspool {arguments} | true"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_terminal_gets_a_summary_that_fits(write: Write) -> None:
    path = write(*(call("A prompt that is quite long " * 5, answer="a", model="m" * 40) for _ in range(3)))
    parent, child = pty.openpty()
    environment = {**os.environ, "COLUMNS": "90"}
    process = subprocess.Popen(
        [sys.executable, "-m", "unspool", "cook", path, "-o", os.devnull], stderr=child, env=environment
    )
    process.wait(60)
    os.close(child)
    shown = os.read(parent, 1 << 16).decode()
    os.close(parent)
    assert "conversation" in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert max(map(len, plain.splitlines())) <= 90
