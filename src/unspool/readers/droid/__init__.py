"""Factory's Droid: its sessions and its live stream.

~/.factory/sessions/-home-me-work/<id>.jsonl           a session, or a sub-agent of one
~/.factory/sessions/-home-me-work/<id>.settings.json   its model and its tokens
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from unspool.dialect import Head, Place, Reader
from unspool.readers.droid.sessions import AGENT, Sessions, beside, settings_of, start_of
from unspool.readers.droid.stream import Stream

_TITLE = "Factory Droid"
_SESSIONS = ("session_id", "sessionId")
_START = ("title", "sessionTitle", "owner", "hostId", "callingSessionId", "session")
_OTHERS = ("claude_code_version", "apiKeySource", "permissionMode", "mcp_servers", "uuid", "subagent_type")
"""Keys that streams in its likeness have, and it has not."""


def claims(head: Head) -> bool:
    """A `session_start` as no other program writes it, or messages of its form where the beginning is lost."""
    messages = any(line.get("type") == "message" and ("message" in line or "role" in line) for line in head.lines)
    return any(_is_start(line, messages) for line in head.lines) or any(map(_is_message, head.lines))


def _is_start(line: dict[str, Any], messages: bool) -> bool:
    """Others begin so too: what they tell of themselves differs, and so does what comes after."""
    if line.get("type") != "session_start" or line.keys().isdisjoint(("id", "session", "sessionId")):
        return False
    return messages or not line.keys().isdisjoint(_START)


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


def _beside(path: str) -> Iterator[str]:
    log = Path(path)
    yield str(settings_of(log))
    if isinstance(parent := start_of(log).get("parent"), str) and parent:
        yield str(settings_of(beside(log, parent)))


reader = Reader(
    name=AGENT,
    agent=AGENT,
    title=_TITLE,
    claims=claims,
    decoder=Sessions,
    places=_places,
    beside=_beside,
)
stream = Reader(
    name="droid_stream", agent=AGENT, title=_TITLE, claims=claims_stream, decoder=lambda _path: Stream(AGENT)
)
