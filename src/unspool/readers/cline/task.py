"""A task of Cline's or Roo's: the messages that the API got, and what lies beside them."""

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from unspool.actions import vocabulary_for
from unspool.dialect import Record
from unspool.model import MAIN, Event, Facts, Note, Origin
from unspool.model.event import Compacted, ModelChange, Notification
from unspool.readers.blocks import content_text
from unspool.readers.cline.messages import Messages
from unspool.readers.cline.requests import Request, counted, metrics_of, requests_of
from unspool.readers.cline.screen import Screen
from unspool.readers.cline.whose import HISTORIES, HISTORY, ITEM, OLDER, SCREEN, Writer, form_of
from unspool.readers.documents import read_json
from unspool.readers.log import Log
from unspool.sources.values import clock, count, listing, mapping, string, text_of

METADATA = "task_metadata.json"
COMPACTION = ".compaction.json"


class Task:
    def __init__(self, writer: Writer, path: str) -> None:
        self._writer = writer
        self._path = Path(path)
        self._log = Log(writer, self._named())
        self._vocabulary = vocabulary_for(writer)
        self._stream = MAIN
        self._requests: list[Request] = []
        self._due: list[Request] = []
        self._summary: dict[str, Any] = {}
        """What stands for the first messages to the model, and how many they are; it has a file of its own."""
        self._forked = ""
        """When the session was copied from another one: there, what is older was paid for."""
        self._named_model = False
        """Whether a message said who answered."""

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        log = self._log
        document = log.value(record)
        form = form_of(document, str(self._path))
        if form is None and isinstance(document, list):
            form = "screen" if self._path.name == SCREEN else "history"
        match form:
            case "screen" if self._told_elsewhere():
                pass  # the history tells it all, and reads this beside it
            case "screen":
                self._learn()
                Screen(log, self._vocabulary).read(listing(document), str(self._path), self._writer)
            case "history":
                self._learn()
                self._history(listing(document))
            case "session":
                self._session(mapping(document))
            case _:
                if document is not None:
                    log.note("skipped", "no messages")
        return log.take()

    def close(self) -> list[Event | Note]:
        return self._log.take()

    def _named(self) -> str:
        """A task is its folder; a file from elsewhere, its name."""
        if self._path.name in (*HISTORIES, SCREEN) and self._path.parent.name:
            return self._path.parent.name
        return self._path.name.partition(".")[0]

    def _told_elsewhere(self) -> bool:
        others = {SCREEN: HISTORIES, OLDER: (HISTORY,)}.get(self._path.name, ())
        return any(self._path.with_name(name).is_file() for name in others)

    def _learn(self) -> None:
        """What the files beside say of the task."""
        facts = self._log.facts
        item = mapping(read_json(self._path.with_name(ITEM)))
        facts.project = string(item.get("workspace")) or facts.project
        facts.title = string(item.get("title")) or text_of(item.get("task")).partition("\n")[0] or facts.title
        facts.parent = string(item.get("parentTaskId")) or facts.parent
        about = mapping(read_json(self._path.with_name(METADATA)))
        for used in listing(about.get("model_usage")):
            facts.model = string(mapping(used).get("model_id")) or facts.model
        for seen in listing(about.get("environment_history")):
            facts.version = string(mapping(seen).get("cline_version")) or facts.version

    def _history(self, messages: list[Any]) -> None:
        screen = self._path.with_name(SCREEN)
        if self._path.name == HISTORY and not screen.is_file():
            screen = self._path.with_name(OLDER)
        self._requests = requests_of(read_json(screen), str(screen), self._writer)
        self._messages(messages, counting=not any(request.usage for request in self._requests))
        self._due += self._requests
        self._requests = []
        self._spend()

    def _session(self, document: dict[str, Any]) -> None:
        """One file for all, and beside it one about it: as Cline's command and its newer extensions write."""
        log = self._log
        origin = mapping(document.get("origin"))
        own = self._path.name.removesuffix(".messages.json")
        lent = document.get("agent") in ("subagent", "teammate") and own != self._path.parent.name
        agent = string(origin.get("subagent")) or (own if lent else None)
        name = string(document.get("sessionId")) or log.session
        log.session = string(origin.get("parentThreadId")) or self._path.parent.name if agent else name
        about = mapping(read_json(self._path.with_name(f"{self._path.name.partition('.')[0]}.json")))
        metadata = mapping(about.get("metadata"))
        facts = log.facts
        if agent:
            self._stream = f"agent:{agent}"
        facts.project = string(about.get("cwd")) or string(about.get("workspace_root")) or facts.project
        facts.title = string(metadata.get("title")) or facts.title
        facts.model = string(about.get("model")) or facts.model
        facts.branch = string(mapping(metadata.get("git")).get("branch")) or facts.branch
        facts.started = clock(about.get("started_at")) or facts.started
        fork = mapping(metadata.get("fork"))
        facts.parent = string(fork.get("forkedFromSessionId")) or facts.parent
        self._forked = clock(fork.get("forkedAt")) or ""
        self._summary = mapping(read_json(self._summary_file))
        if not self._messages(listing(document.get("messages")), counting=True) and not agent:
            used = mapping(metadata.get("usage"))
            names = ("inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens")
            if usage := counted(facts.model, *(count(used.get(name)) for name in names)):
                log.emit(usage, "usage")

    def _messages(self, messages: list[Any], counting: bool) -> bool:
        """Whether any of them said what it used."""
        log = self._log
        reader = Messages(log, self._vocabulary, self._stream)
        keys: set[str] = set()
        told = False
        for at, message in enumerate(messages):
            if at and at == self._summary.get("source_message_count"):
                self._compacted()
            log.origin = Origin(str(self._path), at + 1, 0, 0)
            if not isinstance(message, dict):
                log.note("skipped", "no message")
                continue
            key = text_of(message.get("id") or message.get("ts")) or f"#{at + 1}"
            key = f"{key}:{at + 1}" if key in keys else key
            keys.add(key)
            if self._stream != MAIN:  # its file is not the only one of its session
                key = f"{self._stream}:{key}"
            self._begin(at, message)
            self._model(message, key)
            reader.read(message, key)
            if message.get("role") == "assistant":
                if counting and (usage := metrics_of(message, log.facts.model)):
                    told = True
                    if self._forked <= (log.time or self._forked):
                        log.emit(usage, f"{key}:usage", self._stream)
                self._spend()
        if messages and self._summary.get("source_message_count") == len(messages):
            self._compacted()
        return told

    @property
    def _summary_file(self) -> Path:
        return self._path.with_name(self._path.name.removesuffix(".messages.json") + COMPACTION)

    def _compacted(self) -> None:
        """Only the last summary is kept. Some shorten the messages without one."""
        log, summary = self._log, self._summary
        kept = list(map(mapping, listing(summary.get("messages"))))
        marks = [mapping(message.get("metadata")).get("kind") for message in kept]
        at = marks.index("compaction_summary") + 1 if "compaction_summary" in marks else 0
        text = content_text(kept[at - 1].get("content")) if at else ""
        log.origin = Origin(str(self._summary_file), at, 0, 0)
        log.at(summary.get("updated_at"))
        key = f"compaction:{text_of(summary.get('updated_at'))}"
        log.emit(Compacted(text), key if self._stream == MAIN else f"{self._stream}:{key}", self._stream)

    def _model(self, message: dict[str, Any], key: str) -> None:
        about = mapping(message.get("modelInfo"))
        model, facts = string(about.get("id") or about.get("modelId")), self._log.facts
        if model and model != facts.model and self._stream == MAIN:
            if self._named_model:
                self._log.emit(ModelChange(model, facts.model), f"{key}:model", self._stream)
            facts.model = model
        self._named_model = self._named_model or model is not None

    def _begin(self, at: int, message: dict[str, Any]) -> None:
        """The time of the message. Where it has none, that of the request it went out with, or was the answer to."""
        log = self._log
        if message.get("role") != "assistant":
            self._spend()
            while self._requests and self._belongs(self._requests[0], at):
                self._due.append(self._requests.pop(0))
            log.at(self._due[-1].ts if self._due else None)
        elif self._due:
            log.at(self._due[-1].answered)
        log.at(message.get("ts"))

    def _belongs(self, request: Request, at: int) -> bool:
        """Whether the message went out with that request. Where the request does not say, each message has one."""
        if request.behind is not None:
            return request.behind < at
        return not any(due.single for due in self._due)

    def _spend(self) -> None:
        """What the requests used, behind their answers."""
        log = self._log
        held = log.origin
        for request in self._due:
            log.origin = request.origin
            if request.failure:
                log.emit(Notification(request.failure, "error"), f"{request.key}:failure")
            if (usage := request.usage) is not None:
                if usage.model is None and log.facts.model is not None:
                    usage = replace(usage, model=log.facts.model)
                log.emit(usage, request.key)
        self._due = []
        log.origin = held
