"""OpenClaw's cold transcripts: who wants it so has what was not used for long moved from the database to packed files.

~/.openclaw/agents/<agent>/sessions/cold/<hash>.jsonl.zst
{"kind": "header", "version": 1, "sessionId", "generation"}
{"kind": "event", "row": {"seq", "event_json", "created_at"}}      the rows that the database had
{"kind": "identity" | "active" | "index" | "fts", "row"}           how it had indexed them
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from unspool.dialect import Head, Record
from unspool.model import Event, Facts, Note
from unspool.readers.columns import decoded
from unspool.readers.log import Log
from unspool.readers.pi.entries import Entries
from unspool.sources.jsontext import loads_or_text
from unspool.sources.values import mapping, string, text_of


def claims(head: Head) -> bool:
    return any(map(_is_header, head.lines)) or any(map(_is_event, head.lines))


def _is_header(line: dict[str, Any]) -> bool:
    return line.get("kind") == "header" and isinstance(line.get("sessionId"), str) and "generation" in line


def _is_event(line: dict[str, Any]) -> bool:
    return line.get("kind") == "event" and isinstance(mapping(line.get("row")).get("event_json"), str)


class Cold:
    def __init__(self, agent: str, path: str) -> None:
        self._agent, self._path = agent, Path(path)
        self._log = Log(agent)
        self._entries: Entries | None = None

    @property
    def sessions(self) -> dict[str, Facts]:
        return {} if self._entries is None else self._entries.sessions

    def feed(self, record: Record) -> Iterable[Event | Note]:
        match self._log.record(record):
            case None | {"kind": "identity" | "active" | "index" | "fts"}:
                pass
            case {"kind": "header", "sessionId": session}:
                self._at(string(session))
            case {"kind": "event", "row": {"event_json": told}}:
                event = decoded(self._log, told, "an entry")
                if isinstance(event, dict):
                    self._log.hold(list(self._at(None).feed(Record(b"", record.origin, event))))
                elif event is not None:
                    self._log.note("skipped", "no object")
            case value:
                self._log.note("unknown", f"record of kind {text_of(value.get('kind'))!r}")
        return self._log.take()

    def close(self) -> Iterable[Event | Note]:
        if self._entries is not None:
            self._log.hold(list(self._entries.close()))
        return self._log.take()

    def _at(self, session: str | None) -> Entries:
        """The session's, which the header names, and which stood where the others of the agent stand."""
        if self._entries is None:
            name = session or self._path.name.partition(".")[0]
            self._entries = Entries(self._agent, str(self._path.parent.parent / f"{name}.jsonl"))
        return self._entries


def unfold(value: Any) -> Any:
    """The entry."""
    told = mapping(mapping(value).get("row")).get("event_json")
    return loads_or_text(told.encode()) if isinstance(told, str) else value
