"""OpenClaw's database, one an agent: the entries that its session files had, each a row.

~/.openclaw/agents/<agent>/agent/openclaw-agent.sqlite
transcript_events   session_id, seq, event_json; or event_zstd, where that is packed
session_windows     session_id, session_key, created_at, display_name, model, spawned_by; before that, sessions

The key names a conversation, which has a session after another; a sub-agent names that of who asked for it.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from unspool.dialect import Head, Record
from unspool.model import Event, Facts, Note
from unspool.readers.columns import chosen, decoded, has, plain
from unspool.readers.log import Log
from unspool.readers.pi.entries import Entries
from unspool.sources.sqlite import rows, tables
from unspool.sources.values import mapping, string, time_of

_WINDOWS = ("session_windows", "sessions")
_WINDOW = ("session_id", "session_key", "created_at", "display_name", "model", "spawned_by")


def claims(head: Head) -> bool:
    return has(head.tables, "transcript_events", "session_id", "seq", "event_json")


def read(path: str) -> Iterator[Record | Note]:
    found = tables(path)
    queries = {
        name: f"SELECT {chosen(found, name, _WINDOW)} FROM {name}"
        for name in _WINDOWS
        if has(found, name, "session_id", "session_key")
    }
    if "transcript_events" in found:
        told = "coalesce(event_json, event_zstd)" if "event_zstd" in found["transcript_events"] else "event_json"
        events = f"SELECT session_id, seq, {told} AS event_json FROM transcript_events ORDER BY session_id, seq"
        queries["transcript_events"] = events
    return rows(path, queries)


class Database:
    def __init__(self, agent: str, path: str) -> None:
        self._agent = agent
        self._folder = Path(path).parent
        self._log = Log(agent)
        self._windows: dict[str, dict[str, Any]] = {}
        self._logs: dict[str, Entries] = {}

    @property
    def sessions(self) -> dict[str, Facts]:
        return {name: facts for log in self._logs.values() for name, facts in log.sessions.items()}

    def feed(self, record: Record) -> Iterable[Event | Note]:
        row = mapping(self._log.value(record))
        session = string(row.get("session_id"))
        if session is None:
            self._log.note("skipped", "a row of no session")
        elif row.get("table") in _WINDOWS:
            self._windows[session] = row
        elif (told := plain(row.get("event_json"))) is None:
            self._log.note("unreadable", "an entry whose packed data is damaged")
        elif isinstance(event := decoded(self._log, told, "an entry"), dict):
            entries = self._logs.get(session) or self._begun(session)
            self._log.hold(list(entries.feed(Record(b"", record.origin, event))))
        elif event is not None:
            self._log.note("skipped", "no object")
        return self._log.take()

    def close(self) -> Iterable[Event | Note]:
        for session, entries in self._logs.items():
            self._learn(session, entries)
            self._log.hold(list(entries.close()))
        return self._log.take()

    def _begun(self, session: str) -> Entries:
        entries = self._logs[session] = Entries(self._agent, str(self._folder / f"{session}.jsonl"), self._windows)
        return entries

    def _learn(self, session: str, entries: Entries) -> None:
        """What the entries do not say of their session themselves."""
        window = self._windows.get(session, {})
        for facts in entries.sessions.values():
            facts.title = facts.title or string(window.get("display_name"))
            facts.model = facts.model or string(window.get("model"))
            facts.parent = facts.parent or self._asked_by(window)

    def _asked_by(self, window: dict[str, Any]) -> str | None:
        """`spawned_by` names a conversation, which may have had several sessions: the one that was open at the time."""
        key, born = window.get("spawned_by"), time_of(window.get("created_at")) or 0
        if key is None:
            return None
        times = {
            name: time_of(other.get("created_at")) or 0
            for name, other in self._windows.items()
            if other.get("session_key") == key and other is not window
        }
        before = {name: time for name, time in times.items() if time <= born} or times
        return max(before, key=lambda name: before[name], default=None)
