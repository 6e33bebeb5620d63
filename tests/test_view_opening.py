"""The address that a browser is opened with: other users can read it in the list of processes."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest

from conftest import Run
from recorders import answering, body, eventually, said, upstream
from test_view_server import Answer, Client
from viewing import a_day

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME")


def browser(folder: Path, script: str = "") -> dict[str, str]:
    """A command that keeps the arguments it is started with, and no other way to open a browser."""
    folder.mkdir()
    opener, arguments = folder / "browser", folder / "arguments"
    opener.write_text(f'#!/bin/sh\necho "$@" > {arguments}.new\n/bin/mv {arguments}.new {arguments}\n{script}', "utf-8")
    opener.chmod(0o755)
    return {"BROWSER": str(opener), "PATH": str(folder), **dict.fromkeys(SCREENS, "")}


class Opened(NamedTuple):
    """A viewer, by the address that it printed, and what its browser was started with."""

    printed: str
    argument: str

    def ask(self, address: str, cookie: str = "", method: str = "GET") -> Answer:
        place = urlsplit(address)
        return Client(self.printed).ask(f"{place.path}?{place.query}", method, cookie=cookie or None)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    trace = a_day().save(tmp_path / "trace.jsonl")
    env = {**os.environ, **browser(tmp_path / "bin")}
    command = [sys.executable, "-m", "unspool", "view", "--port", "0", str(trace)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
        assert process.stdout is not None
        try:
            printed = process.stdout.readline().strip()
            eventually((tmp_path / "bin/arguments").exists)
            yield Opened(printed, (tmp_path / "bin/arguments").read_text("utf-8").strip())
        finally:
            process.terminate()


def test_what_the_browser_is_started_with_lets_in_once(opened: Opened) -> None:
    (token,) = parse_qs(urlsplit(opened.printed).query)["token"]
    assert token not in opened.argument
    assert urlsplit(opened.argument).netloc == urlsplit(opened.printed).netloc
    assert opened.ask(opened.argument, method="HEAD").status == 403, "a look at it does not use it up"
    first = opened.ask(opened.argument)
    assert (first.status, first.header("location")) == (303, "/")
    cookie = first.header("set-cookie").partition(";")[0]
    assert Client(opened.printed).ask("/api/home", cookie=cookie).status == 200
    second = opened.ask(opened.argument)
    assert (second.status, second.header("set-cookie")) == (403, "")
    assert b"the one that `unspool view` printed" in second.body
    assert opened.ask(opened.argument, cookie=cookie).status == 303, "the same browser may load it again"


def test_what_is_printed_lets_in_again_and_again(opened: Opened) -> None:
    assert [opened.ask(opened.printed).status for _ in range(3)] == [303, 303, 303]
    assert opened.ask(opened.argument).status == 303


def test_a_wrong_ticket_uses_nothing_up(opened: Opened) -> None:
    assert opened.ask(f"{opened.argument}x").status == 403
    assert opened.ask(opened.argument).status == 303


@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="root can be another user, on Linux")
@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6], ids=["IPv4", "IPv6"])
def test_another_user_who_is_faster_is_not_let_in(opened: Opened, family: socket.AddressFamily) -> None:
    place = urlsplit(opened.argument)
    assert place.port
    nobody = 65534
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        try:
            os.setuid(nobody)
            with socket.socket(family) as connection:
                connection.connect(("127.0.0.1" if family == socket.AF_INET else "::ffff:127.0.0.1", place.port))
                connection.sendall(f"GET /?{place.query} HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
                os.write(writer, connection.recv(12))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    with open(reader, "rb") as pipe:
        assert pipe.read() == b"HTTP/1.1 403"
    assert opened.ask(opened.argument).status == 303, "the ticket is good still"


def test_run_opens_it_in_the_same_way(tmp_path: Path, unspool: Run) -> None:
    """The viewer ends when its browser does, so that the command ends."""
    env = browser(tmp_path / "bin", '/bin/kill -INT "$PPID"\n')
    code = "import os, urllib.request as u; u.urlopen(os.environ['OPENAI_BASE_URL'] + '/models').read()"
    with upstream(answering(body(said("yes")))) as server:
        command = (
            "run",
            "--view",
            "--target",
            server.url,
            "-o",
            tmp_path / "t.jsonl",
            "--",
            sys.executable,
            "-c",
            code,
        )
        done = unspool(*command, **env)
    argument = (tmp_path / "bin/arguments").read_text("utf-8")
    printed = done.stdout.decode().splitlines()[-1]
    (token,) = parse_qs(urlsplit(printed).query)["token"]
    assert "?once=" in argument
    assert token not in argument
