"""What `droid exec --output-format stream-json` prints: one flat event a line, call and result with the call's id."""

from collections.abc import Iterable
from typing import Any

from unspool.actions import vocabulary_for
from unspool.dialect import Record
from unspool.model import Event, Facts, Note
from unspool.model.event import Notification, Said, Thinking, TokenUsage, ToolOutput, TurnEnd
from unspool.readers.blocks import content_text
from unspool.readers.calls import call_of
from unspool.readers.droid.texts import counts_of, failed, typed
from unspool.readers.log import Log
from unspool.sources.values import count, listing, mapping, string, text_of

_NAMES = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
    "thinking_tokens",
)


class Stream:
    def __init__(self, agent: str) -> None:
        self._log = Log(agent)
        self._vocabulary = vocabulary_for(agent)
        self._seen: set[tuple[str, str, str]] = set()
        self._said: str | None = None

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> Iterable[Event | Note]:
        log = self._log
        value = log.value(record)
        kind = value.get("type") if isinstance(value, dict) else None
        if not isinstance(kind, str):
            if value is not None:
                log.note("skipped", "no event of a stream")
            return log.take()
        session = string(value.get("session_id") or value.get("sessionId"))
        if session and session != log.session:
            log.session = session
            _ = log.facts
        log.at(value.get("timestamp"))
        self._event(kind, value, str(record.origin.line))
        return log.take()

    def close(self) -> Iterable[Event | Note]:
        return self._log.take()

    def _event(self, kind: str, value: dict[str, Any], key: str) -> None:
        log = self._log
        call = string(value.get("toolCallId", value.get("id")))
        match kind:
            case "system":
                log.facts.project = string(value.get("cwd")) or log.facts.project
                log.facts.model = string(value.get("model")) or log.facts.model
                log.facts.tools = tuple(map(text_of, listing(value.get("tools"))))
            case "message":
                self._message(value, key)
            case "reasoning" | "thinking":
                text = text_of(value.get("text"))
                if self._is_new(kind, value, text):  # some versions print it twice
                    log.emit(Thinking(text), key)
            case "tool_call":
                name = value.get("toolName", value.get("toolId"))
                log.emit(call_of(self._vocabulary, name, value.get("parameters"), call), key)
            case "tool_result":
                output = _output(value)
                error = failed(output, value.get("isError")) or "error" in value or _code(value.get("value"))
                log.emit(ToolOutput(call, output, error), key)
            case "completion" | "result":
                self._completed(value, key)
            case "error":
                log.emit(Notification(text_of(value.get("message") or value.get("error")), "error"), key)
            case _:
                log.note("unknown", f"record type {kind!r}")

    def _message(self, value: dict[str, Any], key: str) -> None:
        text = content_text(value.get("text", value.get("content")))
        if not self._is_new("message", value, text):
            return
        match value.get("role"):
            case "user":
                for at, content in enumerate(typed(text)):
                    self._log.emit(content, f"{key}.{at}" if at else key)
            case "assistant":
                self._said = text
                self._log.emit(Said(text), key)
            case "system":
                self._log.emit(Notification(text, "system"), key)
            case role:
                self._log.note("odd", f"a message of {role!r}")

    def _is_new(self, kind: str, value: dict[str, Any], text: str) -> bool:
        mark = kind, text_of(value.get("id")), text
        known = mark in self._seen and "id" in value
        self._seen.add(mark)
        return not known

    def _completed(self, value: dict[str, Any], key: str) -> None:
        log = self._log
        final = text_of(value.get("finalText", value.get("result")))
        if final and final != self._said:
            log.emit(Said(final), f"{key}:said")
        given, read, written, answered, thought = counts_of(mapping(value.get("usage")), _NAMES)
        if given or read or written or answered:
            usage = TokenUsage(log.facts.model, given, read, written, answered, min(thought, answered), apart=True)
            log.emit(usage, f"{key}:usage")
        duration = count(value.get("durationMs", value.get("duration_ms"))) or None
        wrong = value.get("is_error") is True
        answer, turns = None if wrong else final or None, count(value.get("numTurns", value.get("num_turns"))) or None
        status = "failed" if wrong else "completed"
        log.emit(TurnEnd(status, duration, final if wrong else None, answer=answer, model_turns=turns), key)
        self._said = None


def _output(value: dict[str, Any]) -> str:
    match value.get("value"):
        case {"stdout": str(out), **rest}:
            errors = text_of(rest.get("stderr"))
            return "\n".join(part for part in (out, errors) if part)
        case None:
            error = value.get("error")
            return text_of(mapping(error).get("message")) or text_of(error)
        case told:
            return content_text(told)


def _code(value: Any) -> bool:
    return mapping(value).get("exitCode") not in (0, None)
