"""`sts`: the Session Trace Simple format, which Hugging Face's Hub shows. A file a record: a header, then its messages.

Content is text alone: images are marked by `[image]`. Tools have no place in it.
"""

from typing import Any

from unspool.exports.content import Said, said, text_of
from unspool.exports.training import Encoded, Format, Losses, Options, alone
from unspool.model.record import TrainingRecord


def encode(record: TrainingRecord, _options: Options) -> Encoded:
    losses = Losses()
    spoken = said(record, losses)
    losses["tool definition"] += len(record.tools)
    lines = [{"type": "message", "message": _message(one, losses)} for one in spoken]
    return Encoded(record, [_header(record), *lines] if lines else [], losses)


def _header(record: TrainingRecord) -> dict[str, Any]:
    """Keys behind the first three are ours: the format allows any."""
    facts = {
        "name": record.scenario,
        "session": record.session,
        "relation": record.relation,
        "parent": record.parent,
        "call": record.call,
        "model": record.model,
        "source": record.source,
    }
    header = {"type": "session", "harness": record.agent or "unspool", "id": record.id or record.session}
    return header | {key: value for key, value in facts.items() if value}


def _message(one: Said, losses: Losses) -> dict[str, Any]:
    losses["error mark"] += bool(one.message.get("is_error"))
    message: dict[str, Any] = {"role": one.role, "content": text_of(one, losses)}
    if one.thoughts:
        message["reasoningContent"] = one.thoughts
    if one.calls:
        message["toolCalls"] = [
            {"id": call.id, "function": {"name": call.name, "arguments": call.text}} for call in one.calls
        ]
    if one.answers:
        message["toolCallId"] = one.answers
    if one.turn.time is not None:
        message["timestamp"] = one.turn.time
    if one.turn.model:
        message["model"] = one.turn.model
    return message


form = Format(".jsonl", alone(encode), each=True)
