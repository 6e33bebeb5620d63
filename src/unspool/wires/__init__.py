"""The API dialects. CONTRIBUTING.md says how a new one is added."""

from importlib import import_module
from typing import Any

from unspool.dialect import SHAPE, Signs, Speaker, Wire
from unspool.wires import anthropic, cohere, gemini, interactions, openai_chat, openai_responses

# The most common first: it is what a record is taken for that shows no sign at all.
WIRES: dict[str, Wire] = {
    wire.name: wire
    for wire in (
        openai_chat.wire,
        anthropic.wire,
        gemini.wire,
        openai_responses.wire,
        cohere.wire,
        interactions.wire,
    )
}
SPOKEN = {
    "openai": "openai_chat",
    "claude": "anthropic",
    "gemini": "gemini",
    "responses": "openai_responses",
    "cohere": "cohere",
}
"""Those that have a speaker, and their folders: the others are only read."""

_ITEMS = {wire.items for wire in WIRES.values()}


def speaker_for(name: str) -> Speaker:
    """The other direction of a wire: imported when something is to be sent."""
    speaker: Speaker = import_module(f"unspool.wires.{SPOKEN[name]}.prepare").speaker
    return speaker


def wire_for(signs: Signs) -> Wire | None:
    """Return the wire of a request: the one with the strongest claim, or None if no sign but a name speaks for any.

    The answer counts too: a request may look the same in several APIs.
    """
    strength, wire = _strongest(signs)
    if strength >= SHAPE:
        return wire
    return next((wire for wire in _fitting(signs) if any(mark in signs.tools for mark in wire.tool_marks)), None)


def likeliest_wire(signs: Signs) -> Wire:
    """The same where signs are few: what the items hold, then what a name suggests, then the most common."""
    for wire in WIRES.values():
        items = signs.request.get(wire.items)
        if wire.marks and isinstance(items, list) and any(wire.marks.search(bytes(raw)) for raw in items):
            return wire
    return _strongest(signs)[1]


def wire_of_answer(asked: Wire, answer: Any) -> Wire:
    """Return the wire of an answer: that of its request, unless only another one knows such a body or event."""
    if not answer or asked.answers(answer):
        return asked
    strength, wire = max(((wire.answers(answer), wire) for wire in WIRES.values()), key=lambda claim: claim[0])
    return wire if strength >= SHAPE else asked


def rivals(wire: Wire, slot: str) -> tuple[Wire, ...]:
    """Return the other wires whose items have the same key."""
    if slot != wire.items:
        return ()
    return tuple(other for other in WIRES.values() if other is not wire and other.items == slot)


def _strongest(signs: Signs) -> tuple[int, Wire]:
    claims = ((wire.claims(signs) + wire.answers(signs.response), wire) for wire in _fitting(signs))
    return max(claims, key=lambda claim: claim[0])


def _fitting(signs: Signs) -> list[Wire]:
    """Those that would read the request's messages, whatever its path or its answer looks like: gateways mix APIs."""
    held = [key for key in _ITEMS if signs.request.get(key)]
    return [wire for wire in WIRES.values() if not held or wire.items in held]
