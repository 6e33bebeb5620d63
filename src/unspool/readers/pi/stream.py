"""What `pi --mode json` prints: the session's header, then what happens.

A message is told three times: `message_start`, many `message_update`, `message_end`; and again in `turn_end` and
`agent_end`. Only its end counts. Tools tell of themselves too (`tool_execution_…`): that counts where no message does.
So do those that another tool called, a script mostly (`parentToolCallId`): no model asked for them, or is told.
"""

from collections.abc import Iterable
from typing import Any

from unspool.actions import vocabulary_for
from unspool.dialect import Record
from unspool.model import Event, Facts, Note, Origin
from unspool.model.event import Compacted, Notification, QueueOperation, ToolOutput, TurnEnd
from unspool.readers.blocks import content_text
from unspool.readers.calls import call_of
from unspool.readers.log import Log
from unspool.readers.pi.messages import Messages
from unspool.sources.values import clock, count, listing, mapping, number, string, text_of

_REPEATED = frozenset(
    # What an end tells again in full, and what only moves a display.
    "agent_start turn_start turn_end message_start message_update tool_execution_update auto_compaction_start "
    "compaction_start thinking_level_changed session_info_changed response extension_ui_request extension_error "
    "session_action_update agent_settled entry_appended summarization_retry_attempt_start summarization_retry_finished "
    "bash_execution_update tool_stream_update model_changed config_warnings_changed advisor_cost_changed "
    "advisor_yielded retry_fallback_succeeded ttsr_triggered todo_reminder todo_auto_clear goal_updated "
    "irc_message".split()
)

_LEVELS = ("warning", "error")
_UPDATE = b'{"type":"message_update"'
"""How by far the most lines begin."""


class Stream:
    def __init__(self, agent: str) -> None:
        self._log = Log(agent)
        self._messages = Messages(self._log)
        self._vocabulary = vocabulary_for(agent)
        self._called: set[str] = set()
        self._ended: dict[str, tuple[ToolOutput, Origin]] = {}
        """Outputs whose message has not come."""
        self._told: set[str] = set()
        """Calls whose output was told, by a message or without one."""
        self._queued: set[str] = set()
        self._stop: Any = None
        self._costs: dict[str, float] = {}
        """By session, so far."""

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> Iterable[Event | Note]:
        if record.data.startswith(_UPDATE):
            return ()
        log = self._log
        value = log.record(record)
        if value is None:
            return log.take()
        key = str(record.origin.line)
        match value.get("type"):
            case "message_end":
                self._message(value.get("message"), key)
            case "session":
                self._header(value)
            case "tool_execution_start" | "tool_execution_end" as kind if value.get("parentToolCallId"):
                if kind.endswith("end"):
                    told = f"{text_of(value.get('toolName'))}: {_output(value)}"
                    log.emit(Notification(told, "warning" if value.get("isError") is True else "info"), key)
            case "tool_execution_start" if text_of(value.get("toolCallId")) not in self._called:
                call = call_of(self._vocabulary, value.get("toolName"), value.get("args"), value.get("toolCallId"))
                log.emit(call, key)
                self._called.add(text_of(value.get("toolCallId")))
            case "tool_execution_start":
                pass
            case "tool_execution_end":
                self._tool(value)
            case "agent_end":
                if value.get("willRetry") is not True and value.get("yielded") is not False:
                    self._end(key)
            case str() as kind if kind not in _REPEATED:
                self._rest(kind, value, key)
            case str():
                pass
            case kind:
                log.note("unknown", f"record type {kind!r}")
        return log.take()

    def close(self) -> Iterable[Event | Note]:
        for call, (output, origin) in self._ended.items():
            self._log.origin = origin
            self._log.emit(output, f"result:{call}")
            self._told.add(call)
        self._ended.clear()
        return self._log.take()

    def _header(self, value: dict[str, Any]) -> None:
        log = self._log
        log.session = string(value.get("id")) or log.session
        log.facts.project = string(value.get("cwd"))
        log.facts.started = clock(value.get("timestamp"))
        log.at(value.get("timestamp"))

    def _message(self, message: Any, key: str) -> None:
        if isinstance(message, dict):
            self._log.at(message.get("timestamp"))
            self._stop = message.get("stopReason")
            cost = number(mapping(mapping(message.get("usage")).get("cost")).get("total"))
            if cost is not None:
                self._costs[self._log.session] = self._costs.get(self._log.session, 0) + cost
            if message.get("role") == "toolResult":
                call = text_of(message.get("toolCallId"))
                self._ended.pop(call, None)
                if call in self._told:
                    return
                if call:
                    self._told.add(call)
                    key = f"result:{call}"
            for block in listing(message.get("content")):
                if isinstance(block, dict) and block.get("type") == "toolCall":
                    self._called.add(text_of(block.get("id")))
        self._messages.read(message, key)

    def _tool(self, value: dict[str, Any]) -> None:
        call = string(value.get("toolCallId"))
        if call is None or call not in self._told:
            output = ToolOutput(call, _output(value), value.get("isError") is True)
            self._ended[text_of(call)] = output, self._log.origin

    def _end(self, key: str) -> None:
        status = {"error": "failed", "aborted": ""}.get(text_of(self._stop), "completed")
        if status:  # that the turn was interrupted, its last message told
            self._log.emit(TurnEnd(status, cost_usd=self._costs.get(self._log.session)), key)

    def _rest(self, kind: str, value: dict[str, Any], key: str) -> None:
        log = self._log
        told = string(value.get("errorMessage") or value.get("finalError"))
        match kind:
            case "compaction_end" | "auto_compaction_end":
                result = mapping(value.get("result"))
                if result:
                    before = count(result.get("tokensBefore")) or None
                    log.emit(Compacted(text_of(result.get("summary")), string(value.get("reason")), before), key)
                    self._messages.used(result.get("usage"), self._messages.model, key)
                elif told:
                    log.emit(Notification(told, "error"), key)
            case "auto_retry_start" | "summarization_retry_scheduled":
                log.emit(Notification(told or "the model's answer failed; trying again", "warning"), key)
            case "auto_retry_end":
                if value.get("success") is not True:
                    log.emit(Notification(told or "trying again did not help", "error"), key)
            case "retry_fallback_applied":
                told = f"model: {text_of(value.get('from'))} → {text_of(value.get('to'))}"
                log.emit(Notification(told, "warning"), key)
            case "notice":
                level = value.get("level")
                log.emit(Notification(text_of(value.get("message")), level if level in _LEVELS else "info"), key)
            case "queue_update":
                texts = map(text_of, listing(value.get("steering")) + listing(value.get("followUp")))
                queued = dict.fromkeys(texts)
                for at, text in enumerate(text for text in queued if text not in self._queued):
                    log.emit(QueueOperation("enqueue", text), f"{key}:{at}")
                self._queued = set(queued)
            case _:
                log.note("unknown", f"record type {kind!r}")


def _output(value: dict[str, Any]) -> str:
    result = value.get("result")
    return content_text(result.get("content") if isinstance(result, dict) and "content" in result else result)
