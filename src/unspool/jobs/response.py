"""A provider's events → its answer, in the normalised form."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, to_builtins

from unspool.errors import NotConfigured, UnknownFormat, WrongContext
from unspool.providers.catalogue import Provider
from unspool.providers.config import read_config, target_of
from unspool.sources.files import as_utf_8
from unspool.sources.jsontext import Unreadable, loads
from unspool.sources.sse import DONE, Assembler, Broken
from unspool.sources.values import mapping, text_of
from unspool.wires import SPOKEN, speaker_for
from unspool.wires.aggregate import aggregate, aggregate_body, error_text
from unspool.wires.normalised import write_response


class Received(Struct):
    events: list[Any]
    broken: list[tuple[int, str]] = []
    """What is no JSON: the number of its line, and its beginning."""


class Told(Struct):
    """An answer for people and programs."""

    message: dict[str, Any]
    complete: bool
    error: str | None = None
    unknown: tuple[str, ...] = ()


def read_events(data: bytes) -> Received:
    """JSON lines, a raw stream of server-sent events, or one JSON document: a list of events, or a whole answer."""
    data = as_utf_8(data)
    try:
        whole = loads(data)
    except Unreadable:
        whole = None
    if isinstance(whole, list):
        return Received(whole)
    if isinstance(whole, dict):
        return Received([whole])
    received = Received([])
    for number, event in _numbered(data):
        if isinstance(event, Broken):
            received.broken.append((number, event[:80]))
        else:
            received.events.append(event)
    if not received.events:
        raise WrongContext("no event: neither JSON lines nor server-sent events")
    return received


def _numbered(data: bytes) -> Iterator[tuple[int, Any]]:
    """Each event with the line that ended it."""
    assembler = Assembler()
    number = 0
    for number, line in enumerate(data.replace(b"\r\n", b"\n").split(b"\n"), 1):
        for event in assembler.line(line.decode("utf-8", "replace")):
            yield number, event
    for event in assembler.end():
        yield number, event


def api_of(name: str, events: list[Any]) -> str:
    """The wire of a pointer or a provider, or of that name. OpenAI speaks two: the events tell."""
    api = _api_named(name)
    if api == "openai":
        first = next((mapping(event) for event in events if isinstance(event, dict)), {})
        if text_of(first.get("type")).startswith("response.") or first.get("object") == "response":
            return "responses"
    return api


def _api_named(name: str) -> str:
    try:
        return _provider(name).api
    except NotConfigured as error:
        if name not in SPOKEN:
            raise UnknownFormat(str(error)) from error
        return name


def _provider(name: str) -> Provider:
    return target_of(name, read_config(), model_needed=False).provider


def answer(provider: str, events: list[Any]) -> Told:
    api = api_of(provider, events)
    told = aggregate(api, events)
    if len(events) == 1 and isinstance(events[0], dict) and not told.response.messages:
        told = aggregate_body(api, events[0])
    written = write_response(told.response, api)
    error = error_text(told.error) if told.error is not None else None
    said = bool(told.response.messages) or told.response.stop is not None  # a prompt that is blocked has no message
    return Told(written["message"], said and not told.response.interrupted, error, told.unknown)


def pieces(provider: str, events: list[Any]) -> Iterator[dict[str, Any]]:
    """What each event adds to what is shown."""
    show = speaker_for(api_of(provider, events)).show
    for event in events:
        for piece in show(event):
            yield to_builtins(piece)


def answer_as_gpt2099(provider: str, events: list[Any]) -> dict[str, Any]:
    from unspool.wires.gpt2099 import aggregate

    return aggregate(_known_to_gpt2099(provider), [event for event in events if event != DONE])


def pieces_as_gpt2099(provider: str, events: list[Any]) -> Iterator[dict[str, Any]]:
    from unspool.wires.gpt2099 import stream

    known = _known_to_gpt2099(provider)
    shown = (stream(known, event) for event in events if event != DONE)
    yield from (piece for piece in shown if piece is not None)


def _known_to_gpt2099(name: str) -> str:
    from unspool.wires.gpt2099 import PROVIDERS

    provider = _provider(name).name
    if provider not in PROVIDERS:
        raise WrongContext(f"gpt2099 knows no provider {provider!r}, only {', '.join(PROVIDERS)}")
    return provider
