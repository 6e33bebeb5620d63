"""Squash: session logs in, training records out.

session files ─► one: entries ─► validate ─► fullest snapshot ─► integrity, scrubbing ─► a record's bytes
                                                                                            │
OUT/2026-03-02.jsonl, tool-usage.csv, integrity-report.*, summary.json  ◄─ folder, reports ◄┘

With shards, what each file gave is kept in OUT/parts until all of it is there: see `sharded`.
"""

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

import msgspec

from unspool.engine.local import each, jobs_for
from unspool.ingest.outputs import output_for
from unspool.jobs.squash.one import squash_task
from unspool.jobs.squash.run import Squashed, fold
from unspool.jobs.squash.settings import Outcome, Settings, Task, with_key
from unspool.jobs.squash.tasks import files_of, size_of, tasks
from unspool.sources.copies import copies
from unspool.sources.outputs import refuse_inputs_in

__all__ = ["Settings", "Squashed", "squash", "squash_tasks", "tasks"]
Seen: TypeAlias = Callable[[int], None]
"""Told how many bytes of input are done, each time some are."""


def squash(
    *logs: str | os.PathLike[str],
    out: str | os.PathLike[str],
    settings: Settings | None = None,
    rejects: str | None = None,
    jobs: int | None = None,
) -> Squashed:
    """Squash files, folders, URLs and sessions by id into the folder `out`, which is written whole or not at all.

    Without logs: all that agents have kept on this machine. Under `strict`, the first fault raises `StrictFault`.
    """
    settings = settings or Settings()
    with copies():
        todo = tasks([os.fspath(path) for path in logs], os.fspath(out), settings.strategy)
        return squash_tasks(todo, os.fspath(out), settings, rejects, jobs)


def squash_tasks(
    todo: list[Task],
    out: str,
    settings: Settings,
    rejects: str | None = None,
    jobs: int | None = None,
    seen: Seen = lambda _bytes: None,
) -> Squashed:
    """Squash a list of tasks prepared by `tasks()`."""
    files = [file for task in todo for file in files_of(task)]
    refuse_inputs_in(out, files)
    target = None if rejects is None else output_for(rejects, files)
    settings = with_key(msgspec.structs.replace(settings, keep_rejects=rejects is not None))

    def outcomes() -> Iterator[Outcome]:
        for outcome in each(partial(squash_task, settings), todo, jobs_for([task.path for task in todo], jobs)):
            yield outcome
            seen(size_of(outcome.task))

    return fold(outcomes(), out, settings, target)
