"""Cursor's live stream: `cursor-agent -p … --output-format stream-json`. It looks like Claude Code's, but is not."""

from typing import Any

from unspool.actions import vocabulary_for
from unspool.dialect import Head, Record
from unspool.model import Event, Facts, Note
from unspool.model.event import Notification, Said, Thinking, TokenUsage, ToolOutput, TurnEnd, User
from unspool.readers.blocks import content_text
from unspool.readers.calls import call_of
from unspool.readers.cursor.transcript import AGENT
from unspool.readers.log import Log
from unspool.sources.values import count, mapping, number, string, text_of

_CALL = "ToolCall"
_WENT_WELL = frozenset(
    "success complete completed registered startSuccess saveSuccess discardSuccess approved async stillRunning".split()
)
_TEXTS = (
    "interleavedOutput",
    "content",
    "output",
    "contents",
    "text",
    "message",
    "error",
    "reason",
    "errorMessage",
    "plan",
)


def claims(head: Head) -> bool:
    return not head.tables and any(map(_is_cursors, head.lines))


def _is_cursors(line: dict[str, Any]) -> bool:
    """What no other stream has. Claude Code, and those that imitate it, number every record and list their tools."""
    match line:
        case {"type": "tool_call", "subtype": "started" | "completed", "tool_call": dict()}:
            return True
        case {"type": "interaction_query", "query_type": str()} | {
            "type": "thinking",
            "subtype": "delta" | "completed",
        }:
            return True
        case {"type": "system", "subtype": "init", "session_id": str(), "model": str()}:
            signs = ("tools", "uuid", "mcp_servers", "claude_code_version", "agents", "protocol_version")
            return line.keys().isdisjoint(signs) and ("apiKeySource" in line or "permissionMode" in line)
        case {"type": "result", "session_id": str(), "usage": {"inputTokens": int()}}:
            return "uuid" not in line
    return False


class Stream:
    def __init__(self, _path: str) -> None:
        self._log = Log(AGENT)
        self._vocabulary = vocabulary_for(AGENT)
        self._chunks: list[str] = []
        self._thoughts: list[str] = []
        self._begun = ""
        """The key of what the chunks are of."""
        self._last = ""
        """The last that was said, put together from chunks: it comes once more as a whole."""
        self._paused = ""
        """What of it was given out before it was whole."""
        self._spoke = False
        self._called: set[str] = set()

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        log = self._log
        value = log.record(record)
        if value is None:
            return log.take()
        if isinstance(session := value.get("session_id"), str) and session != log.session:
            log.session = session
        log.at(value.get("timestamp_ms"))
        self._read(value, str(record.origin.line))
        return log.take()

    def close(self) -> list[Event | Note]:
        if self._chunks:
            self._settle()
            self._paused = self._last
        elif self._thoughts:
            self._settle()
        return self._log.take()

    def _read(self, value: dict[str, Any], key: str) -> None:
        kind = value.get("type")
        if kind == "thinking":
            self._thought(value, key)
            return
        if kind == "assistant":
            self._answer(value, key)
            return
        self._settle()
        match kind:
            case "tool_call":
                self._tool(value, key)
            case "user":
                self._log.emit(User(content_text(mapping(value.get("message")).get("content"))), key)
            case "system":
                self._system(value, key)
            case "result":
                self._result(value, key)
            case "interaction_query":
                self._asked(value, key)
            case "error" | "retry" | "connection":
                told = next(filter(None, (string(value.get(name)) for name in ("message", "error", "text"))), None)
                self._log.emit(Notification(told or text_of(value), "error" if kind == "error" else "warning"), key)
            case _:
                self._log.note("unknown", f"record type {text_of(kind)!r}")

    def _system(self, value: dict[str, Any], key: str) -> None:
        if value.get("subtype") != "init":
            told = string(value.get("message")) or string(value.get("text")) or text_of(value.get("subtype"))
            self._log.emit(Notification(told, "info"), key)
            return
        facts = self._log.facts
        facts.project = string(value.get("cwd")) or facts.project
        facts.model = string(value.get("model")) or facts.model

    def _thought(self, value: dict[str, Any], key: str) -> None:
        if self._chunks:
            self._settle()
        if value.get("subtype") == "completed":
            self._settle()
        else:
            self._begun = self._begun or key
            self._thoughts.append(text_of(value.get("text")))

    def _answer(self, value: dict[str, Any], key: str) -> None:
        """Whole messages; or chunks, which have a time and no call of the model, and then the whole once more."""
        if self._thoughts:
            self._settle()
        text = content_text(mapping(value.get("message")).get("content"))
        if "timestamp_ms" in value and "model_call_id" not in value:
            self._begun = self._begun or key
            self._chunks.append(text)
            return
        self._settle()
        told = self._last.strip()
        if told and text.strip().startswith(told):  # the whole once more; it may have grown since
            text = text.strip().removeprefix(told)
        if text.strip():
            self._log.emit(Said(text), key)
            self._spoke = True
        self._last = ""

    def _settle(self) -> None:
        """What came in pieces is whole."""
        if self._thoughts:
            self._log.emit(Thinking("".join(self._thoughts)), self._begun)
            self._thoughts = []
        elif self._chunks:
            said, self._chunks = "".join(self._chunks), []
            self._last = self._paused + said
            if said.strip():
                self._log.emit(Said(said), self._begun)
                self._spoke = True
        self._begun = self._paused = ""

    def _tool(self, value: dict[str, Any], key: str) -> None:
        log = self._log
        call_id = string(value.get("call_id"))
        name, body = _call_in(mapping(value.get("tool_call")))
        if value.get("subtype") == "started" or call_id not in self._called:
            given = body.get("args", body.get("arguments"))
            log.emit(call_of(self._vocabulary, name, given, call_id), key)
            if call_id is not None:
                self._called.add(call_id)
        if value.get("subtype") == "completed":
            output, failed = _outcome(body.get("result"))
            rejected = "rejected" in mapping(body.get("result"))
            log.emit(ToolOutput(call_id, output, failed, interrupted=rejected), f"{key}:result")

    def _asked(self, value: dict[str, Any], key: str) -> None:
        """The program asks its user, and where there is none, itself. Only a plan says more than the call it is of."""
        query = mapping(mapping(value.get("query")).get(text_of(value.get("query_type"))))
        if isinstance(plan := mapping(query.get("args")).get("plan"), str) and value.get("subtype") == "request":
            self._log.emit(Said(plan), key)

    def _result(self, value: dict[str, Any], key: str) -> None:
        log = self._log
        text = string(value.get("result"))
        failed = value.get("is_error") is True or value.get("subtype") not in ("success", None)
        if text and not failed and not self._spoke:
            log.emit(Said(text), f"{key}:said")
        usage = mapping(value.get("usage"))
        counts = [
            count(usage.get(name)) for name in ("inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens")
        ]
        if any(counts):
            fresh, read, written, output = counts
            request = string(value.get("request_id"))
            told = TokenUsage(log.facts.model, fresh, read, written, output, 0, request, apart=True)
            log.emit(told, f"{key}:usage")
        end = TurnEnd(
            "failed" if failed else "completed",
            number(value.get("duration_ms")),
            text if failed else None,
            reason=string(value.get("subtype")) if failed else None,
            answer=None if failed else text,
            api_ms=number(value.get("duration_api_ms")),
        )
        log.emit(end, key)
        self._spoke = False
        self._last = ""


def _call_in(call: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """`{"readToolCall": {args, result}}`, whatever the tool, or `{"function": {name, arguments}}`."""
    for key, body in call.items():
        if key.endswith(_CALL) and isinstance(body, dict):
            return key.removesuffix(_CALL), body
    body = mapping(call.get("function"))
    return text_of(body.get("name")), {**body, "result": body.get("result", call.get("result"))}


def _outcome(result: Any) -> tuple[str, bool]:
    """`{"success": {…}}`, or any other key for what went wrong."""
    if not isinstance(result, dict):
        return text_of(result), False
    if len(result) != 1:
        return _text_in(result), bool(result.get("error"))
    ((outcome, told),) = result.items()
    failed = outcome not in _WENT_WELL or mapping(told).get("exitCode", 0) not in (0, None)
    return _text_in(told) or ("" if not failed else outcome), failed


def _text_in(told: Any) -> str:
    if not isinstance(told, dict):
        return content_text(told)
    if "stdout" in told or "stderr" in told:
        parts = (string(told.get("interleavedOutput")), string(told.get("stdout")), string(told.get("stderr")))
        return parts[0] or "".join(filter(None, parts[1:])) or text_of(told.get("error"))
    if isinstance(steps := told.get("conversationSteps"), list):  # of a sub-agent
        said = (text_of(mapping(mapping(step).get("assistantMessage")).get("text")) for step in steps)
        return "\n".join(filter(None, said)) or text_of(told.get("resultSuffix"))
    for name in _TEXTS:
        if isinstance(told.get(name), str | list) and told[name]:
            return content_text(told[name])
    return text_of(told) if told else ""
