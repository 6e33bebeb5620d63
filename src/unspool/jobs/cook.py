"""Cook: recorded traffic or agents' logs in, the deduplicated graph of their conversations out."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from unspool.exports.cooked import Cooker, name_requests
from unspool.graph.linking import link
from unspool.ingest.implied import implied
from unspool.ingest.open import read_exchanges
from unspool.model import Cooked, CookedRequest, Exchange, Note
from unspool.sources.files import DASH

_ASIDE = re.compile(r"count_?tokens|/embeddings|/moderations", re.IGNORECASE)
"""Paths of calls that ask about a conversation, and are no part of it."""
Input: TypeAlias = str | os.PathLike[str]


def cook(*inputs: Input, wire: str = "auto", seen: Callable[[Exchange | Note], None] | None = None) -> Cooked:
    """Read files, folders, `-` or sessions by id, and cook what they hold. Faults are in `notes`, never raised.

    `wire` names the dialect of all records (openai, claude, gemini, responses, cohere); auto recognises each by itself.
    `seen` is called with each exchange and note as it is read.
    """
    cooker = Cooker()
    requests: list[CookedRequest] = []
    compacted: dict[str, str] = {}
    previous: list[str | None] = []
    aside: list[bool] = []
    notes: list[Note] = []
    for item in _items(inputs, wire):
        if seen is not None:
            seen(item)
        if isinstance(item, Note):
            notes.append(item)
            continue
        requests.append(cooker.add(item))
        if item.id and (before := (item.extra or {}).get("compacts")):
            compacted[item.id] = before
        named = item.settings.get("previous_response_id")
        previous.append(named if isinstance(named, str) else None)
        aside.append(bool(_ASIDE.search(item.path)))
    name_requests(requests)
    continued = {request.id: named for request, named in zip(requests, previous, strict=True) if named}
    asides = {request.id for request, is_aside in zip(requests, aside, strict=True) if is_aside}
    requests = in_time_order(requests)
    link(requests, cooker.messages, continued, asides)
    for request in requests:
        if request.parent_id is None and request.id in compacted:  # the log itself says so
            request.parent_id, request.parent_reason = compacted[request.id], "compaction"
    return Cooked(cooker.messages, cooker.tools, requests, notes)


def is_session(given: str) -> bool:
    """Whether it can only be a session's id: no such file is there, and it does not look like the name of one."""
    return bool(re.fullmatch(r"[\w-]+", given)) and given != DASH and not Path(given).exists()


def _items(inputs: Iterable[Input], wire: str) -> Iterator[Exchange | Note]:
    """Files first, all in one go, because they may share much; then sessions."""
    given = [os.fspath(each) for each in inputs]
    paths = [path for path in given if not is_session(path)]
    if paths:
        yield from read_exchanges(*paths, wire=wire)
    for name in given:
        if is_session(name):
            from unspool.jobs.show import find, read_session  # only where a session is meant

            items = read_session(find(name).session)
            yield from implied((log.reader.agent, item) for log, item in items)


def in_time_order(requests: Iterable[CookedRequest]) -> list[CookedRequest]:
    """By timestamp, stable; a request without one stays behind the request that it follows in the file."""
    times: list[tuple[float, CookedRequest]] = []
    latest = float("-inf")
    for request in requests:
        latest = latest if request.timestamp is None else request.timestamp
        times.append((latest, request))
    times.sort(key=lambda entry: entry[0])
    return [request for _, request in times]
