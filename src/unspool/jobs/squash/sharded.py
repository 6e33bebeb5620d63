"""A run in shards: the input is cut, each shard is squashed by an engine, and the parts are joined.

logs ─► plan ─► squash_shard(1), squash_shard(2), …   in processes here, or on a cluster; or each by any scheduler
                    │
                    ▼
                OUT/parts/*.part, *.done.json ─► merge ─► OUT
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from unspool.engine import local
from unspool.errors import InputNotFound
from unspool.ingest.outputs import output_for
from unspool.jobs.squash.merge import merge
from unspool.jobs.squash.parts import Parts
from unspool.jobs.squash.plan import Plan
from unspool.jobs.squash.run import Run, Squashed
from unspool.jobs.squash.settings import Settings, with_key
from unspool.jobs.squash.shard import Done, Job, planned, squash_shard
from unspool.jobs.squash.tasks import listed
from unspool.sources import storage
from unspool.sources.outputs import refuse_inputs_in

Engine: TypeAlias = Literal["local", "ray"]
Each: TypeAlias = Callable[[Callable[[int], Done], Sequence[int]], Iterator[Done]]
Told: TypeAlias = Callable[[Plan, Done], None]


class Sharding(Struct, frozen=True):
    """How a run is cut, and where it runs."""

    engine: Engine = "local"
    address: str | None = None
    """Of a Ray cluster."""
    shards: int | None = None
    jobs: int | None = None
    """Processes here."""
    resume: bool = False
    keep_parts: bool = False


def job_for(logs: Sequence[str], out: str, settings: Settings, agent: str | None = None, resume: bool = False) -> Job:
    """Lines that gave no record are kept: whether anybody wants them is known when parts are joined."""
    run = Run(settings)  # refuses wrong settings before anything is written
    output_for(out, names=[run.example])
    refuse_inputs_in(out, logs)
    return Job(tuple(logs), out, with_key(msgspec.structs.replace(settings, keep_rejects=True)), agent, resume)


def squash_in_shards(
    job: Job, how: Sharding, rejects: str | None = None, told: Told = lambda _plan, _done: None
) -> Squashed:
    """All shards, and the merge. What was done stays in OUT/parts if this ends early: `resume` goes on from there."""
    if rejects is not None:
        _refuse_inputs(job, rejects)
    if how.engine == "ray":
        _refuse_sessions(job.logs)
    if not job.resume:
        Parts(job.out).clear()
    with _engine(how) as (each, workers):
        plan = planned(job, how.shards, workers)
        for done in each(partial(squash_shard, job), range(1, plan.shards + 1)):
            told(plan, done)
    return merge(job.out, rejects, how.keep_parts)


def squash_one_shard(job: Job, shard: int, shards: int, jobs: int | None = None) -> Done:
    """What an array job of a scheduler runs. All shards may run at once, here and on other machines."""
    planned(job, shards)
    return squash_shard(msgspec.structs.replace(job, jobs=jobs), shard)


def _refuse_inputs(job: Job, rejects: str) -> None:
    """Refuse to write rejects over an input. Processes elsewhere open the files, so each is compared by its name."""
    target = output_for(rejects, job.logs)
    if not storage.is_url(rejects):
        target.refuse(path for (_, path), _ in listed(job.logs, job.out, job.agent))
    target.release()


@contextmanager
def _engine(how: Sharding) -> Iterator[tuple[Each, int]]:
    """What runs a function on each of many items, and how many at once."""
    if how.engine == "local":
        processes = how.jobs or local.cores()
        yield partial(_locally, processes), processes
        return
    from unspool.engine import ray

    with ray.connected(how.address, how.jobs) as cluster:
        yield partial(ray.each, cluster), ray.cores_of(cluster)


def _locally(processes: int, work: Callable[[int], Done], shards: Sequence[int]) -> Iterator[Done]:
    return local.each(work, shards, min(processes, len(shards)))


def _refuse_sessions(logs: Sequence[str]) -> None:
    """Sessions by id, and all that an agent has kept, are looked for on the machine that looks."""
    if not logs:
        raise InputNotFound("--engine ray reads files and folders that all machines can read: name them")
    for given in logs:
        if not storage.exists(given):
            raise InputNotFound(f"{given}: no such file or folder, and --engine ray takes no session's id")
