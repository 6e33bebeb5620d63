"""OpenCode's export, and what its server answers: one document.

opencode export                    {"info": {session}, "messages": [{"info": {message}, "parts": [{part}, …]}, …]}
in version 2                       {"info": {session}, "messages": [{"id", "type", …}, …]}
GET /session/<id>/message          [{"info": {message}, "parts": […]}, …]
sessions sent with their children  {"sessionID": …, "messages": […], "childSessions": [{"info", "messages"}, …]}
"""

from collections.abc import Iterator
from typing import Any

from msgspec import structs

from unspool.dialect import Head, Record
from unspool.model import Event, Facts, Note
from unspool.readers.log import Log
from unspool.readers.opencode.conversation import AGENT, Conversation
from unspool.readers.opencode.whole import WholeMessages
from unspool.sources.values import listing, mapping


def claims(head: Head) -> bool:
    document = head.document
    if isinstance(document, dict):
        info = document.get("info")
        if document.get("messages") == [] and isinstance(info, dict):
            placed = ("directory" in info and "version" in info) or "location" in info
            return placed and str(info.get("id")).startswith("ses")
        document = document.get("messages")
    return isinstance(document, list) and (any(map(_is_message, document[:5])) or any(map(_is_whole, document[:5])))


def _is_message(value: Any) -> bool:
    match value:
        case {"info": {"role": str(), "id": str()}, "parts": list()}:
            return True
    return False


def _is_whole(value: Any) -> bool:
    match value:
        case {"id": str(key), "type": str(), "time": {"created": _}}:
            return key.startswith("msg_") and "role" not in value
    return False


def unfold(document: Any) -> list[Any]:
    """The document, and behind it the messages of all of its sessions."""
    return [document, *(message for _, of in _sessions(document) for message in _messages(of))]


def payload(unfolded: list[Any], event: Event) -> Any:
    """Events of a message carry its number; those of a session the number 0."""
    return unfolded[event.origin.line if event.origin.line < len(unfolded) else 0]


def _sessions(document: Any, depth: int = 0) -> Iterator[tuple[dict[str, Any], Any]]:
    """Each session's own record, if there is one, and what holds its messages."""
    told = mapping(document)
    info = mapping(told.get("info"))
    parent = told.get("parentSessionID")
    yield ({**info, "parentID": info.get("parentID") or parent} if parent else info), document
    if depth < 8:
        for child in listing(told.get("childSessions")):
            yield from _sessions(child, depth + 1)


def _messages(document: Any) -> list[Any]:
    return document if isinstance(document, list) else listing(mapping(document).get("messages"))


class Export:
    def __init__(self, _path: str) -> None:
        self._log = Log(AGENT)
        self._conversation = Conversation(self._log, alone=True)
        self._whole = WholeMessages(self._conversation)

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        document = self._log.value(record)
        number = 0
        for info, of in _sessions(document):
            self._log.origin = structs.replace(record.origin, line=number)
            if info:
                self._conversation.session(info)
            session = info.get("id") or mapping(of).get("sessionID")
            for value in _messages(of):
                number += 1
                self._log.origin = structs.replace(record.origin, line=number)
                self._message(value, session)
        self._conversation.close()
        return self._log.take()

    def close(self) -> list[Event | Note]:
        return []

    def _message(self, value: Any, session: Any) -> None:
        info = mapping(value).get("info")
        if _is_whole(value):
            self._whole.read(value, value["type"], value["id"], session)
            return
        if not isinstance(info, dict):
            self._log.note("skipped", "no message of a session")
            return
        message = self._conversation.message(info, session=info.get("sessionID") or session)
        for part in listing(value.get("parts")):
            self._conversation.part(message, part)
        self._conversation.end(message)
