"""Training records → checked, scrubbed and encoded, in any format."""

from collections.abc import Callable, Sequence

import msgspec

from unspool.exports.chat import flat, line
from unspool.jobs.squash.scrubbing import scrubber_for
from unspool.jobs.squash.settings import Found, Outcome, Settings, Written
from unspool.model.record import TrainingRecord
from unspool.transforms.integrity import Finding, check, warning
from unspool.transforms.usage import ToolUsage, usage_of

_encode = msgspec.json.Encoder().encode


def write_records(records: Sequence[TrainingRecord], settings: Settings, outcome: Outcome) -> None:
    """Those of one session, into the outcome."""
    scrub = scrubber_for(settings)
    usages: dict[str, ToolUsage] = {}
    for record in records:
        tools = list(map(flat, record.tools))
        inlined = _inlined(record.messages) if settings.inline else None
        for finding in check(record.messages, tools, inlined):
            _found(outcome, record, finding)
        usages[record.id] = usage_of(record.messages, len(tools))
    scrubbed = [scrub.record(record) for record in records]
    if settings.to == "messages":
        for record in scrubbed:
            messages = _inlined(record.messages) if settings.inline else record.messages
            data = line(map(_encode, messages), (_encode(flat(tool)) for tool in record.tools))
            outcome.records.append(Written(data, record.date, record.scenario, usages[record.id]))
        return
    _format(scrubbed, settings, outcome, usages)


def _format(
    records: Sequence[TrainingRecord], settings: Settings, outcome: Outcome, usages: dict[str, ToolUsage]
) -> None:
    from unspool.exports.training import format_for

    form = format_for(settings.to)
    for encoded in form.encode(records):
        record = encoded.record
        for what, number in encoded.losses.items():
            outcome.count(f"{settings.to} cannot hold: {what}", number)
        if encoded.refused is not None:
            outcome.count("records refused by the format")
            _found(outcome, record, warning("refused", f"{settings.to} does not take the record: {encoded.refused}"))
            continue
        name = encoded.file(form.ending) if form.each else ""
        outcome.records.append(Written(encoded.data, record.date, record.scenario, usages[record.id], name))


def _found(outcome: Outcome, record: TrainingRecord, finding: Finding) -> None:
    outcome.findings.append(Found(finding, record.scenario, record.source))


def _inlined(messages: list[dict[str, object]]) -> list[dict[str, object]]:
    from unspool.transforms.inline import inline

    made: Callable[[list[dict[str, object]]], list[dict[str, object]]] = inline
    return made(messages)
