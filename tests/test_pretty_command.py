"""`unspool pretty` as a program: how it ends, whom it runs, what it leaves behind."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from subprocess import PIPE
from typing import IO

import pytest

from conftest import Run
from recorders import PATIENCE
from streams import Live
from terminal import Terminal

COMMAND = [sys.executable, "-m", "unspool", "pretty"]
DONE = Live().starts().says("Hello.").ends()
SAY = "import sys; sys.stdout.write(sys.argv[1]); sys.stdout.flush()"


def program(text: str, more: str = "") -> list[str]:
    """A command that prints the text, and then does more."""
    return [sys.executable, "-c", f"{SAY}\n{more}", text]


def write_all(file: IO[bytes], data: bytes) -> None:
    with file:
        file.write(data)


def write_for_ever(descriptor: int, data: bytes) -> None:
    for _ in range(100_000):
        os.write(descriptor, data)


@pytest.mark.parametrize(
    ("live", "status"),
    [
        (Live().ends(), 0),
        (Live().fails("error_max_turns"), 1),
        (Live().fails("success", result="Invalid API key"), 1),
        (Live().starts().says("Hm."), 3),
        (Live(), 3),
        (Live().fails("error_during_execution").ends(), 0),
        (Live().ends().says("And then"), 3),
        (Live().ends().calls("t", "Bash", command="make"), 3),
        (Live().ends().inside("k").says("In the background."), 0),
    ],
)
def test_exit_code(live: Live, status: int, unspool: Run) -> None:
    assert unspool("pretty", "--exit-code", stdin=live.data).returncode == status
    assert unspool("pretty", stdin=live.data).returncode == 0


def test_a_command_is_run(unspool: Run, tmp_path: Path) -> None:
    text = DONE.data.decode()
    for more, status in (("", 0), ("sys.exit(7)", 7), ("import os; os.kill(os.getpid(), 15)", 143)):
        done = unspool("pretty", "--tee", tmp_path / "raw", "--", *program(text, more))
        assert (done.returncode, b"Hello." in done.stdout) == (status, True)
        assert (tmp_path / "raw").read_bytes() == DONE.data
    failed = Live().fails("error_max_turns").data.decode()
    assert unspool("pretty", "--exit-code", "--", *program(failed)).returncode == 1
    assert unspool("pretty", "--exit-code", "--", *program(failed, "sys.exit(9)")).returncode == 9
    assert (
        unspool("pretty", "--", *program("", "print(sys.stdin.read())"), stdin=b"its own input").stdout
        == b"its own input\n"
    )


def test_a_command_that_cannot_be_run(unspool: Run, tmp_path: Path) -> None:
    done = unspool("pretty", "--", "no-such-program-anywhere")
    assert (done.returncode, done.stderr) == (127, b"unspool: no-such-program-anywhere: No such file or directory\n")
    (tmp_path / "text").write_text("")
    assert unspool("pretty", "--", tmp_path / "text").returncode == 126


def test_a_command_whose_child_holds_its_output_open(unspool: Run, tmp_path: Path) -> None:
    more = (
        "import subprocess, pathlib\n"
        "child = subprocess.Popen(['sleep', '100'], stderr=subprocess.DEVNULL)\n"
        f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(child.pid))"
    )
    done = unspool("pretty", "--", *program(DONE.data.decode(), more))
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)  # it is still there
    assert done.returncode == 0
    assert b"Hello." in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("no-such-file",), b"no-such-file: No such file"),
        (("--",), b"no command behind --"),
        (("a-file", "--", "true"), b"not both"),
        (("--follow",), b"--follow needs a FILE"),
        (("--speed", "1"), b"--speed is for a FILE"),
        (("--tee", "/no/such/folder/file"), b"/no/such/folder/file: No such file"),
        (("--orphan-after", "soon"), b"no span of time"),
        (("--env-file", "no-such-env"), b"no-such-env: No such file"),
    ],
)
def test_mistakes(arguments: tuple[str, ...], told: bytes, unspool: Run) -> None:
    done = unspool("pretty", *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_closed_pipe_is_no_fault() -> None:
    with subprocess.Popen(COMMAND, stdin=PIPE, stdout=PIPE, stderr=PIPE, bufsize=0) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(DONE.data)
        assert process.stdout.read(10)
        process.stdout.close()
        with pytest.raises(BrokenPipeError):
            write_for_ever(process.stdin.fileno(), DONE.data)
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


def test_a_slow_reader_loses_nothing() -> None:
    live = Live()
    for number in range(400):
        live.says(f"Message {number}, " + "word " * 200)
    whole = subprocess.run(COMMAND, input=live.data, capture_output=True, check=True).stdout
    with subprocess.Popen(COMMAND, stdin=PIPE, stdout=PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        writer = threading.Thread(target=write_all, args=(process.stdin, live.data))  # while we read
        writer.start()
        time.sleep(1)  # much longer than a pipe takes to be full
        found = b""
        while piece := process.stdout.read(7919):
            found += piece
        writer.join()
    assert len(found) > 500_000
    assert found == whole


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_on_a_terminal(number: signal.Signals, status: int) -> None:
    terminal = Terminal("pretty", "--queue")
    terminal.send(Live().starts().calls("t", "Bash", command="make").says("Working.").data)
    terminal.wait_for("Working.")
    assert terminal.signal(number) == status
    text = "\n".join(terminal.screen)
    assert "Bash - INTERRUPTED" in text
    assert f"unspool was stopped by {number.name}" in text
    assert b"Traceback" not in terminal.told
    assert terminal.raw.endswith(b"\x1b[0m\r\n")  # no colour is left behind


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_while_nobody_reads(number: signal.Signals) -> None:
    with subprocess.Popen(COMMAND, stdin=PIPE, stdout=PIPE, stderr=PIPE, bufsize=0) as process:
        assert process.stdin is not None
        os.set_blocking(process.stdin.fileno(), False)
        data = Live().says("word " * 100_000).data
        deadline = time.monotonic() + PATIENCE
        while data and time.monotonic() < deadline:
            try:
                data = data[os.write(process.stdin.fileno(), data) :]
            except BlockingIOError:
                time.sleep(0.01)
        time.sleep(0.5)
        process.send_signal(number)
        assert process.wait(PATIENCE) == 128 + number


def test_signals_reach_the_command(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    more = (
        "import os, signal, time, pathlib\n"
        f"def stop(*_):\n    pathlib.Path({str(mark)!r}).write_text('stopped')\n"
        "    os.write(1, b'last words\\n')\n    sys.exit(0)\n"  # no print: one may be under way
        "signal.signal(signal.SIGTERM, stop); signal.signal(signal.SIGINT, stop)\n"
        "print('ready', flush=True)\ntime.sleep(60)"
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        mark.unlink(missing_ok=True)
        terminal = Terminal("pretty", "--", *program(Live().starts().data.decode(), more))
        terminal.wait_for("ready")
        assert terminal.signal(number) == 128 + number
        assert mark.read_text() == "stopped"
        assert b"last words" in terminal.raw
        assert terminal.raw.count(b"ready") == 1  # what was written is not written again


def test_silence_ends_nothing_and_orphans_are_told_in_it() -> None:
    terminal = Terminal("pretty", "--queue", "--orphan-after", "300ms")
    terminal.send(Live().starts().calls("t", "Bash", command="make").data)
    terminal.wait_for("ORPHANED (timeout after 0.3s)")
    assert terminal.process.poll() is None
    terminal.send(Live().result("t", "made at last").ends().data)
    assert terminal.close() == 0
    assert "made at last" in "\n".join(terminal.screen)


def test_tee_keeps_the_raw_stream(unspool: Run, tmp_path: Path) -> None:
    data = b"\xef\xbb\xbfplain \xff\x1b[31m\r\n" + DONE.data + b"cut off"
    assert unspool("pretty", "--tee", tmp_path / "raw.jsonl", stdin=data).returncode == 0
    assert (tmp_path / "raw.jsonl").read_bytes() == data


def test_a_long_line_costs_no_more_than_its_length(tmp_path: Path) -> None:
    """A pipe takes four kilobytes at a time: who copies what is left at each takes minutes for this."""
    (file := tmp_path / "log").write_bytes(b"y" * 50_000_000)
    before = os.times().children_user + os.times().children_system
    done = subprocess.run([*COMMAND, file], capture_output=True, check=True)
    assert done.stdout == b"y" * 50_000_000 + b"\n"
    assert os.times().children_user + os.times().children_system - before < 10.0


def test_a_tee_never_empties_what_is_read(unspool: Run, tmp_path: Path) -> None:
    (file := tmp_path / "run.jsonl").write_bytes(DONE.data)
    (link := tmp_path / "link.jsonl").symlink_to(file)
    by_name = unspool("pretty", file, "--tee", link)
    with file.open("rb") as opened:
        piped = subprocess.run([*COMMAND, "--tee", file], stdin=opened, capture_output=True, check=False)
    for done in (by_name, piped):
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"is an input: it would be overwritten" in done.stderr
    assert file.read_bytes() == DONE.data


def test_a_tee_that_fails_spoils_nothing_else(unspool: Run) -> None:
    done = unspool("pretty", "--tee", "/dev/full", stdin=DONE.data)
    assert done.returncode == 2
    assert b"/dev/full: No space left on device; from here on the stream is not kept" in done.stderr
    assert b"Task Success" in done.stdout


def test_the_run_is_named_by_the_environment_and_by_a_file_only_if_asked(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "# names\nexport CCPRETTY_TITLE='From # the file'\nCCPRETTY_URL=https://a.b/c # a comment\nCOLUMNS=99\n"
    )

    def shown(*options: str, **environment: str) -> str:
        done = subprocess.run(
            [*COMMAND, *options],
            input=Live().starts().data,
            capture_output=True,
            check=True,
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "", **environment},
        )
        return done.stdout.decode()

    assert "🚀 Session Initialized" in shown()
    assert "🚀 Mine" in shown(CCPRETTY_TITLE="Mine")
    read = shown("--env-file")
    assert "🚀 From # the file" in read
    assert "URL: https://a.b/c  " in read
    assert max(map(len, read.split("\n"))) == 58
    assert "🚀 Mine" in shown("--env-file", ".env", CCPRETTY_TITLE="Mine")


def test_a_line_of_fifty_megabytes(unspool: Run) -> None:
    done = unspool("pretty", stdin=Live().calls("t", "Bash", command="x").result("t", "x" * 50_000_000).ends().data)
    assert done.returncode == 0
    assert re.search(r"… 49,999,\d\d\d more\W+characters", done.stdout.decode())
    assert "Task Success" in done.stdout.decode()
