"""The API dialects. A new one is a file (or folder) here, a fixture folder, and its line in WIRES."""

from unspool.dialect import SHAPE, Body, Signs, Wire
from unspool.wires import anthropic, gemini, openai_chat, openai_responses

WIRES: dict[str, Wire] = {
    wire.name: wire for wire in (openai_chat.wire, anthropic.wire, gemini.wire, openai_responses.wire)
}


def wire_for(signs: Signs) -> Wire | None:
    """The wire with the strongest claim; None when nothing speaks for any."""
    strength, wire = max(((wire.claims(signs), wire) for wire in WIRES.values()), key=lambda claim: claim[0])
    return (wire if strength >= SHAPE else _by_items(signs.request)) or (wire if strength else None)


def _by_items(request: Body) -> Wire | None:
    for wire in WIRES.values():
        items = request.get(wire.items)
        if wire.marks and isinstance(items, list) and any(wire.marks.search(bytes(raw)) for raw in items):
            return wire
    return None
