"""A snapshot as a training record, for the formats that want more than messages and tools.

A message that the model generated is known by its answer in the log: only such ones are trained on.
"""

from typing import Any

import msgspec
from msgspec import Raw, Struct

from unspool.jobs.squash.entries import Entry, unstreamed
from unspool.jobs.squash.places import Places
from unspool.jobs.squash.snapshot import Snapshot, answer_of, answered
from unspool.model.identity import fingerprint
from unspool.model.record import TrainingRecord, TrainingTurn, only_id
from unspool.model.session import Tokens
from unspool.sources.jsontext import Unreadable, strict
from unspool.sources.values import mapping, string
from unspool.transforms.integrity import text_of
from unspool.transforms.scenarios import stem_of
from unspool.wires.openai_chat import wire


class _Model(Struct):
    model: Raw = Raw(b"null")


class _Asked(Struct):
    request: _Model


_asked = msgspec.json.Decoder(_Asked).decode


class Replies:
    """The answers of the kept entries, by what they say."""

    def __init__(self) -> None:
        self._known: Places[TrainingTurn] = Places()

    def add(self, entry: Entry, asked: int) -> None:
        """`asked`: how many messages its request has."""
        response = unstreamed(entry.response)
        message, _ = answer_of(response)
        if message is None:
            return
        value = answered(message)[1]
        told = wire.answer(mapping(strict(response)))
        self._known.add(
            meaning(value),
            asked,
            TrainingTurn(
                value,
                train=True,
                generated=True,
                model=told.model or _model(entry.line),
                time=None if entry.time is None else entry.time // 1000,
                tokens=Tokens.of(told.usage) if told.usage else None,
                stop=told.stop.reason if told.stop else None,
            ),
        )

    def turns(self, messages: list[dict[str, Any]]) -> list[TrainingTurn]:
        """The messages of the session's record, each with what is known of the call that gave it."""
        said = {at: meaning(message) for at, message in enumerate(messages) if message.get("role") == "assistant"}
        known = self._known.settle(said)
        return [
            msgspec.structs.replace(known[at], message=message) if at in known else TrainingTurn(message)
            for at, message in enumerate(messages)
        ]


def meaning(message: dict[str, Any]) -> str:
    """Text and calls, however they are written: ids, and the spacing of arguments, tell nothing."""
    calls = []
    for call in message.get("tool_calls") or ():
        function = mapping(mapping(call).get("function"))
        calls.append((function.get("name"), _arguments(function.get("arguments"))))
    return fingerprint((text_of(message.get("content")), calls))


def _arguments(written: Any) -> Any:
    if not isinstance(written, str):
        return written
    try:
        return strict(written)
    except Unreadable:
        return written


def _model(line: bytes) -> str | None:
    try:
        return string(strict(_asked(line).request.model))
    except Unreadable:
        return None


def record_of(snapshot: Snapshot, replies: Replies, scenario: str) -> TrainingRecord:
    entry = snapshot.entry
    turns = replies.turns(snapshot.values)
    models = [turn.model for turn in turns if turn.model]
    session = entry.session or stem_of(entry.origin.file)
    return TrainingRecord(
        turns=turns,
        tools=[_as_asked(tool) for tool in snapshot.tool_wholes],
        session=session,
        source=entry.origin.file,
        date=snapshot.day,
        scenario=scenario,
        model=models[-1] if models else _model(entry.line),
        id=only_id(session, entry.origin.file),
    )


def _as_asked(tool: Any) -> dict[str, Any]:
    return tool if isinstance(tool, dict) else {"type": "unknown", "value": tool}
