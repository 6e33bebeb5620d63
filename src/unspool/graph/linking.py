"""Lineage of cooked requests: what of them is a path, and where the links go."""

from collections.abc import Mapping, Set

from unspool.graph.lineage import Lineage, Rows, Step
from unspool.model import CookedMessage, CookedRequest


def link(
    requests: list[CookedRequest], messages: list[CookedMessage], previous: Mapping[str, str], aside: Set[str]
) -> None:
    """Give each request, in time order, its parent.

    `previous` names the response that a request says it continues. Nothing descends from the requests in `aside`.
    """
    rows: dict[str, CookedMessage] = {}
    calls: dict[str, list[str]] = {}
    system: set[str] = set()
    silent: set[str] = set()
    for message in messages:
        rows[message.id] = message
        if message.tool_calls:
            if real := [call.id for call in message.tool_calls if call.id and _is_real(call.id)]:
                calls[message.id] = real
        elif message.role == "system":
            system.add(message.id)
        elif message.role == "thinking" or _says_nothing(message):
            silent.add(message.id)
    lineage = Lineage(
        Rows(
            text=lambda row: rows[row].content,
            is_user=lambda row: rows[row].role == "user",
            calls=calls,
            answers=lambda row: call if _is_real(call := rows[row].tool_use_id) else None,
        )
    )
    linked: list[CookedRequest] = []
    for request in requests:
        asked = request.request_messages
        lead = next((at for at, row in enumerate(asked) if row not in system), len(asked))
        answer = request.response_messages[: None if request.error is None else -1]
        step = Step(
            path=[row for row in asked[lead:] if row not in silent] if silent else asked[lead:],
            answer=[row for row in answer if row not in silent],
            alternatives=[[row for row in said if row not in silent] for said in request.alternatives],
            system=tuple(asked[:lead]),
            model=request.model,
            response_id=request.response_id,
            previous_response_id=previous.get(request.id),
        )
        found = lineage.find(step)
        request.parent_id = None if found.parent is None else linked[found.parent].id
        request.parent_reason = found.reason
        request.retry_of = None if found.retry_of is None else linked[found.retry_of].id
        if request.id not in aside:
            lineage.add(step, found)
            linked.append(request)


def _says_nothing(message: CookedMessage) -> bool:
    return message.role == "assistant" and (not message.content or message.content.isspace())


def _is_real(call_id: str | None) -> bool:
    """Whether the provider gave the id; `call_0` and its like are our own and prove nothing."""
    return call_id is not None and call_id != "" and not (call_id.startswith("call_") and call_id[5:].isdecimal())
