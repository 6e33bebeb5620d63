"""Claude Code: its transcripts, one folder a project, and its live stream; iFlow CLI and Amp, which write such too.

~/.claude/projects/-home-me-work/<session>.jsonl                        a session
~/.claude/projects/-home-me-work/agent-<id>.jsonl                       a sub-agent of older versions
~/.claude/projects/-home-me-work/<session>/subagents/agent-<id>.jsonl   a sub-agent, also deeper
~/.claude/projects/-home-me-work/<session>/tool-results/…               outputs too long for the log
~/.config/Claude/local-agent-mode-sessions/*/*/local_*/.claude/projects the same, of the desktop app's agent
~/.iflow/projects/-home-me-work/session-<id>.jsonl                      a session of iFlow CLI's
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from unspool.dialect import Head, Place, Reader
from unspool.readers.claude_code.execution import Execution
from unspool.readers.claude_code.messages import AGENT, AMP, IFLOW, long_outputs
from unspool.readers.claude_code.stream import Stream
from unspool.readers.claude_code.transcript import Transcript, decode
from unspool.readers.documents import element_of
from unspool.readers.folders import settings_folders

_TITLE = "Claude Code"
_SAID = ("user", "assistant", "system", "progress", "attachment")
_BESIDE = (
    "summary",
    "queue-operation",
    "ai-title",
    "custom-title",
    "last-prompt",
    "permission-mode",
    "mode",
    "pr-link",
)
_STREAMED = ("user", "assistant", "result", "stream_event", "rate_limit_event", "tool_progress", "tool_use_summary")
_OTHERS = ("systemPayload", "qwen_code_version", "usageMetadata", "call_id", "model_call_id")
"""Keys that only the logs of programs in its likeness have."""


_PATTERNS = ("*/*.jsonl", "*/*/subagents/**/agent-*.jsonl")
_LOOK = 60
"""Records of a document that are looked at."""
_IFLOW_ID = re.compile(r"session-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_AMP_ID = re.compile(r"T-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""How iFlow CLI names a session, and Amp a thread; Claude Code's names are the bare UUID."""


def claims(head: Head) -> bool:
    """Its records name their session as `sessionId`; those of Qwen Code, which do so too, hold Gemini's parts."""
    return _is_transcript(head) and not any(map(_is_iflow, head.lines))


def claims_iflow(head: Head) -> bool:
    return _is_transcript(head) and any(map(_is_iflow, head.lines))


def _is_transcript(head: Head) -> bool:
    return any(map(_is_record, head.lines)) and not any(map(_is_foreign, head.lines))


def _is_iflow(line: dict[str, Any]) -> bool:
    session = line.get("sessionId")
    return isinstance(session, str) and _IFLOW_ID.fullmatch(session) is not None


def _is_record(line: dict[str, Any]) -> bool:
    kind = line.get("type")
    if kind in _SAID:
        return "isSidechain" in line or ("sessionId" in line and ("uuid" in line or "message" in line))
    return (
        (kind in _BESIDE and "sessionId" in line)
        or (kind == "summary" and "leafUuid" in line)
        or (kind == "file-history-snapshot" and "snapshot" in line)
    )


def _is_foreign(line: dict[str, Any]) -> bool:
    message = line.get("message")
    return (isinstance(message, dict) and "parts" in message) or any(key in line for key in _OTHERS)


def claims_stream(head: Head) -> bool:
    return _is_stream(head) and not any(map(_is_amp, head.lines))


def claims_amp(head: Head) -> bool:
    return _is_stream(head) and any(map(_is_amp, head.lines))


def _is_stream(head: Head) -> bool:
    return any(map(_is_streamed, head.lines)) and not any(map(_is_foreign, head.lines))


def _is_amp(line: dict[str, Any]) -> bool:
    session = line.get("session_id")
    return isinstance(session, str) and _AMP_ID.fullmatch(session) is not None


def claims_execution(head: Head) -> bool:
    told = head.document if isinstance(head.document, list) else [head.document]
    records = [value for value in told[:_LOOK] if isinstance(value, dict)]
    return not head.lines and any(map(_is_streamed, records)) and not any(map(_is_foreign, records))


def _is_streamed(line: dict[str, Any]) -> bool:
    if "session_id" not in line or "sessionId" in line or "isSidechain" in line:
        return False
    kind = line.get("type")
    if kind == "system":
        return "claude_code_version" in line or ("tools" in line and "mcp_servers" in line)
    return kind in _STREAMED and ("parent_tool_use_id" in line or "num_turns" in line or "event" in line)


def _places(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    roots = [Path(root.strip()) for root in environment.get("CLAUDE_CONFIG_DIR", "").split(",") if root.strip()]
    for root in roots or [home / ".claude", home / ".config" / "claude"]:
        yield Place(root / "projects", _PATTERNS)
    within = tuple(f"*/*/local_*/.claude/projects/{pattern}" for pattern in _PATTERNS)
    for folder in settings_folders(environment, home):
        yield Place(folder / "Claude" / "local-agent-mode-sessions", within)


def _iflow_places(_environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    yield Place(home / ".iflow" / "projects", ("*/session-*.jsonl",))


def _beside(path: str) -> Iterator[str]:
    folder = long_outputs(path)
    if folder.is_dir():
        yield str(folder)
        yield from map(str, sorted(folder.iterdir()))


def _kin(path: str) -> Iterator[str]:
    """Its sub-agents: below the folder of its name, or (older) beside it, where they may be another session's."""
    log = Path(path)
    yield from map(str, sorted((log.with_suffix("") / "subagents").rglob("agent-*.jsonl")))
    if not log.name.startswith("agent-"):
        yield from map(str, sorted(log.parent.glob("agent-*.jsonl")))


reader = Reader(
    name=AGENT,
    agent=AGENT,
    title=_TITLE,
    claims=claims,
    decoder=Transcript,
    decode=decode,
    places=_places,
    beside=_beside,
    kin=_kin,
)
stream = Reader(name="claude_stream", agent=AGENT, title=_TITLE, claims=claims_stream, decoder=Stream, pieced=True)
execution = Reader(
    name="claude_stream_json",
    agent=AGENT,
    title=_TITLE,
    claims=claims_execution,
    decoder=Execution,
    document=True,
    payload=element_of(),
)
amp = Reader(name="amp_stream", agent=AMP, title="Amp", claims=claims_amp, decoder=partial(Stream, agent=AMP))
iflow = Reader(
    name=IFLOW,
    agent=IFLOW,
    title="iFlow CLI",
    claims=claims_iflow,
    decoder=partial(Transcript, agent=IFLOW),
    decode=decode,
    places=_iflow_places,
)
