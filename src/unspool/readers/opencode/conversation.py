"""What OpenCode's sessions, messages and parts mean, whatever they are kept in.

session   {id, parentID, directory, title, version, time{created}}
message   {id, sessionID, role, modelID, tokens, error, summary, time{created}}
part      {id, messageID, type: text | reasoning | tool | file | step-finish | compaction | …}
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct, field
from msgspec.structs import replace

from unspool.actions import vocabulary_for
from unspool.model import Content, Origin
from unspool.model.event import (
    AgentSpawn,
    Compacted,
    ModelChange,
    Notification,
    Said,
    SlashCommand,
    Thinking,
    ToolCall,
    ToolOutput,
    TurnEnd,
    User,
)
from unspool.readers.calls import arguments_of
from unspool.readers.families import Family
from unspool.readers.log import Log
from unspool.readers.opencode.attachments import attached, medium, whole_output
from unspool.readers.opencode.outcomes import failure, model_of, reason_of, title_of, usage_of
from unspool.sources.values import clock, listing, mapping, string, text_of, time_of

AGENT, TITLE = "opencode", "OpenCode"
_PASSED_OVER = frozenset({"step-start", "snapshot", "patch", "agent"})
"""Marks for undoing, and names that stand in the prompt already."""
_BY_HAND = "The following tool was executed by the user"


class Message(Struct):
    """One message that is being read: what its parts must know of it, and what waits for its end."""

    id: str
    session: str
    role: str
    origin: Origin
    time: Any = None
    model: str | None = None
    summary: bool = False
    """Its text takes the place of all messages before it."""
    tokens: Any = None
    error: Any = None
    parts: int = 0
    by_hand: bool = False
    """Nobody answered: the person ran a command, which stands here as if the model had."""
    stepped: bool = False
    """Its steps told their tokens, so that those of the message say nothing new."""
    copied: bool = False
    """It is older than its session, a fork: where it comes from, it was paid for."""
    typed: list[str] = field(default_factory=list)
    shown: list[tuple[str, Content]] = field(default_factory=list)
    results: list[tuple[int, str, ToolOutput, Origin]] = field(default_factory=list)


class Conversation:
    """`live`: results are told as soon as they are known. Else they follow all calls of their step, as they came in.

    `outputs` is the folder of those that were too long for the model. `alone`: other sessions are not at hand, so what
    was copied from one counts here.
    """

    def __init__(self, log: Log, live: bool = False, outputs: Path | None = None, alone: bool = False) -> None:
        self._log = log
        self._live = live
        self._alone = alone
        self._outputs = outputs
        self._read = vocabulary_for(AGENT).read
        self._family = Family()
        self._known: set[str] = set()
        self._spawned: set[str] = set()
        self._born: dict[str, int] = {}
        self._imported: set[str] = set()
        """Messages from another agent's log, where they were paid for."""
        self._started: dict[str, tuple[str | None, str | None, Origin]] = {}
        """Of sub-agents, whether a call was seen to start them or not: time, title and origin."""
        self._done: set[tuple[str, str]] = set()
        self._compacting = Compacted()
        self._typing = ""
        """The session whose next message is a command of the person's."""
        self._stopped = ""
        """The session whose turn was told to be interrupted, and which may say so once more."""

    def session(self, info: dict[str, Any]) -> None:
        """A database names the same things by `parent_id` and `time_created`."""
        session = string(info.get("id"))
        if session is None:
            self._log.note("odd", "a session without an id")
            return
        self._known.add(session)
        created = info.get("time_created") or mapping(info.get("time")).get("created")
        self._born[session] = time_of(created) or 0
        parent = info.get("parent_id") or info.get("parentID")
        if isinstance(parent, str) and parent != session:
            self._family.parents[session] = parent
            self._started.setdefault(session, (clock(created), title_of(info.get("title")), self._log.origin))
            self._stream(session)
            facts = self._log.facts
            facts.project = facts.project or string(info.get("directory"))
            facts.version = facts.version or string(info.get("version"))
            return
        self._log.enter(session)
        facts = self._log.facts
        place = info.get("directory") or mapping(info.get("location")).get("directory")
        facts.project = string(place) or facts.project
        facts.title = title_of(info.get("title")) or facts.title
        facts.version = string(info.get("version")) or facts.version
        facts.model = model_of(info.get("model")) or facts.model
        facts.started = clock(created) or facts.started
        facts.parent = string(info.get("fork_session_id") or mapping(info.get("fork")).get("sessionID"))

    def imported(self, session: Any, messages: list[Any], time: Any) -> None:
        """Messages of the session, or all until then, were another agent's."""
        if messages:
            self._imported.update(map(text_of, messages))
        elif isinstance(session, str):
            self._born[session] = time_of(time) or 0

    def message(self, info: dict[str, Any], key: Any = None, session: Any = None) -> Message:
        """Begins a message; its parts come next, and then `end`. A database keeps its ids beside it."""
        message = Message(
            id=string(key or info.get("id")) or str(self._log.origin.line),
            session=string(session or info.get("sessionID")) or self._log.session,
            role=text_of(info.get("role")),
            origin=self._log.origin,
        )
        message.by_hand = message.role == "assistant" and message.session == self._typing
        self._typing = ""
        if message.role == "user":
            self._stopped = ""
        self.tell(message, info)
        if message.role not in ("user", "assistant"):
            self._log.note("unknown", f"a message of role {message.role!r}")
        if system := text_of(info.get("system")):
            self._emit(message, Notification(system, "system"), f"{message.id}:system")
        return message

    def tell(self, message: Message, info: dict[str, Any]) -> None:
        """What a message says of itself; a live stream says it again whenever it changes."""
        message.role = text_of(info.get("role")) or message.role
        message.time = mapping(info.get("time")).get("created") or message.time
        message.model = string(info.get("modelID")) or model_of(info.get("model")) or message.model
        message.summary = info.get("summary") is True
        message.tokens = info.get("tokens") or message.tokens
        message.error = info.get("error") or message.error
        old = not self._alone and 0 < (time_of(message.time) or 0) < self._born.get(message.session, 0)
        message.copied = old or message.id in self._imported
        self._log.at(message.time)
        self._stream(message.session)
        facts = self._log.facts
        if message.session == self._log.session and message.role == "assistant" and not message.summary:
            facts.model = message.model or facts.model
            facts.project = facts.project or string(mapping(info.get("path")).get("cwd"))

    def part(self, message: Message, part: Any, key: Any = None) -> None:
        message.parts += 1
        if not isinstance(part, dict):
            self._log.note("odd", "a part that is no object")
            return
        kind = part.get("type")
        if message.results and kind != "tool":
            self._settle(message)
        handler = self._PARTS.get(kind) if isinstance(kind, str) else None
        if handler is not None:
            handler(self, message, part, string(key or part.get("id")) or f"{message.id}:{message.parts}")
        elif not isinstance(kind, str) or kind not in _PASSED_OVER:
            self._log.note("unknown", f"part type {kind!r}")

    def end(self, message: Message) -> None:
        """What waited for the last part of the message."""
        log = self._log
        self._settle(message)
        here, log.origin = log.origin, message.origin
        if message.typed:
            log.at(message.time)
            self._emit(message, User("\n".join(message.typed)), message.id)
        for key, content in message.shown:
            self._emit(message, content, key)
        message.typed, message.shown = [], []
        if not message.stepped:
            self._used(message, message.tokens, f"{message.id}:usage")
        if message.error:
            wrong = failure(message.error)
            self._stopped = message.session if isinstance(wrong, TurnEnd) else ""
            self._emit(message, wrong, f"{message.id}:error")
        log.origin = here

    def close(self) -> None:
        """Sub-agents that no call was seen to start."""
        log = self._log
        here, then = log.origin, log.time
        for session, (time, title, origin) in self._started.items():
            parent = self._family.parents[session]
            if session not in self._spawned and parent in self._known:
                self._spawned.add(session)
                log.time, log.origin = time or log.time, origin
                stream = self._stream(parent)
                log.emit(AgentSpawn(session, description=title), f"{session}:spawn", stream)
        log.origin, log.time = here, then

    def failed(self, session: str, error: Any, key: str) -> None:
        """What went wrong outside of any message."""
        self._emit(self.lost("", session, "assistant"), failure(error), key)

    def lost(self, message: str, session: str, role: str) -> Message:
        """Stands for a message of which only its parts are known."""
        self._stream(session)
        _ = self._log.facts  # there is such a session, if nothing else
        return Message(message, session, role, self._log.origin)

    def unknown(self, what: str) -> None:
        self._log.note("unknown", what)

    def belongs(self, session: str, parent: str) -> None:
        """The session is a sub-agent's, as somebody else than its own record says."""
        if session != parent:
            self._family.parents.setdefault(session, parent)

    def _stream(self, session: str) -> str:
        return self._family.enter(self._log, session)

    def _emit(self, message: Message, content: Content, key: str) -> None:
        """Once for each key: live streams and careless exports repeat records."""
        stream = self._stream(message.session)
        name = self._log.session, key
        if name not in self._done:
            self._done.add(name)
            self._log.emit(content, key, stream)

    def _text(self, message: Message, part: dict[str, Any], key: str) -> None:
        text = text_of(part.get("text"))
        if not text:
            return
        self._log.at(mapping(part.get("time")).get("start"))
        ignored, synthetic = part.get("ignored") is True, part.get("synthetic") is True
        if synthetic and text == _BY_HAND:
            self._typing = message.session
        elif ignored or synthetic:  # what is ignored is shown to the person, and kept from the model
            self._show(message, Notification(text, "info" if ignored else "context"), key)
        elif message.role == "user":
            message.typed.append(text)
        elif message.summary:
            self._emit(message, replace(self._compacting, text=text), key)
        else:
            self._emit(message, Said(text), key)

    def _show(self, message: Message, content: Content, key: str) -> None:
        """Beside a prompt, but behind it."""
        if message.role == "user":
            message.shown.append((key, content))
        else:
            self._emit(message, content, key)

    def _reasoning(self, message: Message, part: dict[str, Any], key: str) -> None:
        self._log.at(mapping(part.get("time")).get("start"))
        self._emit(message, Thinking(text_of(part.get("text"))), key)

    def _tool(self, message: Message, part: dict[str, Any], key: str) -> None:
        state = mapping(part.get("state"))
        name, call = text_of(part.get("tool")), string(part.get("callID"))
        time, told = mapping(state.get("time")), mapping(state.get("metadata"))
        self._log.at(time.get("start"))
        arguments = arguments_of(state.get("input"))
        if message.by_hand:
            self._emit(message, User(f"! {text_of(mapping(arguments).get('command'))}"), key)
            if output := text_of(state.get("output") or state.get("error")):
                self._emit(message, Notification(output, "context"), f"{key}:output")
            return
        self._emit(message, ToolCall(name, call, arguments, self._read), key)
        self._spawn(message, told, mapping(arguments), call)
        match state.get("status"):
            case "completed":
                output = "\n".join([text_of(state.get("output")), *map(attached, listing(state.get("attachments")))])
                failed = name == "invalid" or told.get("exit") not in (None, 0)
                failed = failed or told.get("timeout") is True or isinstance(told.get("signal"), str)
            case "error":
                output, failed = text_of(state.get("error")), True
            case "pending" | "running" | "streaming":
                return
            case other:
                self._log.note("odd", f"a tool's state {other!r}")
                return
        stopped, whole = failed and told.get("interrupted") is True, whole_output(self._outputs, told.get("outputPath"))
        result = ToolOutput(call, output, failed, whole, stopped)
        message.results.append((time_of(time.get("end")) or 0, f"{key}:result", result, self._log.origin))
        if self._live:
            self._settle(message)

    def _settle(self, message: Message) -> None:
        """The results that are there, in the order of their times."""
        log = self._log
        here = log.origin
        for ended, key, result, where in sorted(message.results, key=lambda entry: entry[0]):
            log.origin = where
            log.at(ended)
            self._emit(message, result, key)
        message.results = []
        log.origin = here

    def _spawn(self, message: Message, told: dict[str, Any], arguments: dict[str, Any], call: str | None) -> None:
        """A call that names a session has given its work to a sub-agent."""
        child = told.get("sessionId") or told.get("sessionID")
        if not isinstance(child, str) or child == message.session:
            return
        self.belongs(child, message.session)
        if child not in self._spawned:
            self._spawned.add(child)
            kind = string(arguments.get("subagent_type") or arguments.get("agent"))
            description = string(arguments.get("description"))
            self._emit(message, AgentSpawn(child, call, kind, description), f"{child}:spawn")

    def _file(self, message: Message, part: dict[str, Any], _key: str) -> None:
        mention = mapping(part.get("mention")).get("text")
        named = mention or mapping(mapping(part.get("source")).get("text")).get("value")
        if not named or medium(part) != "file":  # else the prompt names the file, and its text is shown beside
            message.typed.append(attached(part))

    def _step(self, message: Message, part: dict[str, Any], key: str) -> None:
        message.stepped = self._used(message, part.get("tokens"), key) or message.stepped

    def _used(self, message: Message, tokens: Any, key: str) -> bool:
        usage = usage_of(tokens, message.model)
        if usage is not None and not message.copied:
            self._emit(message, usage, key)
        return usage is not None

    def _compaction(self, _message: Message, part: dict[str, Any], _key: str) -> None:
        """The summary is the text of the next answer."""
        trigger, first = "auto" if part.get("auto") is True else "manual", string(part.get("tail_start_id"))
        self._compacting = Compacted("", trigger, kept=self._log.id_of(first))

    def _compacted(self, message: Message, _part: dict[str, Any], key: str) -> None:
        self._emit(message, self._compacting, key)

    def _retry(self, message: Message, part: dict[str, Any], key: str) -> None:
        self._log.at(mapping(part.get("time")).get("created"))
        reason = reason_of(part.get("error"))
        self._emit(message, Notification(f"attempt {text_of(part.get('attempt'))} failed: {reason}", "warning"), key)

    def _subtask(self, message: Message, part: dict[str, Any], key: str) -> None:
        """A command of the person's whose prompt goes to a sub-agent."""
        if command := text_of(part.get("command")):
            self._emit(message, SlashCommand(f"/{command}"), f"{key}:command")
        self._show(message, Notification(text_of(part.get("prompt")), "context"), key)

    def _system(self, message: Message, part: dict[str, Any], key: str) -> None:
        self._emit(message, Notification(text_of(part.get("text")), "system"), key)

    def _model(self, message: Message, part: dict[str, Any], key: str) -> None:
        if model := model_of(part.get("model")):
            self._emit(message, ModelChange(model), key)

    def _idle(self, message: Message, part: dict[str, Any], key: str) -> None:
        outcome = text_of(part.get("outcome"))
        if outcome == "interrupted" and self._stopped == message.session:
            self._stopped = ""
            return
        self._emit(message, TurnEnd("completed" if outcome == "succeeded" else outcome), key)

    def _invocation(self, message: Message, part: dict[str, Any], key: str) -> None:
        """A tool as the first versions kept it, inside of the message."""
        given = mapping(part.get("toolInvocation"))
        state: dict[str, Any] = {"input": given.get("args"), "output": given.get("result")}
        state["status"] = "completed" if given.get("state") == "result" else "running"
        self._tool(message, {"tool": given.get("toolName"), "callID": given.get("toolCallId"), "state": state}, key)

    _PARTS: ClassVar[dict[str, Callable[["Conversation", Message, dict[str, Any], str], None]]] = {
        "text": _text,
        "reasoning": _reasoning,
        "tool": _tool,
        "file": _file,
        "step-finish": _step,
        "compaction": _compaction,
        "compacted": _compacted,
        "retry": _retry,
        "subtask": _subtask,
        "tool-invocation": _invocation,
        "system": _system,
        "model": _model,
        "idle": _idle,
    }
