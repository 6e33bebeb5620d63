"""`unspool squash --engine ray` on a real Ray: two nodes on this machine, workers and drivers that are killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from conftest import Run
from many import files, long_sessions, many, session

pytest.importorskip("ray", reason="Ray is not installed: it has no wheel for this version of Python")

from ray.cluster_utils import Cluster

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of Ray's, about its own future
    pytest.mark.skipif(sys.platform != "linux", reason="workers are looked up in /proc"),
]
STORE = 80 << 20
BUSY = ("--filter", "near-duplicates<0.9", "--no-redact")
"""What keeps a worker busy for a while with `long_sessions`."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Of a cluster of two nodes, a core each."""
    quiet = {"object_store_memory": STORE, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, **quiet})
    cluster.add_node(num_cpus=1, object_store_memory=STORE)
    yield cluster.address
    cluster.shutdown()  # type: ignore[no-untyped-call]


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return long_sessions(tmp_path_factory.mktemp("long") / "logs", 16)


@contextmanager
def started(*arguments: str | Path) -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "-m", "unspool", "squash", *map(str, arguments)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


class Writer(NamedTuple):
    """A process that writes a part."""

    pid: int
    node: int
    """The process that started it."""
    part: str


def writers(parts: Path) -> Iterator[Writer]:
    """Who writes a part right now. A process may end, and a file be closed, while it is looked at."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
            node = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            for descriptor in (process / "fd").iterdir():
                target = str(descriptor.readlink())
                if target.startswith(f"{parts}/.") and ".done.json" not in target:
                    yield Writer(int(process.name), node, Path(target).name.removeprefix(".").partition(".")[0])


@pytest.mark.parametrize(
    "options",
    [
        ("--rejects", "rejects"),
        ("--strategy", "tree", "--to", "atif"),
        ("--to", "sharegpt", "--filter", "no-duplicates", "--filter", "near-duplicates<0.8", "--shards", "5"),
    ],
)
def test_ray_gives_the_same_bytes(address: str, tmp_path: Path, options: tuple[str, ...]) -> None:
    """Names of files are relative: they must mean the same to workers."""
    many(tmp_path / "logs")
    for out, engine in (("plain", ()), ("out", ("--engine", "ray", "--address", address))):
        mine = [f"{out}/rejects" if each == "rejects" else each for each in options if each != "5"]
        mine = [*mine, "5"] if engine and "--shards" in mine else [each for each in mine if each != "--shards"]
        process = subprocess.run(
            [sys.executable, "-m", "unspool", "squash", "logs", "-o", out, *mine, *engine],
            cwd=tmp_path,
            env={**os.environ, "UNSPOOL_KEY": "only the driver knows it"},
            capture_output=True,
            check=False,
            timeout=120,
        )
        assert process.returncode == 0, process.stderr.decode()
    assert files(tmp_path / "out") == files(tmp_path / "plain")
    assert b"[REDACTED:anthropic-key:" in b"".join(files(tmp_path / "out").values())


def test_a_killed_worker_costs_nothing_but_time(address: str, long: Path, tmp_path: Path, unspool: Run) -> None:
    out = tmp_path / "out"
    nodes: set[int] = set()
    killed = False
    deadline = time.monotonic() + 90
    with started(long, "-o", out, *BUSY, "--engine", "ray", "--address", address, "--shards", "4") as process:
        while process.poll() is None and time.monotonic() < deadline:
            for writer in writers(out / "parts"):
                nodes.add(writer.node)
                if not killed:
                    with suppress(ProcessLookupError):  # it has ended by itself
                        os.kill(writer.pid, signal.SIGKILL)
                        killed = not (out / "parts" / f"{writer.part}.part").exists()
            time.sleep(0.005)
        assert process.wait(90) == 0, process.stderr and process.stderr.read().decode()
    assert killed, "no worker was killed in the middle of its part"
    assert len(nodes) == 2, "both nodes took part"
    assert unspool("squash", long, "-o", tmp_path / "plain", *BUSY).returncode == 0
    assert files(out) == files(tmp_path / "plain")


def test_a_killed_driver_can_be_resumed(address: str, long: Path, tmp_path: Path, unspool: Run) -> None:
    out = tmp_path / "out"
    ray = ("--engine", "ray", "--address", address)
    with started(long, "-o", out, *BUSY, *ray, "--shards", "8", "-q") as process:
        for _ in range(6000):
            if process.poll() is not None or list((out / "parts").glob("*.done.json")):
                break
            time.sleep(0.01)
    assert not (out / "summary.json").exists()
    done = unspool("squash", long, "-o", out, *BUSY, *ray, "--resume")
    assert done.returncode == 0, done.stderr.decode()
    assert b"of an earlier run w" in done.stderr
    assert unspool("squash", long, "-o", tmp_path / "plain", *BUSY).returncode == 0
    assert files(out) == files(tmp_path / "plain")


def test_a_fault_in_a_worker_is_told_as_here(address: str, tmp_path: Path, unspool: Run) -> None:
    logs = many(tmp_path / "logs")
    ray = ("--engine", "ray", "--address", address)
    here = unspool("squash", logs, "-o", tmp_path / "out", "--strict")
    there = unspool("squash", logs, "-o", tmp_path / "out", "--strict", *ray)
    assert (there.returncode, there.stderr) == (here.returncode, here.stderr)
    assert here.returncode == 1
    assert not (tmp_path / "out/summary.json").exists()
    assert unspool("squash", "1f3c90aa", "-o", tmp_path / "out", *ray).returncode == 2


def test_ray_is_started_here_and_is_quiet(tmp_path: Path, unspool: Run) -> None:
    session(tmp_path / "logs", "a.jsonl", "A question")
    session(tmp_path / "logs", "b.jsonl", "Another question")
    quiet = {"RAY_ADDRESS": ""}
    done = unspool("squash", tmp_path / "logs", "-o", tmp_path / "out", "--engine", "ray", "--jobs", "2", **quiet)
    assert done.returncode == 0, done.stderr.decode()
    plain = unspool("squash", tmp_path / "logs", "-o", tmp_path / "plain")
    assert done.stderr.replace(b"/out", b"/plain") == plain.stderr
    assert done.stdout == b""
    assert json.loads((tmp_path / "out/summary.json").read_bytes())["records"] == 2


def test_a_cluster_that_is_not_there_is_told(tmp_path: Path, unspool: Run) -> None:
    session(tmp_path / "logs", "a.jsonl", "A question")
    nowhere = ("--engine", "ray", "--address", "127.0.0.1:9")
    done = unspool("squash", tmp_path / "logs", "-o", tmp_path / "out", *nowhere)
    assert done.returncode == 2, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert b"127.0.0.1:9" in done.stderr
