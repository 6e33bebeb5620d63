"""Whatever is no session file of OpenAI's chat API: other APIs' traffic, streams, agents' logs → records.

All of it becomes conversations of exchanges first, and messages in the shape of the chat API after that.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import groupby
from typing import Any, TypeAlias

from unspool.errors import InputNotFound
from unspool.ingest.conversations import Conversation, Unit, read_unit
from unspool.ingest.implied import is_implied
from unspool.jobs.squash.places import Places
from unspool.jobs.squash.scrubbing import count_cleaned
from unspool.jobs.squash.settings import Found, Outcome, Reject, Settings, Task
from unspool.jobs.squash.writing import write_pairs, write_records
from unspool.jobs.tree import define, records
from unspool.model import MAIN, Exchange, Message, Note, Tool
from unspool.model.record import TrainingRecord, TrainingTurn, only_id
from unspool.model.session import Tokens
from unspool.transforms.findings import Finding
from unspool.transforms.integrity import left_out, tools_changed
from unspool.transforms.normal import normal
from unspool.wires.openai_chat import wire as chat
from unspool.wires.openai_chat.encode import encode, encode_tool

_LOST = ("unreadable", "skipped", "internal")
_DAMAGED = ("unreadable", "internal")


def squash_unit(settings: Settings, task: Task) -> Outcome:
    """A file of calls, or a session of an agent. Never raises for what is in it."""
    outcome = Outcome(task)
    fault: Note | None = None
    try:
        for item in read_unit(task.unit or Unit(task.path, task.root)):
            if isinstance(item, Note):
                _note(outcome, item)
                fault = fault or (item if item.kind in _DAMAGED else None)
            else:
                _keep(outcome, item, settings)
    except (OSError, InputNotFound) as error:
        outcome.unreadable(error)
        return outcome
    if "sessions kept" in outcome.counts:
        return outcome
    if task.unit is not None and task.unit.agent is not None and task.unit.found is None:
        outcome.count("files without sessions of the agent")
    else:
        _invalid(outcome, fault)
    return outcome


def _invalid(outcome: Outcome, fault: Note | None) -> None:
    """Reject an input without a conversation. Its first fault, if it has one, is probably the reason."""
    if fault is None:
        outcome.invalid("empty", "no conversation in it")
    elif fault.origin.line:
        outcome.invalid("empty", f"no conversation in it; line {fault.origin.line}: {fault.reason}")
    else:
        outcome.invalid(fault.kind, fault.reason)


def _note(outcome: Outcome, note: Note) -> None:
    outcome.count(f"notes {note.kind}")
    if note.kind in _LOST:
        outcome.rejects.append(Reject("line", note.origin.file, note.reason, line=note.origin.line, rule=note.kind))


def _keep(outcome: Outcome, conversation: Conversation, settings: Settings) -> None:
    outcome.count("sessions kept")
    outcome.count("entries read", len(conversation.exchanges))
    records = _cleaned(_records(conversation, settings, outcome), settings, outcome)
    if settings.pairs:
        write_pairs(records, settings, outcome)
    else:
        write_records(records, settings, outcome, logged=is_implied(conversation.exchanges[0]))


def _records(conversation: Conversation, settings: Settings, outcome: Outcome) -> list[TrainingRecord]:
    only_last_tools = settings.tools_from == "last"
    changed: set[str] = set()
    if settings.strategy == "tree":
        made = records(conversation, only_last_tools, changed)
        _found(outcome, conversation, tools_changed(changed))
        return made
    main = [exchange for exchange in conversation.exchanges if _stream(exchange) == MAIN]
    calls = main or conversation.exchanges
    most = max(len(exchange.messages) for exchange in calls)
    fullest = [place for place, exchange in enumerate(calls) if len(exchange.messages) == most]
    last = next((place for place in reversed(fullest) if calls[place].response.messages), fullest[-1])
    outcome.count("entries kept", last + 1)
    outcome.count("entries cut off", len(calls) - last - 1)
    outcome.count("entries of sub-agents", len(conversation.exchanges) - len(calls))
    answer = calls[last].response
    findings = left_out(last + 1, len(calls), bool(answer.messages), 1 + len(answer.alternatives))
    record = _snapshot(conversation, calls[: last + 1], only_last_tools, changed)
    _found(outcome, conversation, [*tools_changed(changed), *findings])
    return [record]


def _found(outcome: Outcome, conversation: Conversation, findings: Iterable[Finding]) -> None:
    outcome.findings += [Found(finding, conversation.scenario, conversation.source) for finding in findings]


def _stream(exchange: Exchange) -> Any:
    return (exchange.extra or {}).get("stream_id", MAIN)


def _snapshot(
    conversation: Conversation, kept: list[Exchange], only_last_tools: bool, changed: set[str]
) -> TrainingRecord:
    last = kept[-1]
    answers = _Answers(kept)
    turns: list[TrainingTurn] = []
    for place, run in _placed(_asked_runs(last)):
        turns += _turns(_joined(run), last.wire, answers.exchange(run, place))
    for run in _answer_runs(last):
        turns += _turns(_joined(run), last.answer_wire, last)
    tools: dict[str, dict[str, Any]] = {}
    last_tools: tuple[Tool, ...] = ()
    for exchange in kept[-1:] if only_last_tools else kept:
        if exchange.tools is last_tools:
            continue
        last_tools = exchange.tools
        changed |= define(tools, ((tool, encode_tool(tool, exchange.wire != chat.name)) for tool in exchange.tools))
    models = [exchange.response.model or exchange.model for exchange in kept]
    return TrainingRecord(
        turns=turns,
        tools=list(tools.values()),
        session=conversation.session,
        source=conversation.source,
        date=conversation.date,
        scenario=conversation.scenario,
        agent=conversation.agent,
        model=next((model for model in reversed(models) if model), None),
        id=only_id(conversation.session, conversation.source),
    )


class _Answers:
    """Which call gave a message. Clients send one back without its thoughts, and give its calls ids of their own."""

    def __init__(self, kept: list[Exchange]) -> None:
        *self._before, self._last = kept
        self._asked = self._last.messages
        known: Places[_Given] = Places()
        for exchange in self._before:
            for place, message in enumerate(exchange.response.messages, len(exchange.messages)):
                known.add(message.id, place, (exchange, place))
        said = {place: message.id for place, message in enumerate(self._asked) if message.role == "assistant"}
        self._whole = known.settle(said)

    def exchange(self, run: list[Message], place: int) -> Exchange | None:
        """That of messages which stand there in the last request."""
        if run[0].role != "assistant":
            return None
        found = self._same(run, place) or self._meant.get(place)
        return found[0] if found else None

    def _same(self, run: list[Message], place: int) -> "_Given | None":
        return next((self._whole[at] for at in range(place, place + len(run)) if at in self._whole), None)

    @cached_property
    def _meant(self) -> "dict[int, _Given]":
        taken = {(id(exchange), place) for exchange, place in self._whole.values()}
        known: Places[_Given] = Places()
        for exchange in self._before:
            for place, run in _placed(_answer_runs(exchange), len(exchange.messages)):
                said = _meaning(_joined(run))
                if said != _NOTHING and (id(exchange), place) not in taken:
                    known.add(said, place, (exchange, place))
        runs = [(place, run) for place, run in _placed(_asked_runs(self._last)) if not self._same(run, place)]
        return known.settle({place: _meaning(_joined(run)) for place, run in runs if run[0].role == "assistant"})


_Given: TypeAlias = tuple[Exchange, int]
"""A call, and the place of what it answered."""
_NOTHING = "", ()


def _meaning(message: Message) -> Any:
    """Its text and its calls."""
    told = normal(message)
    return told.text, told.calls


def _asked_runs(exchange: Exchange) -> Iterator[list[Message]]:
    return _runs(exchange.messages, exchange.wire != chat.name and not is_implied(exchange))


def _answer_runs(exchange: Exchange) -> Iterator[list[Message]]:
    return _runs(exchange.response.messages, exchange.answer_wire != chat.name and not is_implied(exchange))


def _runs(messages: Iterable[Message], joins: bool) -> Iterator[list[Message]]:
    """What is one message to trainers: in other APIs (but not in logs) each item of an answer is one of its own."""
    for role, run in groupby(messages, lambda message: message.role):
        found = list(run)
        if joins and role == "assistant":
            yield found
        else:
            yield from ([message] for message in found)


def _placed(runs: Iterable[list[Message]], place: int = 0) -> Iterator[tuple[int, list[Message]]]:
    """Each with the place of its first message."""
    for run in runs:
        yield place, run
        place += len(run)


def _joined(run: list[Message]) -> Message:
    if len(run) == 1:
        return run[0]
    return Message(run[0].role, tuple(block for message in run for block in message.blocks))


def _turns(message: Message, wire: str, made: Exchange | None) -> Iterator[TrainingTurn]:
    """One message may become several: each result of a tool is one of its own here."""
    usage = made.response.usage if made else None
    for written in encode(message, wire != chat.name):
        if written["role"] == "developer":
            written["role"] = "system"
        if made is None or written["role"] != "assistant":
            yield TrainingTurn(written)
            continue
        response = made.response
        yield TrainingTurn(
            written,
            train=True,
            generated=True,
            model=response.model or made.model,
            time=made.timestamp,
            tokens=Tokens.of(usage) if usage else None,
            stop=response.stop.reason if response.stop else None,
        )
        usage = None  # of one call, however many messages it gave


def _cleaned(records: list[TrainingRecord], settings: Settings, outcome: Outcome) -> list[TrainingRecord]:
    if settings.clean_up != "goose":
        return records
    from unspool.transforms.goose import clean

    kept: list[TrainingRecord] = []
    for record in records:
        known = {id(turn.message): turn for turn in record.turns}
        counts: Counter[str] = Counter()
        entry = clean(_entry(record), counts)
        count_cleaned(outcome, counts)
        if entry is None:
            outcome.count("records cleaned away: goose's titles")
            continue
        messages = [*entry["request"]["messages"], *(choice["message"] for choice in entry["response"]["choices"])]
        record.turns = [known.get(id(message)) or TrainingTurn(message) for message in messages]
        kept.append(record)
    return kept


def _entry(record: TrainingRecord) -> dict[str, Any]:
    """The call that ended a record, as a session file would have it."""
    messages = record.messages
    answered = bool(record.turns) and record.turns[-1].generated
    asked, answers = (messages[:-1], messages[-1:]) if answered else (messages, [])
    return {"request": {"messages": asked}, "response": {"choices": [{"message": answer} for answer in answers]}}
