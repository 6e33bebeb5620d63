"""OpenCode's database. Each message and each part is a row whose `data` is JSON; newer versions have one row a message.

session           id, parent_id, directory, title, version, model, time_created
message           id, session_id, time_created, data
part              id, message_id, data
session_message   id, session_id, type, seq, time_created, data
session_v2        as session, and fork_session_id
external_import   session_id, message_ids, time_imported (and claude_import: MiMoCode's, of other agents' sessions)

Version 2 keeps its sessions in a table of their own. It copies what it finds in the older ones once, goes on with the
copy, and leaves the original where it is.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from unspool.dialect import Head, Record
from unspool.model import Event, Facts, Note, Origin
from unspool.readers.columns import chosen, decoded, has
from unspool.readers.log import Log
from unspool.readers.opencode.conversation import AGENT, Conversation
from unspool.readers.opencode.whole import WholeMessages
from unspool.sources.jsontext import loads_or_text
from unspool.sources.sqlite import rows, tables
from unspool.sources.values import listing, mapping

_SESSIONS = ("session", "session_v2")
"""Tables of sessions. A session that stands in both is fuller in the second."""
_IMPORTS = ("claude_import", "external_import")
_SESSION = ("id", "parent_id", "fork_session_id", "directory", "title", "version", "model", "time_created")


def claims(head: Head) -> bool:
    found = head.tables
    parts = has(found, "message", "session_id", "data") and has(found, "part", "message_id", "data")
    return any(has(found, name, "id", "directory", "title") for name in _SESSIONS) and (
        parts or has(found, "session_message", "type", "data")
    )


def read(path: str) -> Iterator[Record | Note]:
    """The rows, those of a message and of its parts as one."""
    number = 0
    whole: dict[str, Any] | None = None
    for item in rows(path, _queries(path)):
        row = item.value if isinstance(item, Record) else {}
        if whole is not None and row.get("message_id") != whole["id"]:
            number += 1
            yield Record(b"", Origin(path, number, 0, 0), whole)
            whole = None
        if isinstance(item, Note):
            yield item
        elif row["table"] != "part":
            number += 1
            yield Record(b"", Origin(path, number, 0, 0), row)
        else:
            if whole is None:
                names = "message_id", "session_id", "message"
                key, session, data = (row[name] for name in names)
                whole = {"table": "message", "id": key, "session_id": session, "data": data, "parts": []}
            if row["id"] is not None:  # else a message without parts
                whole["parts"].append({"id": row["id"], "data": row["data"]})
    if whole is not None:
        yield Record(b"", Origin(path, number + 1, 0, 0), whole)


def unfold(row: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A message without its parts, and its parts by their ids."""
    told = mapping(row)
    parts = {part["id"]: part for part in listing(told.get("parts"))}
    return {name: value for name, value in told.items() if name != "parts"}, parts


def payload(unfolded: tuple[dict[str, Any], dict[str, Any]], event: Event) -> Any:
    """The part whose id the event has, or else the message."""
    message, parts = unfolded
    told = parts.get(event.key.partition(":")[0], message)
    return told | {
        name: loads_or_text(told[name].encode()) for name in ("data", "model") if isinstance(told.get(name), str)
    }


def _queries(path: str) -> dict[str, str]:
    """Sessions, then each message with each of its parts, in the order of an index that is there."""
    found = tables(path)
    queries = {
        name: f"SELECT {chosen(found, name, _SESSION)} FROM {name} ORDER BY time_created, id"
        for name in _SESSIONS
        if name in found
    }
    for name in _IMPORTS:
        if has(found, name, "session_id"):
            queries[name] = f"SELECT {chosen(found, name, ('session_id', 'message_ids', 'time_imported'))} FROM {name}"
    old = has(found, "message", "data") and has(found, "part", "data")
    if old:
        queries["part"] = (
            "SELECT m.session_id, m.id AS message_id, m.data AS message, p.id, p.data "
            "FROM message m LEFT JOIN part p ON p.message_id = m.id ORDER BY m.session_id, m.time_created, m.id, p.id"
        )
    if has(found, "session_message", "type", "data"):
        order = "s.seq" if "seq" in found["session_message"] else "s.time_created, s.id"
        only = f"WHERE NOT EXISTS (SELECT 1 FROM message m WHERE {_told_twice(found)})" if old else ""
        queries["session_message"] = (
            f"SELECT s.id, s.session_id, s.type, s.data FROM session_message s {only} ORDER BY s.session_id, {order}"
        )
    return queries


def _told_twice(found: Mapping[str, frozenset[str]]) -> str:
    """Which rows of the newer form stand in the older one too, which holds more of them.

    Before version 2 that was all of a session. What version 2 copied has the id of its original, or at least the time.
    """
    if "session_v2" not in found or "time_created" not in found["session_message"]:
        return "m.session_id = s.session_id"
    return "m.id = s.id OR (m.session_id = s.session_id AND m.time_created = s.time_created)"


class Database:
    def __init__(self, path: str) -> None:
        self._log = Log(AGENT)
        self._conversation = Conversation(self._log, outputs=Path(path).parent / "tool-output")
        self._whole = WholeMessages(self._conversation)
        self._tables = {
            **dict.fromkeys(_SESSIONS, self._session),
            **dict.fromkeys(_IMPORTS, self._import),
            "message": self._message,
            "session_message": self._one,
        }

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        row = self._log.value(record)
        handler = self._tables.get(str(mapping(row).get("table")))
        if handler is None:
            self._log.note("skipped", "a row of no table that is read")
        else:
            handler(row)
        return self._log.take()

    def close(self) -> list[Event | Note]:
        self._conversation.close()
        return self._log.take()

    def _session(self, row: dict[str, Any]) -> None:
        self._conversation.session({**row, "model": decoded(self._log, row.get("model"), "a model")})

    def _import(self, row: dict[str, Any]) -> None:
        messages = decoded(self._log, row.get("message_ids"), "a list of messages")
        self._conversation.imported(row.get("session_id"), listing(messages), row.get("time_imported"))

    def _message(self, row: dict[str, Any]) -> None:
        info = decoded(self._log, row.get("data"), "a message")
        if not isinstance(info, dict):
            self._log.note("odd", "a message that is no object")
            info = {}
        message = self._conversation.message(info, row.get("id"), row.get("session_id"))
        for part in map(mapping, listing(row.get("parts"))):
            self._conversation.part(message, decoded(self._log, part.get("data"), "a part"), part.get("id"))
        self._conversation.end(message)

    def _one(self, row: dict[str, Any]) -> None:
        data = decoded(self._log, row.get("data"), "a message")
        self._whole.read(mapping(data), row.get("type"), row.get("id"), row.get("session_id"))
