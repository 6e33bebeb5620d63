"""What Goose's sessions and messages mean, whatever they are kept in.

session   {id, working_dir, name, model_config{model_name}, accumulated_input_tokens, …}
message   {id, role, created, content: [text | thinking | toolRequest | toolResponse | …],
           metadata{userVisible, agentVisible, usage}}
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

from unspool.actions import vocabulary_for
from unspool.model import MAIN, Content, Origin
from unspool.model.event import (
    AgentSpawn,
    Compacted,
    Notification,
    Said,
    Thinking,
    ToolCall,
    ToolOutput,
    User,
)
from unspool.readers.blocks import block_text
from unspool.readers.calls import arguments_of
from unspool.readers.families import Family
from unspool.readers.goose.account import Account, tokens_of
from unspool.readers.log import Log
from unspool.sources.values import clock, listing, mapping, string, text_of, time_of

AGENT, TITLE = "goose", "Goose"
_SENT_AS_ERROR = "The tool call returned the following error:\n"
_REFUSED = (
    "The user has declined to run this tool.",
    "Let the user know the tool call was skipped in goose chat mode.",
)
"""What the model is told of a call that nobody ran, as if it were the output."""
_SUMMARY = ("user", "assistant")
"""In whose names a summary is written, and the hint behind it."""


class Unseen(NamedTuple):
    """A message that no person sees, and whether the model sees none before it any more."""

    role: Any
    content: list[Any]
    key: str
    alone: bool
    origin: Origin
    time: str | None


class Place:
    """How far one session was read."""

    def __init__(self) -> None:
        self.account = Account()
        self.keys: dict[str, int] = {}
        self.begun: float | None = None
        self.count = 0
        self.kept = 0
        """Messages that the model still sees."""
        self.unseen: list[Unseen] = []
        """The last messages, if no person sees them: what comes next tells what they are."""
        self.compacted = False
        """A compaction was the last thing before the message at hand."""
        self.asked = ""
        self.thought = ""


class Messages:
    def __init__(self, log: Log) -> None:
        self._log = log
        self._read = vocabulary_for(AGENT).read
        self._places: dict[str, Place] = {}
        self._family = Family()
        self._born: dict[str, tuple[str | None, str | None, Origin]] = {}
        """Sub-agents: time, name and origin."""
        self._here = Place()
        self._stream = MAIN

    def session(self, info: dict[str, Any], key: str) -> None:
        """A database keeps its JSON under other names than an export."""
        parent = info.get("parent_session_id") or self._family.parents.get(key)
        created = clock(info.get("created_at"))
        title = string(info.get("name") or info.get("description"))
        if isinstance(parent, str) and parent != key:
            self._family.parents[key] = parent
            self._born[key] = created, title, self._log.origin
        self.enter(key)
        self._here.begun = time_of(info.get("created_at"))
        self._here.account.said(info)
        facts = self._log.facts
        model = string(mapping(info.get("model_config")).get("model_name"))
        self._here.account.model = model or self._here.account.model
        if self._stream == MAIN:
            facts.project = string(info.get("working_dir")) or facts.project
            facts.title = title or facts.title
            facts.model = model or facts.model
            facts.started = created or facts.started

    def belongs(self, agent: str | None, parent: str) -> None:
        """The session is a sub-agent's, as the result of a call says."""
        if agent is not None and agent != parent:
            self._family.parents.setdefault(agent, parent)

    def enter(self, session: str) -> None:
        """What comes next is of this session, which may be a sub-agent's."""
        here = self._places.setdefault(session, Place())
        if here is not self._here:
            self.reveal()
        self._stream = self._family.enter(self._log, session)
        _ = self._log.facts  # there is such a session, if nothing else
        self._here = here

    def paid(self, row: dict[str, Any], key: str) -> None:
        """A row of the ledger: one call to the model. It is told when the call is over."""
        self._here.account.ledger.append((f"usage:{key}", row, self._log.origin))

    def read(self, message: dict[str, Any], line: str) -> None:
        here, log = self._here, self._log
        key = string(message.get("id")) or line
        repeated = here.keys.get(key, 0)
        here.keys[key] = repeated + 1
        if repeated:
            key = f"{key}~{repeated}"
        role = message.get("role")
        self._settle(message.get("created"), role == "user")
        log.at(message.get("created"))
        told = mapping(message.get("metadata"))
        self.learn(told)
        content = message.get("content")
        if not isinstance(content, list):
            log.note("odd", "a message whose content is no list")
            content = [{"type": "text", "text": content}] if isinstance(content, str) else []
        if told.get("userVisible") is False:
            alone = here.count > 0 and not here.kept
            here.unseen.append(Unseen(role, content, key, alone, log.origin, log.time))
        else:
            self.reveal(_words(content) if role == "user" else "")
            if role == "user":
                self._user(content, key)
            else:
                self._assistant(content, key)
            here.compacted = False
        here.count += 1
        here.kept += told.get("agentVisible") is not False
        if usage := mapping(told.get("usage")):
            self._usage(usage, key, time_of(message.get("created")))

    def learn(self, told: dict[str, Any]) -> None:
        """Which model answered, as newer versions say beside each answer."""
        inference = mapping(told.get("inference"))
        if model := string(inference.get("resolvedModel") or inference.get("requestedModel")):
            self._here.account.model = model
            if self._stream == MAIN:
                self._log.facts.model = model

    def close(self) -> None:
        """What the sessions say that they used and their calls did not tell; sub-agents that nobody announced."""
        log = self._log
        origin, time = log.origin, log.time
        for session in list(self._places):
            self.enter(session)
            self._settle(None, True)
            self.reveal()
            if rest := self._here.account.rest():
                log.emit(rest, f"{session}:rest", self._stream)
        for session in list(self._born):
            if (parent := self._family.parents[session]) in self._places:
                self.enter(parent)
                self._spawn(session, None)
        self._born = {}
        log.origin, log.time = origin, time

    def _settle(self, moment: Any, done: bool) -> None:
        """Calls of the ledger that were over before the message that comes; all of them if there is none."""
        account, log = self._here.account, self._log
        origin, time = log.origin, log.time
        for key, row, where in account.over(moment, done):
            if spent := account.spend(tokens_of(row), string(row.get("model"))):
                log.origin = where
                log.at(row.get("created_timestamp"))
                log.emit(spent, key, self._stream)
        log.origin, log.time = origin, time

    def _usage(self, usage: dict[str, Any], key: str, time: float | None) -> None:
        """What is older than its session was copied: it was paid for where it comes from."""
        account, begun = self._here.account, self._here.begun
        copied = time is not None and begun is not None and time < begun
        if not account.has_ledger and not copied and (spent := account.spend(tokens_of(usage), None)):
            self._log.emit(spent, f"{key}:usage", self._stream)

    def _user(self, content: list[Any], key: str) -> None:
        typed: list[str] = []
        for at, block in enumerate(content):
            match mapping(block).get("type"):
                case "text" if not _is_for(block, "user"):  # put in by the program
                    self._emit(Notification(block_text(block), "context"), f"{key}:{at}")
                case "text" | "image" | "document" | "audio" | "resource":
                    typed.append(block_text(block))
                case _:
                    self._other(block, f"{key}:{at}")
        text = "\n".join(filter(None, typed))
        here, words = self._here, _words(content)
        put_in = text.startswith("<info-msg>") and text.rstrip().endswith("</info-msg>")
        if put_in or (text and here.compacted and words == here.asked):
            self._emit(Notification(text, "context"), key)
        elif text:
            here.asked = words
            self._emit(User(text), key)

    def _assistant(self, content: list[Any], key: str) -> None:
        """Some models' thoughts come as one block a token."""
        thoughts: list[str] = []
        for at, block in enumerate(content):
            told = mapping(block)
            kind = told.get("type")
            if kind in ("thinking", "reasoning"):
                thoughts.append(text_of(told.get("thinking") or told.get("text")))
                continue
            thoughts = self._thought(thoughts, f"{key}:{at}")
            if kind == "redactedThinking":
                self._emit(Thinking(""), f"{key}:{at}")
            elif kind in ("text", "image"):
                if text := block_text(block):
                    self._emit(Said(text), f"{key}:{at}")
            else:
                self._other(block, f"{key}:{at}")
        self._thought(thoughts, f"{key}:{len(content)}")

    def _thought(self, thoughts: list[str], key: str) -> list[str]:
        """A message that is split for its calls repeats its thoughts with each."""
        thought = "".join(thoughts)
        if thoughts and (not thought or thought != self._here.thought):
            self._here.thought = thought
            self._emit(Thinking(thought), f"{key}:thought")
        return []

    def reveal(self, following: str = "") -> None:
        """What no person sees, and which words follow: those of a prompt that a compaction puts behind its summary.

        A summary has a hint for the model behind it, and before it the prompt, if that was not answered yet.
        """
        log, here = self._log, self._here
        unseen, here.unseen = here.unseen, []
        if not unseen:
            return
        origin, time = log.origin, log.time
        pairs = enumerate(pairwise(unseen))
        summary = next((at for at, (one, hint) in pairs if one.alone and (one.role, hint.role) == _SUMMARY), None)
        for at, message in enumerate(unseen):
            log.origin, log.time = message.origin, message.time
            if at + 1 == summary and message.role == "user" and _words(message.content) == following:
                self._user(message.content, message.key)
            else:
                self._unseen(message, at == summary)
        here.compacted = summary is not None
        log.origin, log.time = origin, time

    def _unseen(self, message: Unseen, summary: bool) -> None:
        texts: list[str] = []
        for at, block in enumerate(message.content):
            if mapping(block).get("type") in ("text", "image"):
                texts.append(block_text(block))
            elif mapping(block).get("type") not in ("thinking", "redactedThinking"):
                self._other(block, f"{message.key}:{at}")
        if texts:
            text = "\n".join(texts)
            self._emit(Compacted(text) if summary else Notification(text, "context"), message.key)

    def _other(self, block: Any, key: str) -> None:
        told = mapping(block)
        kind = told.get("type")
        handler = self._BLOCKS.get(kind) if isinstance(kind, str) else None
        if handler is None:
            self._log.note("unknown", f"block type {kind!r}")
            if text := text_of(told.get("text")):
                self._emit(Notification(text, "info"), key)
        else:
            handler(self, told, key)

    def _call(self, block: dict[str, Any], key: str) -> None:
        asked = mapping(block.get("toolCall"))
        value = mapping(asked.get("value", asked))
        name, arguments = text_of(value.get("name")), arguments_of(value.get("arguments"))
        if asked.get("status") == "error":
            name, arguments = name or "invalid", {"raw": text_of(asked.get("error"))}
        self._emit(ToolCall(name, string(block.get("id")), arguments, self._read), key)

    def _result(self, block: dict[str, Any], key: str) -> None:
        output, failed = _outcome(block.get("toolResult"))
        refused = output.startswith(_REFUSED)
        call = string(block.get("id"))
        self._emit(ToolOutput(call, output, failed or refused, interrupted=refused), key)
        if (agent := agent_of(block)) in self._born:
            self._spawn(agent, call)

    def _spawn(self, agent: str, call: str | None) -> None:
        log = self._log
        origin, time = log.origin, log.time
        born, name, where = self._born.pop(agent)
        log.time, log.origin = born or time, where
        self._emit(AgentSpawn(agent, call, description=name), f"{agent}:spawn")
        log.origin, log.time = origin, time

    def _notice(self, block: dict[str, Any], key: str) -> None:
        level: Any = "warning" if block.get("notificationType") == "creditsExhausted" else "info"
        self._emit(Notification(text_of(block.get("msg")), level), key)

    def _asked(self, block: dict[str, Any], key: str) -> None:
        """A question to the person, or the answer: `data` holds it in newer versions."""
        told = mapping(block.get("data")) or block
        if told.get("actionType") == "elicitationResponse":
            answer = told.get("user_data") or told.get("userData")
            self._emit(User(text_of(answer or told.get("action"))), key)
            return
        if told.get("actionType") == "toolConfirmationResponse":
            self._emit(Notification(f"permission: {text_of(told.get('permission'))}", "info"), key)
            return
        text = text_of(told.get("prompt") or told.get("message"))
        self._emit(Notification(text or f"may {text_of(told.get('toolName'))} be used?", "info"), key)

    def _failed(self, block: dict[str, Any], key: str) -> None:
        self._emit(Notification(text_of(block.get("message") or block.get("kind")), "error"), key)

    def _compacted(self, block: dict[str, Any], key: str) -> None:
        self._emit(Compacted(text_of(block.get("msg"))), key)

    def _exceeded(self, block: dict[str, Any], key: str) -> None:
        self._emit(Notification(text_of(block.get("msg")), "warning"), key)

    def _emit(self, content: Content, key: str) -> None:
        self._log.emit(content, key, self._stream)

    _BLOCKS: ClassVar[dict[str, Callable[["Messages", dict[str, Any], str], None]]] = {
        "toolRequest": _call,
        "frontendToolRequest": _call,
        "toolResponse": _result,
        "systemNotification": _notice,
        "toolConfirmationRequest": _asked,
        "actionRequired": _asked,
        "error": _failed,
        "conversationCompacted": _compacted,
        "contextLengthExceeded": _exceeded,
        "summarizationRequested": _exceeded,
    }


def agent_of(block: Any) -> str | None:
    """The session of the sub-agent whose result it is."""
    value = mapping(mapping(mapping(block).get("toolResult")).get("value"))
    return string(mapping(value.get("_meta")).get("subagent_session_id"))


def _words(content: list[Any]) -> str:
    """What a message says to the model."""
    texts = (block for block in content if mapping(block).get("type") == "text" and _is_for(block, "assistant"))
    return "\n".join(map(block_text, texts))


def reports_failure(output: str, _tool: str | None = None) -> bool:
    """Return whether an output is one that goose sends of a call that failed, to APIs that have no place for it."""
    return output.startswith(_SENT_AS_ERROR)


def _outcome(given: Any) -> tuple[str, bool]:
    """Errors stand at two levels: the call failed, or the tool says that it did."""
    result = mapping(given)
    if result.get("status") == "error":
        return text_of(result.get("error")), True
    value = result.get("value", None if result else given)
    told = mapping(value)
    content = value if isinstance(value, list) else told.get("content")
    if isinstance(content, list) and content:
        output = "\n".join(map(block_text, [item for item in content if _is_for(item, "assistant")] or content))
    else:
        output = text_of(told.get("structuredContent") or content or (None if told else value))
    return output, told.get("isError") is True


def _is_for(item: Any, whom: str) -> bool:
    """Many tools give their output twice, once for the person; and some texts are for the model alone."""
    audience = listing(mapping(mapping(item).get("annotations")).get("audience"))
    return not audience or whom in audience
