"""The viewer's server: who may ask, and what is answered."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from email.message import Message
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest

from browsing import viewer
from conftest import Run
from recorders import eventually
from viewing import a_day

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


class Client:
    """Asks as a browser would, and as one would not."""

    def __init__(self, address: str) -> None:
        place = urlsplit(address)
        assert place.hostname
        assert place.port
        self.host, self.port = place.hostname, place.port
        (self.token,) = parse_qs(place.query)["token"]
        self.cookie = self.ask(f"/?token={self.token}", cookie=None).header("set-cookie").partition(";")[0]

    def ask(self, path: str, method: str = "GET", cookie: str | None = "", **headers: str) -> "Answer":
        with closing(http.client.HTTPConnection(self.host, self.port, timeout=20)) as connection:
            given = {name.replace("_", "-"): value for name, value in headers.items()}
            if cookie is not None:
                given["cookie"] = cookie or self.cookie
            connection.request(method, path, headers=given)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())

    def page(self, path: str) -> object:
        answer = self.ask(path)
        assert answer.status == 200, answer.body
        return json.loads(answer.body)

    def first_data(self, path: str, meanwhile: Callable[[], object]) -> Any:
        """What the first event of a stream tells."""
        with closing(http.client.HTTPConnection(self.host, self.port, timeout=30)) as connection:
            connection.request("GET", path, headers={"cookie": self.cookie})
            answer = connection.getresponse()
            answer.readline()
            meanwhile()
            for _ in range(100):
                line = answer.readline()
                if line.startswith(b"data:"):
                    return json.loads(line.removeprefix(b"data:"))
        raise AssertionError("nothing was told")


class Answer(NamedTuple):
    status: int
    headers: Message
    body: bytes

    def header(self, name: str) -> str:
        return self.headers.get(name, "")


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return a_day().save(tmp_path_factory.mktemp("view") / "trace.jsonl")


@pytest.fixture(scope="module")
def client(trace: Path) -> Iterator[Client]:
    with viewer(trace) as address:
        yield Client(address)


def test_the_token_opens_and_is_taken_out_of_the_address(client: Client) -> None:
    answer = client.ask(f"/?token={client.token}", cookie=None)
    assert (answer.status, answer.header("location")) == (303, "/")
    assert "httponly" in answer.header("set-cookie").lower()
    assert "samesite=strict" in answer.header("set-cookie").lower()


@pytest.mark.parametrize("path", ["/", "/api/home", "/api/live", "/assets/x.js"])
def test_nothing_without_the_token(client: Client, path: str) -> None:
    assert client.ask(path, cookie=None).status == 403
    assert client.ask(path, cookie="unspool_1=x; a=b").status == 403


def test_a_wrong_token(client: Client) -> None:
    assert client.ask("/?token=wrong", cookie=None).status == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", ""])
def test_another_host_is_refused(client: Client, host: str) -> None:
    """A name of somebody else's that leads to 127.0.0.1 (DNS rebinding)."""
    assert client.ask("/api/home", host=host).status == 421


def test_another_origin_is_refused(client: Client) -> None:
    assert client.ask("/api/home", origin="https://evil.example").status == 403
    assert client.ask("/api/home", sec_fetch_site="cross-site").status == 403
    assert client.ask("/api/home", origin=f"http://127.0.0.1:{client.port}").status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_changed(client: Client, method: str) -> None:
    assert client.ask("/api/home", method).status == 405


def test_every_answer_has_the_policy(client: Client) -> None:
    for path in ("/", "/api/home", "/nothing"):
        answer = client.ask(path)
        policy = answer.header("content-security-policy")
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert answer.header("x-content-type-options") == "nosniff"
        assert answer.header("referrer-policy") == "no-referrer"


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/assets/../app.py",
        "/assets/..%2f..%2fapp.py",
        "/assets/%2e%2e/app.py",
        "/api/reels/..%2f..%2fetc/graph",
        "/api/reels/x/graph",
        "/api/reels/x/original?id=/etc/passwd",
    ],
)
def test_no_other_file_can_be_read(client: Client, path: str) -> None:
    assert client.ask(path).status == 404


def test_the_pages_of_a_reel(client: Client) -> None:
    home = client.page("/api/home")
    assert isinstance(home, dict)
    (reel,) = home["reels"]
    base = f"/api/reels/{reel['id']}"
    graph = client.page(f"{base}/graph")
    assert isinstance(graph, dict)
    assert [row["id"] for row in graph["rows"]] == ["c0", "c1", "c2", "c3", "c4"]
    page = client.page(f"{base}/request?id=c1")
    assert isinstance(page, dict)
    assert page["number"] == 1
    assert client.page(f"{base}/messages?ids=m0-m1") != []
    assert client.page(f"{base}/tools?ids=t0,t1") != []
    assert client.ask(f"{base}/request?id=none").status == 404
    assert client.ask(f"{base}/transcript?start=-1&at=nothing").status == 200
    assert client.ask(f"{base}/graph?start=x").status == 200


def test_what_grows_is_told(tmp_path: Path) -> None:
    agent = a_day()
    path = agent.save(tmp_path / "trace.jsonl")
    with viewer(path) as address:
        client = Client(address)
        home = client.page("/api/home")
        assert isinstance(home, dict)
        client.page(f"/api/reels/{home['reels'][0]['id']}/graph")
        told = client.first_data("/api/live", lambda: agent.asks("And now?").says("Done").save(path))
        assert (told["kept"], told["total"]) == (5, 6)


def test_ctrl_c_ends_it_without_a_word(trace: Path) -> None:
    """Also while a browser listens to what grows."""
    command = [sys.executable, "-m", "unspool", "view", "--no-open", "--port", "0", str(trace)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        client = Client(process.stdout.readline().strip())
        with closing(http.client.HTTPConnection(client.host, client.port, timeout=30)) as connection:
            connection.request("GET", "/api/live", headers={"cookie": client.cookie})
            stream = connection.getresponse()
            assert stream.readline() == b"retry: 2000\n"
            process.send_signal(signal.SIGINT)
            _, told = process.communicate(timeout=60)
    assert process.returncode == 0
    assert told == "1 trace\nCtrl-C ends it.\n"


def test_ctrl_c_ends_it_while_something_large_is_read(trace: Path) -> None:
    slow = "import runpy, time; from unspool.jobs.view.catalog import Catalog; Catalog.rows = lambda _: time.sleep(90)"
    command = [sys.executable, "-c", f"{slow}; runpy.run_module('unspool', run_name='__main__')"]
    command += ["view", "--no-open", "--port", "0", str(trace)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        client = Client(process.stdout.readline().strip())
        with closing(http.client.HTTPConnection(client.host, client.port, timeout=30)) as connection:
            connection.request("GET", "/api/home", headers={"cookie": client.cookie})
            client.ask("/")  # it came later, and was answered: so the other is under way
            process.send_signal(signal.SIGINT)
            _, told = process.communicate(timeout=60)
    assert process.returncode == 0
    assert told == "1 trace\nCtrl-C ends it.\n"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is always a screen")
@pytest.mark.parametrize("screen", [{}, {"DISPLAY": ":7"}], ids=["over ssh", "at a desk"])
def test_a_browser_is_opened_where_there_is_a_screen(trace: Path, tmp_path: Path, screen: dict[str, str]) -> None:
    opener, asked = tmp_path / "xdg-open", tmp_path / "asked"
    opener.write_text(f'#!/bin/sh\necho "$1" > {asked}.new && mv {asked}.new {asked}\n')
    opener.chmod(0o755)
    names = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME")
    kept = {name: value for name, value in os.environ.items() if name not in names}
    env = {**kept, **screen, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = [sys.executable, "-m", "unspool", "view", "--port", "0", str(trace)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        Client(address).page("/api/home")  # it serves: what was to be opened was
        if screen:
            eventually(asked.exists)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    port = urlsplit(address).port
    assert asked.exists() == bool(screen)
    if screen:
        assert asked.read_text().startswith(f"http://127.0.0.1:{port}/?once=")
    assert (f"ssh -L {port}:127.0.0.1:{port}" in told) == (not screen)


def test_a_port_that_is_taken(unspool: Run, trace: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = unspool("view", trace, "--no-open", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 2
    assert b"Address already in use" in done.stderr


def test_it_listens_on_the_loopback_only(client: Client) -> None:
    sockets = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = [address for _, address, _, state, *_ in sockets if state == "0A"]
    assert [each for each in listening if each.endswith(f":{client.port:04X}")] == [f"0100007F:{client.port:04X}"]


def test_a_list_of_what_would_be_shown(unspool: Run, trace: Path) -> None:
    done = unspool("view", trace, "--list")
    assert done.returncode == 0
    assert b"5 requests" in done.stdout


def test_a_path_that_is_not_there(unspool: Run, tmp_path: Path) -> None:
    done = unspool("view", tmp_path / "none.jsonl", "--list")
    assert done.returncode == 2
    assert b"No such file" in done.stderr
