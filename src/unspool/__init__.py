"""unspool: the conversations of LLM programs and coding agents, as one graph.

import unspool
cooked = unspool.cook("trace.jsonl")
for item in unspool.read_exchanges("trace.jsonl"):
    ...
"""

TYPE_CHECKING = False  # as type checkers read it; typing itself takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from unspool.errors import UnspoolError
    from unspool.ingest.open import read_exchanges
    from unspool.jobs.cook import cook
    from unspool.jobs.pretty.render import pretty
    from unspool.model import Cooked, Exchange, Message, Note, Origin

__version__ = "0.1.0"
__all__ = ["Cooked", "Exchange", "Message", "Note", "Origin", "UnspoolError", "cook", "pretty", "read_exchanges"]

_HOMES = {
    "UnspoolError": "unspool.errors",
    "cook": "unspool.jobs.cook",
    "pretty": "unspool.jobs.pretty.render",
    "read_exchanges": "unspool.ingest.open",
    **dict.fromkeys(("Cooked", "Exchange", "Message", "Note", "Origin"), "unspool.model"),
}


def __getattr__(name: str) -> "Any":
    """Public names are imported when they are first used, so that `unspool --version` imports nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
