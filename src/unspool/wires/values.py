"""Blocks, stops and arguments out of values that may be anything: what the wires share."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from unspool.model import Block, Compaction, Document, Extra, Form, Medium, Other, Stop, StopReason, Text, ToolResult
from unspool.sources.jsontext import Unreadable, dumps, loads
from unspool.sources.values import listing, mapping, string, text_of

_SPACED = re.compile(r'\{"[^"\\]*": ')
"""JSON as Python and many models write it. Compact JSON has no blank there, so `dumps` never gives this text."""
_DATA_URL = re.compile(r"data:([^;,]*)(?:;[^,]*)?;base64,(.*)", re.DOTALL)


ASIDES = frozenset(
    ("additional_tools", "tool_addition", "tool_removal", "configuration_update", "output_config", "compaction_trigger")
)
"""Kinds of blocks among messages in which nobody says anything: what holds from there on."""


def offered(block: Block) -> list[Any]:
    """The definitions of tools that a block among the messages brings: added on the way, or found for the client."""
    match block:
        case Other(kind="additional_tools", value={"tools": list(tools)}):
            return tools
        case Other(kind="tool_addition", value={"tool": {"type": "tool_definition", "definition": tool}}):
            return [tool]
        case Compaction(extra={"tool_changes": list(changes)}):
            return [tool for each in changes for tool in offered(other(each))]
        case ToolResult(content=(Other(kind="tools", value=found),), extra={"execution": "client"}):
            return listing(found)
    return []


def leftover(value: Mapping[str, Any], *known: str) -> Extra:
    """What `known` does not name, or None."""
    return {key: inner for key, inner in value.items() if key not in known} or None


def misfits(value: Mapping[str, Any], **expected: type) -> dict[str, Any]:
    """What stands under these names but is of another type: it was not read, so it must be kept."""
    found = {name: value.get(name) for name in expected}
    return {name: inner for name, inner in found.items() if inner is not None and not isinstance(inner, expected[name])}


def arguments_of(written: Any) -> tuple[dict[str, Any] | None, str | None]:
    """A call's arguments as (object, text): see ToolUse for when which is None."""
    if isinstance(written, dict):
        return written, None
    if written is None:
        return {}, None
    if not isinstance(written, str):
        return None, dumps(written)
    if not written.strip():
        return {}, written
    try:
        value = loads(written)
    except Unreadable:
        return None, written
    if value is None:  # what some models write where there are none
        return {}, written
    if not isinstance(value, dict):
        return None, written
    return value, None if not _SPACED.match(written) and dumps(value) == written else written


def from_url(medium: Medium, url: str, extra: Extra = None, *, bare_is_data: bool = False) -> Document:
    """A document behind an address, which may be the data itself."""
    if match := _DATA_URL.fullmatch(url):
        return Document(medium, "base64", match[2], match[1] or None, extra=extra)
    return Document(medium, "base64" if bare_is_data and "://" not in url else "url", url, extra=extra)


def medium_of(media_type: str | None) -> Medium:
    match (media_type or "").partition("/")[0]:
        case "image":
            return "image"
        case "audio":
            return "audio"
        case "video":
            return "video"
    return "document"


def content_of(content: Any, part_of: Callable[[Any], Block]) -> tuple[tuple[Block, ...], Form]:
    """The blocks of a content that may be one string, a list of parts, null or anything, and how it was written."""
    match content:
        case str():
            return (Text(content),), "string"
        case list():
            return tuple([part_of(part) for part in content]), "blocks"
        case None:
            return (), "none"
    return (other(content),), "blocks"


def other(value: Any) -> Other:
    """A thing of a kind that we do not know."""
    kind = value.get("type") if isinstance(value, dict) else None
    return Other(kind if isinstance(kind, str) else type(value).__name__, value)


def stop_of(raw: Any, names: Mapping[str, StopReason], details: Any = None) -> Stop | None:
    word = string(raw)
    return Stop(names.get(word, "other"), word, details) if word else None


def kind_of(event: Any) -> str:
    """What to call a stream event that we do not know."""
    return text_of(mapping(event).get("type")) or dumps(event)[:40]
