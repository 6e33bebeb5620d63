"""Recorded calls, sent again: to the same model, or to others, and the answers beside each other."""

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from unspool.dialect import Piece
from unspool.errors import NotConfigured, UnspoolError
from unspool.ingest.requests import find_request
from unspool.ingest.wrapping import sent
from unspool.jobs.recorded_settings import longest, tool_mode, untold
from unspool.model import Context, Exchange, Message, Note, Said, Stop, Text, ToolUse, Usage
from unspool.providers.calling import Answered, ask
from unspool.providers.catalogue import PROVIDERS
from unspool.providers.config import Config, Target, read_config, target_of
from unspool.providers.network import Network
from unspool.providers.prices import cost_of
from unspool.sources.jsontext import dumps
from unspool.sources.records import read_records
from unspool.wires import speaker_for
from unspool.wires.normalised import joined, write_blocks, write_usage

_OTHER_HOSTS = re.compile(
    r"/(?:converse|invoke)|:(?:stream)?rawPredict|^/api/(?:chat|generate)|/v1internal", re.IGNORECASE
)
"""Bedrock, Vertex, Ollama, and Gemini with a Google login."""
_OWNERS = {"claude": "anthropic", "openai": "openai", "responses": "openai-responses"}
"""Whom a recorded call is taken to have gone to, by its API; others are called as their API is."""


class Reply(Struct):
    """An answer, recorded or new."""

    asked: str | None
    """Whom, as it was said; of the recording, the model."""
    model: str | None
    message: Message | None = None
    stop: Stop | None = None
    usage: Usage | None = None
    cost: float | None = None
    duration_ms: float | None = None
    error: str | None = None

    def record(self) -> dict[str, Any]:
        return {
            "asked": self.asked,
            "model": self.model,
            "content": write_blocks(self.message.blocks) if self.message else None,
            "stop_reason": self.stop.reason if self.stop else None,
            "usage": write_usage(self.usage) if self.usage else None,
            "cost": self.cost,
            "duration_ms": self.duration_ms,
            "error": self.error,
        }


class Replayed(Struct):
    name: str
    recorded: Reply
    replies: list[Reply]
    warnings: list[str] = []


def replay(
    names: Sequence[str], models: Sequence[str] = (), pointers: Sequence[str] = (), lenient: bool = False
) -> Iterator[Replayed]:
    """Each call as it was recorded, and what is answered now. A provider that fails fails for that call alone."""
    config = read_config()
    calls = [(name, find_request(name)) for name in names]
    plans = [(name, call, _targets(call, models, pointers, config)) for name, call in calls]
    with Network() as network:
        for name, call, targets in plans:
            yield _replayed(network, name, call, targets, lenient)


def _replayed(network: Network, name: str, call: Exchange, targets: Sequence[Target], lenient: bool) -> Replayed:
    """All are asked at once: the slowest says how long it takes."""
    told = Replayed(name, _recorded(call), [])
    warnings: list[list[str]] = [[] for _ in targets]
    pool = ThreadPoolExecutor(len(targets))
    try:
        asked = [
            pool.submit(_reply, network, call, target, lenient, own)
            for target, own in zip(targets, warnings, strict=True)
        ]
        told.replies = [each.result() for each in asked]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # whoever is interrupted waits for nobody
    told.warnings = [warning for own in warnings for warning in own]
    return told


def _targets(call: Exchange, models: Sequence[str], pointers: Sequence[str], config: Config) -> list[Target]:
    if pointers:
        return [replace(found, model=found.model or call.model) for found in _pointed(pointers, config)]
    owner = _OWNERS.get(call.wire, call.wire)
    if owner not in PROVIDERS:
        raise NotConfigured(f"{call.origin}: it is not known whom {call.wire} asked: say with -p whom to ask now")
    same = target_of(owner, config, model_needed=False)
    recorded = call.model or call.response.model
    wanted = list(models) or ([recorded] if recorded else [])
    if not wanted:
        raise NotConfigured(f"{call.origin}: it is not known which model was asked: say it with --model")
    return [replace(same, model=model, name=f"{owner}/{model}") for model in wanted]


def _pointed(pointers: Sequence[str], config: Config) -> list[Target]:
    return [target_of(pointer, config, model_needed=False) for pointer in pointers]


def _recorded(call: Exchange) -> Reply:
    response = call.response
    model = response.model or call.model
    owner = PROVIDERS.get(_OWNERS.get(call.wire, call.wire))
    return Reply(
        call.model or model,
        model,
        joined(response) if response.messages else None,
        response.stop,
        response.usage,
        cost_of(response.usage, owner, model, call.model) if owner else None,
        call.duration_ms,
        call.failure.message if call.failure else None,
    )


def _reply(network: Network, call: Exchange, target: Target, lenient: bool, warnings: list[str]) -> Reply:
    try:
        body = _body(call, target, lenient, warnings)
        answered: Answered = ask(network, target, body, _unseen, lambda why, _: warnings.append(why))
    except UnspoolError as error:
        return Reply(target.name, target.model, error=str(error))
    response = answered.response
    model = response.model or target.model
    return Reply(
        target.name,
        model,
        response.messages[0] if response.messages else None,
        response.stop,
        response.usage,
        cost_of(response.usage, target.provider, model, target.model),
        answered.ended - answered.started,
        answered.error if answered.halted else None,
    )


def _unseen(_piece: Piece) -> None:
    """Answers are shown beside each other, when they are there."""


def _body(call: Exchange, target: Target, lenient: bool, warnings: list[str]) -> dict[str, Any]:
    """The recorded one itself where it goes to the same API; else what it meant, written for the other."""
    api = target.provider.api
    if api == call.wire and (raw := _raw(call)):
        body = {key: value for key, value in raw.items() if key not in ("model", "stream")}
        if api == "gemini":
            return body
        if api == "openai":
            body.setdefault("stream_options", {"include_usage": True})
        return {"model": target.model, **body, "stream": True}
    asking = replace(target, max_tokens=target.max_tokens or longest(call.settings)).asking(lenient)
    said = tuple(Said(message, api=call.wire if message.role == "assistant" else None) for message in call.messages)
    tools = [tool for tool in call.tools if not tool.server_side]
    if len(tools) < len(call.tools):
        warnings.append("tools that the other provider ran itself are left out")
    mode = tool_mode(call.settings)
    options = {"tool_mode": mode} if mode in ("auto", "none", "required", *(tool.name for tool in tools)) else {}
    if left := untold(call.settings):
        warnings.append(
            f"{target.name} is asked without {', '.join(left)}, which the recorded API has its own words for"
        )
    body = speaker_for(api).prepare(Context(said, options), tools, asking)
    warnings += asking.warnings
    return body


def _raw(call: Exchange) -> dict[str, Any] | None:
    """The request as it was recorded, read again; None where another host took it in a form of its own."""
    if _OTHER_HOSTS.search(call.path):
        return None
    for record in read_records(call.origin.file):
        if isinstance(record, Note) or record.origin.offset != call.origin.offset:
            continue
        return sent(record.data)
    return None


def lines_of(message: Message | None) -> list[str]:
    """What was said and called, line by line: what two answers are compared by."""
    lines: list[str] = []
    for block in message.blocks if message else ():
        match block:
            case Text():
                lines += block.text.splitlines()
            case ToolUse():
                lines.append(f"● {block.name} {block.text or dumps(block.arguments)}")
    return lines
