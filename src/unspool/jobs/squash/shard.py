"""One shard: a stretch of the input → one part and one completion file. What every engine and every scheduler runs."""

import hashlib
from collections.abc import Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version

import msgspec
from msgspec import Struct

from unspool.engine.local import each, jobs_for
from unspool.errors import InputNotFound, UnspoolError
from unspool.jobs.squash.one import squash_task
from unspool.jobs.squash.parts import Completion, Input, Parts
from unspool.jobs.squash.plan import Plan, cut
from unspool.jobs.squash.run import fault_of
from unspool.jobs.squash.settings import Outcome, Settings, Task
from unspool.jobs.squash.tasks import listed, tasks
from unspool.model.identity import fingerprint
from unspool.sources import storage
from unspool.sources.copies import copies
from unspool.sources.files import legible

_KEY = "[key]"


class Job(Struct, frozen=True):
    """What all shards of a run have in common. It goes to other processes and machines, and never to a disk."""

    logs: tuple[str, ...]
    out: str
    settings: Settings
    agent: str | None = None
    resume: bool = False
    """A shard that is done, from the same input and with the same settings, is left as it is."""
    jobs: int | None = 1
    """Processes that work at one shard."""


class Done(Struct):
    """What is worth telling of a shard."""

    shard: int
    bytes: int
    """Of its input, as planned."""
    records: int
    kept: bool = False
    """There was nothing to do."""


def planned(job: Job, shards: int | None, workers: int = 1) -> Plan:
    """How the input is cut: as it was before, if that is known; else anew."""
    parts = Parts(job.out)
    plan = parts.plan()
    if plan is None or not plan.fits(job.logs, job.agent, shards):
        cuts = cut(listed(job.logs, job.out, job.agent), shards, workers)
        plan = Plan(list(job.logs), job.agent, cuts)
        parts.keep_plan(plan)
    return plan


def squash_shard(job: Job, shard: int) -> Done:
    with copies():
        return _squash_shard(job, shard)


def _squash_shard(job: Job, shard: int) -> Done:
    parts = Parts(job.out)
    plan = parts.plan()
    if plan is None:
        raise InputNotFound(
            f"{job.out}: no plan of the run is there: is this folder on a disk that all machines share?"
        )
    stretch, size = plan.stretch(shard), plan.cuts[shard - 1].bytes
    todo = tasks(job.logs, job.out, job.settings.strategy, job.agent, stretch)
    if plan.cuts[shard - 1].files and not todo:
        _refuse_absence(job, plan.cuts[shard - 1].files)
    run = run_of(job.settings)
    old = parts.completed(shard, plan.shards, Completion) if job.resume else None
    if old is not None and (old.run, old.stretch) == (run, stretch) and _is_unchanged(old.inputs, todo):
        return Done(shard, size, old.records, kept=True)
    public = msgspec.structs.replace(job.settings, key=b"")
    inputs = [_input(path) for path in _files(todo)]
    completion = Completion(shard, plan.shards, stretch, run, public, inputs=inputs)
    parts.write(completion, _outcomes(job, todo))
    return Done(shard, size, completion.records)


def _outcomes(job: Job, todo: list[Task]) -> Iterator[Outcome]:
    jobs = jobs_for([task.path for task in todo], job.jobs)
    for outcome in each(partial(squash_task, job.settings), todo, jobs):
        if job.settings.strict and (fault := fault_of(outcome)):
            raise fault
        yield outcome


def _refuse_absence(job: Job, files: int) -> None:
    """Files may be deleted between planning and reading, but hardly all of them."""
    for given in job.logs:
        if not storage.exists(given):
            raise InputNotFound(f"{given} is not here: input must be on a disk that all machines share")
    raise UnspoolError(f"none of the {files} files of a shard is here: is the input on a disk that all machines share?")


def run_of(settings: Settings) -> str:
    """What must be the same for two shards to be joined. Of the key it tells as much as one placeholder does."""
    public = msgspec.to_builtins(msgspec.structs.replace(settings, key=b""))
    mark = fingerprint([_KEY, settings.key.hex()])[:4] if settings.key else ""
    tokenizer = _sha256(settings.tokenizer) if settings.tokenizer else ""
    return fingerprint([public, mark, tokenizer, _version()])[:32]


def _version() -> str:
    try:
        return version("unspool")
    except PackageNotFoundError:  # run from a folder
        return ""


def _files(todo: list[Task]) -> list[str]:
    """Those that tasks are made from, each once."""
    found: dict[str, None] = {}
    for task in todo:
        session = task.unit.found if task.unit is not None else None
        found |= dict.fromkeys([task.path] if session is None else session.files)
    return list(found)


def _input(path: str) -> Input:
    """Told before the file is read: what is written to it meanwhile makes it another. Gone is a version too."""
    stamp = _stamp(path)
    try:
        digest = "" if storage.is_url(path) else _sha256(path)  # an object need not be fetched twice: its stamp tells
    except OSError:
        digest = ""
    return Input(legible(path), stamp, digest)


def _stamp(path: str) -> str:
    try:
        return storage.stamp(path)
    except OSError:
        return ""


def _sha256(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_unchanged(before: list[Input], todo: list[Task]) -> bool:
    """By name, size and time; where these are others, by content."""
    files = _files(todo)
    return len(before) == len(files) and all(map(_is_same, before, files))


def _is_same(before: Input, path: str) -> bool:
    if before.path != legible(path):
        return False
    return before.stamp == _stamp(path) or (before.sha256 != "" and before.sha256 == _input(path).sha256)
