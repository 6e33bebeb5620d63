"""A batch on a Ray cluster, or on a Ray that is started for it here. Needs `unspool[cluster]` on every machine.

Core tasks, one an item: Ray places them, and runs them again when their worker or machine dies.
"""

import gc
import logging
import os
import re
import socket
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from unspool.errors import EngineFailed, UnspoolError

Item = TypeVar("Item")
Result = TypeVar("Result")
RETRIES = 8
"""How often an item is tried again whose worker died: machines that can be taken away at any time are taken often."""
_PASSED_ON = ("UNSPOOL_MAX_RECORD",)
"""Variables that mean the same on every machine."""
_PATIENCE = 10.0
_STORE = 80 << 20
"""Bytes of Ray's own memory for results, where we start it: ours are small."""


@contextmanager
def connected(address: str | None, cores: int | None = None) -> Iterator[Any]:
    """The ray module, connected to the cluster: the one at `address`, else at $RAY_ADDRESS, else one made for this."""
    ray = _ray()
    if ray.is_initialized():  # somebody else's: it stays
        yield ray
        return
    _refuse_silence(address or os.environ.get("RAY_ADDRESS"))
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address is None and not os.environ.get("RAY_ADDRESS"):
        options |= {"address": "local", "num_cpus": cores, "include_dashboard": False, "object_store_memory": _STORE}
    else:
        options["address"] = address
    # What Ray has to say is no output of ours.
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of Ray's, about its own future
                ray.init(**options)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise EngineFailed(f"Ray at {address or 'this machine'}: {_line(error)}") from error
        try:
            yield ray
        finally:
            ray.shutdown()


def _refuse_silence(address: str | None) -> None:
    """Ray would wait for minutes where nobody answers."""
    place = re.fullmatch(r"(?:ray://)?\[?(.+?)\]?:(\d+)", address or "")
    if place is None:
        return
    try:
        socket.create_connection((place[1], int(place[2])), timeout=_PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise EngineFailed(f"Ray at {address}: nobody answers there: {_line(error)}") from error


def cores_of(ray: Any) -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def each(ray: Any, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """The result for each item, in order. The function must be importable by name on every machine."""
    settings = {name: os.environ[name] for name in _PASSED_ON if os.environ.get(name)}
    options = {"runtime_env": {"env_vars": settings}} if settings else {}  # workers with an environment start slowly
    run = ray.remote(max_retries=RETRIES, num_cpus=1, scheduling_strategy="SPREAD", **options)(_run)
    folder = str(Path.cwd())
    waiting = deque((item, run.remote(work, item, folder)) for item in items)
    try:
        while waiting:
            item, future = waiting.popleft()
            yield _result(ray, item, future)
    finally:
        for _, future in waiting:  # nobody wants the rest
            ray.cancel(future)


def _result(ray: Any, item: Any, future: Any) -> Any:
    try:
        return ray.get(future)
    except ray.exceptions.RayTaskError as error:
        raise error.cause if isinstance(error.cause, UnspoolError) else error from None
    except ray.exceptions.RayError as error:
        raise EngineFailed(f"Ray gave up item {item}: {_line(error)}") from error


def _run(work: Callable[[Item], Result], item: Item, folder: str) -> Result:
    """In a worker, with names of files meaning what they mean to the one who gave them."""
    if Path(folder).is_dir():
        os.chdir(folder)
    gc.disable()  # nothing of ours is cyclic
    try:
        return work(item)
    finally:
        gc.enable()


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else it warns that it will be so
    try:
        return import_module("ray")
    except ImportError as error:
        raise EngineFailed("--engine ray needs Ray: pip install 'unspool[cluster]'") from error


def _line(error: BaseException) -> str:
    """The first line: Ray writes pages."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
