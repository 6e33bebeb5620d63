"""Parts of shards → OUT, as if there had been no shards. Duplicates across shards are found here."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from unspool.errors import InputNotFound, PartsMissing
from unspool.ingest.outputs import output_for
from unspool.jobs.squash.parts import Completed, Parts
from unspool.jobs.squash.plan import Plan
from unspool.jobs.squash.run import Squashed, fold
from unspool.jobs.squash.settings import Outcome

Seen: TypeAlias = Callable[[int, int], None]
"""Told of bytes that are done, and of how many there are in all."""


def merge(
    out: str, rejects: str | None = None, keep_parts: bool = False, seen: Seen = lambda _done, _whole: None
) -> Squashed:
    """Join all parts that shards left in `out`; if some are missing, nothing is written."""
    target = None if rejects is None else output_for(rejects)
    parts = Parts(out)
    plan = parts.plan()
    if plan is None:
        raise InputNotFound(f"{out}: no shard has left a part there")
    completed = _all(parts, plan, out)
    whole = sum(one.bytes for one in completed)

    def outcomes() -> Iterator[Outcome]:
        for one in completed:
            yield from parts.read(one)
            seen(one.bytes, whole)

    squashed = fold(outcomes(), out, completed[0].settings, target)
    if not keep_parts:
        parts.clear()
    return squashed


def _all(parts: Parts, plan: Plan, out: str) -> list[Completed]:
    found: list[Completed] = []
    missing: list[int] = []
    for shard in range(1, plan.shards + 1):
        one = parts.completed(shard, plan.shards, Completed)
        if one is None or one.stretch != plan.stretch(shard):
            missing.append(shard)
        else:
            found.append(one)
    if missing:
        said = f"{', '.join(_ranges(missing))} of {plan.shards}"
        said = f"shards {said} are missing" if len(missing) > 1 else f"shard {said} is missing"
        raise PartsMissing(f"{out}: {said}: squash with --shard what is, or with --resume all that is")
    others = [one.shard for one in found if one.run != found[0].run]
    if others:
        said = ", ".join(_ranges(others))
        raise PartsMissing(
            f"{out}: made with other options, another key or another version than shard 1: shard {said} of "
            f"{plan.shards}; squash with the same ones and --resume"
        )
    return found


def _ranges(numbers: list[int]) -> Iterator[str]:
    """3, 7–9"""
    start = end = numbers[0]
    for number in [*numbers[1:], -1]:
        if number == end + 1:
            end = number
            continue
        yield str(start) if start == end else f"{start}–{end}"
        start = end = number
