"""Work in several processes that is broken off: all of them end, and say nothing of it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from logs import Claude

Command = subprocess.Popen[bytes]


@pytest.fixture
def searching(tmp_path: Path) -> Iterator[Command]:
    """Of two processes one waits for a file that never comes, the other for more to do."""
    done, pipe = Claude().user("Tea").says("Done").save(tmp_path / "done.jsonl"), tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "unspool", "grep", "Tea", str(done), str(pipe), "--jobs", "2"]
    out, cache = subprocess.PIPE, {"UNSPOOL_CACHE": str(tmp_path / "cache")}
    with subprocess.Popen(command, stdout=out, stderr=out, env=os.environ | cache, start_new_session=True) as run:
        writer = os.open(pipe, os.O_WRONLY)  # as soon as somebody reads
        time.sleep(0.5)
        yield run
        os.close(writer)
        run.kill()


def test_ctrl_c_ends_them_all(searching: Command) -> None:
    os.killpg(searching.pid, signal.SIGINT)
    _, said = searching.communicate(timeout=20)  # as long as one of them is there, it may say something
    assert (searching.returncode, said.strip()) == (130, b"unspool: interrupted")


def test_none_stays_when_the_first_is_killed(searching: Command) -> None:
    searching.kill()
    assert searching.communicate(timeout=20)[1] == b""
