"""Which tools agents called, with which arguments, and how well we understand them."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from unspool.actions import vocabulary_for
from unspool.actions.vocabulary import Call
from unspool.engine.local import each, jobs_for
from unspool.errors import InputNotFound, UnknownFormat
from unspool.ingest.agents import agent_of, meanings
from unspool.ingest.finding import meant
from unspool.ingest.logs import open_log
from unspool.ingest.net import file_note
from unspool.ingest.open import read_exchanges
from unspool.model import Event, Exchange
from unspool.model.event import ToolCall
from unspool.readers.calls import arguments_of
from unspool.sources.files import DASH, is_database

_EXAMPLES = 3


class ArgumentSeen(Struct):
    calls: int = 0
    types: dict[str, int] = {}


class ToolSeen(Struct):
    """One tool of one agent, as it was called."""

    agent: str
    name: str
    calls: int = 0
    kinds: dict[str, int] = {}
    """How often it meant what."""
    generic: float = 0.0
    """The share of calls that we did not understand."""
    arguments: dict[str, ArgumentSeen] = {}
    known: bool = False
    """Whether the vocabulary has it."""
    differences: list[str] = []
    """Where it was called otherwise than the vocabulary expects."""


class _Tally(Struct):
    calls: int
    kinds: Counter[str]
    arguments: dict[str, Counter[str]]


Tallies = dict[tuple[str, str], _Tally]


def tools(
    paths: Sequence[str] = (), jobs: int | None = None, seen: Callable[[str], None] = lambda _path: None
) -> tuple[list[ToolSeen], list[str]]:
    """By agent, then by how often they were called; and which files could not be read, with the reason."""
    files, named = meant(paths)
    for path in files:
        if path in named and path != DASH:
            is_database(path)  # a file that was named must be there to be read
    whole: Tallies = {}
    lost: list[str] = []
    for path, (tallies, fault) in zip(files, each(count_file, files, jobs_for(files, jobs)), strict=True):
        seen(path)
        if fault and not tallies and named == {path}:
            raise InputNotFound(fault)
        if not tallies and not fault and path in named and not _is_known(path):
            raise UnknownFormat(f"{path}: no agent's log that we know, and no recorded call in it")
        _add(whole, tallies)
        lost += [fault] if fault else []
    told = [_seen(agent, name, tally) for (agent, name), tally in whole.items()]
    return sorted(told, key=lambda tool: (tool.agent, -tool.calls, tool.name)), lost


def _is_known(path: str) -> bool:
    """Whether it is of a kind that may tell of tools, though it tells of none."""
    return open_log(path) is not None or any(isinstance(item, Exchange) for item in read_exchanges(path))


def count_file(path: str) -> tuple[Tallies, str]:
    """Of an agent's log; of recorded traffic, where the agent can be told. And why it could not be read."""
    tallies: Tallies = {}
    try:
        _count(path, tallies)
    except InputNotFound as error:
        return tallies, str(error)
    except Exception as error:
        return tallies, f"{path}: {file_note(error, path).reason}"
    return tallies, ""


def _count(path: str, tallies: Tallies) -> None:
    for agent, name, arguments, kind in _calls(path):
        tally = tallies.setdefault((agent, name), _Tally(0, Counter(), defaultdict(Counter)))
        tally.calls += 1
        tally.kinds[kind] += 1
        for key, value in arguments.items() if isinstance(arguments, dict) else ():
            tally.arguments[key][_type(value)] += 1


def _calls(path: str) -> Iterator[tuple[str, str, Any, str]]:
    log = open_log(path)
    if log is not None:
        for event in log:
            if isinstance(event, Event) and isinstance(call := event.content, ToolCall):
                yield log.reader.agent, call.name, arguments_of(call.given), call.kind
        return
    for exchange in read_exchanges(path):
        if isinstance(exchange, Exchange):
            agent = agent_of(exchange)
            for use, meaning in meanings(exchange, agent):
                yield agent or exchange.wire, use.name, use.arguments, meaning.kind


def _add(whole: Tallies, tallies: Tallies) -> None:
    for name, tally in tallies.items():
        known = whole.get(name)
        if known is None:
            whole[name] = tally
            continue
        known.calls += tally.calls
        known.kinds += tally.kinds
        for key, types in tally.arguments.items():
            known.arguments.setdefault(key, Counter()).update(types)


def _seen(agent: str, name: str, tally: _Tally) -> ToolSeen:
    expected = vocabulary_for(agent).tool(name)
    return ToolSeen(
        agent=agent,
        name=name,
        calls=tally.calls,
        kinds=dict(tally.kinds.most_common()),
        generic=tally.kinds["generic"] / tally.calls,
        arguments={key: ArgumentSeen(types.total(), dict(types)) for key, types in tally.arguments.items()},
        known=expected is not None or "mcp" in tally.kinds,
        differences=list(_differences(expected, tally)) if "mcp" not in tally.kinds else [],
    )


def _differences(expected: type[Call] | None, tally: _Tally) -> Iterator[str]:
    """What the vocabulary does not expect, and what it expects in vain."""
    if expected is None:
        yield "not in the vocabulary"
        return
    fields = {field.encode_name: field for field in msgspec.structs.fields(expected)}
    if not fields:  # whatever such a tool is given stands beside what it means
        return
    said: Counter[str] = Counter()
    for key, types in tally.arguments.items():
        name = expected.spelled.get(key, key)
        said[name] += types.total()
        if name not in fields:
            yield f"argument {key!r} is not expected ({_counts(types)})"
    for key, field in fields.items():
        if field.required and key != expected.bare and said[key] < tally.calls:
            yield f"argument {key!r} is missing in {_told(tally.calls - said[key])}"
    if generic := tally.kinds["generic"]:
        yield f"{_told(generic)} {'does' if generic == 1 else 'do'} not fit"


def _told(calls: int) -> str:
    return f"{calls:,} call{'' if calls == 1 else 's'}"


def _counts(types: Counter[str]) -> str:
    return ", ".join(f"{number:,} × {kind}" for kind, number in types.most_common(_EXAMPLES))


def _type(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
    return "object"
