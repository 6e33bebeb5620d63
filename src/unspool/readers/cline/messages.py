"""Messages of a task → events. Tools are called by blocks, or by tags in the text: then the log has no ids of calls."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from unspool.actions.vocabulary import Vocabulary
from unspool.model import MAIN
from unspool.model.event import (
    AgentMessage,
    AgentSpawn,
    Compacted,
    Notification,
    Said,
    SlashCommand,
    Thinking,
    ToolOutput,
    User,
)
from unspool.readers.blocks import block_text, content_text
from unspool.readers.calls import call_of
from unspool.readers.cline.tags import (
    RESULT,
    Call,
    Thought,
    answer_parts,
    command_in,
    folder_in,
    is_put_together,
    model_in,
    prompt_parts,
    replied_in,
)
from unspool.readers.log import Log
from unspool.sources.values import listing, mapping, string, text_of

_SPEECH = {"attempt_completion": "result", "plan_mode_respond": "response", "act_mode_respond": "response"}
"""Tools by which the model talks to its user, and what it says in them."""
_SUMMING = ("summarize_task", "condense")
_SUMMED = (
    "This session is being continued from a previous conversation that ran out of context.",
    "The user has accepted the condensed conversation summary you generated.",
)
"""Tools by which the model sums up all that was said, and what comes of them if it is to see nothing else."""
_DENIED = ("The user denied this operation", '{"status":"denied"')
_FAILED = (
    *_DENIED,
    "The tool execution failed",
    "Missing value for required parameter",
    "[ERROR]",
    '{"status":"error"',
    "Error executing",
    "Command failed with exit code",
)
_BROKE = "Command execution was not successful"
"""Stands in the first line of Roo's outputs, behind the folder that the command ran in."""
_KINDS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("compaction", "compaction_summary"), Compacted),
    **dict.fromkeys(
        ("completion_reminder", "loop_detection_notice", "mistake_stop_notice", "recovery_notice"),
        partial(Notification, level="context"),
    ),
}
"""What the program says in the user's name, by how newer versions mark it."""
_CONTINUED = (
    "[TASK RESUMPTION]",
    "The user approved switching to act mode. Continue with the approved plan now.",
    "System-delivered teammate async run updates:",
    "Are you sure you've completed the goal:",
)
"""The same, unmarked."""
_RELAYED = re.compile(
    r"(\[SESSION MESSAGE\] From ([^\n]*)\n(?:[^\n]+\n)*)\n(.*)\n\n(--- end of relayed message ---\n.*)", re.DOTALL
)
"""What another session sent: who it was, what it said, and that no person did."""
_TEAM = "spawn a team of agents for the following task: "
_PASSED_OVER = frozenset(("thoughtSignature",))  # a model's bookkeeping for its provider


def reports_failure(output: str, _tool: str | None = None) -> bool:
    """Return whether a tool's output says that it failed."""
    if output.startswith(_FAILED):
        return True
    return output.startswith("Command executed") and _BROKE in output.partition("\n")[0]


class Messages:
    def __init__(self, log: Log, vocabulary: Vocabulary, stream: str = MAIN) -> None:
        self._log = log
        self._vocabulary = vocabulary
        self._stream = stream
        self._open: list[tuple[str, str]] = []
        """Calls of the last answer that have no result yet: their names and ids. Those of calls by tags are keys."""
        self._summary = ""
        """What the last answer summed up."""
        self._agents: set[str] = set()

    def read(self, message: dict[str, Any], key: str) -> None:
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else listing(content)
        if message.get("isTruncationMarker") is True:
            self._emit(Compacted(content_text(content), "truncation"), key)
        elif message.get("isSummary") is True:  # some repeat thoughts and calls that what is kept behind it needs
            texts = [block_text(block) for block in blocks if mapping(block).get("type") == "text"]
            self._emit(Compacted("\n".join(texts)), key)
        elif (
            message.get("role") == "user" and (kind := text_of(mapping(message.get("metadata")).get("kind"))) in _KINDS
        ):
            self._emit(_KINDS[kind](content_text(content)), key)
        elif message.get("role") == "assistant":
            self._open, self._summary = [], ""
            self._done_elsewhere(message, key)
            self._reasoning(message, blocks, key)
            native = any(mapping(block).get("type") in ("tool_use", "tool-call") for block in blocks)
            for at, block in enumerate(blocks):
                self._answer(block, f"{key}:{at}", native)
            self._lent(message, key)
        elif message.get("role") in ("user", "tool"):
            _Turn(self, key).read(blocks)
        elif message.get("role") == "error":
            self._emit(Notification(content_text(content), "error"), key)
        elif message.get("type") == "reasoning":
            self._emit(Thinking(_summary(message)), key)
        else:
            self._log.note("unknown", f"message of role {text_of(message.get('role'))!r}")
        if content is not None and not isinstance(content, str | list):
            self._log.note("odd", "a message whose content is neither text nor a list")

    def _emit(self, content: Any, key: str) -> None:
        self._log.emit(content, key, self._stream)

    def _done_elsewhere(self, message: dict[str, Any], key: str) -> None:
        """Calls of tools that the provider ran itself: no block tells them, and where in the answer is not known."""
        for at, told in enumerate(listing(mapping(message.get("metadata")).get("modelToolActivities"))):
            match told:
                case {"toolCallId": str(call_id), "toolName": str(name)}:
                    self._emit(call_of(self._vocabulary, name, told.get("input"), call_id), f"{key}:done:{at}")
                    if "output" in told or "isError" in told:
                        output = ToolOutput(call_id, content_text(told.get("output")), told.get("isError") is True)
                        self._emit(output, f"{key}:done:{at}:result")

    def _lent(self, message: dict[str, Any], key: str) -> None:
        """The sub-agents that calls of the message began: their sessions are named after this one."""
        for link in map(mapping, listing(message.get("childSessions"))):
            agent = text_of(link.get("sessionId")).removeprefix(f"{self._log.session}__")
            if agent and link.get("kind") == "subagent" and agent not in self._agents:
                self._agents.add(agent)
                self._emit(AgentSpawn(agent, string(link.get("toolCallId"))), f"{key}:spawn:{agent}")

    def _reasoning(self, message: dict[str, Any], blocks: list[Any], key: str) -> None:
        """What a model thought, where it stands beside the blocks and not in one."""
        if any(mapping(block).get("type") in ("thinking", "reasoning", "redacted_thinking") for block in blocks):
            return
        details = listing(message.get("reasoning_details"))
        for block in blocks:
            details = details or listing(mapping(block).get("reasoning_details"))
        found = [text_of(mapping(detail).get("text") or mapping(detail).get("summary")) for detail in details]
        text = string(message.get("reasoning_content")) or "\n".join(filter(None, found))
        if text or details:
            self._emit(Thinking(text), f"{key}:thinking")

    def _answer(self, block: Any, key: str, native: bool) -> None:
        match block:
            case {"type": "text", "text": str(text)}:
                self._text(text, key, native)
            case {"type": "thinking" | "reasoning" | "redacted_thinking"}:
                self._emit(Thinking(text_of(block.get("thinking") or block.get("text"))), key)
            case {"type": "tool_use" | "tool-call"}:
                name = text_of(block.get("name") or block.get("toolName"))
                self._call(name, block.get("input"), block.get("id") or block.get("toolCallId"), key)
            case {"type": "image" | "document"}:
                self._emit(Said(block_text(block)), key)
            case {"type": str(kind)} if kind in _PASSED_OVER:
                pass
            case {"type": kind}:
                self._log.note("unknown", f"block type {text_of(kind)!r}")
            case _:
                self._log.note("odd", "a block without a type")

    def _text(self, text: str, key: str, native: bool) -> None:
        if native:
            if text.strip():
                self._emit(Said(text), key)
            return
        for at, part in enumerate(answer_parts(text)):
            named = f"{key}.{at}"
            match part:
                case Call(name, arguments):
                    self._call(name, arguments, named, named)
                case Thought(thought):
                    self._emit(Thinking(thought), named)
                case _:
                    self._emit(Said(part), named)

    def _call(self, name: str, given: Any, call_id: Any, key: str) -> None:
        self._emit(call_of(self._vocabulary, name, given, call_id), key)
        if isinstance(call_id, str):
            self._open.append((name, call_id))
        if name in _SUMMING:
            self._summary = text_of(mapping(given).get("context"))
        agent = mapping(given).get("agentId") if name == "team_run_task" else None
        if isinstance(agent, str) and agent not in self._agents:
            self._agents.add(agent)
            self._emit(AgentSpawn(agent, string(call_id), None, string(mapping(given).get("task"))), f"{key}:spawn")
        speech = mapping(given).get(_SPEECH[name]) if name in _SPEECH else None
        if isinstance(speech, str) and speech.strip():
            self._emit(Said(speech.strip()), f"{key}:said")

    def answered(self, name: str) -> str | None:
        """The id of the call that a result under that heading is of; a few headings are not the name of their tool."""
        same = (at for at, (called, _) in enumerate(self._open) if called == name)
        alike = (at for at, (called, _) in enumerate(self._open) if name in called or called in name)
        at = next(same, next(alike, 0))
        return self._open.pop(at)[1] if self._open else None

    def ended(self, call_id: str | None) -> None:
        self._open = [call for call in self._open if call[1] != call_id]

    def told(self, output: str, call_id: str | None, failed: bool, key: str) -> None:
        """A result. What the user said with it is said by a person nevertheless."""
        failed = failed or reports_failure(output)
        self._emit(ToolOutput(call_id, output, failed, interrupted=output.startswith(_DENIED)), key)
        if self._summary and output.lstrip().startswith(_SUMMED):
            self._emit(Compacted(self._summary), f"{key}:compacted")
        self.typed(replied_in(output), f"{key}:typed")

    def typed(self, texts: tuple[str, ...], key: str) -> None:
        if texts:
            text = "\n".join(texts)
            if text.startswith(_CONTINUED):
                self._emit(Notification(text, "context"), key)
                return
            if relayed := _RELAYED.fullmatch(text):
                head, sender, said, tail = relayed.groups()
                self._emit(AgentMessage(said, sender.removesuffix(")").rpartition("(")[2]), key)
                self._emit(Notification(f"{head}{tail}", "context"), f"{key}:context")
                return
            if command := command_in(text):
                name, inside, rest = command
                if name in ("team", "goal"):  # the text is the person's
                    inside, rest = "", rest or inside.removeprefix(_TEAM)
                self._emit(SlashCommand(f"/{name}", rest or None), key)
                if inside:
                    self._emit(Notification(inside, "context"), f"{key}:context")
                return
            agent = self._stream.removeprefix("agent:")
            self._emit(User(text) if self._stream == MAIN else AgentMessage(text, None, agent), key)

    def shown(self, text: str, key: str) -> None:
        facts = self._log.facts
        if text.startswith("<environment_details>"):
            facts.project = facts.project or folder_in(text)
            facts.model = model_in(text) or facts.model
        self._emit(Notification(text, "context"), key)

    def unknown(self, kind: Any) -> None:
        self._log.note("unknown", f"block type {text_of(kind)!r}")


class _Turn:
    """A message of the user's: results first, then what was typed, and what was shown."""

    def __init__(self, messages: Messages, key: str) -> None:
        self._messages = messages
        self._key = key
        self._result: tuple[str | None, str, list[str]] | None = None
        """The call, the key and the parts of a result by text; it ends where the next thing begins."""
        self._awaited = False
        """Its heading was all that its block had: the next one has the rest."""
        self._bare = True

    def read(self, blocks: list[Any]) -> None:
        self._bare = not any(map(_is_programs, blocks))
        for at, block in enumerate(blocks):
            key = f"{self._key}:{at}"
            match block:
                case {"type": "text", "text": str(text)}:
                    self._text(text, key)
                case {"type": "tool_result" | "tool-result"}:
                    self._settle()
                    self._native(block, key)
                case {"type": "image" | "document" | "file"}:
                    self._image(block_text(block), key)
                case {"type": kind}:
                    self._messages.unknown(kind)
                case _:
                    self._messages.unknown(None)
        self._settle()

    def _text(self, text: str, key: str) -> None:
        if heading := RESULT.match(text):
            self._settle()
            prompt = text[heading.end() :]
            details = prompt.find("\n\n<environment_details>")
            output = prompt if details < 0 else prompt[:details]
            self._result = self._messages.answered(heading[1]), key, [output] if output else []
            self._awaited = not output.strip()
            if details >= 0:
                self._settle()
                self._prompt(prompt[details:], f"{key}:rest")
        elif self._awaited and self._result is not None and not text.startswith("<environment_details>"):
            self._result[2].append(text)
            self._awaited = False
        else:
            self._settle()
            self._prompt(text, key)

    def _prompt(self, text: str, key: str) -> None:
        prompt = prompt_parts(text, self._bare)
        self._messages.typed(prompt.typed, key)
        for at, shown in enumerate(prompt.shown):
            self._messages.shown(shown, f"{key}:shown:{at}")

    def _image(self, text: str, key: str) -> None:
        if self._result is not None:
            self._result[2].append(text)
        else:
            self._messages.typed((text,), key)

    def _native(self, block: dict[str, Any], key: str) -> None:
        output, failed = _output_of(block.get("content", block.get("output")))
        call_id = string(block.get("tool_use_id") or block.get("toolCallId"))
        self._messages.ended(call_id)
        self._messages.told(output, call_id, failed or block.get("is_error") is True, key)

    def _settle(self) -> None:
        if self._result is not None:
            call_id, key, parts = self._result
            self._result, self._awaited = None, False
            self._messages.told("\n".join(parts), call_id, False, key)


def _is_programs(block: Any) -> bool:
    match block:
        case {"type": "text", "text": str(text)}:
            return is_put_together(text) or RESULT.match(text) is not None
    return mapping(block).get("type") in ("tool_result", "tool-result")


def _output_of(content: Any) -> tuple[str, bool]:
    """The output is a text, blocks, or, of a call with several queries, a list of `{query, result, error, success}`."""
    if isinstance(content, dict) and "value" in content:
        return content_text(content["value"]), text_of(content.get("type")).startswith("error")
    if not isinstance(content, list) or not any("success" in mapping(part) for part in content):
        return content_text(content), False
    parts = [mapping(part) for part in content]
    texts = [text_of(part.get(name)) for part in parts for name in ("result", "error")]
    return "\n".join(filter(None, texts)), any(part.get("success") is False for part in parts)


def _summary(message: dict[str, Any]) -> str:
    """The encrypted reasoning of some models comes with a summary, or with nothing to read."""
    texts = [text_of(mapping(part).get("text")) for part in listing(message.get("summary"))]
    return "\n".join(filter(None, texts)) or text_of(message.get("text"))
