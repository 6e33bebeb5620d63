"""Crush's database, one a project: a row for each message, whose `parts` are JSON.

<project>/.crush/crush.db
sessions   id, parent_session_id, title, prompt_tokens, completion_tokens, created_at
messages   id, session_id, role, parts [{"type", "data"}, …], packed or not, model, created_at, is_summary_message,
           prism_model_id: who answered where the model is one that asks others

Of tokens it keeps those of the last call only, and those from a cache among the prompt's.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from unspool.actions import vocabulary_for
from unspool.dialect import Head, Place, Reader, Record
from unspool.model import MAIN, Content, Event, Facts, Note, Origin
from unspool.model.event import (
    AgentSpawn,
    Compacted,
    Notification,
    Said,
    Thinking,
    TokenUsage,
    ToolCall,
    ToolOutput,
    TurnEnd,
    User,
)
from unspool.readers.calls import arguments_of
from unspool.readers.columns import chosen, decoded, has, plain, unfolding
from unspool.readers.documents import read_json
from unspool.readers.families import Family
from unspool.readers.folders import data_folder
from unspool.readers.log import Log
from unspool.readers.repeats import Repeats
from unspool.sources.files import legible
from unspool.sources.sqlite import rows, tables
from unspool.sources.values import clock, count, listing, mapping, placeholder, string, text_of

_AGENT = "crush"
_SESSION = (
    "id",
    "parent_session_id",
    "title",
    "prompt_tokens",
    "completion_tokens",
    "created_at",
    "summary_message_id",
)
_MESSAGE = ("id", "session_id", "role", "parts", "model", "prism_model_id", "created_at", "is_summary_message")
_FAULTS = ("error", "content_filter", "max_tokens")
_STOPPED = ("Tool execution canceled by user", "User denied permission", "user denied permission")
_CONTINUED = "The previous session was interrupted because it "
"""How the program asks in the person's name to go on, behind a summary; newer versions mark it as hidden."""
_JOINT = "$$"
"""Between the message and the call in the id of a sub-agent's session; older ids are the call's alone."""


def _claims(head: Head) -> bool:
    found = head.tables
    return has(found, "sessions", "id", "prompt_tokens", "completion_tokens") and has(
        found, "messages", "session_id", "role", "parts"
    )


def _rows(path: str) -> Iterator[Record | Note]:
    found = tables(path)
    queries = {}
    if "sessions" in found:
        queries["sessions"] = f"SELECT {chosen(found, 'sessions', _SESSION)} FROM sessions ORDER BY created_at, id"
    if "messages" in found:
        columns = chosen(found, "messages", _MESSAGE)
        queries["messages"] = f"SELECT {columns} FROM messages ORDER BY session_id, created_at, rowid"
    return rows(path, queries)


class Database:
    def __init__(self, path: str) -> None:
        folder = Path(path).absolute().parent
        self._project = legible(str(folder.parent)) if folder.name == ".crush" else None
        self._log = Log(_AGENT)
        self._read = vocabulary_for(_AGENT).read
        self._family = Family()
        self._children: dict[str, str] = {}
        """Of calls: the sessions of the sub-agents that they started."""
        self._titles: dict[str, str | None] = {}
        self._summaries: set[str] = set()
        self._usages: dict[str, tuple[int, int, Origin, str]] = {}
        self._spawned: set[str] = set()
        self._begun, self._told = Repeats(), Repeats()
        """Rows of sessions and of messages: of a database that is written to, they may come again."""
        self._models: dict[str, str] = {}
        self._session = ""
        self._stream = MAIN

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        row = mapping(self._log.value(record))
        match row.get("table"):
            case "sessions":
                self._begin(row, record)
            case "messages":
                self._message(row, record)
            case _:
                self._log.note("skipped", "a row of no table that is read")
        return self._log.take()

    def close(self) -> list[Event | Note]:
        for session in list(self._usages):
            self._settle(session)
        return self._log.take()

    def _begin(self, row: dict[str, Any], record: Record) -> None:
        session, parent = string(row.get("id")), string(row.get("parent_session_id"))
        if session is None:
            self._log.note("odd", "a session without an id")
            return
        key = self._begun.key(session, record)
        if key is None:
            return
        used = count(row.get("prompt_tokens")), count(row.get("completion_tokens"))
        self._usages[session] = *used, record.origin, f"{key}:usage"
        if summary := string(row.get("summary_message_id")):
            self._summaries.add(summary)
        if parent and parent != session:
            self._family.parents[session] = parent
            self._children[session.rpartition(_JOINT)[2]] = session
            self._titles[session] = string(row.get("title"))
        self._log.at(row.get("created_at"))
        self._enter(session)
        if self._stream == MAIN:
            facts = self._log.facts
            facts.title = string(row.get("title"))
            facts.started = clock(row.get("created_at"))

    def _enter(self, session: str) -> None:
        self._stream = self._family.enter(self._log, session)
        self._log.facts.project = self._project

    def _settle(self, session: str) -> None:
        """The tokens of a session whose messages are all read."""
        prompt, completion, where, key = self._usages.pop(session, (0, 0, self._log.origin, ""))
        if prompt or completion:
            self._enter(session)
            here, self._log.origin = self._log.origin, where
            self._emit(TokenUsage(self._models.get(session), prompt, 0, 0, completion, 0, apart=True), key)
            self._log.origin = here

    def _message(self, row: dict[str, Any], record: Record) -> None:
        key, name = self._told.key(string(row.get("id")), record), string(row.get("id"))
        if key is None:
            return
        session = string(row.get("session_id")) or ""
        if session != self._session:
            self._settle(self._session)
            self._session = session
        self._enter(session)
        self._log.at(row.get("created_at"))
        role = text_of(row.get("role"))
        model = row.get("prism_model_id") or row.get("model")
        if role == "assistant" and isinstance(model, str) and model:
            self._models[session] = model
            if self._stream == MAIN:
                self._log.facts.model = model
        summary = bool(row.get("is_summary_message")) or name in self._summaries
        typed: list[str] = []
        parts = plain(row.get("parts"))
        if parts is None and row.get("parts") is not None:
            self._log.note("unreadable", "a message whose packed parts are damaged")
        for at, part in enumerate(listing(decoded(self._log, parts, "a message's parts"))):
            kind, data = mapping(part).get("type"), mapping(mapping(part).get("data"))
            handler = self._PARTS.get(kind) if isinstance(kind, str) else None
            if handler is not None:
                handler(self, data, f"{key}:{at}")
            elif kind not in ("text", "image_url", "binary"):
                self._log.note("unknown", f"part type {kind!r}")
            elif data.get("hidden") is True:
                self._emit(Notification(text_of(data.get("text")), "context"), f"{key}:{at}")
            elif role == "user":
                typed.append(_text_of(kind, data))
            elif text := _text_of(kind, data):
                self._emit(_said(text, role, summary), f"{key}:{at}")
        if text := "\n".join(filter(None, typed)):
            self._emit(Notification(text, "context") if text.startswith(_CONTINUED) else User(text), key)

    def _reasoning(self, data: dict[str, Any], key: str) -> None:
        self._emit(Thinking(text_of(data.get("thinking"))), key)

    def _call(self, data: dict[str, Any], key: str) -> None:
        name, call = text_of(data.get("name")), string(data.get("id"))
        arguments = arguments_of(data.get("input") or {})
        self._emit(ToolCall(name, call, arguments, self._read), key)
        if (child := self._children.get(call or "")) is not None and child not in self._spawned:
            self._spawned.add(child)
            self._emit(AgentSpawn(child, call, name, self._titles.get(child)), f"{child}:spawn")

    def _result(self, data: dict[str, Any], key: str) -> None:
        output = text_of(data.get("content"))
        if picture := text_of(data.get("data")):
            kind = string(data.get("mime_type"))
            output = "\n".join(filter(None, (output, placeholder("image", kind, picture))))
        failed = data.get("is_error") is True
        stopped = failed and output.startswith(_STOPPED)
        self._emit(ToolOutput(string(data.get("tool_call_id")), output, failed, interrupted=stopped), key)

    def _finish(self, data: dict[str, Any], key: str) -> None:
        reason = data.get("reason")
        told = ": ".join(filter(None, (text_of(data.get("message")), text_of(data.get("details")))))
        if reason in _FAULTS:
            self._log.at(data.get("time"))
            self._emit(Notification(told or text_of(reason), "error" if reason == "error" else "warning"), key)
        elif reason == "canceled":
            self._log.at(data.get("time"))
            self._emit(TurnEnd("interrupted", text=told or None), key)

    def _shell(self, data: dict[str, Any], key: str) -> None:
        """A command of the person's own, whose output the model is shown."""
        self._emit(User(f"! {text_of(data.get('command'))}"), key)
        shown = f"{text_of(data.get('output'))}\n(exit code {text_of(data.get('exit_code'))})"
        self._emit(Notification(shown, "context"), f"{key}:output")

    def _emit(self, content: Content, key: str) -> None:
        self._log.emit(content, key, self._stream)

    _PARTS: ClassVar[dict[str, Callable[["Database", dict[str, Any], str], None]]] = {
        "reasoning": _reasoning,
        "tool_call": _call,
        "tool_result": _result,
        "finish": _finish,
        "shell_command": _shell,
    }


def _said(text: str, role: str, summary: bool) -> Content:
    if summary:
        return Compacted(text)
    return Notification(text, "system") if role == "system" else Said(text)


def _text_of(kind: str, data: dict[str, Any]) -> str:
    if kind == "text":
        return text_of(data.get("text"))
    if kind == "image_url":
        return f"[image: {text_of(data.get('url'))}]"
    media = text_of(data.get("MIMEType"))
    return placeholder("image" if media.startswith("image/") else "document", media, data.get("Data"))


def _places(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    """Crush keeps a list of the projects that it was used in."""
    data = data_folder(environment, home) / "crush"
    if local := environment.get("LOCALAPPDATA"):
        data = Path(local) / "crush"
    listed = Path(environment.get("CRUSH_GLOBAL_DATA") or data) / "projects.json"
    projects = listing(mapping(read_json(listed)).get("projects"))
    folders = [mapping(project).get("data_dir") for project in projects]
    for folder in dict.fromkeys([str(home / ".crush"), *(name for name in folders if isinstance(name, str))]):
        yield Place(Path(folder), ("crush.db",))


reader = Reader(
    name=_AGENT,
    agent=_AGENT,
    title="Crush",
    claims=_claims,
    decoder=Database,
    places=_places,
    rows=_rows,
    unfold=unfolding("parts"),
)
