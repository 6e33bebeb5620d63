"""Continue's sessions: one document each, under ~/.continue/sessions. Calls stand beside the message that made them."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

from unspool.actions import vocabulary_for
from unspool.dialect import Head, Place, Reader, Record
from unspool.model import Event, Facts, Note, Origin
from unspool.model.event import Compacted, Notification, Said, Thinking, TokenUsage, ToolOutput, User
from unspool.readers.blocks import block_text, content_text, image_text
from unspool.readers.calls import call_of
from unspool.readers.documents import element_of, read_json
from unspool.readers.log import Log
from unspool.sources.values import clock, count, listing, mapping, string, text_of

AGENT = "continue"
_INDEX = "sessions.json"
Counts: TypeAlias = tuple[int, int, int, int, int]
_STOPPED = frozenset(("errored", "canceled"))
_DONE = _STOPPED | {"done"}
_BROKE = "Command failed"
"""A command that failed is a tool that is done: only its output tells."""


def claims(head: Head) -> bool:
    match head.document:
        case {"sessionId": str(), "history": list() as history}:
            items = [item for item in history if isinstance(item, dict)]
            if "executionId" in head.document or any("executionId" in item for item in items):
                return False  # Kiro grew out of Continue; its runs have ids
            if "kiro.kiroagent" in head.path:
                return False
            if not items:
                return "workspaceDirectory" in head.document
            return all(isinstance(item.get("message"), dict) for item in items[:5])
    return False


class Session:
    def __init__(self, path: str) -> None:
        self._path = path
        self._log = Log(AGENT, Path(path).name.partition(".")[0])
        self._vocabulary = vocabulary_for(AGENT)
        self._answered: set[str] = set()
        self._used: Counts = (0, 0, 0, 0, 0)

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        log = self._log
        document = log.value(record)
        if not isinstance(document, dict):
            log.note("skipped", "no session")
            return log.take()
        self._learn(document)
        for number, item in enumerate(listing(document.get("history")), 1):
            log.origin = Origin(self._path, number, 0, 0)
            if isinstance(item, dict) and isinstance(message := item.get("message"), dict):
                log.at(item.get("timestamp"))
                self._item(item, message, str(number))
            else:
                log.note("skipped", "no message")
        self._rest(mapping(document.get("usage")))
        return log.take()

    def close(self) -> list[Event | Note]:
        return self._log.take()

    def _learn(self, document: dict[str, Any]) -> None:
        log = self._log
        log.session = string(document.get("sessionId")) or log.session
        facts = log.facts
        facts.title = string(document.get("title"))
        facts.project = _folder(document.get("workspaceDirectory"))
        facts.model = string(document.get("chatModelTitle"))
        began = _begun(self._path).get(log.session)
        facts.started = clock(began) or clock(document.get("dateCreated") or document.get("createdAt"))
        log.at(facts.started)

    def _item(self, item: dict[str, Any], message: dict[str, Any], key: str) -> None:
        log = self._log
        text = _text(message.get("content"))
        for entry in map(mapping, listing(item.get("promptLogs"))):
            asked = mapping(entry.get("completionOptions")).get("model")  # the title is whatever somebody calls it
            log.facts.model = string(asked or entry.get("modelTitle")) or log.facts.model
        match message.get("role"):
            case "user":
                for at, shown in enumerate(listing(item.get("contextItems"))):
                    log.emit(Notification(_context(shown), "context"), f"{key}:shown:{at}")
                if text:
                    log.emit(User(text), key)
            case "assistant":
                self._answer(item, message, text, key)
            case "thinking":
                self._thought(item, text, key)
            case "tool":
                self._result(message, text, key)
            case "system":
                log.emit(Notification(text, "system"), key)
            case role:
                log.note("unknown", f"message of role {text_of(role)!r}")
        if isinstance(summary := item.get("conversationSummary"), str) and summary:
            log.emit(Compacted(summary), f"{key}:summary")

    def _thought(self, item: dict[str, Any], text: str, key: str) -> None:
        told = mapping(item.get("reasoning"))
        self._log.at(told.get("startAt"))
        self._log.emit(Thinking(text or text_of(told.get("text"))), f"{key}:thinking")

    def _answer(self, item: dict[str, Any], message: dict[str, Any], text: str, key: str) -> None:
        log = self._log
        told = mapping(item.get("reasoning"))
        if told.get("text"):
            self._thought(item, "", key)
            log.at(told.get("endAt"))
        if text.strip():
            log.emit(Said(text), key)
        states = [state for state in listing(item.get("toolCallStates")) if isinstance(state, dict)]
        if isinstance(one := item.get("toolCallState"), dict):  # once there was but one
            states.append(one)
        seen = set()
        for at, state in enumerate(states):
            call_id = string(state.get("toolCallId") or mapping(state.get("toolCall")).get("id"))
            self._call(state.get("toolCall"), call_id, f"{key}:call:{at}", state.get("parsedArgs"))
            seen.add(call_id)
        for at, call in enumerate(listing(message.get("toolCalls")), len(states)):
            if (call_id := string(mapping(call).get("id"))) not in seen:
                self._call(call, call_id, f"{key}:call:{at}")
        for at, state in enumerate(states):
            self._state(state, f"{key}:result:{at}")
        self._usage(message.get("usage"), f"{key}:usage")

    def _call(self, call: Any, call_id: str | None, key: str, parsed: Any = None) -> None:
        function = mapping(mapping(call).get("function"))
        given = function.get("arguments")
        if not given and isinstance(parsed, dict):
            given = parsed
        self._log.emit(call_of(self._vocabulary, function.get("name"), given, call_id), key)

    def _state(self, state: dict[str, Any], key: str) -> None:
        """A call that ended without an output may still get one from a message of its own."""
        status = state.get("status")
        output = state.get("output")
        if not isinstance(status, str) or status not in _DONE or (not output and status not in _STOPPED):
            return
        call_id = string(state.get("toolCallId"))
        parts = output if isinstance(output, list) else [output] if output else []
        text = "\n".join(_content(part) for part in parts)
        failed = status in _STOPPED or any(text_of(mapping(part).get("status")).startswith(_BROKE) for part in parts)
        self._log.emit(ToolOutput(call_id, text, failed, interrupted=status == "canceled"), key)
        if call_id is not None:
            self._answered.add(call_id)

    def _result(self, message: dict[str, Any], text: str, key: str) -> None:
        call_id = string(message.get("toolCallId"))
        if call_id not in self._answered:
            self._log.emit(ToolOutput(call_id, text, False), key)
            if call_id is not None:
                self._answered.add(call_id)

    def _usage(self, given: Any, key: str) -> None:
        fresh, read, written, output, thought = counts = _counts(given)
        if any(counts):
            used = self._used
            self._used = used[0] + fresh, used[1] + read, used[2] + written, used[3] + output, used[4] + thought
            self._log.emit(TokenUsage(self._log.facts.model, fresh, read, written, output, thought), key)

    def _rest(self, total: dict[str, Any]) -> None:
        """What the session used beyond what its messages say: titles, summaries, or all of it."""
        left = (max(0, whole - used) for whole, used in zip(_counts(total), self._used, strict=True))
        fresh, read, written, output, thought = left
        if fresh or read or written or output:
            usage = TokenUsage(self._log.facts.model, fresh, read, written, output, thought, apart=True)
            self._log.emit(usage, "usage")


def _counts(given: Any) -> Counts:
    """Input, read from the cache, written to it, output, reasoning. The prompt contains what was cached, if it can."""
    usage = mapping(given)
    prompt, output = count(usage.get("promptTokens")), count(usage.get("completionTokens"))
    details = mapping(usage.get("promptTokensDetails"))
    read, written = count(details.get("cachedTokens")), count(details.get("cacheWriteTokens"))
    reasoning = count(mapping(usage.get("completionTokensDetails")).get("reasoningTokens"))
    fresh = prompt - read - written if prompt >= read + written else prompt
    return fresh, read, written, output, min(reasoning, output)


def _text(content: Any) -> str:
    if not isinstance(content, list):
        return content_text(content)
    return "\n".join(_image(part) if mapping(part).get("type") == "imageUrl" else block_text(part) for part in content)


def _image(part: dict[str, Any]) -> str:
    return image_text(text_of(mapping(part.get("imageUrl")).get("url")))


def _content(part: Any) -> str:
    return content_text(part["content"]) if isinstance(part, dict) and "content" in part else content_text(part)


def _context(shown: Any) -> str:
    """A file, a page or another thing that the user pointed at."""
    name = string(mapping(shown).get("name"))
    return f"{name}\n{_content(shown)}" if name else _content(shown)


def _folder(given: Any) -> str | None:
    """A path, or the address of one."""
    if isinstance(given, str) and given.startswith("file://"):
        return unquote(urlsplit(given).path) or None
    return string(given) or None


def _begun(path: str) -> dict[str, Any]:
    """When the sessions of a folder began, by their ids, as the folder's index says."""
    index = Path(path).with_name(_INDEX)
    try:
        facts = index.stat()
    except OSError:
        return {}
    return _index(str(index), facts.st_size, facts.st_mtime_ns)


@lru_cache(maxsize=8)
def _index(path: str, _size: int, _time: int) -> dict[str, Any]:
    """Read once, not once for each session; anew if the file was written to."""
    entries = map(mapping, listing(read_json(path)))
    return {name: entry.get("dateCreated") for entry in entries if isinstance(name := entry.get("sessionId"), str)}


def _places(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    yield Place(Path(environment.get("CONTINUE_GLOBAL_DIR") or home / ".continue"), ("sessions/*.json",))


reader = Reader(
    name=AGENT,
    agent=AGENT,
    title="Continue",
    claims=claims,
    decoder=Session,
    places=_places,
    document=True,
    payload=element_of("history"),
    beside=lambda path: (str(Path(path).with_name(_INDEX)),),
)
