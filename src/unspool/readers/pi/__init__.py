"""Pi, agents that write its logs (Oh My Pi, Prime), its live stream, and OpenClaw, which is built on it.

~/.pi/agent/sessions/--home-me-work--/<time>_<id>.jsonl         a session
~/.omp/agent/sessions/--home-me-work--/<time>_<id>/<name>.jsonl a sub-agent of Oh My Pi's
~/.pi/agent/sessions/--home-me-work--/<time>_<id>/<run>/run-0/session.jsonl   one that an extension of Pi's started
~/.openclaw/agents/<agent>/sessions/<id>.jsonl[.reset.<time>]   a session of OpenClaw's, or one that is over
~/.openclaw/agents/<agent>/agent/openclaw-agent.sqlite          its sessions, in newer versions
~/.openclaw/agents/<agent>/sessions/cold/<hash>.jsonl.zst       those that were moved out of it
"""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from unspool.dialect import Head, Place, Reader
from unspool.readers.columns import unfolding
from unspool.readers.pi import cold as _cold
from unspool.readers.pi import database as _database
from unspool.readers.pi.entries import Entries
from unspool.readers.pi.stream import Stream

_ENTRIES = ("*.jsonl", "*/*.jsonl", "*/*/*.jsonl", "*/*/*/*/session.jsonl", "*/*/*/session.jsonl")
_ENDINGS = ("", ".zst", ".deleted.*", ".reset.*", ".full.bak", ".bak*")
_STREAMED = ("agent_start", "turn_start", "message_start", "message_update", "message_end", "turn_end")
_CLAWS = ("openclaw", "clawdbot", "moltbot", "kimi_openclaw", "qclaw")


def claims(head: Head) -> bool:
    return _is_log(head) and not _is_openclaw(head)


def claims_openclaw(head: Head) -> bool:
    return _is_log(head) and _is_openclaw(head)


def claims_stream(head: Head) -> bool:
    return any(line.get("type") in _STREAMED for line in head.lines) and any(
        _is_header(line) or _is_message(line.get("message")) for line in head.lines
    )


def _is_log(head: Head) -> bool:
    return any(
        _is_header(line) or (line.get("type") == "message" and _is_message(line.get("message"))) for line in head.lines
    ) and not any(line.get("type") in _STREAMED for line in head.lines)


def _is_header(line: dict[str, Any]) -> bool:
    known = isinstance(line.get("id"), str) and isinstance(line.get("timestamp"), str) and "cwd" in line
    return line.get("type") == "session" and known and "createdAt" not in line


def _is_message(message: Any) -> bool:
    """Pi's messages have their own times in milliseconds, and name the API that was asked."""
    if not isinstance(message, dict) or "type" in message:
        return False
    match message.get("role"):
        case "user":
            return isinstance(message.get("timestamp"), int) and "content" in message
        case "assistant":
            return "api" in message or ("stopReason" in message and "provider" in message)
        case "toolResult":
            return "toolCallId" in message
        case "bashExecution":
            return "command" in message
    return False


def _is_openclaw(head: Head) -> bool:
    """Its sessions are Pi's but for where it works, what it writes of itself, and whom it answers for."""
    return any(f".{claw}/" in head.path.replace("\\", "/") for claw in _CLAWS) or any(map(_of_openclaw, head.lines))


def _of_openclaw(line: dict[str, Any]) -> bool:
    match line:
        case {"type": "session", "cwd": str(folder)}:
            return any(f".{claw}" in folder for claw in _CLAWS) or folder.rstrip("/").endswith("/clawd")
        case {"customType": str(kind)}:
            return kind == "model-snapshot" or kind.startswith(_CLAWS)
        case {"message": {"provider": "openclaw" | "clawdbot"}}:
            return True
    return False


def _places(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    for name, folder in (("PI", ".pi"), ("OMP", ".omp"), ("PRIME", ".prime")):
        moved = environment.get(f"{name}_CODING_AGENT_DIR")
        yield Place((Path(moved) if moved else home / folder / "agent") / "sessions", _ENTRIES)
    yield Place(home / ".omp" / "profiles", tuple(f"*/agent/sessions/{name}" for name in _ENTRIES))
    if data := environment.get("XDG_DATA_HOME"):
        folders = ("sessions", "profiles/*/sessions")
        yield Place(Path(data) / "omp", tuple(f"{folder}/{name}" for folder in folders for name in _ENTRIES))
    yield Place(home / ".prime" / "agent" / "session-artifacts", ("*/*/**/*.jsonl",))  # of agents it started
    if sessions := environment.get("PI_CODING_AGENT_SESSION_DIR"):
        yield Place(Path(sessions), _ENTRIES)


def _openclaw_places(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    base = Path(environment.get("OPENCLAW_HOME") or home)
    moved = environment.get("OPENCLAW_STATE_DIR") or environment.get("CLAWDBOT_STATE_DIR")
    for root in [Path(moved)] if moved else [base / f".{claw}" for claw in _CLAWS]:
        names = (f"*/sessions/*.jsonl{ending}" for ending in _ENDINGS)
        yield Place(root / "agents", (*names, "*/session-sqlite-import-archive/*.jsonl.imported-*"))


def _database_places(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    for place in _openclaw_places(environment, home):
        yield Place(place.folder, ("*/agent/openclaw-agent*.sqlite",))


def _cold_places(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    for place in _openclaw_places(environment, home):
        yield Place(place.folder, ("*/sessions/cold/*.jsonl.zst",))


def _kin(path: str) -> Iterator[str]:
    """Its sub-agents, in the folder of its name."""
    folder = Path(path.removesuffix(".jsonl"))
    if path.endswith(".jsonl") and folder.is_dir():
        yield from map(str, sorted((*folder.glob("*.jsonl"), *folder.glob("*/*/session.jsonl"))))


reader = Reader(
    name="pi", agent="pi", title="Pi", claims=claims, decoder=partial(Entries, "pi"), places=_places, kin=_kin
)
openclaw = Reader(
    name="openclaw",
    agent="openclaw",
    title="OpenClaw",
    claims=claims_openclaw,
    decoder=partial(Entries, "openclaw"),
    places=_openclaw_places,
)
database = Reader(
    name="openclaw_db",
    agent="openclaw",
    title="OpenClaw",
    claims=_database.claims,
    decoder=partial(_database.Database, "openclaw"),
    places=_database_places,
    rows=_database.read,
    unfold=unfolding("event_json"),
)
cold = Reader(
    name="openclaw_cold",
    agent="openclaw",
    title="OpenClaw",
    claims=_cold.claims,
    decoder=partial(_cold.Cold, "openclaw"),
    places=_cold_places,
    unfold=_cold.unfold,
)
stream = Reader(name="pi_stream", agent="pi", title="Pi", claims=claims_stream, decoder=lambda _path: Stream("pi"))
