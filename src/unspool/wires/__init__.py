"""The API dialects. A new one is a file (or folder) here, a fixture folder, and its line in WIRES."""

from unspool.dialect import Signs, Wire
from unspool.wires import anthropic, gemini, openai_chat, openai_responses

WIRES: dict[str, Wire] = {
    wire.name: wire for wire in (openai_chat.wire, anthropic.wire, gemini.wire, openai_responses.wire)
}


def wire_for(signs: Signs) -> Wire | None:
    """The wire with the strongest claim; None when nothing speaks for any."""
    strength, wire = max(((wire.claims(signs), wire) for wire in WIRES.values()), key=lambda claim: claim[0])
    return wire if strength else None
