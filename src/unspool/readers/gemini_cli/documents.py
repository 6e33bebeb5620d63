"""Logs of Gemini CLI that are one JSON document, which is written anew whenever something happens.

    session-….json          {"sessionId", "projectHash", "startTime", "lastUpdated", "messages"}
    logs.json               [{"sessionId", "messageId", "type": "user", "message", "timestamp"}], what was typed
    checkpoint-<tag>.json   [{"role", "parts"}], newer {"history": [{"role", "parts"}]}: a conversation saved by name

Qwen Code began as a copy and wrote the same; `is_qwen` says whose a document is.
"""

import glob
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unspool.dialect import Head, Record
from unspool.model import Event, Facts, Note, Origin
from unspool.readers.documents import element_of
from unspool.readers.gemini_cli.folder import folder_of, project_of
from unspool.readers.gemini_cli.recording import AGENT
from unspool.readers.gemini_cli.shapes import Changes, Message, changes_of, message_of
from unspool.readers.gemini_cli.turns import Turns
from unspool.readers.genai import identified, typed
from unspool.readers.log import Log
from unspool.sources.files import legible
from unspool.sources.values import clock, listing, mapping, string, text_of

_TYPES = ("user", "gemini", "qwen", "info", "warning", "error")
_QWEN_MODELS = ("qwen", "coder-model", "vision-model")
_LOOK = 50
"""Messages that tell whose a document is."""


def claims(head: Head) -> bool:
    return is_document(head.document) and not is_qwen(head)


def is_document(document: Any) -> bool:
    match document:
        case Changes(session_id=str(), messages=list(messages)):
            known = any(message.type in _TYPES for message in messages[:20] if message is not None)
            return known or (not any(messages[:20]) and document.project_hash is not None)
        case {"sessionId": str(), "messages": list(messages)}:
            seen = [message for message in messages[:20] if isinstance(message, dict)]
            return any(message.get("type") in _TYPES for message in seen) or (not seen and "projectHash" in document)
        case [{"sessionId": str(), "messageId": _, "type": _, "message": _}, *_]:
            return True
        case [{"role": "user" | "model", "parts": list()}, *_]:
            return True
        case {"history": [{"role": "user" | "model", "parts": list()}, *_]}:
            return "toolCall" not in document  # else it is a state of files, kept to go back to
    return False


def is_qwen(head: Head) -> bool:
    """The same bytes may be either's: the folder and the models' names tell."""
    if ".qwen" in head.path.replace("\\", "/").split("/"):
        return True
    document = head.document
    if isinstance(document, Changes):
        messages = document.messages or []
    else:
        messages = list(map(message_of, listing(mapping(document).get("messages"))[:_LOOK]))
    seen = {(message.type == "qwen", message.model) for message in messages[:_LOOK] if message is not None}
    return any(qwen or (model or "").lower().startswith(_QWEN_MODELS) for qwen, model in seen)


class Document:
    def __init__(self, path: str, agent: str = AGENT) -> None:
        self._path = path
        self._log = Log(agent)
        self._turns = Turns(self._log, folder_of(path))

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        value = self._log.value(record)
        match value:
            case Changes():
                self._conversation(value)
            case {"messages": list()}:
                self._conversation(changes_of(value))
            case {"history": list(contents)}:
                self._checkpoint(contents)
            case [{"role": _}, *_]:
                self._checkpoint(value)
            case list():
                self._prompts(value)
            case _:
                self._log.note("skipped", "no conversation")
        return self._log.take()

    def close(self) -> list[Event | Note]:
        self._turns.flush()
        return self._log.take()

    def _conversation(self, session: Changes) -> None:
        log, turns, path = self._log, self._turns, self._path
        log.session = string(session.session_id) or Path(path).stem
        facts = log.facts
        facts.project = project_of(path, string(session.project_hash))
        facts.started = clock(session.start_time)
        facts.title = string(session.summary)
        if session.kind == "subagent":
            turns.belong(log.session)
        if any(True for _ in continued(path)):
            log.note("skipped", "the session goes on in a .jsonl beside, which repeats this one")
            return
        for number, message in enumerate(session.messages or (), 1):
            log.origin = Origin(path, number, 0, 0)
            turns.whole(message, number)

    def _checkpoint(self, contents: list[Any]) -> None:
        name, folder = legible(Path(self._path).stem), folder_of(self._path)
        self._log.session = f"{folder.name}/{name}" if folder else name  # no id was kept, and tags are few
        self._log.facts.project = project_of(self._path)
        self._log.facts.title = name.removeprefix("checkpoint-")
        contents = identified(contents)
        for number in self._numbered(contents):
            content = mapping(contents[number - 1])
            kind = "gemini" if content.get("role") == "model" else "user"
            self._turns.message(Message(type=kind, content=content.get("parts")), str(number))
        self._turns.flush()

    def _prompts(self, entries: list[Any]) -> None:
        """Only of sessions that were not recorded: a recording has what was typed too."""
        log = self._log
        recorded: dict[str, bool] = {}
        for number in self._numbered(entries):
            entry = entries[number - 1]
            if not isinstance(entry, dict):
                log.note("odd", "an entry that is no object")
                continue
            session = text_of(entry.get("sessionId"))
            if session not in recorded:
                recorded[session] = self._is_recorded(session)
            if recorded[session]:
                continue
            log.session = session
            log.facts.project = log.facts.project or project_of(self._path)
            log.at(entry.get("timestamp"))
            if entry.get("type") == "user":
                log.emit(typed(text_of(entry.get("message"))), f"log:{number}")
            else:
                log.note("unknown", f"entry type {entry.get('type')!r}")

    def _is_recorded(self, session: str) -> bool:
        chats = Path(self._path).parent / "chats"
        return any(True for _ in chats.glob(f"session-*-{glob.escape(session[:8])}.json*"))

    def _numbered(self, items: list[Any]) -> Iterator[int]:
        for number in range(1, len(items) + 1):
            self._log.origin = Origin(self._path, number, 0, 0)
            yield number


def continued(path: str) -> Iterator[str]:
    """The recording that a session of this generation was turned into when it was resumed."""
    if path.endswith(".json") and os.path.isfile(f"{path}l"):  # noqa: PTH113  # asked of thousands of files
        yield f"{path}l"


payload = element_of("messages", "history")
