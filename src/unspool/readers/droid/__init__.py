"""Factory's Droid: its sessions and its live stream.

~/.factory/sessions/-home-me-work/<id>.jsonl           a session, or a sub-agent of one
~/.factory/sessions/-home-me-work/<id>.settings.json   its model and its tokens
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from unspool.dialect import Head, Place, Reader
from unspool.readers.droid.sessions import AGENT, Sessions, settings_of
from unspool.readers.droid.stream import Stream

_TITLE = "Factory Droid"
_SESSIONS = ("session_id", "sessionId")
_OTHERS = ("claude_code_version", "apiKeySource", "permissionMode", "mcp_servers", "uuid", "subagent_type")
"""Keys that streams in its likeness have, and it has not."""


def claims(head: Head) -> bool:
    """A `session_start` with an id, or messages of its form where the beginning is lost."""
    starts = any(
        line.get("type") == "session_start" and ("id" in line or "session" in line or "sessionId" in line)
        for line in head.lines
    )
    return starts or any(map(_is_message, head.lines))


def _is_message(line: dict[str, Any]) -> bool:
    """Pi's messages have a time of their own, or name the API; Claude Code's records have a `uuid`."""
    if line.get("type") != "message" or "uuid" in line or "sessionId" in line or "parentId" not in line:
        return False
    match line.get("message"):
        case {"role": "user" | "assistant", "content": [{"type": "tool_use" | "tool_result"}, *_], **rest}:
            return not rest.keys() & {"timestamp", "api", "provider"}
    return False


def claims_stream(head: Head) -> bool:
    return any(map(_is_streamed, head.lines))


def _is_streamed(line: dict[str, Any]) -> bool:
    if any(key in line for key in _OTHERS) or not any(key in line for key in _SESSIONS):
        return False
    match line:
        case {"type": "tool_call", "toolName": _, "parameters": _}:
            return True
        case {"type": "message", "role": "user" | "assistant", "text": str()}:
            return True
        case {"type": "completion", "finalText": _}:
            return True
        case {"type": "system", "subtype": "init", "reasoning_effort": _}:
            return True
    return False


def _places(_environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    yield Place(home / ".factory" / "sessions", ("*.jsonl", "*/*.jsonl"))


reader = Reader(
    name=AGENT,
    agent=AGENT,
    title=_TITLE,
    claims=claims,
    decoder=Sessions,
    places=_places,
    beside=lambda path: [str(settings_of(Path(path)))],
)
stream = Reader(
    name="droid_stream", agent=AGENT, title=_TITLE, claims=claims_stream, decoder=lambda _path: Stream(AGENT)
)
