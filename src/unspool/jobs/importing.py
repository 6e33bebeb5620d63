"""Any recorded call and any agent's session as a thread."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from unspool.errors import RequestNotFound, SessionNotFound, UnknownFormat, WrongTurn
from unspool.ingest.implied import Implied
from unspool.ingest.logs import OpenLog
from unspool.ingest.media import Media
from unspool.ingest.requests import find_request, is_request
from unspool.ingest.telling import read_session
from unspool.jobs.show import Shown, find, on_disk
from unspool.model import MAIN, Answer, Event, Exchange, Message, Note, Response, ToolResult, Turn
from unspool.sources.copies import named
from unspool.sources.files import DASH
from unspool.store.store import Store
from unspool.threads.imported import Step, import_thread
from unspool.threads.offering import OPTION, definitions
from unspool.wires.normalised import joined


class Imported(Struct):
    turns: list[Turn]
    new: int
    """How many of them were not here yet."""
    left: int = 0
    """Messages behind the cut."""
    notes: list[Note] = []


def thread_from(
    store: Store,
    name: str,
    at: str | None = None,
    *,
    stream: str | None = None,
    head: str | None = None,
    move: bool = False,
) -> Imported:
    """`name` is a recorded call, `FILE#ID` or `FILE#N`, or a session: an id, the beginning of one, `latest`, a path.

    `stream` is main, unless the file has only a sub-agent's. `at` is how many messages to keep, or the id of the event
    of a session behind which it is cut.
    """
    options: dict[str, Any] = {}
    if is_request(name):
        exchange = find_request(name)
        steps, notes = _of_exchange(exchange), list[Note]()
        origin: dict[str, Any] = {"source": "request", "request": exchange.id or str(exchange.origin)}
        options[OPTION] = definitions(exchange.tools) or None
        if at is not None and not at.isdecimal():
            raise WrongTurn(f"{at!r} is no number of turns")
    else:
        with on_disk(name) as path:
            shown = _session(path, "FILE" if name == DASH else path)
            session = shown.session
            stream = stream or (MAIN if MAIN in session.streams else next(iter(session.streams)))
            if stream not in session.streams:
                streams = ", ".join(session.streams)
                raise SessionNotFound(f"{session.id} has no stream {stream!r}, only {streams}")
            event = None if at is None or at.isdecimal() else at
            origin = {"source": "session", "agent": session.facts.agent, "session": session.id}
            steps, notes = _of_items(session.facts.agent, read_session(session, stream), event)
            notes = [*shown.lost, *notes]
            notes = [replace(note, origin=replace(note.origin, file=named(note.origin.file))) for note in notes]
    whole = len(steps)
    if at is not None and at.isdecimal():
        if not 1 <= int(at[:18]) <= whole:
            raise WrongTurn(f"{name} has {whole:,} turn{'' if whole == 1 else 's'}: there is no turn {at} to cut it at")
        steps = steps[: int(at)]
    turns, new = import_thread(store, steps, origin, head, move=move, options=options)
    return Imported(turns, new, whole - len(steps), notes)


def _session(path: str, file: str) -> Shown:
    try:
        return find(path)
    except UnknownFormat as error:
        raise RequestNotFound(f"{path}: no agent's log; of recorded traffic, name one call: {file}#1") from error


def _of_exchange(exchange: Exchange) -> list[Step]:
    """What was sent, and what came back. Items that one answer was made of are one message again."""
    steps = [Step(message, _sent(exchange, message)) for message in _grouped(exchange.messages)]
    response = exchange.response
    message = joined(response)
    if message.blocks:
        started, took = exchange.timestamp, exchange.duration_ms
        answer = Answer(
            api=exchange.wire,
            model=response.model or exchange.model,
            requested=exchange.model if response.model not in (None, exchange.model) else None,
            response_id=response.id,
            stop=response.stop,
            usage=response.usage,
            status="interrupted" if response.interrupted else "complete",
            started=started,
            ended=int(started + took) if started is not None and took is not None else None,
        )
        steps.append(Step(message, answer))
    return steps


def _sent(exchange: Exchange, message: Message) -> Answer | None:
    """Earlier answers came by the same API, as far as anybody can tell."""
    return Answer(api=exchange.wire) if message.role == "assistant" else None


def _grouped(messages: Iterable[Message]) -> Iterable[Message]:
    """Some APIs have a message for each item of an answer, and for each result: here they are one."""
    for (role, results), group in groupby(messages, key=lambda message: (message.role, _is_results(message))):
        if role == "assistant" or results:
            merged = joined(Response(tuple(group)))
            yield merged if merged.role == role else replace(merged, role=role)
        else:
            yield from group


def _is_results(message: Message) -> bool:
    return bool(message.blocks) and all(isinstance(block, ToolResult) for block in message.blocks)


def _of_items(
    agent: str, items: Iterable[tuple[OpenLog, Event | Note]], event: str | None
) -> tuple[list[Step], list[Note]]:
    """The conversation as the log leaves it, or as it was behind the event."""
    media = Media()
    implied, answers, notes = Implied(agent, media.blocks), dict[int, Exchange](), list[Note]()
    found = False
    for log, item in items:
        if isinstance(item, Note):
            notes += [] if found else [item]
            continue
        named = event is not None and item.id.startswith(event)
        if found:  # by the beginning of its id, which no other may share
            if named:
                raise WrongTurn(f"several events of this session have ids that begin with {event!r}")
            continue
        media.came(log, item)
        _remember(answers, implied.feed(item))
        found = named
        if item.id == event:
            break
    if event is not None and not found:
        raise WrongTurn(f"no event of this session has the id {event!r}: see `unspool show --json`")
    _remember(answers, implied.end())
    return [Step(message, _answer(answers.get(id(message)))) for message in implied.messages], notes


def _remember(answers: dict[int, Exchange], exchanges: Iterable[Exchange]) -> None:
    for exchange in exchanges:
        if exchange.response.messages:  # of some calls a log has only what they used
            answers[id(exchange.response.messages[0])] = exchange


def _answer(exchange: Exchange | None) -> Answer | None:
    if exchange is None:
        return None
    started, took = exchange.timestamp, exchange.duration_ms
    return Answer(
        model=exchange.model,
        response_id=exchange.response.id,
        usage=exchange.response.usage,
        started=started,
        ended=int(started + took) if started is not None and took is not None else None,
    )
