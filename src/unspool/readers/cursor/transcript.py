"""Cursor's agent transcripts: `{role, message: {content}}` a line. No ids, hardly a time, mostly no tool results."""

import re
from typing import Any

from unspool.actions import vocabulary_for
from unspool.dialect import Head, Record
from unspool.model import MAIN, Event, Facts, Note
from unspool.model.event import AgentMessage, AgentSpawn, Notification, Said, Thinking, ToolOutput, TurnEnd, User
from unspool.readers.blocks import block_text, content_text
from unspool.readers.calls import call_of
from unspool.readers.cursor.places import project_in, whereabouts
from unspool.readers.cursor.prompts import parted
from unspool.readers.log import Log
from unspool.sources.values import mapping, string, text_of

AGENT = "cursor"
STATUS = {"success": "completed", "completed": "completed", "aborted": "interrupted", "cancelled": "interrupted"}
_REDACTED = "[REDACTED]"
"""What Cursor leaves of the model's thinking, at the end of a text."""
_ABORTED = re.compile(r"\buser (?:aborted|cancell?ed)\b", re.IGNORECASE)
"""What stands as the error of a turn that a person stopped."""
_BARE = frozenset(("type", "timestamp", "message"))


def claims(head: Head) -> bool:
    """Any line may be unknown to us; none may be of somebody who writes more than a role and a message."""
    return not head.tables and any(map(_is_message, head.lines))


def _is_message(line: dict[str, Any]) -> bool:
    match line:
        case {"role": "user" | "assistant" | "tool" | "system", "message": {"content": str() | list()}}:
            return line.keys().isdisjoint(("type", "uuid", "id", "sessionId", "session_id"))
        case {"type": "turn_ended", "status": str()}:
            return line.keys() <= {"type", "status", "error"}
        case {"type": "user" | "assistant" | "tool", "timestamp": int(), "message": dict()}:
            return line.keys() == _BARE
    return False


class Transcript:
    def __init__(self, path: str) -> None:
        self._where = whereabouts(path)
        self._stream = self._where.stream
        self._log = Log(AGENT, self._where.session)
        self._vocabulary = vocabulary_for(AGENT)
        self._spawned = self._where.agent is None

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        log = self._log
        value = log.value(record)
        _ = log.facts  # the session is there, whatever its transcript says
        key = str(record.origin.line) if self._where.agent is None else f"{self._where.agent}:{record.origin.line}"
        match value:
            case {"role": str(role), "message": message} | {
                "type": "user" | "assistant" | "tool" as role,
                "message": message,
            }:
                log.at(value.get("timestamp"))
                self._message(role, mapping(message), key)
            case {"type": "turn_ended"}:
                text = string(value.get("error"))
                status = text_of(value.get("status")) or ("error" if text else "success")
                ended = "interrupted" if text and _ABORTED.search(text) else STATUS.get(status, "failed")
                log.emit(TurnEnd(ended, None, text), key, self._stream)
            case {"type": kind}:
                log.note("unknown", f"record type {text_of(kind)!r}")
            case None:
                pass
            case _:
                log.note("skipped", "no message")
        return log.take()

    def close(self) -> list[Event | Note]:
        return self._log.take()

    def _message(self, role: str, message: dict[str, Any], key: str) -> None:
        content = message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        if "tool_name" in message:
            self._whole_call(message, key)
        elif not isinstance(content, list):
            self._log.note("odd", "a message without content")
        elif role == "user":
            self._user(content, key)
        else:
            for at, block in enumerate(content):
                self._block(block, f"{key}:{at}", role)

    def _user(self, content: list[Any], key: str) -> None:
        log = self._log
        typed: list[str] = []
        shown: list[str] = []
        for at, block in enumerate(content):
            match block:
                case {"type": "text", "text": str(text)}:
                    prompt = parted(text)
                    log.at(prompt.time)
                    typed += prompt.typed
                    shown += filter(None, (prompt.shown,))
                case {"type": "image" | "document"}:
                    typed.append(block_text(block))
                case _:
                    self._block(block, f"{key}:{at}", "user")
        self._spawn()
        if shown:
            log.emit(Notification("\n".join(shown), "context"), f"{key}:shown", self._stream)
        if typed:
            text = "\n".join(typed)
            told = User(text) if self._where.agent is None else AgentMessage(text, None, self._where.agent)
            log.emit(told, f"{key}:typed", self._stream)

    def _spawn(self) -> None:
        """A sub-agent has a transcript of its own. The call that asked for it does not say which one."""
        if not self._spawned and self._where.agent is not None:
            self._spawned = True
            self._log.emit(AgentSpawn(self._where.agent), f"{self._where.agent}:spawn", MAIN)

    def _block(self, block: Any, key: str, role: str) -> None:
        self._spawn()
        log = self._log
        match block:
            case {"type": "text", "text": str(text)} if role == "system":
                log.emit(Notification(text, "system"), key, self._stream)
            case {"type": "text", "text": str(text)}:
                self._said(text, key)
            case {"type": "thinking" | "reasoning" | "redacted_thinking"}:
                text = text_of(block.get("thinking") or block.get("text"))
                log.emit(Thinking("" if text == _REDACTED else text), key, self._stream)
            case {"type": "tool_use" | "tool-call" | "tool_call"}:
                given = block.get("input", block.get("args"))
                self._call(
                    block.get("name") or block.get("toolName"), given, block.get("id") or block.get("toolCallId"), key
                )
            case {"type": "tool_result" | "tool-result"}:
                output = content_text(block.get("content", block.get("result")))
                call_id = string(block.get("tool_use_id") or block.get("toolCallId"))
                log.emit(ToolOutput(call_id, output, block.get("is_error") is True), key, self._stream)
            case {"type": "image" | "document"}:
                self._said(block_text(block), key)
            case {"type": kind}:
                log.note("unknown", f"block type {text_of(kind)!r}")
            case _:
                log.note("odd", "a block without a type")

    def _said(self, text: str, key: str) -> None:
        body = text.rstrip()
        redacted = body.endswith(_REDACTED)
        if redacted:
            body = body.removesuffix(_REDACTED).rstrip()
        if body:
            self._log.emit(Said(body if redacted else text), key, self._stream)
        if redacted:
            self._log.emit(Thinking(""), f"{key}:thinking", self._stream)

    def _call(self, name: Any, given: Any, call_id: Any, key: str) -> None:
        self._log.emit(call_of(self._vocabulary, name, given, call_id), key, self._stream)
        facts = self._log.facts
        if facts.project is None and self._where.dashes is not None:
            facts.project = project_in(given, self._where.dashes)

    def _whole_call(self, message: dict[str, Any], key: str) -> None:
        """A call and its result in one: as converters write them, which know no ids either."""
        self._spawn()
        self._call(message["tool_name"], message.get("tool_input"), key, key)
        failed = message.get("status") not in ("success", "completed", None)
        output = content_text(message.get("tool_output"))
        self._log.emit(ToolOutput(key, output, failed), f"{key}:result", self._stream)
