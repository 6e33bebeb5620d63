"""One session file → its record, its findings, and what was left out: the unit that every engine runs."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from unspool.errors import InputNotFound
from unspool.exports.chat import line
from unspool.ingest.net import file_note
from unspool.jobs.squash.entries import Clean, Entries, Entry, Lost
from unspool.jobs.squash.scrubbing import count_cleaned, scrubber_for
from unspool.jobs.squash.settings import Outcome, Reject, Settings, Task, Written
from unspool.jobs.squash.snapshot import Session, Snapshot
from unspool.transforms.integrity import check
from unspool.transforms.scenarios import day_of, scenario_of
from unspool.transforms.usage import usage_of
from unspool.transforms.validate import Invalid

if TYPE_CHECKING:
    from unspool.jobs.squash.records import Replies

_encode = msgspec.json.Encoder().encode


def squash_task(settings: Settings, task: Task) -> Outcome:
    scrub = scrubber_for(settings)
    try:
        outcome = _squashed(settings, task)
    except Exception as error:
        note = file_note(error, task.path)
        scrub.tell(Outcome(task))  # what was taken out of it is in no record
        outcome = Outcome(task)
        outcome.invalid(note.kind, note.reason)
    scrub.tell(outcome)
    return outcome


def _squashed(settings: Settings, task: Task) -> Outcome:
    if task.unit is None and settings.strategy == "snapshot":
        return squash_file(settings, task)
    from unspool.jobs.squash.traffic import squash_unit  # readers and wires are many

    return squash_unit(settings, task)


def squash_file(settings: Settings, task: Task) -> Outcome:
    """A session file. Never raises for what is in it."""
    outcome = Outcome(task)
    replies = _replies(settings)
    session = Session(settings.strict, settings.tools_from == "last", replies.add if replies else lambda *_: None)
    try:
        for entry in _entries(task.path, settings, outcome):
            session.add(entry)
    except Invalid as fault:
        outcome.invalid(fault.kind, str(fault))
        return outcome
    except (OSError, InputNotFound) as fault:
        outcome.unreadable(fault)
        return outcome
    snapshot = session.finish()
    if snapshot is None:
        outcome.invalid("empty", "no entry of the file can be used")
        return outcome
    if _is_mixed(snapshot):
        from unspool.ingest.conversations import Unit
        from unspool.jobs.squash.traffic import squash_unit

        return squash_unit(settings, replace(task, unit=Unit(task.path, task.root)))
    outcome.count("sessions kept")
    outcome.count("entries kept", session.validation.kept)
    outcome.count("entries cut off", session.validation.entries - session.validation.kept)
    count_cleaned(outcome, snapshot.entry.tidied)
    snapshot.day = day_of(task.path, task.root) or snapshot.day
    for finding in snapshot.findings:
        outcome.find(finding)
    if replies is None:
        outcome.records.append(_written(snapshot, settings, outcome))
    else:
        from unspool.jobs.squash.records import record_of
        from unspool.jobs.squash.writing import write_records

        write_records([record_of(snapshot, replies, scenario_of(task.path))], settings, outcome)
    return outcome


def _is_mixed(snapshot: Snapshot) -> bool:
    """Return whether a request has parts in Anthropic's form, as gateways take them. They cannot be copied."""
    blocks = [message for message in snapshot.values if isinstance(message.get("content"), list)]
    if not blocks and not any(isinstance(tool, dict) and "input_schema" in tool for tool in snapshot.tool_wholes):
        return False
    from unspool.wires.anthropic import owns

    return any(map(owns, [*blocks, *snapshot.tool_wholes]))


def _replies(settings: Settings) -> "Replies | None":
    """What the model answered need be known only to formats that say what to train on, and to filters."""
    if settings.to == "messages" and not settings.filters:
        return None
    from unspool.jobs.squash.records import Replies

    return Replies()


def _written(snapshot: Snapshot, settings: Settings, outcome: Outcome) -> Written:
    """The record as messages and tools. Messages that nobody must change are copied as bytes."""
    scrub = scrubber_for(settings)
    values = snapshot.values
    inlined = None
    if settings.inline:
        from unspool.transforms.inline import inline

        inlined = inline(values)
        scrubbed = inline(scrub.values(values))  # before a secret becomes part of a text within a text
        data = line(map(_encode, scrubbed), map(scrub.raw, snapshot.tools))
    else:
        data = scrub.raw(line(snapshot.messages, snapshot.tools))
    for finding in check(values, snapshot.tool_values, inlined):
        outcome.find(finding)
    usage = usage_of(values, snapshot.tool_values)
    return Written(data, snapshot.day, scenario_of(outcome.task.path), usage)


def _entries(path: str, settings: Settings, outcome: Outcome) -> Iterator[Entry]:
    clean: Clean | None = None
    if settings.clean_up == "goose":
        from unspool.transforms.goose import clean
    entries = Entries(path, clean)
    for item in entries:
        if isinstance(item, Lost):
            _reject(outcome, settings, item)
        else:
            outcome.count("entries read")
            yield item
    outcome.count("entries read", entries.cleaned)
    outcome.count("entries cleaned away", entries.cleaned)


def _reject(outcome: Outcome, settings: Settings, lost: Lost) -> None:
    """Count what was said of a line; a line that was mended is not lost."""
    note = lost.note
    outcome.count(f"lines {note.kind}")
    if note.kind != "repaired":
        text = lost.data.decode("utf-8", "replace") if settings.keep_rejects else ""
        text = scrubber_for(settings).aside(text)
        outcome.rejects.append(Reject("line", note.origin.file, note.reason, note.origin.line, note.kind, text))
