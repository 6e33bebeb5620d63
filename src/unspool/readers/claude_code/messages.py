"""Messages of Claude Code, in its transcripts and in its live stream alike: blocks → events."""

from pathlib import Path
from typing import Any

from msgspec import Raw, Struct, convert

from unspool.actions import meanings_for
from unspool.model import MAIN
from unspool.model.event import (
    AgentMessage,
    AgentSpawn,
    Compacted,
    ModelChange,
    Notification,
    Said,
    Thinking,
    ToolCall,
    ToolOutput,
    User,
    id_of,
)
from unspool.readers.blocks import block_text, content_text
from unspool.readers.claude_code.counting import Counting, Odd, Usage, countable
from unspool.readers.claude_code.sidecars import Sidecars
from unspool.readers.claude_code.tags import said, sent
from unspool.readers.genai import FAILED, outcome
from unspool.readers.log import Log
from unspool.sources.jsontext import loads_or_text
from unspool.sources.storage import noticed
from unspool.sources.values import count, listing, mapping, string, text_of

AGENT, IFLOW, AMP = "claude_code", "iflow", "amp"
_SYNTHETIC = "<synthetic>"
"""The model of messages that the program wrote itself."""
_PERSISTED = "<persisted-output>"
_STOPPED = ("[Request interrupted by user", "The user doesn't want to proceed with this tool use")
_REFUSED = (
    "Permission to use ",
    "Permission for this action ",
    "Claude requested permissions to ",
    "The user doesn't want to take this action",
    "PreToolUse:",
    "<tool_use_error>Cancelled: ",
    "<tool_use_error>Sibling tool call errored",
)
"""How the output of a call begins that failed because it was not carried out."""
_DELEGATING = frozenset(("Task", "Agent", "Skill", "Workflow"))
_SERVER_RESULT = "_tool_result"


class Message(Struct, gc=False):
    """The fields of a message that we read; all else is skipped without being decoded."""

    model: Any = None
    id: Any = None
    content: Any = None
    usage: Usage | Odd = None
    diagnostics: Any = None


class Messages:
    def __init__(self, log: Log, path: str, remembered: int | None = None) -> None:
        self._log = log
        self.counting = Counting(log, remembered, named=log.agent != IFLOW)
        self._read = meanings_for(log.agent)
        self._beside = long_outputs(path)
        self._models: dict[str, str] = {}
        self._spawned: set[str | None] = set()
        self.agents: dict[str, str] = {}
        """The first agent of each call that began one."""
        self._asked: dict[str, str] = {}
        """Prompts by the record that they follow."""
        self._called: set[str] | None = set() if log.agent == IFLOW else None
        """Calls that were told, where a line repeats those of the line before."""
        self._delegated: dict[str | None, str] = {}
        """Calls that gave work to an agent and have no result yet, and the streams that made them."""
        self._sidecars = Sidecars(self._beside.with_name("subagents"))

    def assistant(
        self, message: Any, key: str, stream: str, request: Any = None, counted: bool = True, cost: Any = None
    ) -> None:
        message = shaped(message)
        if message.__class__ is not Message:
            self._log.note("odd", "an answer without a message")
            return
        model = message.model
        if model.__class__ is not str:
            model = None
        elif self._models.get(stream) != model and model != _SYNTHETIC:
            self._model(model, stream)
        usage, content = message.usage, message.content
        if counted and usage.__class__ is Usage and model != _SYNTHETIC:
            name, request = string(message.id), string(request)
            self.counting.saw(stream, key, model, usage, name, request, message.diagnostics, cost)
        if model == _SYNTHETIC and content and _is_text(content):
            self._log.emit(Notification(content_text(content), "info"), f"{key}:0", stream)
        elif isinstance(content, list):
            for at, block in enumerate(content):
                self._answer(block, f"{key}:{at}", stream)
        elif isinstance(content, str):
            self._log.emit(Said(content), f"{key}:0", stream)
        elif content is not None:
            self._log.note("odd", "an answer whose content is neither text nor a list")

    def _model(self, model: str, stream: str) -> None:
        before = self._models.get(stream)
        self._models[stream] = model
        if stream == MAIN or self._log.facts.model is None:
            self._log.facts.model = model
        if before is not None:
            self._log.emit(ModelChange(model, before), f"{self._log.origin.line}:model", stream)

    def _answer(self, block: Any, key: str, stream: str) -> None:
        emit = self._log.emit
        if not isinstance(block, dict):
            emit(Said(text_of(block)), key, stream)
            return
        match block.get("type"):
            case "tool_use" | "server_tool_use" | "mcp_tool_use":
                name = text_of(block.get("name"))
                call = string(block.get("id"))
                if self._called is not None and call is not None:
                    if call in self._called:
                        return
                    self._called.add(call)
                emit(ToolCall(name, call, block.get("input"), self._read), key, stream)
                if call and name in _DELEGATING:
                    self._delegated[call] = stream
            case "text":
                emit(Said(text_of(block.get("text"))), key, stream)
            case "thinking":
                emit(Thinking(text_of(block.get("thinking"))), key, stream)
            case "redacted_thinking":
                emit(Thinking(""), key, stream)
            case str() as kind if kind.endswith(_SERVER_RESULT):
                self._result(block, key, stream)
            case "fallback":
                emit(Notification(f"the answer came from another model: {_models_of(block)}", "warning"), key, stream)
            case "image" | "document":
                emit(Said(block_text(block)), key, stream)
            case kind:
                emit(Said(text_of(block)), key, stream)
                self._log.note("unknown", f"block type {kind!r}")

    def sent(self, message: Any, origin: dict[str, Any], key: str, stream: str, result: Any = None) -> None:
        """What stands in the person's name, and the log says that nobody typed it."""
        content = content_of(message)
        if any(mapping(block).get("type") == "tool_result" for block in listing(content)):
            self.user(message, key, stream, result)
            return
        for at, told in enumerate(sent(content_text(content), origin)):
            if isinstance(told, AgentMessage):
                self.counting.settle(stream)
            self._log.emit(told, key if at == 0 else f"{key}:{at}", stream)

    def user(
        self, message: Any, key: str, stream: str, result: Any = None, denied: bool = False, follows: Any = None
    ) -> None:
        """What a person typed, or results, or context. `follows` is the id of the record before it in the conversation.

        `result` is the program's own record of a tool's result. It mostly repeats what the model was told, and may be
        long: as a Raw it is decoded only where it says more.
        """
        message = shaped(message)
        content = message.content if message.__class__ is Message else message
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        if not isinstance(content, list):
            self._log.note("odd", "a user's message whose content is neither text nor a list")
            return
        typed: list[str] = []
        for at, block in enumerate(content):
            match block.get("type") if isinstance(block, dict) else None:
                case "tool_result":
                    self._result(block, f"{key}:{at}", stream, result, denied)
                case "text":
                    typed += self._prompt(text_of(block.get("text")), f"{key}:{at}", stream)
                case "image" | "document":
                    typed.append(block_text(block))
                case kind:
                    typed.append(text_of(block))
                    if isinstance(block, dict):
                        self._log.note("unknown", f"block type {kind!r}")
        if typed:
            self.counting.settle(stream)
            self._log.emit(User("\n".join(typed), self._replaced(follows, key)), key, stream)

    def _replaced(self, follows: Any, key: str) -> str | None:
        """The prompt that followed the same record: who asks there again has gone back to before it."""
        if not isinstance(follows, str):
            return None
        before = self._asked.get(follows)
        self._asked[follows] = id_of(self._log.session, key)
        return before

    def boundary(self, about: dict[str, Any], stream: str) -> Compacted:
        """Where the model's memory ends, and with which record that begins which it still has."""
        self.counting.settle(stream)
        told = listing(mapping(about.get("preservedMessages")).get("uuids"))
        first = string(mapping(about.get("preservedSegment")).get("headUuid")) or (string(told[0]) if told else None)
        kept = self._log.id_of(first)
        if kept is not None and kept not in self._asked.values():  # then it is an answer, whose blocks are events
            kept = self._log.id_of(f"{first}:0")
        return Compacted("", string(about.get("trigger")), count(about.get("preTokens")) or None, kept)

    def _prompt(self, text: str, key: str, stream: str) -> list[str]:
        """Emits what came with a prompt, and gives back what was typed."""
        typed: list[str] = []
        for at, content in enumerate(said(text)):
            if isinstance(content, User):
                typed.append(content.text)
            else:
                self.counting.settle(stream)
                self._log.emit(content, f"{key}.{at}", stream)
        return typed

    def _result(self, block: dict[str, Any], key: str, stream: str, result: Any = None, denied: bool = False) -> None:
        call, content = string(block.get("tool_use_id")), block.get("content")
        output, failed = (content, False) if content.__class__ is str else _outcome(content)
        failed = failed or block.get("is_error") is True
        if self._called is not None:  # iFlow says it beside
            failed = failed or mapping(_decoded(result)).get("status") in FAILED
        stopped = denied or output.startswith(_STOPPED) or _was_stopped(result, failed)
        stopped = stopped or (failed and output.startswith(_REFUSED))
        persisted = output.startswith(_PERSISTED)
        if not persisted and call not in self._delegated:
            self._log.emit(ToolOutput(call, output, failed, None, stopped), key, stream)
            return
        told = mapping(_decoded(result))
        whole = self._whole(output, told) if persisted else None
        self._log.emit(ToolOutput(call, output, failed, whole, stopped), key, stream)
        if agent := string(told.get("agentId")):
            self.spawned(agent, call, stream, told.get("agentType"), told.get("description"))
        elif run := string(told.get("runId")):
            for agent, about in self._sidecars.agents_of_run(run):
                self.spawned(agent, call, stream, about.get("agentType"), about.get("description"))
        elif call in self._delegated and (failed or not told):  # the logs of agents tell only what the model was told
            self._look_beside(call, stream)
        self._delegated.pop(call, None)

    def close(self) -> None:
        """No more comes, or not yet. Agents of calls that nothing came of may be at work, or they were killed."""
        self.counting.settle()
        for call, stream in self._delegated.items():
            self._look_beside(call, stream)

    def _look_beside(self, call: str | None, stream: str) -> None:
        if found := self._sidecars.agent_of(call):
            agent, about = found
            self.spawned(agent, call, stream, about.get("agentType"), about.get("description"))

    def waiting(self, call: str | None) -> str:
        """The stream that made the call, while it waits for the agent."""
        return self._delegated.get(call, MAIN)

    def spawned(self, agent: str, call: str | None, stream: str, kind: Any = None, description: Any = None) -> None:
        """A sub-agent is at work; said once."""
        if agent not in self._spawned and call not in self._spawned:  # a live stream may name an agent by its call
            self._spawned.add(agent)
            if call is not None:
                self.agents.setdefault(call, agent)
            spawn = AgentSpawn(agent, call, string(kind), string(description))
            self._log.emit(spawn, f"{agent}:spawn", stream)

    def _whole(self, output: str, told: dict[str, Any]) -> str | None:
        """An output that was too long for the log. Its file is looked for beside the log, wherever that is now."""
        named = told.get("persistedOutputPath")
        if not isinstance(named, str):
            _, _, behind = output.partition("saved to: ")
            named = behind.partition("\n")[0].strip()
        file = noticed(self._beside / Path(named).name) if named else None
        try:
            return file.read_text(encoding="utf-8", errors="replace") if file is not None and file.is_file() else None
        except OSError:  # a name that no file can have, or a file that is not ours to read
            return None


def shaped(message: Any) -> Any:
    """A message of a live stream in the form that those of a transcript have; what is none, as it is."""
    return convert(mended(message), Message) if message.__class__ is dict else message


def mended(message: Any) -> Any:
    """A message that may be anything, such that it can be read as ours."""
    usage = mapping(message).get("usage")
    return message | {"usage": countable(usage)} if isinstance(usage, dict) else message


def content_of(message: Any) -> Any:
    told = shaped(message)
    return told.content if told.__class__ is Message else None


def long_outputs(path: str) -> Path:
    """The folder of outputs that were too long for the log: the session's, also for its agents."""
    log = Path(path)
    above = next((folder.parent for folder in log.parents if folder.name == "subagents"), log.with_suffix(""))
    return above / "tool-results"


def _decoded(value: Any) -> Any:
    return loads_or_text(bytes(value)) if isinstance(value, Raw) else value


def _is_text(content: Any) -> bool:
    return isinstance(content, str) or all(mapping(block).get("type") == "text" for block in listing(content))


def _was_stopped(result: Any, failed: bool) -> bool:
    """A command that was stopped has failed too: no other result of a log is looked into."""
    if result.__class__ is Raw:
        return failed and b'"interrupted":true' in bytes(result)
    return isinstance(result, dict) and result.get("interrupted") is True


def _outcome(content: Any) -> tuple[str, bool]:
    """What a tool said, and whether a server's tool says in it that it failed. iFlow keeps Gemini's parts in it."""
    if not isinstance(content, dict):
        return content_text(content), False
    if "functionResponse" in content or "responseParts" in content:
        return outcome(content.get("responseParts", content))
    text = content.get("text")
    return text if isinstance(text, str) else content_text(content), text_of(content.get("type")).endswith("_error")


def _models_of(block: dict[str, Any]) -> str:
    models = (mapping(block.get(side)).get("model") or block.get(side) for side in ("from", "to"))
    return " → ".join(filter(None, map(string, models)))
