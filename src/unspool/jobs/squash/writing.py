"""Training records → checked, scrubbed and encoded, in any format."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from unspool.exports.chat import flat, line
from unspool.jobs.squash.scrubbing import Scrubber, scrubber_for
from unspool.jobs.squash.settings import Found, Outcome, Settings, Written
from unspool.model.record import TrainingRecord, only_id
from unspool.sources.files import legible
from unspool.transforms.findings import Finding, warning
from unspool.transforms.integrity import check
from unspool.transforms.usage import ToolUsage, usage_of

if TYPE_CHECKING:
    from unspool.exports.training import Format

_encode = msgspec.json.Encoder().encode


def write_records(
    records: Sequence[TrainingRecord], settings: Settings, outcome: Outcome, logged: bool = False
) -> None:
    """Those of one session, into the outcome. `logged`: of an agent's log, not of recorded calls."""
    scrub = scrubber_for(settings)
    records = [_legible(_unnamed(record, scrub)) for record in records]
    if settings.filters:
        records = _filtered(records, settings, outcome)
    usages: dict[str, ToolUsage] = {}
    for record in records:
        tools = list(map(flat, record.tools))
        inlined = _inlined(record.messages) if settings.inline else None
        for finding in check(record.messages, tools, inlined, logged):
            _found(outcome, record, finding)
        usages[record.id] = usage_of(record.messages, tools)
    scrubbed = [scrub.record(record) for record in records]
    if settings.to == "messages":
        for record in scrubbed:
            messages = _inlined(record.messages) if settings.inline else record.messages
            data = line(map(_encode, messages), (_encode(flat(tool)) for tool in record.tools))
            outcome.records.append(Written(data, record.date, record.scenario, usages[record.id], id=record.id))
        return
    _format(scrubbed, settings, outcome, usages)


def _unnamed(record: TrainingRecord, scrub: Scrubber) -> TrainingRecord:
    """Some proxies call a session by a key, or by whose it is; and formats write its name, or call a file by it."""
    session = scrub.aside(record.session)
    if session == record.session:
        return record
    alone = record.id == only_id(record.session, record.source)
    return replace(record, session=session, id=only_id(session, record.source) if alone else record.id)


def _legible(record: TrainingRecord) -> TrainingRecord:
    """What is known of it may come from a file's name, and not every name is text."""
    names = {name: getattr(record, name) for name in ("session", "source", "scenario", "id")}
    if all(map(str.isascii, names.values())):
        return record
    return replace(record, **{name: legible(value) for name, value in names.items()})


def write_pairs(records: Sequence[TrainingRecord], settings: Settings, outcome: Outcome) -> None:
    """Those of one session: the answer with which a conversation went on, and one that was discarded."""
    from unspool.jobs.tree import pairs

    scrub = scrubber_for(settings)
    for pair in pairs(records):
        about = records[0]
        written = scrub.values(msgspec.to_builtins(pair))
        if settings.inline:
            written |= {part: _inlined(written[part]) for part in ("prompt", "chosen", "rejected")}
        data = _encode(written) + b"\n"
        usage = usage_of([*pair.prompt, *pair.chosen], map(flat, pair.tools))
        outcome.records.append(Written(data, about.date, about.scenario, usage))


def _filtered(records: Sequence[TrainingRecord], settings: Settings, outcome: Outcome) -> list[TrainingRecord]:
    """The records that are good enough. What only a dropped one would have trained on is trained on in another."""
    from unspool.transforms.filters import Chain, parse_filter

    chain = Chain(parse_filter(text, settings.tokenizer) for text in settings.filters)
    kept = [record for record in records if chain.reason(record) is None]
    for reason, number in chain.dropped.items():
        outcome.count(f"records filtered, {reason}", number)
    outcome.marks += chain.marks
    ids = {id(record) for record in kept}
    dropped = [turn for record in records if id(record) not in ids for turn in record.turns]
    untrained = {id(turn.message) for turn in dropped if turn.train}  # branches share the messages before them
    for turn in (turn for record in kept for turn in record.turns):
        if turn.generated and not turn.train and id(turn.message) in untrained:
            turn.train = True
            untrained.remove(id(turn.message))
    return kept


def form_of(settings: Settings) -> "Format":
    """The format, as it was asked for."""
    from unspool.exports.training import Options, format_for

    return format_for(settings.to, Options(settings.json_columns, settings.completions))


def _format(
    records: Sequence[TrainingRecord], settings: Settings, outcome: Outcome, usages: dict[str, ToolUsage]
) -> None:
    form = form_of(settings)
    for encoded in form.encode(records):
        record = encoded.record
        for what, number in encoded.losses.items():
            outcome.count(f"{settings.to} cannot hold: {what}", number)
        if encoded.refused is not None or not encoded.rows:
            why = encoded.refused or "no messages"
            outcome.count("records refused by the format")
            _found(outcome, record, warning("refused", f"{settings.to} does not take the record: {why}"))
            continue
        name = encoded.file(form.ending) if form.each else ""
        outcome.records.append(Written(encoded.data, record.date, record.scenario, usages[record.id], name, record.id))


def _found(outcome: Outcome, record: TrainingRecord, finding: Finding) -> None:
    outcome.findings.append(Found(finding, record.scenario, record.source))


def _inlined(messages: list[dict[str, object]]) -> list[dict[str, object]]:
    from unspool.transforms.inline import inline

    made: Callable[[list[dict[str, object]]], list[dict[str, object]]] = inline
    return made(messages)
