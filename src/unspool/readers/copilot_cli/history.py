"""Copilot CLI up to 0.0.341: one document a session, whose `timeline` holds what a person saw.

Where there is none, `chatMessages` holds what the model was sent, as OpenAI's API has it: without a time.
"""

from collections.abc import Iterable
from typing import Any

from unspool.actions import vocabulary_for
from unspool.dialect import Record
from unspool.model import Event, Facts, Note, Origin
from unspool.model.event import Notification, Said, ToolOutput, User
from unspool.readers.blocks import content_text
from unspool.readers.calls import call_of
from unspool.readers.log import Log
from unspool.sources.values import clock, listing, mapping, string, text_of


class History:
    def __init__(self, agent: str, path: str) -> None:
        self._log = Log(agent)
        self._path = path
        self._vocabulary = vocabulary_for(agent)
        self._called: set[str] = set()

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> Iterable[Event | Note]:
        log = self._log
        document = log.value(record)
        if not isinstance(document, dict):
            log.note("skipped", "no session")
            return log.take()
        log.session = text_of(document.get("sessionId"))
        log.facts.started = clock(document.get("startTime"))
        log.facts.model = string(document.get("selectedModel"))
        log.at(document.get("startTime"))
        timeline = listing(document.get("timeline"))
        for number, item in enumerate(timeline or listing(document.get("chatMessages")), 1):
            log.origin = Origin(self._path, number, 0, 0)
            if not isinstance(item, dict):
                log.note("odd", "an item of the timeline that is no object")
            elif timeline:
                log.at(item.get("timestamp"))
                self._item(item, string(item.get("id")) or str(number), number)
            else:
                self._message(item, str(number))
        return log.take()

    def close(self) -> Iterable[Event | Note]:
        return self._log.take()

    def _item(self, item: dict[str, Any], key: str, number: int) -> None:
        log = self._log
        text = content_text(item.get("text"))
        call = string(item.get("callId"))
        key = f"{number}:{key}"
        match item.get("type"):
            case "user":
                log.emit(User(text), key)
            case "copilot":
                log.emit(Said(text), key)
            case "tool_call_requested" | "tool_call_completed" as kind:
                if text_of(call) not in self._called:
                    self._called.add(text_of(call))
                    name = item.get("name") or item.get("toolTitle")
                    log.emit(call_of(self._vocabulary, name, item.get("arguments"), call), key)
                if kind == "tool_call_completed":
                    result = mapping(item.get("result"))
                    output = content_text(result.get("log", item.get("result")))
                    failed = result.get("type") in ("failure", "error", "rejected", "denied")
                    log.emit(ToolOutput(call, output, failed), f"{key}:result")
            case "info" | "warning" | "error" as level:
                log.emit(Notification(text, level), key)
            case kind:
                log.note("unknown", f"item type {kind!r}")

    def _message(self, message: dict[str, Any], key: str) -> None:
        log, content = self._log, message.get("content")
        text = "" if content is None else content_text(content)
        match message.get("role"):
            case "user":
                log.emit(User(text), key)
            case "assistant":
                if text:
                    log.emit(Said(text), key)
                for at, call in enumerate(map(mapping, listing(message.get("tool_calls")))):
                    asked = mapping(call.get("function"))
                    told = call_of(self._vocabulary, asked.get("name"), asked.get("arguments"), call.get("id"))
                    log.emit(told, f"{key}:{at}")
            case "tool":
                log.emit(ToolOutput(string(message.get("tool_call_id")), text, False), key)
            case "system" | "developer":
                log.emit(Notification(text, "system"), key)
            case role:
                log.note("unknown", f"a message of {role!r}")
