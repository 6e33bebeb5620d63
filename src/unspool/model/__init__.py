"""The nouns that every part of unspool speaks in."""

from unspool.model.action import Action, Kind, Meaning
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
from unspool.model.context import Context, Said
from unspool.model.cooked import Cooked, CookedCall, CookedMessage, CookedRequest, CookedRole, CookedTool, ParentReason
from unspool.model.event import MAIN, Content, Event
from unspool.model.exchange import CacheMiss, Exchange, Failure, Response, Stop, StopReason, Usage
from unspool.model.identity import fingerprint, identity
from unspool.model.message import Form, Message, Role
from unspool.model.note import Note, NoteKind, Origin
from unspool.model.session import Facts
from unspool.model.tool import Tool
from unspool.model.turn import Answer, Draft, Turn

__all__ = [
    "MAIN",
    "Action",
    "Answer",
    "Block",
    "CacheMiss",
    "Compaction",
    "Content",
    "Context",
    "Cooked",
    "CookedCall",
    "CookedMessage",
    "CookedRequest",
    "CookedRole",
    "CookedTool",
    "Document",
    "Draft",
    "Event",
    "Exchange",
    "Extra",
    "Facts",
    "Failure",
    "Form",
    "Kind",
    "Meaning",
    "Medium",
    "Message",
    "Note",
    "NoteKind",
    "Origin",
    "Other",
    "ParentReason",
    "Response",
    "Role",
    "Said",
    "Source",
    "Stop",
    "StopReason",
    "Text",
    "Thinking",
    "Tool",
    "ToolResult",
    "ToolUse",
    "Turn",
    "Usage",
    "fingerprint",
    "identity",
]
