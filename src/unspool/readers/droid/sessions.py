"""Droid's session files: `session_start`, then messages with Anthropic's blocks; tokens and model stand beside.

<id>.jsonl            {"type": "session_start", "id": …, "cwd": …, "callingSessionId"?: …, "callingToolUseId"?: …}
                      {"type": "message", "id": …, "message": {"role": "user", "content": [{"type": "text", …}]}}
<id>.settings.json    {"model": …, "tokenUsage": {"inputTokens": …, "outputTokens": …, …}}

A sub-agent has a file of its own that names the session and the call that it came from. `/compress` begins another
session, with the summary: its tokens are counted on from those of the one before it.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

from unspool.actions import vocabulary_for
from unspool.dialect import Record
from unspool.model import MAIN, Event, Facts, Note
from unspool.model.action import PlanItem
from unspool.model.event import (
    AgentMessage,
    AgentSpawn,
    Compacted,
    Notification,
    Planned,
    Said,
    Thinking,
    TokenUsage,
    ToolCall,
    ToolOutput,
    TurnEnd,
    User,
)
from unspool.readers.blocks import block_text, content_text
from unspool.readers.calls import call_of
from unspool.readers.documents import read_json
from unspool.readers.droid.texts import counts_of, failed, typed
from unspool.readers.log import Log
from unspool.readers.repeats import Repeats
from unspool.sources.jsontext import loads_or_text
from unspool.sources.prompt_cache import hour_long
from unspool.sources.storage import noticed
from unspool.sources.values import listing, mapping, string, text_of

AGENT = "droid"
_NAMES = ("inputTokens", "cacheReadTokens", "cacheCreationTokens", "outputTokens", "thinkingTokens")
_MESSAGE_NAMES = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
    "thinking_tokens",
)
_TODO = re.compile(r"\s*(?:\d+[.)]|[-*])\s*\[([^\]]*)\]\s*(.+)")
_BOXES = {"": "pending", " ": "pending", "x": "completed", "X": "completed", "~": "in_progress", ">": "in_progress"}
_INTERRUPTED = ("cancel", "abort", "interrupt")
_SAID = (User, Said, Thinking, ToolCall)
_NONE = (0, 0, 0, 0, 0)
_UNTITLED = "New Session"
_DEEPEST = 8


class Sessions:
    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._log = Log(AGENT, self._path.name.partition(".jsonl")[0])
        self._vocabulary = vocabulary_for(AGENT)
        self._stream, self._prefix = MAIN, ""
        self._spawn: tuple[AgentSpawn, str, str] | None = None
        self._repeats = Repeats()
        self._behind: dict[str, str] = {}
        """Of messages: the key of what was first asked or answered behind each."""
        self._last: list[str] = []
        """The messages behind which nothing was asked or answered yet."""
        self._before: Path | None = None
        """The log of the session that this one sums up and goes on with."""
        self._counted = _NONE
        self._times = 0

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> Iterable[Event | Note]:
        log = self._log
        value = log.value(record)
        kind = value.get("type") if isinstance(value, dict) else None
        if not isinstance(kind, str):
            if value is not None:
                log.note("skipped", "no record of a session")
            return log.take()
        tell = self._TYPES.get(kind)
        if tell is None:
            log.note("unknown", f"record type {kind!r}")
        elif (key := self._repeats.key(value.get("id"), record)) is not None:
            log.at(value.get("timestamp"))
            if kind != "session_start":
                self._spawned()
            tell(self, value, self._prefix + key)
            if kind == "message":
                self._told(value.get("id"))
        return log.take()

    def _told(self, message: Any) -> None:
        """What came out of a message stands behind those before it."""
        said = (item for item in self._log.out if isinstance(item, Event) and isinstance(item.content, _SAID))
        if self._last and (first := next(said, None)) is not None:
            self._behind.update(dict.fromkeys(self._last, first.key))
            self._last = []
        if isinstance(message, str):
            self._last.append(message)

    def close(self) -> Iterable[Event | Note]:
        """The tokens of the session are known only beside the log, and only in sum."""
        self._spawned()
        settings = mapping(read_json(settings_of(self._path)))
        carried = _total(mapping(read_json(settings_of(self._before)))) if self._before else _NONE
        new = [
            max(0, one - other - own) for one, other, own in zip(_total(settings), carried, self._counted, strict=True)
        ]
        facts = self._log.facts
        if self._stream == MAIN:
            facts.model = string(settings.get("model")) or facts.model
        if any(new) and not (facts.parent and self._begins):  # whether it sums up its parent is not known yet
            self._use(
                string(settings.get("model")) or facts.model, new, f"{self._prefix}usage:{self._times}", apart=True
            )
            self._times += 1
        return self._log.take()

    @property
    def _begins(self) -> bool:
        """Nothing was read yet but who it is."""
        return not (self._last or self._behind or self._before)

    def _spawned(self) -> None:
        """The beginning has no time: it is told with the first record that has one."""
        if self._spawn is not None:
            self._log.emit(*self._spawn)
            self._spawn = None

    def _use(self, model: str | None, counts: list[int], key: str, apart: bool = False, split: Any = None) -> None:
        given, read, written, answered, thought = counts
        self._counted = tuple(map(int.__add__, self._counted, counts))  # type: ignore[assignment]
        tokens = given, read, written, answered, min(thought, answered)
        usage = TokenUsage(model, *tokens, apart=apart, cache_write_1h=hour_long(split, written))
        self._log.emit(usage, key, self._stream)

    def _start(self, value: dict[str, Any], _key: str) -> None:
        log = self._log
        told = {**mapping(value.get("session")), **value}
        name = string(told.get("id") or told.get("sessionId")) or log.session
        caller = string(told.get("callingSessionId"))
        if caller:
            root = self._root(caller)
            log.session = root
            call = string(told.get("callingToolUseId"))
            spawn = AgentSpawn(name, call, description=_title(told))
            self._spawn = spawn, f"{name}:spawn", MAIN if root == caller else f"agent:{caller}"
            _ = log.facts
            self._stream, self._prefix = f"agent:{name}", f"{name}:"
            return
        log.session = name
        facts = log.facts
        facts.project = string(told.get("cwd")) or facts.project
        facts.title = _title(told) or facts.title
        facts.parent = string(told.get("parent")) or facts.parent
        if isinstance(told.get("version"), str):
            facts.version = told["version"]

    def _root(self, session: str) -> str:
        """The session that a sub-agent's caller belongs to: itself, or what its own file says, which stands beside."""
        for _ in range(_DEEPEST):
            caller = string(start_of(beside(self._path, session)).get("callingSessionId"))
            if not caller or caller == session:
                break
            session = caller
        return session

    def _message(self, value: dict[str, Any], key: str) -> None:
        message = value["message"] if isinstance(value.get("message"), dict) else value
        role, content = message.get("role"), message.get("content")
        if role not in ("user", "assistant", "system"):
            self._log.note("odd", f"a message of {role!r}")
            return
        visible = text_of(value.get("visibility") or message.get("visibility"))
        model = string(message.get("modelId") or message.get("model"))
        if role == "assistant" and model and self._stream == MAIN:
            self._log.facts.model = model
        name = "chatCompletionReasoningContent"  # of models without blocks for it
        told = any(mapping(block).get("type") == "thinking" for block in listing(content))
        if role == "assistant" and not told and (thought := text_of(value.get(name) or message.get(name))):
            self._log.emit(Thinking(thought), f"{key}:thinking", self._stream)
        texts: list[str] = []
        for at, block in enumerate(content if isinstance(content, list) else [content]):
            text = self._block(block, f"{key}:{at}")
            if text and visible == "user_only":  # what the model never saw is a notice to the person
                self._log.emit(Notification(text, "info"), f"{key}:{at}", self._stream)
            elif text and role == "assistant":
                self._log.emit(Said(text), f"{key}:{at}", self._stream)
            elif text:
                texts.append(text)
        if texts:
            self._said("\n".join(texts), role == "system", visible == "llm_only", f"{key}:said")
        if isinstance(usage := message.get("usage"), dict) and any(counts := counts_of(usage, _MESSAGE_NAMES)):
            self._use(model, list(counts), f"{key}:usage", split=usage.get("cache_creation"))

    def _block(self, block: Any, key: str) -> str:
        """Tells of calls, results and thoughts; the text of what is none of these."""
        log = self._log
        match block:
            case None:
                log.note("odd", "a message without content")
                return ""
            case {"type": "tool_use"}:
                call = call_of(self._vocabulary, block.get("name"), block.get("input"), block.get("id"))
                log.emit(call, key, self._stream)
            case {"type": "tool_result"}:
                output = content_text(block.get("content"))
                error = failed(output, block.get("is_error", block.get("isError")))
                call_id = string(block.get("tool_use_id") or block.get("toolUseId"))
                log.emit(ToolOutput(call_id, output, error), key, self._stream)
            case {"type": "thinking"}:
                log.emit(Thinking(text_of(block.get("thinking"))), key, self._stream)
            case {"type": "redacted_thinking"}:
                log.emit(Thinking(""), key, self._stream)
            case {"type": "text" | "image" | "document"} | str():
                return block_text(block)
            case _:
                kind = block.get("type") if isinstance(block, dict) else type(block).__name__
                log.note("unknown", f"block type {kind!r}")
                return text_of(block)
        return ""

    def _said(self, text: str, system: bool, hidden: bool, key: str) -> None:
        """A text that is not the model's."""
        log = self._log
        if system or hidden:
            log.emit(Notification(text, "system" if system else "context"), key, self._stream)
            return
        for at, content in enumerate(typed(text)):
            part = f"{key}.{at}" if at else key
            if isinstance(content, User) and self._stream != MAIN:  # the calling agent asked, not a person
                log.emit(AgentMessage(content.text, recipient=self._prefix.rstrip(":")), part, self._stream)
            else:
                log.emit(content, part, self._stream)

    def _planned(self, value: dict[str, Any], key: str) -> None:
        todos = value.get("todos", value.get("items"))
        if isinstance(todos, dict):
            todos = todos.get("todos", todos.get("items"))
        if isinstance(todos, str):
            items = [_item(found[2], found[1]) for line in todos.splitlines() if (found := _TODO.match(line))]
            self._log.emit(Planned(tuple(items), None if items else todos), key, self._stream)
            return
        listed = [item for item in listing(todos) if isinstance(item, dict)]
        items = [_item(item.get("content", item.get("text")), item.get("status")) for item in listed]
        self._log.emit(Planned(tuple(items)), key, self._stream)

    def _compacted(self, value: dict[str, Any], key: str) -> None:
        summary = value.get("summaryText", value.get("summary"))
        if isinstance(summary, dict):
            summary = "\n".join(text_of(summary.get(part)) for part in ("title", "body") if summary.get(part))
        if self._stream == MAIN and self._log.facts.parent and self._begins:
            self._before = beside(self._path, self._log.facts.parent)
        anchor = string(mapping(value.get("anchorMessage")).get("id"))
        kept = self._log.id_of(self._behind.get(anchor or ""))
        self._log.emit(Compacted(text_of(summary), string(value.get("summaryKind")), kept=kept), key, self._stream)

    def _ended(self, value: dict[str, Any], key: str) -> None:
        reason = text_of(value.get("reason") or value.get("resultKind"))
        if any(word in reason for word in _INTERRUPTED):
            status = "interrupted"
        else:
            status = "completed" if reason in ("completed", "success", "") else "failed"
        self._log.emit(TurnEnd(status, text=None if status == "completed" else reason), key, self._stream)

    _TYPES: ClassVar[dict[str, Callable[["Sessions", dict[str, Any], str], None]]] = {
        "session_start": _start,
        "message": _message,
        "todo_state": _planned,
        "compaction_state": _compacted,
        "agent_turn_outcome": _ended,
        "session_end": lambda _self, _value, _key: None,
    }


def _title(told: dict[str, Any]) -> str | None:
    """A session that has none of its own yet is called a new one; its prompt is a better name."""
    title = string(told.get("sessionTitle"))
    return title if title and title != _UNTITLED else string(told.get("title")) or title


def _item(text: Any, status: Any) -> PlanItem:
    told = text_of(status)
    return PlanItem(text_of(text).strip(), _BOXES.get(told, told or None))


def beside(path: Path, session: str) -> Path:
    """Where the log of another session of the folder is."""
    return path.with_name(f"{Path(session).name}.jsonl")


def start_of(path: Path) -> dict[str, Any]:
    """The first record of a log, if there is one."""
    try:
        with noticed(path).open("rb") as lines:
            return mapping(loads_or_text(lines.readline()))
    except (OSError, ValueError):
        return {}


def settings_of(path: Path) -> Path:
    return path.with_name(f"{path.name.partition('.jsonl')[0]}.settings.json")


def _total(settings: dict[str, Any]) -> tuple[int, ...]:
    """What the session used itself. Some only know a sum with its sub-agents, which have files of their own."""
    if isinstance(own := settings.get("tokenUsage"), dict):
        return counts_of(own, _NAMES)
    children = [mapping(used) for used in mapping(settings.get("childInclusiveTokenUsageBySessionId")).values()]
    total = counts_of(mapping(settings.get("inclusiveTokenUsage")), _NAMES)
    theirs = [counts_of(used, _NAMES) for used in children]
    return tuple(max(0, count - sum(used[at] for used in theirs)) for at, count in enumerate(total))
