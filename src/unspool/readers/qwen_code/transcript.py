"""Transcripts of Qwen Code: one record a line, chained by `parentUuid`, with Google's content parts.

{"type": "user", "message": {"role", "parts"}, "systemPayload": {"displayText"}}
{"type": "assistant", "message", "model", "usageMetadata"}
{"type": "tool_result", "message", "toolCallResult": {"callId", "status"}}
{"type": "system", "subtype", "systemPayload"}

Tokens are counted by `usageMetadata`. The telemetry reports the same calls again: it gives the answers' ids, and its
numbers count only for an answer without its own. What a fork copied from another session was paid for there. The calls
of a sub-agent's answer are records of their own behind its words: its tokens wait for them.
"""

from pathlib import Path
from typing import Any

from unspool.actions import vocabulary_for
from unspool.dialect import Head, Record
from unspool.model import MAIN, Content, Event, Facts, Note, Origin
from unspool.model.event import (
    AgentMessage,
    AgentSpawn,
    Notification,
    Said,
    SlashCommand,
    Thinking,
    TokenUsage,
    ToolCall,
    ToolOutput,
    User,
)
from unspool.readers.branches import Branches
from unspool.readers.calls import arguments_of
from unspool.readers.documents import read_json
from unspool.readers.genai import (
    FAILED,
    is_failure,
    more_of,
    output_text,
    part_text,
    parts_of,
    prompt,
    typed,
    usage_of,
    was_stopped,
)
from unspool.readers.log import Log
from unspool.readers.qwen_code.system import System
from unspool.sources.values import listing, mapping, string, text_of

AGENT = "qwen_code"
_TYPES = ("user", "assistant", "tool_result", "system")
_SENT = ("notification", "cron", "goal_runtime")
"""Kinds of messages in the person's name that the program sent."""
_ENDED = (*FAILED, "failed", "timed_out")
"""States of a call, or outcomes of a command, that are no success."""


def claims(head: Head) -> bool:
    return any(map(_is_record, head.lines))


def _is_record(line: dict[str, Any]) -> bool:
    """Records of Claude Code have the same keys around their messages: the parts, or what stands beside, tell."""
    if line.get("type") not in _TYPES or "sessionId" not in line or "uuid" not in line:
        return False
    return isinstance(mapping(line.get("message")).get("parts"), list) or isinstance(line.get("systemPayload"), dict)


class Transcript:
    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._log = Log(AGENT)
        self._system = System(self._log)
        self._read = vocabulary_for(AGENT).read
        self._emitted: dict[str, int] = {}
        """How many events each record gave; a record may come in pieces, or twice."""
        self._branches = Branches()
        self._known: set[int] = set()
        self._used: dict[str, TokenUsage] = {}
        self._waiting: tuple[TokenUsage, str, str, Origin, str | None] | None = None
        self._said: tuple[Any, ...] = ()
        self._spawned: dict[str, str | None] = {}
        """Sub-agents, and their models."""

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        log = self._log
        value = log.record(record)
        if value is None:
            return log.take()
        kind = value.get("type")
        if kind not in _TYPES:
            log.note("unknown", f"record type {kind!r}")
            return log.take()
        if self._waiting is not None and not _goes_on(value):
            self._settle(self._waiting)
        name = string(value.get("uuid")) or str(record.origin.line)
        log.session = string(value.get("sessionId")) or log.session or self._path.stem
        log.at(value.get("timestamp"))
        stream = self._stream(value)
        match kind:
            case "user":
                self._user(value, name, stream)
            case "assistant":
                self._answer(value, name, stream)
            case "tool_result":
                self._results(value, name, stream)
            case _:
                for content in self._system.read(value):
                    self._emit(content, name, stream)
        return self._branches.told(name, string(value.get("parentUuid")), log.take())

    def close(self) -> list[Event | Note]:
        if self._waiting is not None:
            self._settle(self._waiting)
        return self._log.take()

    def _settle(self, waiting: tuple[TokenUsage, str, str, Origin, str | None]) -> None:
        log, self._waiting = self._log, None
        here = log.origin, log.time
        usage, name, stream, log.origin, log.time = waiting
        self._emit(usage, name, stream)
        log.origin, log.time = here

    def _stream(self, value: dict[str, Any]) -> str:
        """The stream of the record; and what it says of its session."""
        said = self._log.session, value.get("cwd"), value.get("version"), value.get("gitBranch")
        if said != self._said:  # all records of a session say the same
            self._said = said
            facts = self._log.facts
            facts.project = facts.project or string(said[1])
            facts.version = string(said[2]) or facts.version
            facts.branch = string(said[3]) or facts.branch
        if "agentId" in value and isinstance(agent := value["agentId"], str) and value.get("isSidechain"):
            if agent not in self._spawned:
                self._spawn(agent, string(value.get("agentName")))
            return f"agent:{agent}"
        if "forkedFrom" in value:
            self._log.facts.parent = string(mapping(value["forkedFrom"]).get("sessionId"))
        return MAIN

    def _spawn(self, agent: str, kind: str | None) -> None:
        meta = next(filter(None, (mapping(read_json(file)) for file in beside(str(self._path)))), {})
        self._spawned[agent] = string(meta.get("model"))
        spawn = AgentSpawn(
            agent,
            string(meta.get("toolUseId")),
            string(meta.get("agentType")) or kind,
            string(meta.get("description")),
        )
        self._log.emit(spawn, f"{agent}:spawn", f"agent:{agent}")

    def _emit(self, content: Content, name: str, stream: str) -> None:
        """Once, however often the record comes; what is new in it comes behind what it gave before."""
        called = isinstance(content, ToolCall) and (content.provider_call_id or text_of(content.arguments))
        known = hash((name, called or content))
        if known in self._known:
            return
        self._known.add(known)
        at = self._emitted.get(name, 0)
        self._emitted[name] = at + 1
        self._log.emit(content, f"{name}:{at}", stream)

    def _user(self, value: dict[str, Any], name: str, stream: str) -> None:
        parts = parts_of(mapping(value.get("message")).get("parts"))
        shown = mapping(value.get("systemPayload")).get("displayText")
        if value.get("subtype") in _SENT or value.get("provenance") in ("system", "goal_runtime"):
            text = "\n".join(map(part_text, parts)) or text_of(shown)
            self._emit(Notification(text, "context"), name, stream)
            return
        is_agents = value.get("provenance") == "external_agent" or value.get("subtype") == "agent_message"
        if is_agents:  # of the workspace, whom the person asked here
            author = mapping(mapping(value.get("systemPayload")).get("author"))
            text = text_of(shown) or "\n".join(map(part_text, parts))
            self._emit(AgentMessage(text, string(author.get("name") or author.get("agentId"))), name, stream)
            return
        contents = list(prompt(parts))
        if isinstance(shown, str) and shown and typed(shown) not in contents:
            contents = [typed(shown), *map(_context, contents)]
        for content in contents:
            if isinstance(content, SlashCommand) and self._system.is_echo(content, typed=True):
                continue
            if isinstance(content, User) and stream != MAIN:
                self._emit(AgentMessage(content.text, None, stream.removeprefix("agent:")), name, stream)
            else:
                self._emit(content, name, stream)

    def _answer(self, value: dict[str, Any], name: str, stream: str) -> None:
        for part in parts_of(mapping(value.get("message")).get("parts")):
            call = part.get("functionCall") if isinstance(part, dict) else None
            if isinstance(call, dict):
                tool = text_of(call.get("name"))
                given = arguments_of(call.get("args"))
                content: Content = ToolCall(tool, string(call.get("id")), given, self._read)
            elif isinstance(part, dict) and part.get("thought"):
                content = Thinking(part_text(part))
            elif text := part_text(part):
                content = Said(text)
            else:
                continue
            self._emit(content, name, stream)
        model = string(value.get("model")) or self._spawned.get(stream.removeprefix("agent:"))
        if model and stream == MAIN:
            self._log.facts.model = model
        get = mapping(value.get("usageMetadata")).get
        keys = ("promptTokenCount", "cachedContentTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
        asked, cached, output, thoughts = (get(key) for key in keys)
        counts = (asked, cached, output, thoughts, get("toolUsePromptTokenCount"), get("totalTokenCount"))
        usage = self._system.reported(usage_of(model, counts), model)
        if usage is not None and "forkedFrom" not in value and (more := more_of(usage, self._used.get(name))):
            self._used[name] = usage
            if stream == MAIN:
                self._emit(more, name, stream)
            else:
                self._waiting = more, name, stream, self._log.origin, self._log.time

    def _results(self, value: dict[str, Any], name: str, stream: str) -> None:
        if value.get("subtype") == "code_mode_tool_result":  # of a call that a script made: no model asked or is told
            parts = parts_of(mapping(value.get("message")).get("parts"))
            tool = next((text_of(mapping(mapping(part).get("functionResponse")).get("name")) for part in parts), "")
            self._emit(Notification(f"{tool}: {output_text(parts)}", "info"), name, stream)
            return
        about = mapping(value.get("toolCallResult"))
        shown = about.get("resultDisplay")
        ended = mapping(shown).get("outcome") if mapping(shown).get("type") == "shell_result" else None
        status = ended if ended in _ENDED else about.get("status")
        call_id: str | None = None
        told: list[Any] = []
        for part in parts_of(mapping(value.get("message")).get("parts")):
            answer = part.get("functionResponse") if isinstance(part, dict) else None
            if isinstance(answer, dict):
                self._result(call_id, told, status, name, stream)
                call_id, told = string(answer.get("id")) or string(about.get("callId")), []
            told.append(part)
        if not told and about:
            call_id, told = string(about.get("callId")), listing([shown] if isinstance(shown, str) else [""])
        self._result(call_id, told, status, name, stream)

    def _result(self, call_id: str | None, told: list[Any], status: Any, name: str, stream: str) -> None:
        """One result with what came behind it: images are parts of their own."""
        if told:
            output = output_text(told)
            failed = status in _ENDED or is_failure(told)
            stopped = failed and (status == "cancelled" or was_stopped(output))
            self._emit(ToolOutput(call_id, output, failed, interrupted=stopped), name, stream)


def _goes_on(value: dict[str, Any]) -> bool:
    """Whether a record may still be part of the answer before it."""
    parts = parts_of(mapping(value.get("message")).get("parts"))
    return value.get("type") == "system" or any("functionCall" in part for part in map(mapping, parts))


def _context(content: Content) -> Content:
    return Notification(content.text, "context") if isinstance(content, User) else content


def beside(path: str) -> list[str]:
    """What a sub-agent's transcript has beside it."""
    file = Path(path)
    meta = file.with_name(f"{file.stem}.meta.json")
    return [str(meta)] if file.name.startswith("agent-") and meta.is_file() else []
