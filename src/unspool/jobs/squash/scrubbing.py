"""Secrets and e-mail addresses, taken out of a copy on the way out."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from msgspec import Struct, structs

from unspool.jobs.squash.settings import Settings
from unspool.model.record import TrainingRecord


class Scrubber(Struct, frozen=True):
    """What the settings ask for; nothing, if they ask for nothing."""

    raws: tuple[Callable[[bytes], bytes], ...] = ()
    all_values: tuple[Callable[[Any], Any], ...] = ()

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


@lru_cache(maxsize=2)
def scrubber(redact: bool, anonymize: bool, key: bytes) -> Scrubber:
    steps: list[Any] = []
    if redact:
        from unspool.transforms.redact import Redactor

        steps.append(Redactor(key))
    if anonymize:
        from unspool.transforms.anonymize import Anonymizer

        steps.append(Anonymizer(key))
    return Scrubber(tuple(step.raw for step in steps), tuple(step.values for step in steps))


def scrubber_for(settings: Settings) -> Scrubber:
    return scrubber(settings.redact, settings.anonymize, settings.key)
