"""Secrets and e-mail addresses, taken out of a copy on the way out; and what was taken out, counted."""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct, structs

from unspool.jobs.squash.settings import Outcome, Settings
from unspool.model.record import TrainingRecord


class Scrubber(Struct, frozen=True):
    """What the settings ask for; nothing, if they ask for nothing."""

    raws: tuple[Callable[[bytes], bytes], ...] = ()
    all_values: tuple[Callable[[Any], Any], ...] = ()
    counts: tuple[tuple[str, Counter[str]], ...] = ()
    """Of what was taken out, by kind, in this process; each with the words for it."""

    def raw(self, written: bytes) -> bytes:
        """JSON text in, JSON text out."""
        for scrub in self.raws:
            written = scrub(written)
        return written

    def values(self, value: Any) -> Any:
        for scrub in self.all_values:
            value = scrub(value)
        return value

    def record(self, record: TrainingRecord) -> TrainingRecord:
        if not self.all_values:
            return record
        turns = [structs.replace(turn, message=self.values(turn.message)) for turn in record.turns]
        return structs.replace(record, turns=turns, tools=self.values(record.tools))

    def aside(self, value: Any) -> Any:
        """The same as `values` for what is no part of a record, and not counted."""
        known = [counter.copy() for _, counter in self.counts]
        value = self.values(value)
        for (_, counter), before in zip(self.counts, known, strict=True):
            counter.clear()
            counter.update(before)
        return value

    def tell(self, outcome: Outcome) -> None:
        """What was taken out since it was last told."""
        for words, counter in self.counts:
            for kind, number in counter.items():
                outcome.count(f"{words}: {kind}", number)
            counter.clear()


_CLEANED = {
    "info": "messages cleaned away: goose's notes",
    "silence": "messages cleaned away: silent ones",
    "prompt": "messages cleaned: goose's prompt",
}


def count_cleaned(outcome: Outcome, counts: Mapping[str, int]) -> None:
    """What a clean-up did to the messages of a record."""
    for what, words in _CLEANED.items():
        outcome.count(words, counts.get(what, 0))


@lru_cache(maxsize=2)
def scrubber(redact: bool, anonymize: bool, key: bytes) -> Scrubber:
    steps: list[Any] = []
    if redact:
        from unspool.transforms.redact import Redactor

        steps.append(Redactor(key))
    if anonymize:
        from unspool.transforms.anonymize import Anonymizer

        steps.append(Anonymizer(key))
    words = [*(["redacted"] if redact else []), *(["anonymized"] if anonymize else [])]
    return Scrubber(
        tuple(step.raw for step in steps),
        tuple(step.values for step in steps),
        tuple((word, step.counts) for word, step in zip(words, steps, strict=True)),
    )


def scrubber_for(settings: Settings) -> Scrubber:
    return scrubber(settings.redact, settings.anonymize, settings.key)
