"""Copilot CLI's event log: `{"type": "assistant.message", "data": {…}, "id": …, "timestamp": …, "agentId"?: …}`.

A call is announced by the message that asks for it and again by `tool.execution_start`; it is told once. Events of a
sub-agent carry its `agentId`, in older logs only the call that spawned it (`parentToolCallId`).
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

from unspool.actions import vocabulary_for
from unspool.actions.vocabulary import meaning
from unspool.dialect import Record
from unspool.model import MAIN, Event, Facts, Note
from unspool.model.action import Mcp
from unspool.model.event import (
    AgentMessage,
    AgentSpawn,
    Compacted,
    Content,
    ModelChange,
    Notification,
    Said,
    SlashCommand,
    Thinking,
    TokenUsage,
    ToolCall,
    TurnEnd,
    User,
)
from unspool.readers.blocks import content_text
from unspool.readers.calls import arguments_of, call_of
from unspool.readers.copilot_cli.attachments import attached
from unspool.readers.copilot_cli.counting import Counting
from unspool.readers.copilot_cli.known import SILENT
from unspool.readers.copilot_cli.results import result_of
from unspool.readers.copilot_cli.skills import skill_of
from unspool.readers.log import Log
from unspool.readers.repeats import Repeats
from unspool.sources.storage import noticed
from unspool.sources.values import clock, count, listing, mapping, number, string, text_of

AGENT = "copilot_cli"
_UNREAD = (b'{"type":"hook.start"', b'{"type":"assistant.message_delta"', b'{"type":"assistant.streaming_delta"')
"""How lines begin that are many or long, and say nothing: hooks are given a copy of each call and its result."""
_OBJECTIVE = "autopilot objective with /autopilot:"
"""What stands before an objective that was typed, where autopilot passes it on to the model."""


class Events:
    def __init__(self, path: str) -> None:
        self._log = Log(AGENT, _session_of(Path(path)))
        self._vocabulary = vocabulary_for(AGENT)
        self._counting = Counting()
        self._path = Path(path)
        self._repeats = Repeats()
        self._streams: dict[str, str] = {}
        """The stream that each call was made in."""
        self._agents: dict[str, str] = {}
        """The sub-agent that each call spawned."""
        self._typed: set[str | None] = set()
        """Commands that the person ran with `!`, by the ids of their calls."""
        self._thought: dict[str, tuple[str, bool]] = {}
        """The last thought of each stream, and whether it came with a message."""
        self._said: dict[str, tuple[str, str]] = {}
        """The last message of each stream that has an id, and what was told of it."""
        self._key = ""
        self._stream = MAIN

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> Iterable[Event | Note]:
        if record.data.startswith(_UNREAD):
            return ()
        log = self._log
        value = log.value(record)
        kind = value.get("type") if isinstance(value, dict) else None
        if not isinstance(kind, str):
            if value is not None:
                log.note("skipped", "no event")
            return log.take()
        tell = self._TYPES.get(kind)
        if tell is None:
            if kind not in SILENT:
                log.note("unknown", f"record type {kind!r}")
        elif not isinstance(data := value if kind == "result" else value.get("data"), dict):
            log.note("odd", f"{kind} without data")
        elif (key := self._repeats.key(value.get("id"), record)) is not None:
            log.at(value.get("timestamp"))
            self._key = key
            self._stream = self._stream_of(value.get("agentId"), data.get("parentToolCallId"))
            tell(self, data)
        return log.take()

    def close(self) -> Iterable[Event | Note]:
        return self._log.take()

    def _stream_of(self, agent: Any, call: Any) -> str:
        name = string(agent) or (self._agents.get(text_of(call), string(call)) if call else None)
        return f"agent:{name}" if name else MAIN

    def _emit(self, content: Content, part: str = "") -> None:
        self._log.emit(content, f"{self._key}:{part}" if part else self._key, self._stream)

    def _notify(self, text: Any, level: Any) -> None:
        if told := text_of(text):
            self._emit(Notification(told, level))

    def _count(self, usage: TokenUsage | None) -> None:
        if usage is not None:
            self._emit(usage, "usage")

    def _start(self, data: dict[str, Any]) -> None:
        log = self._log
        log.session = string(data.get("sessionId")) or log.session
        facts = log.facts
        facts.version = string(data.get("copilotVersion")) or facts.version
        facts.model = string(data.get("selectedModel")) or facts.model
        facts.started = facts.started or clock(data.get("startTime"))
        facts.title = facts.title or _title(self._path)
        facts.parent = string(data.get("detachedFromSpawningParentSessionId")) or facts.parent
        self._context(mapping(data.get("context")))

    def _context(self, data: dict[str, Any]) -> None:
        facts = self._log.facts
        facts.project = string(data.get("cwd")) or facts.project
        facts.branch = string(data.get("branch")) or facts.branch

    def _titled(self, data: dict[str, Any]) -> None:
        self._log.facts.title = string(data.get("title")) or self._log.facts.title

    def _model(self, data: dict[str, Any]) -> None:
        facts = self._log.facts
        model, before = string(data.get("newModel")), string(data.get("previousModel")) or facts.model
        if model:
            facts.model = model
            if before and before != model:
                self._emit(ModelChange(model, before))

    def _user(self, data: dict[str, Any]) -> None:
        """`source` tells who else than a person wrote it: a skill, another agent, the program."""
        text, shown, source = (
            content_text(data.get("content")),
            text_of(data.get("transformedContent")),
            data.get("source"),
        )
        if isinstance(source, str) and source not in ("", "user"):
            told = text or shown
            if source == "autopilot-objective" and self._stream == MAIN:
                self._emit(SlashCommand("/autopilot", told.partition(_OBJECTIVE)[2].strip() or told))
            elif source.startswith("agent-") or self._stream != MAIN:
                self._emit(AgentMessage(told, recipient=self._stream.partition(":")[2] or None))
            else:
                self._notify(told, "context")
            return
        if data.get("isAutopilotContinuation") is True:  # autopilot eggs itself on
            self._notify(text or shown, "context")
            return
        if isinstance(data.get("crossSession"), dict):
            self._emit(AgentMessage(text or shown))
            return
        command, typed, skill = skill_of(text)
        content = "\n".join(filter(None, (typed, *map(attached, listing(data.get("attachments"))))))
        if command is not None:
            self._emit(command, "command")
        if skill:
            self._emit(Notification(skill, "context"), "skill")
        if content:
            sub = self._stream != MAIN
            self._emit(AgentMessage(content, recipient=self._stream.partition(":")[2]) if sub else User(content))
        if text != shown and (around := shown.replace(text, "", 1).strip()):
            self._emit(Notification(around, "context"), "context")

    def _assistant(self, data: dict[str, Any]) -> None:
        thought, before = data.get("reasoningText"), self._told_before(data)
        hidden = data.get("reasoningOpaque") or data.get("encryptedContent") or data.get("reasoningBlocks")
        if thought or (hidden and before is None):
            self._think(thought, True)
        text = content_text(data.get("content"))
        if new := text.removeprefix(before or ""):
            self._emit(Said(new))
        for at, request in enumerate(listing(data.get("toolRequests"))):
            if isinstance(request, dict):
                self._call(request, request.get("name"), f"{at}")
            else:
                self._log.note("odd", "a request for a tool that is no object")
        model = string(data.get("model")) or self._log.facts.model
        if self._stream == MAIN:
            self._log.facts.model = model
        call = text_of(data.get("apiCallId") or data.get("messageId")) or self._key
        self._count(self._counting.said(model, call, count(data.get("outputTokens"))))

    def _told_before(self, data: dict[str, Any]) -> str | None:
        """What of the message was told already: it may be written again as it grows, each time as an event."""
        name, text = text_of(data.get("messageId")), content_text(data.get("content"))
        last, told = self._said.get(self._stream, ("", ""))
        again = bool(name) and name == last
        self._said[self._stream] = name, text or (told if again else "")
        return told if again else None

    def _think(self, thought: Any, with_message: bool) -> None:
        """Reasoning may be told twice, by itself and with the message; one of them may lack the words."""
        text = text_of(thought)
        before, came = self._thought.pop(self._stream, ("", with_message))
        if (text and text == before) or (not text and came != with_message):
            return
        self._thought[self._stream] = text, with_message
        self._emit(Thinking(text), "thinking")

    def _requested(self, data: dict[str, Any]) -> None:
        """A tool that no model asked for: a command that the person ran."""
        command, call = mapping(data.get("arguments")).get("command"), text_of(data.get("toolCallId"))
        if isinstance(command, str) and call not in self._streams:
            self._typed.add(call)
            self._streams[call] = self._stream
            self._emit(User(f"! {command}"))
        else:
            self._called(data)

    def _called(self, data: dict[str, Any]) -> None:
        if text_of(data.get("toolCallId")) not in self._streams:
            self._call(data, data.get("toolName"), "")

    def _call(self, request: dict[str, Any], name: Any, part: str) -> None:
        call_id = text_of(request.get("toolCallId"))
        if call_id in self._streams:
            return
        if call_id:
            self._streams[call_id] = self._stream
        server, tool = request.get("mcpServerName"), request.get("mcpToolName")
        arguments = request.get("arguments")
        if isinstance(server, str) and isinstance(tool, str):
            given = arguments_of(arguments)
            call = ToolCall(text_of(name), call_id or None, given, meaning(Mcp(server, tool, given)))
        else:
            call = call_of(self._vocabulary, name, arguments, call_id or None)
        self._emit(call, part)

    def _result(self, data: dict[str, Any]) -> None:
        result = result_of(data)
        if result.provider_call_id in self._typed:
            self._notify(result.output, "warning" if result.is_error else "info")
        else:
            self._emit(result)

    def _usage(self, data: dict[str, Any]) -> None:
        self._count(self._counting.reported(string(data.get("model")) or self._log.facts.model, data))

    def _spawned(self, data: dict[str, Any]) -> None:
        call = string(data.get("toolCallId"))
        agent = self._stream.partition(":")[2] or call
        if not agent:
            return
        if call:
            self._agents[call] = agent
        self._stream = self._streams.get(call or "", MAIN)
        described = data.get("agentDisplayName") or data.get("agentDescription")
        self._emit(AgentSpawn(agent, call, string(data.get("agentName")), string(described)))

    def _agent_over(self, data: dict[str, Any], status: str) -> None:
        call = text_of(data.get("toolCallId"))
        if self._stream == MAIN and call:
            self._stream = self._stream_of(None, call)
        duration = count(data.get("durationMs")) or None
        self._emit(TurnEnd(status, duration, string(data.get("error"))))

    def _truncated(self, data: dict[str, Any]) -> None:
        """Some messages are left out from here on, and nothing says which: the model still sees the others."""
        if gone := count(data.get("messagesRemovedDuringTruncation")):
            tokens = count(data.get("tokensRemovedDuringTruncation"))
            self._notify(f"truncated: {gone:,} messages left out, {tokens:,} tokens", "warning")

    def _compacted(self, data: dict[str, Any]) -> None:
        if isinstance(used := data.get("compactionTokensUsed"), dict):
            model = string(used.get("model")) or self._log.facts.model
            self._count(self._counting.aside(model, used))
        if data.get("success") is False:
            self._notify(data.get("error") or "compaction failed", "error")
            return
        before = count(data.get("preCompactionTokens")) or None
        self._emit(Compacted(text_of(data.get("summaryContent")), string(data.get("trigger")), before))

    def _task_over(self, data: dict[str, Any]) -> None:
        """Autopilot says that it is done; who looks into it may send it back to work."""
        if data.get("success") is False:
            self._notify(f"not done yet: {text_of(data.get('reason') or data.get('summary'))}", "warning")
        else:
            self._emit(TurnEnd("completed", text=string(data.get("summary"))))

    def _printed(self, value: dict[str, Any]) -> None:
        """The last line of what `copilot -p … --output-format json` prints, which has no `data`."""
        code, usage = value.get("exitCode"), mapping(value.get("usage"))
        failed = code not in (0, None)
        end = TurnEnd(
            "failed" if failed else "completed",
            number(usage.get("sessionDurationMs")),
            f"exit code {text_of(code)}" if failed else None,
            api_ms=number(usage.get("totalApiDurationMs")),
        )
        self._emit(end)

    def _shutdown(self, data: dict[str, Any]) -> None:
        for at, usage in enumerate(self._counting.ended(data)):
            self._emit(usage, f"usage:{at}")
        self._notify(data.get("errorReason"), "error")

    def _hooked(self, data: dict[str, Any]) -> None:
        """Hooks run with every call; only what they said or broke is told."""
        name = text_of(data.get("hookType"))
        if data.get("success") is False:
            told = text_of(mapping(data.get("error")).get("message")) or text_of(data.get("error"))
            self._notify(f"hook {name} failed: {told}", "warning")
        elif output := data.get("output"):
            self._notify(f"hook {name}: {text_of(output)}", "info")

    def _failed(self, data: dict[str, Any]) -> None:
        self._notify(data.get("errorMessage") or data.get("message") or data.get("reason"), "error")

    def _again(self, data: dict[str, Any]) -> None:
        self._notify(f"asked again: {text_of(data['reason'])}" if data.get("reason") else None, "warning")

    def _command(self, data: dict[str, Any]) -> None:
        name = text_of(data.get("commandName") or data.get("command")).lstrip("/")
        self._emit(SlashCommand(f"/{name}", string(data.get("args")) or None))

    _TYPES: ClassVar[dict[str, Callable[["Events", dict[str, Any]], None]]] = {
        "session.start": _start,
        "session.resume": _start,
        "session.context_changed": _context,
        "session.title_changed": _titled,
        "session.model_change": _model,
        "session.info": lambda self, data: self._notify(data.get("message"), "info"),
        "session.warning": lambda self, data: self._notify(data.get("message"), "warning"),
        "session.error": lambda self, data: self._notify(data.get("message"), "error"),
        "session.mode_changed": lambda self, data: self._notify(f"mode: {text_of(data.get('newMode'))}", "info"),
        "session.mode_notice_delivered": lambda self, data: self._notify(data.get("content"), "context"),
        "session.handoff": lambda self, data: self._notify(data.get("summary") or data.get("context"), "context"),
        "session.truncation": _truncated,
        "session.context_cleared": lambda self, _data: self._emit(Compacted(trigger="clear")),
        "session.compaction_complete": _compacted,
        "session.task_complete": _task_over,
        "session.fusion_route_failed": _failed,
        "session.shutdown": _shutdown,
        "abort": lambda self, data: self._emit(TurnEnd("interrupted", text=string(data.get("reason")))),
        "user.message": _user,
        "assistant.message": _assistant,
        "assistant.reasoning": lambda self, data: self._think(data.get("content"), False),
        "assistant.usage": _usage,
        "assistant.fusion_phase_failed": _failed,
        "assistant.turn_retry": _again,
        "model.turn_retry": _again,
        "model.call_failure": _failed,
        "model.model_call_failure": _failed,
        "tool.user_requested": _requested,
        "tool.execution_start": _called,
        "tool.execution_complete": _result,
        "skill.invoked": lambda self, data: self._notify(f"skill: {text_of(data.get('name'))}", "info"),
        "subagent.started": _spawned,
        "subagent.completed": lambda self, data: self._agent_over(
            data, "interrupted" if data.get("cancelled") is True else "completed"
        ),
        "subagent.failed": lambda self, data: self._agent_over(data, "failed"),
        "hook.end": _hooked,
        "system.message": lambda self, data: self._notify(data.get("content"), "system"),
        "system.notification": lambda self, data: self._notify(data.get("content"), "context"),
        "command.execute": _command,
        "result": _printed,
    }


def _session_of(path: Path) -> str:
    return path.parent.name if path.name == "events.jsonl" else path.stem


def workspace_of(path: Path) -> Path:
    """What the program notes of a session beside its log."""
    return path.with_name("workspace.yaml")


def _title(path: Path) -> str | None:
    """The name of the session, one line of a file whose other lines the log has too."""
    if path.name != "events.jsonl":
        return None
    try:
        lines = noticed(workspace_of(path)).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    told = dict(line.split(": ", 1) for line in lines if ": " in line and not line.startswith(" "))
    named = (told.get("name") or told.get("summary") or "").strip().strip("\"'")
    return named if named not in ("", "|", "|-", ">", ">-", "null") else None
