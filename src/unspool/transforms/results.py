"""Calls and their results, block by block: an assistant message with calls, and all up to the next one's.

A failure weighs less where the same tool succeeded in the same block. An empty result is no failure: `mkdir` prints
nothing. Nor is a call without a result at the end of the record, where nothing more was recorded.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from unspool.transforms.findings import Finding, Severity, error, fact

_TROUBLE = {"error", "timeout", "missing", "incomplete"}
_loads = msgspec.json.Decoder().decode


class _Call(Struct):
    name: str
    place: int
    """The message that made it, from 1."""
    faults: list[tuple[str, str]] = []
    good: bool = False
    answered: bool = False


def check_results(messages: Sequence[dict[str, Any]]) -> Iterator[Finding]:
    calls: dict[str, _Call] = {}
    empty = 0
    for number, message in enumerate(messages, 1):
        role = message.get("role")
        if role == "assistant":
            yield from _closed(calls)
            calls = _calls(message, number)
        elif role == "tool":
            call = calls.get(name) if isinstance(name := message.get("tool_call_id"), str) and name else None
            if call is None:
                word = "has no tool_call_id" if not name else "answers no call before it"
                yield error("result-id", f"message {number}: the result {word}")
                continue
            call.answered = True
            if fault := _fault(message.get("content")):
                call.faults.append(("result", f"message {number}: the result of {call.name} {fault}"))
            else:
                call.good = True
                empty += message.get("content") == ""
    if calls and messages[-1].get("role") == "assistant":
        yield fact("ends-with-call", "the record ends with calls whose results were not recorded")
    else:
        yield from _closed(calls)
    if empty:
        yield fact("empty-result", "the result of a tool is empty: it may have had nothing to print", empty)


def _calls(message: dict[str, Any], number: int) -> dict[str, _Call]:
    calls: dict[str, _Call] = {}
    listed = message.get("tool_calls")
    for place, call in enumerate(listed if isinstance(listed, list) else (), 1):
        if isinstance(call, dict):
            function = call.get("function")
            name = function.get("name") if isinstance(function, dict) else None
            key = call.get("id")
            calls[key if isinstance(key, str) and key else f"\0{place}"] = _Call(str(name or "a tool"), number, [])
    return calls


def _closed(calls: dict[str, _Call]) -> Iterator[Finding]:
    succeeded = {call.name for call in calls.values() if call.good}
    for call in calls.values():
        severity: Severity = "WARNING" if call.name in succeeded else "ERROR"
        if not call.answered:
            yield Finding(severity, "no-result", f"message {call.place}: the call of {call.name} has no result")
        for rule, text in call.faults:
            yield Finding(severity, rule, text)


def _fault(content: Any) -> str | None:
    if content is None:
        return "has no content"
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(text for text in texts if isinstance(text, str))
    if not isinstance(content, str) or not (text := content.strip()) or text[0] + text[-1] not in ("{}", "[]"):
        return None
    try:
        key = _trouble(_loads(text))
    except (ValueError, RecursionError):
        return None
    return f"says {key!r}" if key else None


def _trouble(value: Any) -> str | None:
    """The key by which a JSON value tells of trouble, at any depth."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            for key, inner in value.items():
                if inner and key.lower() in _TROUBLE:
                    return str(key.lower())
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return None
