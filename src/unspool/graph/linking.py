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
    for message in messages:  # once: they are many, and lie all over the memory
        row, role = message.id, message.role
        rows[row] = message
        if role == "assistant":
            if not message.content or message.content.isspace():
                silent.add(row)
        elif role == "tool_use":
            if real := [call.id for call in message.tool_calls or () if call.id and _is_real(call.id)]:
                calls[row] = real
        elif role == "system":
            system.add(row)
        elif role == "thinking":
            silent.add(row)
    lineage = Lineage(
        Rows(
            text=lambda row: rows[row].content,
            is_user=lambda row: rows[row].role == "user",
            calls=calls,
            answers=lambda row: call if _is_real(call := rows[row].tool_use_id) else None,
        )
    )

    def spoken(said: list[str]) -> tuple[str, ...]:
        return tuple([row for row in said if row not in silent] if silent else said)

    linked: list[CookedRequest] = []
    for request in requests:
        asked, answer = request.request_messages, request.response_messages
        lead = 0
        while lead < len(asked) and asked[lead] in system:
            lead += 1
        step = Step(
            spoken(asked[lead:]),
            spoken(answer if request.error is None else answer[:-1]),
            [spoken(said) for said in request.alternatives] if request.alternatives else [],
            tuple(asked[:lead]),
            request.model,
            request.response_id,
            previous.get(request.id),
        )
        found = lineage.find(step)
        request.parent_id = None if found.parent is None else linked[found.parent].id
        request.parent_reason = found.reason
        request.retry_of = None if found.retry_of is None else linked[found.retry_of].id
        if request.id not in aside:
            lineage.add(step, found)
            linked.append(request)


def _is_real(call_id: str | None) -> bool:
    """Whether the provider gave the id; `call_0` and its like are our own and prove nothing."""
    return call_id is not None and call_id != "" and not (call_id.startswith("call_") and call_id[5:].isdecimal())
