import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from browsing import CHROMIUM, FLAGS, Window, viewer
from isolation import change, variables
from unspool.jobs.cook import cook
from unspool.model import CookedRequest
from viewing import a_miss, a_session

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Run = Callable[..., subprocess.CompletedProcess[bytes]]
Write = Callable[..., Path]

# Machines are noisy. Each run tries the same examples, so that none fails by chance; UNSPOOL_EXPLORE=1 draws new ones.
hypothesis.settings.register_profile(
    "unhurried",
    deadline=None,
    derandomize=not os.environ.get("UNSPOOL_EXPLORE"),
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("unhurried")

# A shell that starts the tests in the background has them ignore Ctrl-C, and so all programs that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="Rewrite golden files with what the program gives now.")


@pytest.fixture(scope="session", autouse=True)
def homes() -> Iterator[Path]:
    """A folder for the home folders of all tests. It is itself the home of fixtures that several tests share."""
    with tempfile.TemporaryDirectory(prefix="unspool-tests-", ignore_cleanup_errors=True) as name:
        before = change(variables(Path(name)))
        yield Path(name)
        change(before)


@pytest.fixture(autouse=True)
def _own_home(homes: Path, request: pytest.FixtureRequest) -> Iterator[None]:
    """Give the test, and the programs that it starts, an empty home folder."""
    own = homes / f"{id(request.node):x}"
    own.mkdir()
    before = change(variables(own))
    yield
    change(before)
    with suppress(OSError):  # what a test left there goes with the whole folder
        own.rmdir()


@pytest.fixture
def accept(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--accept"))


@pytest.fixture(autouse=True)
def _without_net(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an exception of a reader end its test, in place of becoming a note."""
    monkeypatch.setenv("UNSPOOL_RAISE", "1")


@pytest.fixture
def unspool() -> Run:
    """Run the command as a user would: a process of its own."""
    return _run_by(sys.executable)


@pytest.fixture
def ordinary() -> Run:
    """The same, run by somebody whom permissions bind: root gives up the right to pass over them."""
    rights = "-dac_override,-dac_read_search"
    bound = ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"] if os.geteuid() == 0 else []
    return _run_by(*bound, sys.executable)


def _run_by(*python: str) -> Run:
    def run(*arguments: str | Path, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*python, "-m", "unspool", *map(str, arguments)],
            input=stdin,
            capture_output=True,
            check=False,
            env={**os.environ, **environment},
            timeout=120,
        )

    return run


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this test keeps its store, and the commands that it runs; nothing is there yet."""
    home = tmp_path / "home"
    monkeypatch.setenv("UNSPOOL_HOME", str(home))
    return home


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A file of JSON lines: each value is encoded, text and bytes are written as they are."""

    def write(*records: Any, name: str = "trace.jsonl") -> Path:
        path = tmp_path / name
        lines = []
        for record in records:
            if isinstance(record, bytes):
                lines.append(record)
            else:
                lines.append((record if isinstance(record, str) else json.dumps(record, ensure_ascii=False)).encode())
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return path

    return write


@pytest.fixture
def links(write: Write) -> Any:
    """Cook the calls; each request's parent, its reason, and what it retries."""

    def links(*records: dict[str, Any]) -> dict[str, tuple[str | None, str | None, str | None]]:
        found: list[CookedRequest] = cook(write(*records)).requests
        return {request.id: (request.parent_id, request.parent_reason, request.retry_of) for request in found}

    return links


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def window(browser: "Browser") -> Iterator[Window]:
    """For pages that must not complain of anything."""
    window = Window(browser)
    yield window
    window.close()
    assert window.faults == []


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Where a recorder writes to."""
    return tmp_path / "trace.jsonl"


@pytest.fixture(scope="module")
def missed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The trace of a conversation whose last request missed the cache."""
    return a_miss().save(tmp_path_factory.mktemp("browser") / "trace.jsonl")


@pytest.fixture(scope="module")
def address(missed: Path) -> Iterator[str]:
    """Where it can be viewed."""
    with viewer(missed) as address:
        yield address


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of a session to be viewed."""
    return a_session().save(tmp_path_factory.mktemp("session") / "log.jsonl")
