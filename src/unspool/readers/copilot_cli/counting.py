"""Tokens of Copilot CLI, each once.

A message tells how long the answer was; all else stands in `assistant.usage`, which logs mostly lack, and in the totals
of `session.shutdown`. Whatever comes, only what is new in it counts, so that the sum is that of the totals.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

from unspool.model.event import TokenUsage
from unspool.sources.values import count, mapping

Counts: TypeAlias = list[int]
"""Input, cache read, cache write, output, reasoning."""
_NOTHING: Counts = [0, 0, 0, 0, 0]
_OUTPUT = 3
_DETAILS = ("input", "cache_read", "cache_write", "output")
"""Here cached tokens are no part of `input`; in `usage` they are."""


class Counting:
    def __init__(self) -> None:
        self._counted: dict[str | None, Counts] = {}
        """By model, since the log began."""
        self._before: dict[str | None, Counts] = {}
        """What of it was counted when the session was last shut down."""
        self._answers: dict[str, int] = {}
        self._said: dict[str | None, int] = {}
        self._reported: dict[str | None, int] = {}
        self._heard: dict[str | None, int] = {}
        """Output of messages and of reports that was counted."""

    def said(self, model: str | None, call: str, length: int) -> TokenUsage | None:
        """A message, by its call: an answer may come in several, each with the length of the whole."""
        grown = length - self._answers.get(call, 0)
        if grown <= 0:
            return None
        self._answers[call] = length
        self._said[model] = self._said.get(model, 0) + grown
        return self._count(model, [0, 0, 0, self._unheard(model), 0])

    def reported(self, model: str | None, usage: dict[str, Any]) -> TokenUsage | None:
        """The usage of one call in full; its message may have come before it, or may come after."""
        counts = _inclusive(usage)
        self._reported[model] = self._reported.get(model, 0) + counts[_OUTPUT]
        counts[_OUTPUT] = self._unheard(model)
        return self._count(model, counts)

    def aside(self, model: str | None, usage: dict[str, Any]) -> TokenUsage | None:
        """The usage of a call that gives no message."""
        return self._count(model, _inclusive(usage), apart=True)

    def ended(self, data: dict[str, Any]) -> Iterator[TokenUsage]:
        """The totals, model by model: of the whole log, or since it was last resumed."""
        totals = dict(_totals(data))
        told = sum(total[_OUTPUT] for total in totals.values())
        known = self._counted
        if told < sum(counts[_OUTPUT] for counts in known.values()):
            known = {model: _less(counts, self._before.get(model, _NOTHING)) for model, counts in known.items()}
        loose = sum(counts[_OUTPUT] for model, counts in known.items() if model not in totals)
        for model, total in totals.items():
            new = _less(total, known.get(model, _NOTHING))
            covered = min(loose, new[_OUTPUT])  # by messages whose model was not known
            loose -= covered
            new[_OUTPUT] -= covered
            if (usage := self._count(model, new, apart=True)) is not None:
                yield usage
        self._before = dict(self._counted)

    def _unheard(self, model: str | None) -> int:
        """Output that messages or reports tell of, and that is not counted yet: both tell of the same."""
        told, heard = max(self._said.get(model, 0), self._reported.get(model, 0)), self._heard.get(model, 0)
        self._heard[model] = told
        return told - heard

    def _count(self, model: str | None, new: Counts, apart: bool = False) -> TokenUsage | None:
        if not any(new):
            return None
        before = self._counted.get(model, _NOTHING)
        self._counted[model] = [one + other for one, other in zip(before, new, strict=True)]
        given, read, written, answered, thought = new
        return TokenUsage(model, given, read, written, answered, thought, apart=apart)


def _totals(data: dict[str, Any]) -> Iterator[tuple[str | None, Counts]]:
    alone = True
    for model, metric in mapping(data.get("modelMetrics")).items():
        if any(counts := _counts(mapping(metric))):
            alone = False
            yield model, counts
    if alone and any(counts := _counts(data)):  # only the sum of all models
        current = data.get("currentModel")
        yield current if isinstance(current, str) else None, counts


def _counts(metric: dict[str, Any]) -> Counts:
    usage, details = mapping(metric.get("usage")), mapping(metric.get("tokenDetails"))
    counts = [count(mapping(details.get(kind)).get("tokenCount")) for kind in _DETAILS]
    if not any(counts):
        return _inclusive(usage)
    return [*counts, min(count(usage.get("reasoningTokens")), counts[_OUTPUT])]


def _inclusive(usage: dict[str, Any]) -> Counts:
    read, written = count(usage.get("cacheReadTokens")), count(usage.get("cacheWriteTokens"))
    given, answered = count(usage.get("inputTokens")), count(usage.get("outputTokens"))
    fresh = given - read - written if given >= read + written else given
    return [fresh, read, written, answered, min(count(usage.get("reasoningTokens")), answered)]


def _less(left: Counts, right: Counts) -> Counts:
    return [max(0, one - other) for one, other in zip(left, right, strict=True)]
