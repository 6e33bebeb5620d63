"""The nouns that every part of unspool speaks in."""

from unspool.model.blocks import (
    Block,
    Compaction,
    Document,
    Extra,
    Medium,
    Other,
    Source,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from unspool.model.cooked import Cooked, CookedCall, CookedMessage, CookedRequest, CookedRole, CookedTool, ParentReason
from unspool.model.exchange import Exchange, Failure, Response, Stop, StopReason, Usage
from unspool.model.identity import fingerprint, identity
from unspool.model.message import Form, Message, Role
from unspool.model.note import Note, NoteKind, Origin
from unspool.model.tool import Tool

__all__ = [
    "Block",
    "Compaction",
    "Cooked",
    "CookedCall",
    "CookedMessage",
    "CookedRequest",
    "CookedRole",
    "CookedTool",
    "Document",
    "Exchange",
    "Extra",
    "Failure",
    "Form",
    "Medium",
    "Message",
    "Note",
    "NoteKind",
    "Origin",
    "Other",
    "ParentReason",
    "Response",
    "Role",
    "Source",
    "Stop",
    "StopReason",
    "Text",
    "Thinking",
    "Tool",
    "ToolResult",
    "ToolUse",
    "Usage",
    "fingerprint",
    "identity",
]
