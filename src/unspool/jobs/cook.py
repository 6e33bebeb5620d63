"""Cook: recorded traffic or agents' logs in, the deduplicated graph of their conversations out."""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from unspool.exports.cooked import Cooker, name_requests
from unspool.graph.linking import link
from unspool.ingest.facts import BESIDE, previous_of
from unspool.ingest.finding import is_session
from unspool.ingest.implied import implied
from unspool.ingest.net import fault_note
from unspool.ingest.open import in_time_order, read_exchanges
from unspool.model import Cooked, CookedRequest, Exchange, Note

Input: TypeAlias = str | os.PathLike[str]


def cook(*inputs: Input, wire: str = "auto", seen: Callable[[Exchange | Note], None] | None = None) -> Cooked:
    """Read files, folders, `-` or sessions by id, and cook what they hold. Faults are in `notes`, never raised.

    `wire` names the dialect of all records (openai, claude, gemini, …); auto recognises each by itself.
    `seen` is called with each exchange and note as it is read.
    """
    cooking = Cooking()
    for item in _items(inputs, wire):
        if seen is not None:
            seen(item)
        cooking.add(item)
    return cooking.cooked()


class Cooking:
    """Exchanges and notes in, one after another; what they came to so far, as often as it is asked for."""

    def __init__(self) -> None:
        self._cooker = Cooker()
        self._requests: list[CookedRequest] = []
        self._notes: list[Note] = []
        self._compacted: dict[str, str] = {}
        self._previous: list[str | None] = []
        self._aside: list[bool] = []

    def add(self, item: Exchange | Note) -> CookedRequest | None:
        """The request as it will stand in the whole, still without its parent; None for a note."""
        if isinstance(item, Note):
            self._notes.append(item)
            return None
        try:
            request = self._cooker.add(item)
        except Exception as error:
            self._notes.append(fault_note(error, item.origin))
            return None
        self._requests.append(request)
        if item.id and (before := (item.extra or {}).get("compacts")):
            self._compacted[item.id] = before
        self._previous.append(previous_of(item.settings))
        self._aside.append(bool(BESIDE.search(item.path)))
        return request

    def cooked(self) -> Cooked:
        """In the order of time, each with its parent."""
        requests, cooker = self._requests, self._cooker
        name_requests(requests)
        continued = {request.id: named for request, named in zip(requests, self._previous, strict=True) if named}
        asides = {request.id for request, is_aside in zip(requests, self._aside, strict=True) if is_aside}
        requests = in_time_order(requests)
        link(requests, cooker.messages, continued, asides)
        for request in requests:
            if request.id in self._compacted:  # the log itself says so
                request.parent_id, request.parent_reason = self._compacted[request.id], "compaction"
        return Cooked(cooker.messages, cooker.tools, requests, self._notes)


def _items(inputs: Iterable[Input], wire: str) -> Iterator[Exchange | Note]:
    """Files first, all in one go, because they may share much; then sessions."""
    given = [os.fspath(each) for each in inputs]
    paths = [path for path in given if not is_session(path)]
    if paths:
        yield from read_exchanges(*paths, wire=wire)
    for name in given:
        if is_session(name):
            from unspool.ingest.telling import read_session  # only where a session is meant
            from unspool.jobs.show import find

            shown = find(name)
            yield from shown.lost
            items = read_session(shown.session)
            yield from implied((log.reader.agent, item) for log, item in items)
