"""Squash: session logs in, training records out.

session files ─► one: entries ─► validate ─► fullest snapshot ─► integrity, scrubbing ─► a record's bytes
                                                                                            │
OUT/2026-03-02.jsonl, tool-usage.csv, integrity-report.*, summary.json  ◄─ folder, reports ◄┘
"""

import os
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import msgspec

from unspool.engine.local import each, jobs_for
from unspool.exports.reports import IntegrityReport
from unspool.exports.writing import write
from unspool.jobs.squash.folder import Folder
from unspool.jobs.squash.one import squash_task
from unspool.jobs.squash.run import REJECTS, Run, Squashed
from unspool.jobs.squash.settings import Settings, Task
from unspool.jobs.squash.tasks import size_of, tasks

__all__ = ["Settings", "Squashed", "squash", "squash_tasks", "tasks"]
Seen: TypeAlias = Callable[[Task, int], None]


def squash(
    *logs: str | os.PathLike[str],
    out: str | os.PathLike[str],
    settings: Settings | None = None,
    rejects: str | None = None,
    agent: str | None = None,
    jobs: int | None = None,
) -> Squashed:
    """Squash files, folders and sessions by id into the folder `out`, which is written whole or not at all.

    Without logs: all that the agent has kept on this machine. Under `strict`, the first fault raises `StrictFault`.
    """
    settings = settings or Settings()
    todo = tasks([os.fspath(path) for path in logs], os.fspath(out), settings.strategy, agent)
    return squash_tasks(todo, os.fspath(out), settings, rejects, jobs)


def squash_tasks(
    todo: list[Task],
    out: str,
    settings: Settings,
    rejects: str | None = None,
    jobs: int | None = None,
    seen: Seen = lambda _task, _size: None,
) -> Squashed:
    """The same, of what `tasks` found. `seen` is called with each task that is done, and the size of its file."""
    settings = _with_key(msgspec.structs.replace(settings, keep_rejects=rejects is not None))
    run = Run(settings)
    with Folder(out) as folder:
        with IntegrityReport(folder.staging) as integrity:
            for outcome in each(partial(squash_task, settings), todo, jobs_for([task.path for task in todo], jobs)):
                run.add(outcome, folder, integrity)
                seen(outcome.task, size_of(outcome.task))
        if rejects is not None:
            write(rejects, folder.take(REJECTS))
        squashed = run.finish(folder, len(todo), integrity)
        folder.commit()
    return squashed


def _with_key(settings: Settings) -> Settings:
    """One key for all processes, fetched once; none where nothing needs it."""
    if settings.key or not (settings.redact or settings.anonymize):
        return settings
    from unspool.sources.keys import key

    return msgspec.structs.replace(settings, key=key())
