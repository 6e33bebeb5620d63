"""Qwen Code's live stream: `qwen -p … --output-format stream-json`, made in the likeness of Claude Code's.

{"type": "system", "subtype": "init", "session_id", "cwd", "model", "qwen_code_version"}       first
{"type": "assistant", "message": {"content", "usage"}, "parent_tool_use_id"}
{"type": "user", "message": {"content": [{"type": "tool_result", …}]}}
{"type": "result", "subtype", "is_error", "duration_ms", "usage"}

`input_tokens` holds what was cached, and a message that is not the last of its answer says 0.
"""

from typing import Any

from msgspec.structs import replace

from unspool.actions import vocabulary_for
from unspool.dialect import Head, Record
from unspool.model import MAIN, Event, Facts, Note
from unspool.model.event import (
    AgentMessage,
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
from unspool.readers.blocks import content_text
from unspool.readers.calls import arguments_of
from unspool.readers.genai import typed, was_stopped
from unspool.readers.log import Log
from unspool.readers.pieces import Pieces
from unspool.sources.prompt_cache import hour_long
from unspool.sources.values import count, listing, mapping, number, string, text_of

AGENT = "qwen_code"
_PASSED_OVER = frozenset(
    # The talk of the program with its host.
    ("control_request", "control_response", "control_cancel_request")
)


def claims(head: Head) -> bool:
    return any(line.get("type") == "system" and "qwen_code_version" in line for line in head.lines)


class Stream:
    def __init__(self, _path: str) -> None:
        self._log = Log(AGENT)
        self._read = vocabulary_for(AGENT).read
        self._counted = False
        self._spawned: set[str] = set()
        self._seen: set[str] = set()
        self._pieces = Pieces()

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        log = self._log
        value = log.record(record)
        if value is None:
            return log.take()
        log.session = log.session or text_of(value.get("session_id"))
        log.at(value.get("timestamp"))
        kind = value.get("type")
        # The first record bears the session's id, and a later one may too.
        key = f"{string(value.get('uuid')) or record.origin.line}:{text_of(kind)}"
        if key not in self._seen:
            self._seen.add(key)
            self._record(value, kind, key)
        return log.take()

    def close(self) -> list[Event | Note]:
        self._cut_off()
        return self._log.take()

    def _cut_off(self, of: str | None = None) -> None:
        for message, key, stream in self._pieces.left(of):
            self._answer({"content": message["content"]}, key, stream)

    def _record(self, value: dict[str, Any], kind: Any, key: str) -> None:
        message = mapping(value.get("message"))
        match kind:
            case "assistant":
                stream = self._stream(value)
                self._pieces.came(stream)
                self._answer(message, key, stream)
            case "stream_event":
                self._pieces.feed(mapping(value.get("event")), key, self._stream(value))
            case "user":
                self._user(message.get("content"), key, self._stream(value))
            case "system":
                self._system(value, key)
            case "result":
                self._result(value, key)
            case str() if kind in _PASSED_OVER:
                pass
            case _:
                self._log.note("unknown", f"record type {kind!r}")

    def _stream(self, value: dict[str, Any]) -> str:
        """What a sub-agent does comes with the id of the call that it works for; it has no other name."""
        call = string(value.get("parent_tool_use_id"))
        if call is None:
            return MAIN
        if call not in self._spawned:
            self._spawned.add(call)
            self._log.emit(AgentSpawn(call, call), f"{call}:spawn")
        return f"agent:{call}"

    def _answer(self, message: dict[str, Any], key: str, stream: str) -> None:
        log = self._log
        content = message.get("content")
        for at, block in enumerate(content if isinstance(content, list) else [content]):
            match block:
                case {"type": "text"}:
                    log.emit(Said(text_of(block.get("text"))), f"{key}:{at}", stream)
                case {"type": "thinking"}:
                    log.emit(Thinking(text_of(block.get("thinking"))), f"{key}:{at}", stream)
                case {"type": "tool_use"}:
                    name = text_of(block.get("name"))
                    given = arguments_of(block.get("input"))
                    call = ToolCall(name, string(block.get("id")), given, self._read)
                    log.emit(call, f"{key}:{at}", stream)
                case str():
                    log.emit(Said(block), f"{key}:{at}", stream)
                case dict():
                    log.note("unknown", f"block type {block.get('type')!r}")
                case _:
                    log.note("odd", "an answer without content")
        if usage := _usage(string(message.get("model")), mapping(message.get("usage"))):
            self._counted = True
            log.emit(usage, f"{key}:usage", stream)

    def _user(self, content: Any, key: str, stream: str) -> None:
        log = self._log
        words: list[Any] = []
        for at, block in enumerate(listing(content)):
            if isinstance(block, dict) and block.get("type") == "tool_result":
                output = content_text(block.get("content"))
                stopped = was_stopped(output)
                failed = stopped or block.get("is_error") is True
                result = ToolOutput(string(block.get("tool_use_id")), output, failed, interrupted=stopped)
                log.emit(result, f"{key}:{at}", stream)
            else:
                words.append(block)
        text = content if isinstance(content, str) else content_text(words)
        if text:
            said = typed(text)
            if isinstance(said, User) and stream != MAIN:
                said = AgentMessage(text, None, stream.removeprefix("agent:"))
            log.emit(said, key, stream)

    def _system(self, value: dict[str, Any], key: str) -> None:
        log = self._log
        match value.get("subtype"):
            case "init":
                facts = log.facts
                facts.project = string(value.get("cwd"))
                facts.model = string(value.get("model"))
                facts.version = string(value.get("qwen_code_version"))
                facts.tools = tuple(map(text_of, listing(value.get("tools"))))
            case "compact_boundary":
                about = mapping(value.get("compact_metadata"))
                log.emit(Compacted("", string(about.get("trigger")), count(about.get("pre_tokens")) or None), key)
            case subtype:
                data = value.get("data")
                words = string(value.get("message")) or string(mapping(data).get("message") or data)
                if words:
                    log.emit(Notification(words, "info"), key)
                else:
                    log.note("unknown", f"system record {subtype!r}")

    def _result(self, value: dict[str, Any], key: str) -> None:
        """The end of a turn. Its sum counts only if no answer said what it used."""
        log = self._log
        usage = _usage(log.facts.model, mapping(value.get("usage")))
        if usage is not None and not self._counted:
            log.emit(replace(usage, apart=True), f"{key}:usage")
        failed = value.get("is_error") is True
        subtype = string(value.get("subtype"))
        if failed:
            self._cut_off(MAIN)
        self._pieces.came(MAIN)
        end = TurnEnd(
            "failed" if failed else "completed",
            number(value.get("duration_ms")),
            string(mapping(value.get("error")).get("message")) or subtype if failed else None,
            reason=subtype if failed else None,
            answer=None if failed else string(value.get("result")),
            api_ms=number(value.get("duration_api_ms")),
            model_turns=count(value.get("num_turns")) or None,
            cost_usd=number(value.get("total_cost_usd")),
        )
        log.emit(end, key)


def _usage(model: str | None, usage: dict[str, Any]) -> TokenUsage | None:
    asked, output = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
    cached, written = count(usage.get("cache_read_input_tokens")), count(usage.get("cache_creation_input_tokens"))
    if not (asked or output or cached or written):
        return None
    if count(usage.get("total_tokens")) != asked + output + cached + written:
        asked -= min(asked, cached)
    lasting = hour_long(usage.get("cache_creation"), written)
    return TokenUsage(model, asked, cached, written, output, 0, cache_write_1h=lasting)
