"""Codex: its logs, one file a thread, and the stream of `codex exec --json`.

~/.codex/sessions/2026/01/31/rollout-2026-01-31T12-00-00-<thread>.jsonl    a session, or a sub-agent of one
~/.codex/archived_sessions/rollout-….jsonl.zst                             put away; packed if cold
~/.codex/sessions/rollout-2025-04-17-<thread>.json                         a document: spring 2025
~/.codex/session_index.jsonl                                               the names that people gave them
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from unspool.dialect import Head, Place, Reader
from unspool.model import Event
from unspool.readers.codex.inherited import inherited
from unspool.readers.codex.reverted import files_before
from unspool.readers.codex.rollout import Rollout
from unspool.readers.codex.saved import Saved, is_saved
from unspool.readers.codex.stream import Stream
from unspool.readers.codex.thread import AGENT
from unspool.readers.documents import element_of
from unspool.sources.jsontext import strict_lines

_TITLE = "Codex"
_RECORDS = ("session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state")
_BARE = ("message", "reasoning", "function_call", "function_call_output", "local_shell_call")
_STREAMED = ("thread.started", "session.created", "turn.started", "turn.completed", "turn.failed")
_WRAPPED = ("timestamp", "payload", "properties", "data")
"""What stands beside such a type in logs, and in other programs' events."""
_PATTERNS = ("**/rollout-*.jsonl", "**/rollout-*.jsonl.zst")


def claims(head: Head) -> bool:
    """Lines with a payload, of types that nobody else has; or the bare header of 2025."""
    return any(map(_is_record, head.lines)) or _is_bare(head.lines)


def _is_record(line: dict[str, Any]) -> bool:
    return line.get("type") in _RECORDS and isinstance(line.get("payload"), dict)


def _is_bare(lines: tuple[dict[str, Any], ...]) -> bool:
    if not lines or "type" in lines[0]:
        return any(line.get("record_type") == "state" and len(line) == 1 for line in lines)
    header = lines[0]
    if not {"id", "timestamp"} <= header.keys():
        return False
    if "instructions" not in header and not any("record_type" in line or line.get("type") in _BARE for line in lines):
        return False
    return all("record_type" in line or line.get("type") in _BARE or "type" not in line for line in lines[1:3])


def claims_stream(head: Head) -> bool:
    return any(map(_is_streamed, head.lines))


def _is_streamed(line: dict[str, Any]) -> bool:
    kind, message = line.get("type"), line.get("msg")
    if kind in _STREAMED:
        return line.keys().isdisjoint(_WRAPPED)
    if kind in ("item.started", "item.updated", "item.completed"):
        item = line.get("item")
        return isinstance(item, dict) and "id" in item and ("type" in item or "item_type" in item)
    return isinstance(message, dict) and isinstance(message.get("type"), str) and line.keys() <= {"id", "msg"}


def claims_saved(head: Head) -> bool:
    return is_saved(head.document)


def _payload(value: Any, _event: Event) -> Any:
    return value.get("payload", value) if isinstance(value, dict) else value


def _places(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    root = Path(environment["CODEX_HOME"]) if environment.get("CODEX_HOME") else home / ".codex"
    yield Place(root / "sessions", _PATTERNS)
    yield Place(root / "archived_sessions", _PATTERNS)


def _saved_places(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    for place in _places(environment, home):
        yield Place(place.folder, ("**/rollout-*.json",))


def _kin(path: str) -> Iterator[str]:
    """Threads of the same day: those of its sub-agents are among them. And where this one began, on another day."""
    near = map(str, sorted(Path(path).parent.glob("rollout-*.jsonl*")))
    yield from dict.fromkeys((*near, *files_before(path)))


reader = Reader(
    name=AGENT,
    agent=AGENT,
    title=_TITLE,
    claims=claims,
    decoder=Rollout,
    decode=strict_lines,
    places=_places,
    payload=_payload,
    kin=_kin,
    inherited=inherited,
    mark=re.compile(rb'\{"timestamp":"[^"\n]*",(?:"ordinal":\d+,)?"type":"session_meta","payload":\{'),
)
stream = Reader(name="codex_exec", agent=AGENT, title=_TITLE, claims=claims_stream, decoder=Stream)
saved = Reader(
    name="codex_json",
    agent=AGENT,
    title=_TITLE,
    claims=claims_saved,
    decoder=Saved,
    places=_saved_places,
    document=True,
    payload=element_of("items"),
)
