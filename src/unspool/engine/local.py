"""A batch on this machine: in this process, or in several."""

import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, islice
from typing import TypeVar

from unspool.errors import EngineFailed
from unspool.sources.storage import size

Item = TypeVar("Item")
Result = TypeVar("Result")

_WORTH = 64 << 20
"""Bytes to read from which on starting processes pays."""
_AHEAD = 4
"""Batches that each process may be ahead of the results that were taken."""
_BATCHES, _BATCH = 16, 16
"""Batches for each process, at least, so that all are done at nearly the same time; items in a batch, at most: handing
over each by itself costs more than reading a small file."""


def jobs_for(files: Sequence[str], wanted: int | None = None) -> int:
    """How many processes to use: as many as were wanted, else what pays."""
    if wanted is not None:
        return max(1, wanted)
    much = len(files) > 1 and any(whole > _WORTH for whole in accumulate(map(size, files)))
    return cores() if much else 1


def cores() -> int:
    """Those that we may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def each(work: Callable[[Item], Result], items: Sequence[Item], jobs: int) -> Iterator[Result]:
    """The result for each item, in order. The function must be importable by name when there are several processes."""
    if jobs <= 1:
        yield from map(work, items)
        return
    import threading
    from concurrent.futures import Future, ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    size = max(1, min(_BATCH, len(items) // (jobs * _BATCHES)))
    batches = iter([items[at : at + size] for at in range(0, len(items), size)])
    threads = threading.active_count() > 1  # which a copy of this process would miss
    waiting: deque[Future[list[Result]]] = deque()
    with ProcessPoolExecutor(jobs, get_context("spawn") if threads else None, _end_with_parent) as pool:
        try:
            with _uninterrupted():
                waiting.extend(pool.submit(_run, work, batch) for batch in islice(batches, jobs * _AHEAD))
            while waiting:
                results = waiting[0].result()
                waiting.popleft()
                for batch in islice(batches, 1):
                    waiting.append(pool.submit(_run, work, batch))
                yield from results
        except BrokenProcessPool as error:
            raise EngineFailed(
                f"one of {jobs} processes was killed: if memory ran out, use fewer with --jobs"
            ) from error
        finally:
            if waiting:  # nobody wants the rest
                pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits. Processes that start meanwhile never hear of it: one that stopped there might keep what the others
    wait for, and they would never end."""
    if not hasattr(signal, "pthread_sigmask"):  # as on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_parent() -> None:
    """When whoever wants the results is gone, however that came, so is this process: it would wait for ever."""
    from multiprocessing import parent_process
    from threading import Thread

    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def _run(work: Callable[[Item], Result], batch: Sequence[Item]) -> list[Result]:
    return list(map(work, batch))
