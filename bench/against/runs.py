"""Run the commands of both revisions on all inputs, in a few processes at a time."""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from against.inputs import ROOT, Input
from against.worker import WRONG_SOURCE

WORKER = Path(__file__).with_name("worker.py")
_WORKER_TEXT = WORKER.read_text(encoding="utf-8")
"""Part of each key: results of another worker are not reused."""
COMMANDS: dict[str, tuple[str, ...]] = {
    "cook": ("cook", "INPUT", "-q"),
    "squash-snapshot": ("squash", "INPUT", "-o", "out", "-q", "--jobs", "1", "--rejects", "rejects.jsonl"),
    "squash-tree": ("squash", "INPUT", "-o", "out", "-q", "--jobs", "1", "--strategy", "tree"),
    "show": ("show", "INPUT", "--json"),
    "sessions": ("sessions", "INPUT", "--json", "--cost", "--jobs", "1"),
    "grep-events": ("grep", '"type"', "INPUT", "--json", "--jobs", "1"),
    "grep-raw": ("grep", '"name":"apply_patch"', "INPUT", "--raw", "--jobs", "1"),
    "grep-errors": ("grep", "-i", "-E", "error|fail(ed|ure)", "INPUT", "--json", "--jobs", "1"),
    "grep-reads": ("grep", "{", "INPUT", "--json", "--jobs", "1", "--kind", "file_read", "--kind", "search"),
    "grep-changes": (
        *("grep", "{", "INPUT", "--json", "--jobs", "1", "--kind", "file_edit", "--kind", "file_write"),
        *("--kind", "file_delete", "--kind", "file_move"),
    ),
    "grep-executes": ("grep", "{", "INPUT", "--json", "--jobs", "1", "--kind", "execute"),
}
_BATCH_JOBS = 400
_BATCH_BYTES = 20_000_000
"""Input bytes per process: commands turn garbage collection off, so memory grows until a process ends."""


_SETTINGS = {
    "PYTHONHASHSEED": "0",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "COLUMNS": "100",
    "UNSPOOL_KEY": "against",  # or the placeholders of redacted texts would differ
}


@dataclass(frozen=True)
class Revision:
    """Code to run, and the folder that keeps its results."""

    name: str
    source: Path
    results: Path


@dataclass(frozen=True)
class Job:
    """One command on one input."""

    input: Input
    command: str

    @property
    def argv(self) -> list[str]:
        return [str(self.input.path) if word == "INPUT" else word for word in COMMANDS[self.command]]

    @cached_property
    def key(self) -> str:
        return hashlib.sha256(json.dumps([self.argv, self.input.stamp, _WORKER_TEXT, _SETTINGS]).encode()).hexdigest()[
            :32
        ]

    def result_path(self, revision: Revision) -> Path:
        return revision.results / self.key[:2] / f"{self.key}.json.z"


def load(path: Path) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(zlib.decompress(path.read_bytes()))
    return result


def install(commit: str, folder: Path) -> Revision:
    """Put the sources of the commit beside the working tree. Its dependencies are those of this environment."""
    source = folder / commit / "src"
    if not source.is_dir():
        packed = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=True).stdout
        with tempfile.TemporaryDirectory(dir=folder) as unpacked:
            subprocess.run(["tar", "-x", "-C", unpacked], input=packed, check=True)
            source.parent.mkdir(parents=True, exist_ok=True)
            (Path(unpacked) / "src").rename(source)
    return Revision(commit[:12], source, folder / commit / "results")


def run_all(jobs: list[Job], revisions: list[Revision], processes: int, progress: Callable[[int, int], None]) -> None:
    """Produce the results that are not there yet. An earlier revision keeps its results between runs."""
    batches = [
        (revision, batch)
        for revision in revisions
        for batch in _batches([job for job in jobs if not job.result_path(revision).exists()])
    ]
    total, done = sum(len(batch) for _, batch in batches), 0

    def count() -> None:
        nonlocal done
        done += 1
        progress(done, total)

    with ThreadPoolExecutor(processes) as pool:
        for future in [pool.submit(_run_batch, revision, batch, count) for revision, batch in batches]:
            future.result()


def _batches(jobs: list[Job]) -> Iterator[list[Job]]:
    batch: list[Job] = []
    size = 0
    for job in jobs:
        batch.append(job)
        size += job.input.size
        if len(batch) >= _BATCH_JOBS or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _run_batch(revision: Revision, batch: list[Job], count: Callable[[], None]) -> None:
    """Run a batch in a worker. If the worker dies, its death is the result of that job, and a new one does the rest."""
    waiting = batch
    while waiting:
        finished, error = _run_worker(revision, waiting, count)
        waiting = waiting[finished:]
        if waiting:
            path = waiting[0].result_path(revision)
            if not path.exists():  # after a timeout there is one
                result = {"exit_status": "worker died", "error": error[-2000:], "stdout": "", "files": {}}
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(zlib.compress(json.dumps(result).encode(), 1))
            waiting = waiting[1:]
            count()


def _run_worker(revision: Revision, batch: list[Job], count: Callable[[], None]) -> tuple[int, str]:
    """Return how many jobs the worker finished, and its standard error."""
    lines = [
        json.dumps({"key": job.key, "argv": job.argv, "result": str(job.result_path(revision).resolve())}) + "\n"
        for job in batch
    ]
    with tempfile.TemporaryDirectory(prefix="unspool-against-") as scratch, tempfile.TemporaryFile() as errors:
        work = Path(scratch) / "work"
        work.mkdir()
        with subprocess.Popen(
            [sys.executable, "-P", str(WORKER), str(revision.source)],
            cwd=work,
            env=_environment(revision, Path(scratch)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as worker:
            assert worker.stdin is not None
            assert worker.stdout is not None
            worker.stdin.write("".join(lines))
            worker.stdin.close()
            finished = 0
            for _ in worker.stdout:
                finished += 1
                count()
        errors.seek(0)
        error = errors.read().decode(errors="replace")
        if worker.returncode == WRONG_SOURCE:
            raise RuntimeError(error)
        return finished, error


def _environment(revision: Revision, scratch: Path) -> dict[str, str]:
    """Return an environment without settings, in which all that a home keeps is new."""
    home = scratch / "home"
    home.mkdir()
    return {
        **_SETTINGS,
        "PATH": os.environ.get("PATH", ""),
        "PYTHONPATH": str(revision.source),
        "HOME": str(home),
        "TMPDIR": str(scratch),
        "UNSPOOL_HOME": str(home / "unspool"),
        "UNSPOOL_CACHE": str(home / "cache"),
    }
