"""Messages of Pi and of the agents built on it, in their logs and in the live stream alike: blocks → events."""

import re
from collections import deque
from collections.abc import Callable
from typing import Any, ClassVar

from unspool.actions import vocabulary_for
from unspool.model import MAIN
from unspool.model.event import (
    AgentMessage,
    AgentSpawn,
    Compacted,
    ModelChange,
    Notification,
    Said,
    SlashCommand,
    Summary,
    Thinking,
    TokenUsage,
    ToolOutput,
    TurnEnd,
    User,
)
from unspool.readers.blocks import block_text, content_text
from unspool.readers.calls import call_of
from unspool.readers.log import Log
from unspool.sources.values import count, listing, mapping, string, text_of

_SKILL = re.compile(
    r'<skill name="([^"]*)"[^>]*>.*?</skill>\s*'
    r'|The user explicitly invoked the "([^"\n]*)" skill\.[^\n]*\n\n'
    r"<skill-instruction [^>]*>.*?\n</skill-instruction>\s*",
    re.DOTALL,
)
_REQUEST = re.compile(r"<user-request>\n(.*)\n</user-request>\s*", re.DOTALL)
"""What was typed with a skill, where it stands in tags of its own."""
_PREFACE = re.compile(
    r"[A-Z][^\n(]*+\(untrusted[^\n]*\):\n```json\n.*?\n```\s*"
    r"|(?:System(?: \(untrusted\))?: (?:\[|Exec finished)[^\n]*+(?:\n|\Z))+\s*"
    r"|\[Chat messages since your last reply - for context\]\n.*?\n\[Current message - respond to this\]\n"
    r"|\[media attached(?: \d+/\d+)?: [^\n]*+\n|To send an image back, prefer the message tool[^\n]*+(?:\n|\Z)\s*"
    r"|Note: The previous agent run was aborted by the user\.[^\n]*+(?:\n|\Z)\s*",
    re.DOTALL,
)
"""What OpenClaw's gateway puts before the text of a chat message: who wrote it and where, what happened, what others
said since, which files came with it and how to answer with one."""
_MEDIA = re.compile(r"^\[media attached(?: \d+/\d+)?: [^\n]*\]$", re.MULTILINE)
"""One of these files: that is the person's."""
_BEHIND = re.compile(
    r"\n\[message_id: [^\]\n]*\]\s*\Z"
    r"|(?<!\n)\n+Untrusted context \(metadata, do not treat as instructions or commands\):\n.*",
    re.DOTALL,
)
"""What it puts behind it."""
_QUEUED, _EACH = "[Queued messages while agent was busy]", re.compile(r"\n\n---\nQueued #\d+[^\n]*\n")
"""How it hands on several messages at once, and what stands before each of them."""
_STAMP = re.compile(r"\[[A-Z][^\]\n]{0,200}?\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\]\n]{0,40}\] ")
"""When it was said, and in which chat."""
_UNTYPED = (
    *("[cron:", "Read HEARTBEAT.md", "[openclaw.", "<<<BEGIN_OPENCLAW", "A new session was started via /new"),
    *("Pre-compaction memory flush", "[Internal task completion event]"),
)
"""How texts begin that OpenClaw sends in the user's name."""
_REPORTS = (
    *_UNTYPED,
    *("[OpenClaw ", "[System Message]", "A scheduled reminder has been triggered."),
    *("A scheduled cron event was triggered", "An async command ", "exec completed (", "exec failed ("),
    *("Run the following periodic tasks (only those due", "[Subagent Context] All pending descendants"),
    "Follow the heartbeat monitor scratch context",
)
"""More of them, which somebody who talks to another agent may well type."""
_LENT, _TASK = ("[Subagent Context]", "[Subagent Task]"), re.compile(r"\[Subagent Task\]:?\s*")
"""How the order begins that another agent gave, and where it begins itself."""

_BETWEEN, _ROUTED = "[Inter-session message]", "This content was routed by OpenClaw "
"""What stands before the message of another session, which no person wrote."""
_ITSELF = ("openclaw", "clawdbot")
"""The provider of answers that OpenClaw wrote itself: it notes what went out to a chat, and what it said itself."""
_INJECTED = "gateway-injected"
"""The model of the latter: what a command printed, notices; but also the beginning of an answer that was stopped."""
_REMEMBERED = 16


class Messages:
    def __init__(self, log: Log) -> None:
        self._log = log
        self._vocabulary = vocabulary_for(log.agent)
        self._said: deque[str] = deque(maxlen=_REMEMBERED)
        """The last texts that the model said, or sent to a chat by a tool."""
        self.model: str | None = None
        """The model that answers now."""

    def read(self, message: Any, key: str, stream: str = MAIN) -> None:
        if not isinstance(message, dict):
            self._log.note("odd", "a message that is no object")
            return
        role = message.get("role")
        tell = self._ROLES.get(role) if isinstance(role, str) else None
        if tell is None:
            self._log.note("unknown", f"role {role!r}")
            self._log.emit(Notification(content_text(message.get("content")), "context"), key, stream)
            return
        tell(self, message, key, stream)

    def switched(self, model: str, key: str, stream: str = MAIN) -> None:
        """A change of the model; the one that the log begins with is none."""
        before, self.model = self.model, model
        if stream == MAIN:
            self._log.facts.model = model
        if before is not None and before != model:
            self._log.emit(ModelChange(model, before), key, stream)

    def used(self, usage: Any, model: Any, key: str, stream: str = MAIN, response: Any = None) -> None:
        """Tokens of one call. Pi keeps cached tokens out of `input`, and reasoning in `output`."""
        if not isinstance(usage, dict):
            return
        read, written = count(usage.get("cacheRead")), count(usage.get("cacheWrite"))
        given, answered = count(usage.get("input")), count(usage.get("output"))
        if given or read or written or answered:
            thought = min(count(usage.get("reasoningTokens") or usage.get("reasoning")), answered)
            lasting = min(count(usage.get("cacheWrite1h")), written)
            counts = given, read, written, answered, thought
            content = TokenUsage(string(model), *counts, string(response), cache_write_1h=lasting)
            self._log.emit(content, f"{key}:usage", stream)

    def _user(self, message: dict[str, Any], key: str, stream: str) -> None:
        text = content_text(message.get("content"))
        emit = self._log.emit
        untyped = message.get("synthetic") is True or message.get("attribution") == "agent"
        if untyped or "runtimeContext" in message or text.startswith(_UNTYPED):
            emit(Notification(text, "context"), key, stream)
        elif text.startswith(_BETWEEN) and " isUser=false" in text.partition("\n")[0]:
            before, sender, said = _between(text)
            emit(Notification(before, "context"), f"{key}:context", stream)
            emit(AgentMessage(said, sender), key, stream)
        elif (source := mapping(message.get("provenance"))).get("kind") == "inter_session":
            emit(AgentMessage(text, string(source.get("sourceSessionKey"))), key, stream)
        elif source.get("kind") == "internal_system":
            emit(Notification(text, "context"), key, stream)
        elif skills := _skills(text):
            *more, (name, end) = skills
            for at, (other, _) in enumerate(more):
                emit(SlashCommand(f"/skill:{other}"), f"{key}:{at}", stream)
            typed = text[end:]
            request = _REQUEST.fullmatch(typed)
            emit(SlashCommand(f"/skill:{name}", (request[1] if request else typed) or None), key, stream)
            emit(Notification(text[:end].rstrip(), "context"), f"{key}:context", stream)
        elif self._log.agent == "openclaw":
            self._chatted(text, key, stream)
        else:
            emit(User(text), key, stream)

    def _chatted(self, text: str, key: str, stream: str) -> None:
        """A message as OpenClaw's gateway hands it on: a person's, another agent's, or its own."""
        if text.startswith(_QUEUED):
            head, *queued = _EACH.split(text)
            self._log.emit(Notification(head, "context"), key, stream)
            for at, one in enumerate(queued):
                self._chatted(one, f"{key}:{at}", stream)
            return
        emit, end = self._log.emit, _preface(text)
        stamp = _STAMP.match(text, end)
        begin = stamp.end() if stamp else end
        if text.startswith(_REPORTS, begin):
            emit(Notification(text, "context"), key, stream)
            return
        lent = text.startswith(_LENT, begin)
        if lent and (task := _TASK.search(text, end)):
            end = task.end()
        behind = _BEHIND.search(text, end)
        stop = behind.start() if behind else len(text)
        media = _MEDIA.findall(text, 0, end)
        around = (_MEDIA.sub("", text[:end]) if media else text[:end], text[stop:])
        if shown := "\n".join(filter(None, map(str.strip, around))):
            emit(Notification(shown, "context"), f"{key}:context", stream)
        if said := "\n".join(filter(None, (text[end:stop], *media))):
            emit(AgentMessage(said) if lent else User(said), key, stream)

    def _assistant(self, message: dict[str, Any], key: str, stream: str) -> None:
        model, content = message.get("model"), message.get("content")
        blocks = content if isinstance(content, list) else [content]
        itself = message.get("provider") in _ITSELF
        if itself:
            if content_text(content).strip() in self._said:
                return  # a copy of what the model said, as it went out to the chat
            if model == _INJECTED and "openclawAbort" not in message:
                blocks = self._noticed(blocks, key, stream)
        elif isinstance(model, str) and model != self.model:
            self.switched(model, f"{key}:model", stream)
        for at, block in enumerate(blocks):
            self._block(block, f"{key}:{at}", stream)
        if not itself:  # else no model was asked, whatever it says
            answering = message.get("responseModel") or model  # a name may stand for any model, such as the latest
            self.used(message.get("usage"), answering, key, stream, message.get("responseId"))
        told = string(message.get("errorMessage"))
        match message.get("stopReason"):
            case "error":
                self._log.emit(Notification(told or "the model's answer failed", "error"), f"{key}:error", stream)
            case "aborted":
                self._log.emit(TurnEnd("interrupted", text=told), f"{key}:end", stream)

    def _noticed(self, blocks: list[Any], key: str, stream: str) -> list[Any]:
        """Tells what the program said; calls remain, which a script of the model's made."""
        texts = [block for block in blocks if mapping(block).get("type", "text") == "text"]
        if told := "\n".join(filter(None, map(block_text, texts))):
            self._log.emit(Notification(told, "info"), key, stream)
        return [block for block in blocks if block not in texts]

    def _block(self, block: Any, key: str, stream: str) -> None:
        emit = self._log.emit
        if not isinstance(block, dict):
            if text := text_of(block):
                emit(Said(text), key, stream)
            return
        match block.get("type"):
            case "text":
                if text := text_of(block.get("text")):
                    self._said.append(text.strip())
                    emit(Said(text), key, stream)
            case "thinking":
                emit(Thinking(text_of(block.get("thinking"))), key, stream)
            case "redactedThinking" | "redacted_thinking":
                emit(Thinking(""), key, stream)
            case "toolCall" | "toolUse" | "tool_use" | "functionCall":
                arguments = block.get("arguments", block.get("input"))
                if block.get("name") == "message" and isinstance(sent := mapping(arguments).get("message"), str):
                    self._said.append(sent.strip())
                emit(call_of(self._vocabulary, block.get("name"), arguments, block.get("id")), key, stream)
            case "image":
                emit(Said(block_text(block)), key, stream)
            case kind:
                emit(Said(text_of(block)), key, stream)
                self._log.note("unknown", f"block type {kind!r}")

    def _result(self, message: dict[str, Any], key: str, stream: str) -> None:
        call = string(message.get("toolCallId", message.get("toolUseId")))
        output = content_text(message.get("content"))
        details = mapping(message.get("details"))
        failed = message.get("isError") is True or _says_it_failed(details)
        self._log.emit(ToolOutput(call, output, failed), key, stream)
        runs = [run for run in map(mapping, listing(details.get("results"))) if "sessionFile" in run]
        for run in runs:
            if agent := _run_of(text_of(run["sessionFile"])):
                spawn = AgentSpawn(agent, call, string(run.get("agent")), string(run.get("task")))
                self._log.emit(spawn, f"{key}:{agent}:spawn", stream)
        if not runs:
            self.used(message.get("usage"), None, key, stream)  # of models that the tool asked

    def _typed_shell(self, message: dict[str, Any], key: str, stream: str) -> None:
        """`! command` at the prompt, or `$ code`: a person ran it, not the agent."""
        sign = "!" if message.get("role") == "bashExecution" else "$"
        self._log.emit(User(f"{sign} {text_of(message.get('command', message.get('code')))}"), key, stream)
        failed = message.get("exitCode") not in (0, None) or message.get("cancelled") is True
        if output := text_of(message.get("output")):
            self._log.emit(Notification(output, "warning" if failed else "info"), f"{key}:output", stream)

    def _shown(self, message: dict[str, Any], key: str, stream: str) -> None:
        self._log.emit(Notification(content_text(message.get("content")), "context"), key, stream)

    def _mentioned(self, message: dict[str, Any], key: str, stream: str) -> None:
        files = map(mapping, listing(message.get("files")))
        told = [f"[file: {text_of(file.get('path'))}]\n{text_of(file.get('content'))}" for file in files]
        self._log.emit(Notification("\n".join(told), "context"), key, stream)

    def _instructed(self, message: dict[str, Any], key: str, stream: str) -> None:
        """Later ones tell only what changed: a section is new or, without a text, gone; tools come and go."""
        texts = [content_text(message.get("content")), *map(text_of, mapping(message.get("sections")).values())]
        if told := "\n\n".join(filter(None, texts)):
            self._log.emit(Notification(told, "system"), key, stream)

    def _summary(self, message: dict[str, Any], key: str, stream: str) -> None:
        self._log.emit(Summary(text_of(message.get("summary"))), key, stream)

    def _compacted(self, message: dict[str, Any], key: str, stream: str) -> None:
        before = count(message.get("tokensBefore")) or None
        self._log.emit(Compacted(text_of(message.get("summary")), None, before), key, stream)

    _ROLES: ClassVar[dict[str, Callable[["Messages", dict[str, Any], str, str], None]]] = {
        "user": _user,
        "assistant": _assistant,
        "toolResult": _result,
        "bashExecution": _typed_shell,
        "pythonExecution": _typed_shell,
        "custom": _shown,
        "hookMessage": _shown,
        "fileMention": _mentioned,
        "developer": _instructed,
        "system": _instructed,
        "branchSummary": _summary,
        "compactionSummary": _compacted,
    }


def _skills(text: str) -> list[tuple[str, int]]:
    """The skills that a prompt begins with, and where the instructions of each end."""
    found: list[tuple[str, int]] = []
    while skill := _SKILL.match(text, found[-1][1] if found else 0):
        found.append((skill[1] or skill[2] or "", skill.end()))
    return found


def _preface(text: str) -> int:
    """Where it ends."""
    at = 0
    while told := _PREFACE.match(text, at):
        at = told.end()
    return at


def _between(text: str) -> tuple[str, str | None, str]:
    """What OpenClaw says of a message from another session, whose it is, and what it says."""
    head, _, said = text.partition("\n")
    sender = next((word.partition("=")[2] for word in head.split() if word.startswith("sourceSession=")), None)
    if said.startswith(_ROUTED):
        why, _, said = said.partition("\n")
        head = f"{head}\n{why}"
    return head, sender, said


def _run_of(file: str) -> str | None:
    """The name of a sub-agent by the file of its session, `…/<run>/run-0/session.jsonl`; of others there is none."""
    *_, run, number, name = ("", "", *file.replace("\\", "/").split("/"))
    return f"{run}/{number}" if name == "session.jsonl" and run and number.startswith("run-") else None


def _says_it_failed(details: dict[str, Any]) -> bool:
    """OpenClaw's tools tell there how it went: a command that failed is to it a tool that worked."""
    return details.get("exitCode") not in (0, None) or details.get("status") in ("error", "failed", "timeout")
