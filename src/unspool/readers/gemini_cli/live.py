"""Gemini CLI's live stream: `gemini -p … --output-format stream-json`.

{"type": "init", "session_id", "model"}                        first
{"type": "message", "role", "content", "delta"}                the model's words come in pieces
{"type": "tool_use", "tool_name", "tool_id", "parameters"}     {"type": "tool_result", "tool_id", "status", "output"}
{"type": "error", "severity", "message"}                       {"type": "result", "status", "stats"}
"""

from typing import Any

from unspool.actions import vocabulary_for
from unspool.dialect import Head, Record
from unspool.model import Event, Facts, Note, Origin
from unspool.model.event import Notification, Said, TokenUsage, ToolCall, ToolOutput, TurnEnd
from unspool.readers.calls import arguments_of
from unspool.readers.gemini_cli.recording import AGENT
from unspool.readers.genai import typed, was_stopped
from unspool.readers.log import Log
from unspool.sources.values import count, mapping, number, string, text_of

_FIRST = b'{"type":"init",'


def claims(head: Head) -> bool:
    return any(map(_is_event, head.lines))


def _is_event(line: dict[str, Any]) -> bool:
    match line:
        case {"type": "init", "session_id": str(), "timestamp": _, "model": _}:
            return True
        case {"type": "tool_use", "tool_name": _, "tool_id": _, "parameters": _}:
            return True
        case {"type": "result", "timestamp": _, "status": str(), "stats": {"total_tokens": _}}:
            return True
    return False


class Stream:
    def __init__(self, _path: str) -> None:
        self._log = Log(AGENT)
        self._read = vocabulary_for(AGENT).read
        self._words: list[str] = []
        self._begun: tuple[Origin, str | None] | None = None
        """Where and when the words began that are still coming."""

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        value = self._log.record(_cut(record))
        if value is not None:
            self._event(value, record.origin.line)
        return self._log.take()

    def close(self) -> list[Event | Note]:
        self._flush()
        return self._log.take()

    def _event(self, value: dict[str, Any], line: int) -> None:
        log, kind = self._log, value.get("type")
        if kind == "message" and value.get("role") != "user":
            log.at(value.get("timestamp"))
            self._begun = self._begun or (log.origin, log.time)
            self._words.append(text_of(value.get("content")))
            if not value.get("delta"):
                self._flush()
            return
        self._flush()
        log.at(value.get("timestamp"))
        match kind:
            case "init":
                log.session = text_of(value.get("session_id"))
                log.facts.model = string(value.get("model"))
                log.facts.started = log.time
            case "message":
                log.emit(typed(text_of(value.get("content"))), f"{line}:user")
            case "tool_use":
                name = text_of(value.get("tool_name"))
                call_id, given = string(value.get("tool_id")), arguments_of(value.get("parameters"))
                log.emit(ToolCall(name, call_id, given, self._read), f"{line}:call")
            case "tool_result":
                failed = value.get("status") == "error"
                output = text_of(value.get("output"))
                if failed and not output:
                    output = text_of(mapping(value.get("error")).get("message"))
                stopped = failed and was_stopped(output)
                log.emit(
                    ToolOutput(string(value.get("tool_id")), output, failed, interrupted=stopped), f"{line}:result"
                )
            case "error":
                text = text_of(value.get("message"))
                mild = value.get("severity") == "warning"
                log.emit(Notification(text, "warning" if mild else "error"), f"{line}:error")
            case "result":
                self._result(value, line)
            case _:
                log.note("unknown", f"event type {kind!r}")

    def _flush(self) -> None:
        if self._begun is None:
            return
        log, here = self._log, (self._log.origin, self._log.time)
        log.origin, log.time = self._begun
        text = "".join(self._words)
        self._begun, self._words = None, []
        if text:
            log.emit(Said(text), f"{log.origin.line}:message")
        log.origin, log.time = here

    def _result(self, value: dict[str, Any], line: int) -> None:
        stats = mapping(value.get("stats"))
        models = mapping(stats.get("models")) or {self._log.facts.model or "": stats}
        for model, used in models.items():
            if usage := _usage(model or None, mapping(used)):
                self._log.emit(usage, f"{line}:usage:{model}")
        failed = value.get("status") != "success"
        reason = string(mapping(value.get("error")).get("message")) if failed else None
        kind = string(mapping(value.get("error")).get("type")) if failed else None
        duration = number(stats.get("duration_ms"))
        self._log.emit(TurnEnd("failed" if failed else "completed", duration, reason, reason=kind), f"{line}:end")


def _cut(record: Record) -> Record:
    """The first event, without what the program said of its servers in the same line."""
    at = record.data.find(_FIRST) if record.value is None and record.data[:1] not in (b"{", b"") else -1
    return Record(record.data[at:], record.origin) if at > 0 else record


def _usage(model: str | None, stats: dict[str, Any]) -> TokenUsage | None:
    """Of all calls to one model: what is neither prompt nor answer was thought, and only the total has it."""
    asked, output = count(stats.get("input_tokens")), count(stats.get("output_tokens"))
    cached = min(count(stats.get("cached")), asked)
    thoughts = max(0, count(stats.get("total_tokens")) - asked - output)
    if not (asked or output or thoughts):
        return None
    return TokenUsage(model, asked - cached, cached, 0, output + thoughts, thoughts, apart=True)
