"""`unspool squash` in shards: one of them, all of them here or on a cluster, or their merge."""

import re
from typing import Any

import click

from unspool.cli.progress import Progress
from unspool.cli.words import human, plural, say
from unspool.jobs.squash.merge import merge as merge_parts
from unspool.jobs.squash.parts import Parts
from unspool.jobs.squash.plan import Plan
from unspool.jobs.squash.run import Squashed
from unspool.jobs.squash.settings import Settings
from unspool.jobs.squash.shard import Done, Job, planned
from unspool.jobs.squash.sharded import Sharding, job_for, squash_in_shards, squash_one_shard


def run(
    logs: tuple[str, ...],
    output: str,
    options: dict[str, Any],
    rejects: str | None,
    agent: str | None,
    jobs: int | None,
    quiet: bool,
    *,
    shard: str | None,
    shards: int | None,
    plan: bool,
    merge: bool,
    resume: bool,
    **scale: Any,
) -> Squashed | None:
    """What the run came to; None if it was not the whole of it."""
    if merge:
        return _merge(output, rejects, scale["keep_parts"], quiet)
    if (shard or plan) and (rejects or scale["engine"] != "local" or scale["keep_parts"]):
        raise click.UsageError("--rejects and --keep-parts are for --merge, and --engine is not for a single shard")
    number, shards = _shard(shard, shards)
    job = job_for(logs, output, Settings(**options), agent, resume)
    if plan:
        _plan(job, shards, quiet)
        return None
    if number is not None and shards is not None:
        done = squash_one_shard(job, number, shards, jobs)
        if not quiet:
            how = "done before, from the same input" if done.kept else plural(done.records, "record")
            say(f"shard {number} of {shards}: {how}")
        return None
    return _all(job, Sharding(shards=shards, jobs=jobs, **scale), rejects, quiet)


def _merge(output: str, rejects: str | None, keep_parts: bool, quiet: bool) -> Squashed:
    with Progress((), shown=not quiet, whole=0) as progress:

        def seen(done: int, whole: int) -> None:
            progress.whole = whole
            progress.passed(done)

        return merge_parts(output, rejects, keep_parts, seen)


def _shard(shard: str | None, shards: int | None) -> tuple[int | None, int | None]:
    """Which of how many."""
    if shard is None:
        return None, shards
    parts = re.fullmatch(r"(\d{1,5})/(\d{1,5})", shard)
    if parts is None or not 1 <= int(parts[1]) <= int(parts[2]):
        raise click.UsageError(f"--shard takes I/N with I from 1 to N, such as 3/16, not {shard!r}")
    if shards is not None:
        raise click.UsageError("--shard says already how many --shards there are")
    return int(parts[1]), int(parts[2])


def _plan(job: Job, shards: int | None, quiet: bool) -> None:
    if shards is None:
        raise click.UsageError("--plan needs --shards N")
    if not job.resume:
        Parts(job.out).clear()
    made = planned(job, shards)
    if not quiet:
        files, size = sum(cut.files for cut in made.cuts), max(cut.bytes for cut in made.cuts)
        say(f"{plural(files, 'file')} in {plural(made.shards, 'shard')} of up to {human(size)} bytes")


def _all(job: Job, how: Sharding, rejects: str | None, quiet: bool) -> Squashed:
    kept = 0
    with Progress((), shown=not quiet, whole=0) as progress:

        def told(plan: Plan, done: Done) -> None:
            nonlocal kept
            kept += done.kept
            progress.whole = sum(cut.bytes for cut in plan.cuts)
            progress.passed(done.bytes)

        squashed = squash_in_shards(job, how, rejects, told)
    if kept and not quiet:
        say(f"{plural(kept, 'shard')} of an earlier run {'was' if kept == 1 else 'were'} good still")
    return squashed
