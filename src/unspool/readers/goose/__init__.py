"""Goose: its database, its older files of JSON lines, its export, and its live stream.

~/.local/share/goose/sessions/sessions.db      sessions, messages(content_json), usage_ledger
~/.local/share/goose/sessions/<session>.jsonl  a line for the session, then a line for each message
goose session export --format json             one document, its messages in `conversation`, its sub-agents in
                                               `child_sessions`
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import structs

from unspool.dialect import Head, Place, Reader, Record
from unspool.model import Event, Facts, Note
from unspool.readers.columns import chosen, decoded, has, unfolding
from unspool.readers.documents import element_of
from unspool.readers.folders import data_folder
from unspool.readers.goose.live import Stream
from unspool.readers.goose.live import claims as claims_stream
from unspool.readers.goose.messages import AGENT, TITLE, Messages, agent_of
from unspool.readers.log import Log
from unspool.readers.repeats import Repeats
from unspool.sources.sqlite import rows, tables
from unspool.sources.values import listing, mapping, string

_BLOCKS = ("text", "thinking", "redactedThinking", "image", "toolRequest", "toolResponse", "systemNotification")
_COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_SESSION = (
    *("id", "name", "description", "working_dir", "created_at", "model_config_json", "parent_session_id"),
    *_COUNTS,
    *(f"accumulated_{name}" for name in _COUNTS),
)
_MESSAGE = ("id", "message_id", "session_id", "role", "content_json", "created_timestamp", "metadata_json")
_LEDGER = ("id", "session_id", "created_timestamp", "model", *_COUNTS)


def _claims(head: Head) -> bool:
    found = head.tables
    return has(found, "sessions", "id", "working_dir") and has(found, "messages", "session_id", "role", "content_json")


def _claims_lines(head: Head) -> bool:
    return any(map(_is_message, head.lines)) or any(map(_is_session, head.lines[:1]))


def _claims_export(head: Head) -> bool:
    match head.document:
        case {"working_dir": _, "conversation": list() as conversation}:
            return not conversation or any(map(_is_message, conversation[:5]))
    return False


def _is_message(value: Any) -> bool:
    match value:
        case {"role": "user" | "assistant", "created": int(), "content": [{"type": str(kind)}, *_]}:
            return kind in _BLOCKS
    return False


def _is_session(line: dict[str, Any]) -> bool:
    return "working_dir" in line and "message_count" in line and "conversation" not in line


def _rows(path: str) -> Iterator[Record | Note]:
    """First whose sub-agents there are, if any does not say itself: of older ones only the result of a call tells."""
    found = tables(path)
    queries = {}
    if has(found, "sessions", "session_type") and has(found, "messages", "session_id", "content_json"):
        lost = "AND parent_session_id IS NULL" if "parent_session_id" in found["sessions"] else ""
        queries["kin"] = (
            "SELECT session_id, content_json FROM messages WHERE content_json LIKE '%\"subagent_session_id\"%' "
            f"AND EXISTS (SELECT 1 FROM sessions WHERE session_type = 'sub_agent' {lost}) ORDER BY id"
        )
    if "sessions" in found:
        queries["sessions"] = f"SELECT {chosen(found, 'sessions', _SESSION)} FROM sessions ORDER BY id"
    if "usage_ledger" in found:
        queries["usage_ledger"] = f"SELECT {chosen(found, 'usage_ledger', _LEDGER)} FROM usage_ledger ORDER BY id"
    if "messages" in found:
        queries["messages"] = f"SELECT {chosen(found, 'messages', _MESSAGE)} FROM messages ORDER BY session_id, id"
    return rows(path, queries)


class _Reading:
    """What the three have in common."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._log = Log(AGENT)
        self._messages = Messages(self._log)

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def close(self) -> list[Event | Note]:
        self._messages.close()
        return self._log.take()


class Database(_Reading):
    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._ledger = Repeats()

    def feed(self, record: Record) -> list[Event | Note]:
        row = mapping(self._log.value(record))
        match row.get("table"):
            case "kin":
                for block in listing(decoded(self._log, row.get("content_json"), "a message's content")):
                    self._messages.belongs(agent_of(block), string(row.get("session_id")) or "")
            case "sessions":
                model = decoded(self._log, row.get("model_config_json"), "a model's configuration")
                self._messages.session({**row, "model_config": model}, string(row.get("id")) or "")
            case "usage_ledger":
                if key := self._ledger.key(string(row.get("id")), record):
                    self._messages.enter(string(row.get("session_id")) or "")
                    self._messages.paid(row, key)
            case "messages":
                self._message(row, record.origin.line)
            case _:
                self._log.note("skipped", "a row of no table that is read")
        return self._log.take()

    def _message(self, row: dict[str, Any], line: int) -> None:
        self._messages.enter(string(row.get("session_id")) or "")
        message = {
            "id": row.get("message_id"),
            "role": row.get("role"),
            "created": row.get("created_timestamp"),
            "content": decoded(self._log, row.get("content_json"), "a message's content"),
            "metadata": decoded(self._log, row.get("metadata_json"), "a message's metadata"),
        }
        self._messages.read(message, string(row.get("id")) or str(line))


class Lines(_Reading):
    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._messages.enter(Path(path).name.partition(".")[0])

    def feed(self, record: Record) -> list[Event | Note]:
        value = self._log.value(record)
        if isinstance(value, dict) and "role" in value:
            self._messages.read(value, str(record.origin.line))
        elif isinstance(value, dict) and "working_dir" in value:
            self._messages.session(value, self._log.session)
        elif value is not None:
            self._log.note("skipped", "neither a session nor a message")
        return self._log.take()


class Export(_Reading):
    def feed(self, record: Record) -> list[Event | Note]:
        document = mapping(self._log.value(record))
        name = string(document.get("id")) or Path(self._path).name.partition(".")[0]
        sessions = [(name, document)]
        for at, agent in enumerate(listing(document.get("child_sessions"))):
            if isinstance(agent, dict):
                told = {**agent, "parent_session_id": agent.get("parent_session_id") or name}
                sessions.append((string(agent.get("id")) or f"{name}~{at}", told))
        for key, session in sessions:
            self._messages.session(session, key)
        messages = [(key, message) for key, session in sessions for message in listing(session.get("conversation"))]
        for number, (key, message) in enumerate(messages, 1):
            self._log.origin = structs.replace(record.origin, line=number)
            self._messages.enter(key)
            if isinstance(message, dict):
                self._messages.read(message, str(number))
            else:
                self._log.note("skipped", "no message")
        return self._log.take()


def _folders(environment: Mapping[str, str], home: Path) -> Iterator[Path]:
    if root := environment.get("GOOSE_PATH_ROOT"):
        yield Path(root) / "data" / "sessions"
        return
    yield data_folder(environment, home) / "goose" / "sessions"
    for name in ("Block.block.goose", "Block/goose", "goose"):
        yield home / "Library" / "Application Support" / name / "sessions"
    if roaming := environment.get("APPDATA"):
        yield Path(roaming) / "Block" / "goose" / "data" / "sessions"


def _places(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    for folder in _folders(environment, home):
        yield Place(folder, ("sessions.db",))


def _older_places(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    for folder in (*_folders(environment, home), home / ".goose" / "sessions"):
        yield Place(folder, ("*.jsonl",))


reader = Reader(
    name=AGENT,
    agent=AGENT,
    title=TITLE,
    claims=_claims,
    decoder=Database,
    places=_places,
    rows=_rows,
    unfold=unfolding("content_json", "metadata_json", "model_config_json"),
)
lines = Reader(
    name="goose_jsonl",
    agent=AGENT,
    title=TITLE,
    claims=_claims_lines,
    decoder=Lines,
    places=_older_places,
    pieced=True,
)
export = Reader(
    name="goose_export",
    agent=AGENT,
    title=TITLE,
    claims=_claims_export,
    decoder=Export,
    document=True,
    payload=element_of("conversation"),
    pieced=True,
)
stream = Reader(name="goose_stream", agent=AGENT, title=TITLE, claims=claims_stream, decoder=Stream, pieced=True)
