"""Events as JSON: how `show --json` and `grep` write them."""

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from unspool.model import Action, Event, Origin
from unspool.model.event import ToolCall
from unspool.sources.files import legible
from unspool.sources.jsontext import shallow

_encoder = msgspec.json.Encoder()
_encode = _encoder.encode


class Metadata(Struct, omit_defaults=True):
    agent: str
    origin: Origin
    payload: Any = msgspec.UNSET
    """What the event came from, as the agent wrote it."""


class Written(Struct):
    """The form of an event on paper."""

    id: str
    session_id: str
    parent_id: str | None
    timestamp: str | None
    stream_id: str
    type: str
    content: Any
    metadata: Metadata


class _Call(Struct, omit_defaults=True):
    """A tool call without what it was given: that stands in the payload."""

    name: str
    kind: str
    arguments: Any
    provider_call_id: str | None
    actions: tuple[Action, ...] = ()


def content_of(event: Event) -> Any:
    """The content as it is written."""
    content = event.content
    return _called(content) if isinstance(content, ToolCall) else content


def _called(call: ToolCall) -> _Call:
    meaning = call.meaning
    return _Call(call.name, meaning.kind, meaning.arguments, call.provider_call_id, meaning.actions)


class _Body(Struct):
    type: str
    content: Any


def body(event: Event) -> bytes:
    """Type and content alone, as compact JSON: what a search looks into."""
    kind, content = event.content.type, content_of(event)
    try:
        return _encode(_Body(kind, content))
    except RecursionError:
        return _encode(_Body(kind, _upper(content)))


def bodies(events: list[Event]) -> bytes:
    """Those of several events, a line each."""
    contents = [event.content for event in events]
    try:
        return _encoder.encode_lines(
            [_Body(each.type, _called(each) if type(each) is ToolCall else each) for each in contents]
        )
    except RecursionError:
        return b"\n".join(map(body, events))


class _Draft(Struct):
    """A tool call as it was given, before anybody worked out what it means."""

    name: str
    given: Any
    provider_call_id: str | None


def drafts(events: list[Event]) -> bytes:
    """Each event on a line, as far as its words go: those of `body` stand there too, and it costs half.

    Of a call that is what it was given, if it is not in a language in which words are put together.
    """
    try:
        contents = [event.content for event in events]
        return _encoder.encode_lines([_draft(each) if type(each) is ToolCall else each for each in contents])
    except RecursionError:
        return b"\n".join(map(body, events)) + b"\n"


def _draft(call: ToolCall) -> _Draft | _Call:
    given = call.given
    if not call.unread or (given.__class__ is str and given[:1] != "{"):
        return _called(call)
    return _Draft(call.name, given, call.provider_call_id)


def _upper(content: Any) -> Any:
    """The upper levels of what is nested too deeply to be written: only arguments can be."""
    if isinstance(content, _Call):
        return _Call(content.name, content.kind, shallow(content.arguments), content.provider_call_id)
    return content


def written(event: Event, agent: str, payload: Any = msgspec.UNSET) -> Written:
    return Written(
        event.id,
        event.session_id,
        event.parent_id,
        event.timestamp,
        event.stream_id,
        event.type,
        content_of(event),
        Metadata(agent, replace(event.origin, file=legible(event.origin.file)), payload),
    )


def line(event: Event, agent: str, payload: Any = msgspec.UNSET) -> bytes:
    """One compact JSON object, and the end of the line. Bytes of a database become base64."""
    form = written(event, agent, payload)
    try:
        return _encoder.encode_lines([form])  # adding the end of the line would copy all of it
    except RecursionError:
        form.content, form.metadata.payload = _upper(form.content), shallow(payload)
        return _encoder.encode_lines([form])
