"""Messages of a recording → events.

    {"id", "timestamp", "type": "user", "content", "displayContent"}
    {"id", "timestamp", "type": "gemini", "content", "model", "thoughts", "toolCalls", "tokens"}
    {"id", "timestamp", "type": "info" | "warning" | "error", "content"}
    {"id", "type": "message_update", "tokens"}                                                  of some programs like it

A message may come again, with more in it: only what is new in it is told. Words wait until the next message begins, for
they may still grow or be changed: the last ones count. The model's stand behind the calls that were made in the same
answer. What changes after it was told cannot be taken back. The model's words are told again; a prompt, and what a list
of messages brings, is what the model is shown from there on, and nobody said it again.
"""

from collections.abc import Callable, Sequence
from itertools import dropwhile
from pathlib import Path
from typing import Any

from msgspec import Struct

from unspool.actions import meanings_for
from unspool.actions.vocabulary import meaning as meaning_of
from unspool.model import MAIN, Content, Meaning, Origin
from unspool.model.action import Mcp
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
    User,
)
from unspool.readers.calls import arguments_of
from unspool.readers.gemini_cli.folder import FULL_OUTPUT, full_output
from unspool.readers.gemini_cli.shapes import Call, Message, Tokens, call_of, text_in
from unspool.readers.gemini_cli.texts import Prompts, notice, thought_text, thoughts_in, workspace
from unspool.readers.genai import (
    FAILED,
    more_of,
    outcome,
    own_parts,
    part_text,
    sum_of,
    usage_from,
    was_stopped,
)
from unspool.readers.log import Log
from unspool.sources.values import string, text_of

_UNDERWAY = ("validating", "scheduled", "executing", "awaiting_approval")
_SERVER = " MCP Server)"


class _Told(Struct, gc=False):
    """What was already told of a message."""

    context: bool = False
    """Nothing of the conversation: the message came from the program."""
    thoughts: int = 0
    text: int | None = None
    """The hash of the words."""
    versions: int = 0
    called: bool = False
    """It asked for tools."""
    used: TokenUsage | None = None


class _Waiting(Struct, gc=False):
    """The words and the tokens of the last message."""

    name: str
    told: _Told
    text: str
    tokens: Tokens | None
    model: str | None
    origin: Origin
    time: str | None


class _Prompt(Struct, gc=False):
    """The last message, if a person typed it."""

    name: str
    told: _Told
    contents: list[Content]
    rewritten: bool
    origin: Origin
    time: str | None


class Turns:
    def __init__(self, log: Log, folder: Path | None = None) -> None:
        self._log, self._folder = log, folder
        self._read = meanings_for(log.agent)
        self._shown = Prompts().shown
        self._told: dict[str, _Told] = {}
        self._texts: set[int] = set()
        self._called: set[str] = set()
        self._answered: set[str] = set()
        self._waiting: _Waiting | _Prompt | None = None
        self.agent: str | None = None
        """The sub-agent whose messages they are: what is typed there was typed by an agent."""
        self._ran: str | None = None
        """The model that answered last."""
        self.kept: str | None = None
        """The first prompt that a compression left."""
        self.emit: Callable[[Content, str], None] = log.emit

    def knows(self, name: Any) -> bool:
        """Whether a message of that id was told, and was more than context."""
        told = self._told.get(name) if isinstance(name, str) else None
        return told is not None and not told.context

    def awaits(self, name: Any) -> bool:
        """Whether the words of that message were not told yet."""
        return self._waiting is not None and self._waiting.name == name

    @property
    def begun(self) -> bool:
        return any(not told.context for told in self._told.values())

    def belong(self, agent: str, stream: str = MAIN) -> None:
        """The messages are those of a sub-agent."""
        self.agent = agent
        self.emit = lambda content, key: self._log.emit(content, f"{agent}:{key}", stream)

    def message(
        self, message: Message | None, place: str = "", *, history: bool = False, rewritten: bool = False
    ) -> None:
        """`place`: the name of a message without an id, if its line is not.
        `history`: the message is part of a list that replaces all messages, so its words may have been edited.
        `rewritten`: what the list holds under new ids is not new, but what the model is shown from here on."""
        log = self._log
        if message is None:
            log.note("odd", "a message that is no object")
            return
        name = message.id or place or str(log.origin.line)
        if (waiting := self._waiting) is not None and waiting.name != name:
            self.flush()
        log.at(message.timestamp)
        kind = message.type
        if kind == "gemini":
            self._model(message, name, history, rewritten)
        elif kind == "user":
            self._user(message, name, history, rewritten)
        elif kind in ("info", "warning", "error"):
            self._notice(notice(kind, message.pieces), name)
        elif kind in ("model", "assistant", "qwen", "message_update") or message.is_answer:
            self._model(message, name, history or kind == "message_update", rewritten)
        else:
            log.note("unknown", f"message type {kind!r}")
            self._notice(notice("info", message.pieces), name)

    def whole(self, message: Message | None, place: int) -> None:
        """A message of a list that is at its end: nothing in it can still grow, and so nothing waits."""
        if message is None or message.type != "gemini" or not message.id or message.id in self._told:
            self.message(message, str(place))
            self.flush()
            return
        name = message.id
        told = self._told[name] = _Told()
        self._log.at(message.timestamp)
        text = self._work(message, name, told)
        if text and not text.isspace():
            told.text, told.versions = hash(text), 1
            self.emit(Said(text), f"{name}:message")
        self._count(message.tokens, message.model, name, told)

    def rewind(self, name: str) -> None:
        """This message and all behind it are taken back; all of them if there is none of that name."""
        self.flush()
        behind = dropwhile(lambda one: one != name, self._told) if name in self._told else self._told
        self._log.take_back_these({f"{one}:user" for one in behind})

    def flush(self) -> None:
        """The last message is whole."""
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return
        log, here = self._log, (self._log.origin, self._log.time)
        log.origin, log.time = waiting.origin, waiting.time
        if isinstance(waiting, _Prompt):
            self._ask(waiting)
        else:
            self._tell(waiting)
        log.origin, log.time = here

    def _ask(self, waiting: _Prompt) -> None:
        waiting.told.text = hash(tuple(waiting.contents))
        key = _version(f"{waiting.name}:user", waiting.told)
        for at, content in enumerate(waiting.contents):
            self._typed(content, f"{key}.{at}" if at else key, waiting.rewritten)

    def _tell(self, waiting: _Waiting) -> None:
        told, name = waiting.told, waiting.name
        if waiting.text and not waiting.text.isspace() and (text := hash(waiting.text)) != told.text:
            told.text = text
            self._texts.add(hash(waiting.text.strip()))
            self.emit(Said(waiting.text), _version(f"{name}:message", told))
        self._count(waiting.tokens, waiting.model, name, told)

    def _count(self, tokens: Tokens | None, model: str | None, name: str, told: _Told) -> None:
        """What it used, once. Where that is not said, calls tell that the model was asked: it will be asked again."""
        usage = None
        if tokens is not None:
            asked, cached, output = tokens.input, tokens.cached, tokens.output
            usage = usage_from(model, asked, cached, output, tokens.thoughts, tokens.tool, tokens.total)
        if told.used is None:
            if usage is None and told.called:
                usage = TokenUsage(model, 0, 0, 0, 0, 0)
            if usage is not None:
                self.emit(usage, f"{name}:usage")
                told.used = usage
        elif usage is not None and (more := more_of(usage, told.used)):
            self.emit(more, f"{name}:usage:{sum_of(told.used)}")
            told.used = usage

    def _notice(self, notice: Notification, name: str) -> None:
        if name not in self._told and notice.text:
            self._told[name] = _Told(context=True)
            self.emit(notice, name)

    def _user(self, message: Message, name: str, history: bool, rewritten: bool) -> None:
        parts = message.pieces
        for part in parts:
            if isinstance(part, dict) and isinstance(answer := part.get("functionResponse"), dict):
                call_id = string(answer.get("id"))
                if (key := call_id or name) not in self._answered:
                    self._answer(call_id, [part], None, key)
        contents = self._shown(message.display_content, parts)
        if not contents:
            self._told.setdefault(name, _Told(context=True))
            return
        told = self._told.get(name)
        if told is None:
            told = self._told[name] = _Told(all(isinstance(content, Notification) for content in contents))
        if told.text is None:
            self._waiting = _Prompt(name, told, contents, rewritten, self._log.origin, self._log.time)
        elif told.text != hash(tuple(contents)):
            if not history:
                told.text = hash(tuple(contents))
            for content in contents:
                if isinstance(content, User):
                    self._change(content.text, f"{name}:user", told)

    def _change(self, text: str, key: str, told: _Told) -> None:
        """Other words in place of some that were told."""
        mark = hash(text.strip())
        if text.strip() and mark not in self._texts:
            self._texts.add(mark)
            self.emit(Notification(text, "context"), _version(key, told))

    def _typed(self, content: Content, key: str, rewritten: bool) -> None:
        if isinstance(content, User):
            text = hash(content.text.strip())
            known = text in self._texts
            self._texts.add(text)
            if rewritten and known:
                return
            if rewritten:
                content = Notification(content.text, "context")
            elif self.agent is not None:
                content = AgentMessage(content.text, None, self.agent)
        elif isinstance(content, Compacted):
            content, self.kept = Compacted(content.text, kept=self.kept), None
        elif isinstance(content, Notification) and self._log.facts.project is None:
            self._log.facts.project = workspace(content.text)
        self.emit(content, key)

    def _model(self, message: Message, name: str, history: bool, rewritten: bool) -> None:
        told = self._told.get(name)
        if told is None:
            told = self._told[name] = _Told()
        waiting = self._waiting
        if isinstance(waiting, _Prompt):  # of the same id, but of another kind
            self.flush()
            waiting = None
        text = self._work(message, name, told)
        if rewritten and told.text is None and text.strip():
            told.text = hash(text)
            self._change(text, f"{name}:message", told)
            return
        tokens, model, before = message.tokens, message.model, ""
        if waiting is not None:
            tokens, before = tokens or waiting.tokens, waiting.text
        if history and told.text is not None:
            self._change(text, f"{name}:message", told)
            text = before
        elif history and text.strip() in ("", before.strip()):
            text = before
        if model is None and (before_it := waiting or told.used) is not None:
            model = before_it.model
        self._waiting = _Waiting(name, told, text, tokens, model, self._log.origin, self._log.time)

    def _work(self, message: Message, name: str, told: _Told) -> str:
        """What the model thought and called for; its words are given back, for they may wait."""
        log = self._log
        time, calls, content = log.time, message.tool_calls, message.content
        parts = message.pieces if content.__class__ is not str else ()
        thoughts = message.thoughts or thoughts_in(parts)
        if (seen := told.thoughts) < len(thoughts):
            for at, thought in enumerate(thoughts[seen:] if seen else thoughts, seen):
                log.at(thought.timestamp)
                self.emit(Thinking(thought_text(thought)), f"{name}:thought:{at}")
            told.thoughts = len(thoughts)
        if calls:
            told.called = True
            for at, call in enumerate(calls):
                log.time = time
                self._call(call, name, at)
        text = content if content.__class__ is str else self._say(name, parts, bool(calls), time)
        log.time = time
        if message.model and message.model != self._ran and self.agent is None:
            log.facts.model = self._ran = message.model
        return text

    def _say(self, name: str, parts: Sequence[Any], called: bool, time: str | None) -> str:
        """The model's words. Calls that stand among them without an id are those of `toolCalls`, if there are any."""
        words: list[str] = []
        for at, part in enumerate(parts):
            if not isinstance(part, dict):
                words.append(text_of(part))
            elif isinstance(call := part.get("functionCall"), dict):
                if call.get("id") is not None or not called:
                    self._log.time = time
                    self._call(call_of(call), name, f"part:{at}")
            elif not part.get("thought"):
                words.append(part_text(part))
        return "\n".join(words)

    def _call(self, call: Call | None, message: str, at: int | str) -> None:
        if call is None:
            self._log.note("odd", "a tool call that is no object")
            return
        call_id, status, result = call.id, call.status, call.result
        key = call_id or f"{message}:{at}"
        if key not in self._called:
            self._called.add(key)
            given = call.args if call.args.__class__ is dict else arguments_of(call.args)
            told = _on_server(call.name, given, call.display_name) or self._read
            self.emit(ToolCall(call.name, call_id, given, told), f"{key}:call")
            if call.agent_id is not None:
                self.emit(AgentSpawn(call.agent_id, call_id, call.name, text_in(call.description)), f"{key}:spawn")
        if (status or result) and status not in _UNDERWAY and key not in self._answered:
            self._log.at(call.timestamp)
            if result.__class__ is list and len(result) > 1:
                result = own_parts(result, call_id)
            self._answer(call_id, result or text_in(call.result_display), status, key)

    def _answer(self, call_id: str | None, result: Any, status: Any, key: str) -> None:
        self._answered.add(key)
        output, bad = outcome(result)
        failed = bad or status in FAILED
        whole = full_output(output, self._folder) if self._folder is not None and FULL_OUTPUT in output else None
        stopped = failed and (status == "cancelled" or was_stopped(output))
        self.emit(ToolOutput(call_id, output, failed, whole, stopped), f"{key}:result")


def _on_server(name: str, arguments: Any, title: str | None) -> Meaning | None:
    """Tools of servers bear any name; what they are called on the screen gives them away."""
    if title is None or not title.endswith(_SERVER):
        return None
    server = title[: -len(_SERVER)].rpartition("(")[2]
    tool = name.removeprefix(f"mcp_{server}_").removeprefix(f"{server}__")
    return meaning_of(Mcp(server, tool, arguments))


def _version(key: str, told: _Told) -> str:
    told.versions += 1
    return key if told.versions == 1 else f"{key}:{told.versions}"
