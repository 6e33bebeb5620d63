"""Cook: recorded traffic in, the deduplicated graph of its conversations out."""

import os
from collections.abc import Callable, Iterable

from unspool.exports.cooked import Cooker
from unspool.graph.lineage import Facts, Lineage, Step
from unspool.ingest.open import read_exchanges
from unspool.model import Cooked, CookedMessage, CookedRequest, Exchange, Note

Path = str | os.PathLike[str]


def cook(*inputs: Path, wire: str = "auto", seen: Callable[[Exchange | Note], None] | None = None) -> Cooked:
    """Read files, folders or `-` and cook what they hold. Faults in the data are in `notes`, never raised.

    `wire` names the dialect of all records (openai, claude, gemini, responses); auto recognises each by itself.
    `seen` is called with each exchange and note as it is read.
    """
    cooker = Cooker()
    requests: list[CookedRequest] = []
    previous: dict[str, str] = {}
    notes: list[Note] = []
    for item in read_exchanges(*inputs, wire=wire):
        if seen is not None:
            seen(item)
        if isinstance(item, Note):
            notes.append(item)
            continue
        request = cooker.add(item)
        requests.append(request)
        if isinstance(named := item.settings.get("previous_response_id"), str):
            previous[request.id] = named
    requests = in_time_order(requests)
    link(requests, cooker.messages, previous)
    return Cooked(cooker.messages, cooker.tools, requests, notes)


def in_time_order(requests: Iterable[CookedRequest]) -> list[CookedRequest]:
    """By timestamp, stable; a request without one stays behind the request that it follows in the file."""
    times: list[tuple[float, CookedRequest]] = []
    latest = float("-inf")
    for request in requests:
        latest = latest if request.timestamp is None else request.timestamp
        times.append((latest, request))
    times.sort(key=lambda entry: entry[0])
    return [request for _, request in times]


def link(requests: list[CookedRequest], messages: list[CookedMessage], previous: dict[str, str]) -> None:
    """Give each request its parent."""
    rows = {message.id: message for message in messages}
    system = {message.id for message in messages if message.role == "system"}
    thinking = {message.id for message in messages if message.role == "thinking"}
    lineage = Lineage(
        Facts(
            text=lambda row: rows[row].content,
            is_user=lambda row: rows[row].role == "user",
            calls={message.id: calls for message in messages if message.tool_calls and (calls := _real_calls(message))},
        )
    )
    for request in requests:
        asked = request.request_messages
        lead = next((at for at, row in enumerate(asked) if row not in system), len(asked))
        answer = request.response_messages[: None if request.error is None else -1]
        step = Step(
            [row for row in asked[lead:] if row not in thinking] if thinking else asked[lead:],
            [row for row in answer if row not in thinking],
            tuple(asked[:lead]),
            request.model,
            request.response_id,
            previous.get(request.id),
        )
        found = lineage.add(step)
        request.parent_id = None if found.parent is None else requests[found.parent].id
        request.parent_reason = found.reason
        request.retry_of = None if found.retry_of is None else requests[found.retry_of].id


def _real_calls(message: CookedMessage) -> list[str]:
    """Ids that the provider gave; `call_0` and its like are our own and prove nothing."""
    ids = [call.id for call in message.tool_calls or ()]
    return [found for found in ids if found and not (found.startswith("call_") and found[5:].isdecimal())]
