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
    calls, system, silent = _kinds(messages)

    def told(row: str) -> CookedMessage:
        return messages[int(row[1:])]  # m0, m1, … in their order

    lineage = Lineage(
        Rows(
            text=lambda row: told(row).content,
            is_user=lambda row: told(row).role == "user",
            calls=calls,
            answers=lambda row: call if is_real(call := told(row).tool_use_id) else None,
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
        retried = None if found.retry_of is None else linked[found.retry_of]
        if request.id not in aside:
            request.retry_of = None if retried is None else retried.id
            lineage.add(step, found)
            linked.append(request)
        elif retried is not None:  # who asks about a call does not try it again
            request.parent_reason = retried.parent_reason


def _kinds(messages: list[CookedMessage]) -> tuple[dict[str, list[str]], set[str], set[str]]:
    """The rows that make calls, with the ids of these; those of the system; and those that say nothing."""
    calls: dict[str, list[str]] = {}
    system: set[str] = set()
    silent: set[str] = set()
    for message in messages:  # once: they are many, and lie all over the memory
        role = message.role
        if role in ("user", "tool_result"):
            continue
        if role == "assistant":
            if not message.content or message.content.isspace():
                silent.add(message.id)
        elif role == "tool_use":
            if real := [call.id for call in message.tool_calls or () if call.id and is_real(call.id)]:
                calls[message.id] = real
        elif role == "system":
            system.add(message.id)
        elif role == "thinking":
            silent.add(message.id)
    return calls, system, silent


def is_real(call_id: str | None) -> bool:
    """Whether the provider gave the id; `call_0` and its like are our own and prove nothing."""
    return call_id is not None and call_id != "" and not (call_id.startswith("call_") and call_id[5:].isdecimal())
