"""Amp's threads: one document each, with Anthropic's blocks but for results, which are runs of a tool.

~/.local/share/amp/threads/T-<id>.json

    {"id": "T-…", "created": 1767865803494, "title": …, "env": {"initial": {"trees": [{"uri": "file:///work"}]}},
     "messages": [{"role": "user", "messageId": 0, "content": [{"type": "text", …}], "meta": {"sentAt": …}},
                  {"role": "assistant", "content": [{"type": "tool_use", "id": …}], "usage": {…}, "state": {…}},
                  {"role": "user", "content": [{"type": "tool_result", "toolUseID": …, "run": {"status": "done", …}}]}]}
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from unspool.actions import vocabulary_for
from unspool.dialect import Head, Place, Reader, Record
from unspool.model import MAIN, Event, Facts, Note, Origin
from unspool.model.event import (
    AgentMessage,
    Compacted,
    Notification,
    QueueOperation,
    Said,
    Thinking,
    TokenUsage,
    ToolOutput,
    TurnEnd,
    User,
)
from unspool.readers.blocks import block_text, content_text
from unspool.readers.calls import call_of
from unspool.readers.documents import element_of
from unspool.readers.folders import data_folder, settings_folders
from unspool.readers.log import Log
from unspool.readers.repeats import Repeats
from unspool.sources.jsontext import dumps
from unspool.sources.values import clock, count, listing, mapping, string, text_of

AGENT = "amp"
_WAITING = ("queued", "in-progress", "blocked-on-user")
_STOPPED = ("cancelled", "rejected-by-user")
_FAILED = ("error", *_STOPPED)
_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")


class Thread:
    def __init__(self, path: str) -> None:
        self._log = Log(AGENT)
        self._path = path
        self._vocabulary = vocabulary_for(AGENT)
        self._stream, self._prefix = MAIN, ""
        self._repeats = Repeats()
        self._counted: set[str] = set()
        """Messages whose own usage was told."""

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> Iterable[Event | Note]:
        log = self._log
        document = log.value(record)
        if not isinstance(document, dict):
            log.note("skipped", "no thread")
            return log.take()
        self._head(document)
        for number, message in enumerate(listing(document.get("messages")), 1):
            log.origin = Origin(self._path, number, 0, 0)
            if not isinstance(message, dict):
                log.note("odd", "a message that is no object")
            elif key := self._key(string(message.get("messageId")) or f"at {number}", message, number):
                self._message(message, key)
        self._ledger(mapping(document.get("usageLedger")))
        for at, entry in enumerate(listing(document.get("queuedMessages"))):
            queued = mapping(mapping(entry).get("queuedMessage"))
            if key := self._key(f"queued:{string(mapping(entry).get('id')) or at}", entry, at):
                log.emit(QueueOperation("enqueue", content_text(queued.get("content"))), key, self._stream)
        return log.take()

    def _key(self, name: str, told: Any, place: int) -> str | None:
        """None for what was told before."""
        key = self._repeats.named(name, dumps(told), place)
        return None if key is None else self._prefix + key

    def close(self) -> Iterable[Event | Note]:
        return self._log.take()

    def _head(self, document: dict[str, Any]) -> None:
        log = self._log
        name = text_of(document.get("id"))
        log.at(document.get("created"))
        main = document.get("mainThreadID")
        if isinstance(main, str) and main not in ("", name):  # the thread of a sub-agent
            log.session, self._stream, self._prefix = main, f"agent:{name}", f"{name}:"
            _ = log.facts
            return
        log.session = name
        facts = log.facts
        facts.title = string(document.get("title"))
        facts.started = clock(document.get("created"))
        initial = mapping(mapping(document.get("env")).get("initial"))
        tree = mapping(next(iter(listing(initial.get("trees"))), None))
        if uri := text_of(tree.get("uri")):
            facts.project = unquote(uri.removeprefix("file://")) if uri.startswith("file://") else uri
        facts.branch = text_of(mapping(tree.get("repository")).get("ref")).removeprefix("refs/heads/") or None
        facts.version = string(mapping(initial.get("platform")).get("clientVersion"))

    def _message(self, message: dict[str, Any], key: str) -> None:
        log = self._log
        usage, meta = message.get("usage"), mapping(message.get("meta"))
        log.at(mapping(usage).get("timestamp") or meta.get("sentAt"))
        caller = string(message.get("parentToolUseId"))
        stream = f"agent:{caller}" if caller and self._stream == MAIN else self._stream
        content = message.get("content")
        blocks = content if isinstance(content, list) else [content]
        match message.get("role"):
            case "assistant":
                for at, block in enumerate(blocks):
                    self._answer(block, f"{key}:{at}", stream)
                self._used(usage, key, stream)
                self._state(mapping(message.get("state")), key, stream)
            case "user":
                self._user(message, blocks, key, stream, meta)
            case "info":
                for at, block in enumerate(blocks):
                    self._told(block, f"{key}:{at}", stream)
            case role:
                log.note("odd", f"a message of {role!r}")

    def _answer(self, block: Any, key: str, stream: str) -> None:
        emit = self._log.emit
        match block:
            case {"type": "text"} | str():
                if text := block_text(block):
                    emit(Said(text), key, stream)
            case {"type": "thinking"}:
                emit(Thinking(text_of(block.get("thinking"))), key, stream)
            case {"type": "redacted_thinking"}:
                emit(Thinking(""), key, stream)
            case {"type": "tool_use" | "server_tool_use"}:
                emit(call_of(self._vocabulary, block.get("name"), block.get("input"), block.get("id")), key, stream)
            case _:
                self._told(block, key, stream)

    def _user(self, message: dict[str, Any], blocks: list[Any], key: str, stream: str, meta: dict[str, Any]) -> None:
        log = self._log
        said: list[str] = []
        for at, block in enumerate(blocks):
            match block:
                case {"type": "text", "hidden": True}:
                    log.emit(Notification(block_text(block), "context"), f"{key}:{at}", stream)
                case {"type": "text" | "image"} | str():
                    said.append(block_text(block))
                case _:
                    self._told(block, f"{key}:{at}", stream)
        if text := "\n".join(said):
            sender = string(meta.get("fromExecutorThreadID"))
            asked = sender is not None or meta.get("fromAggman") is True or stream != MAIN
            log.emit(AgentMessage(text, sender) if asked else User(text), f"{key}:said", stream)
        files = mapping(message.get("fileMentions")).get("files")
        for at, file in enumerate(listing(files) + listing(message.get("discoveredGuidanceFiles"))):
            shown = f"[file: {text_of(mapping(file).get('uri'))}]\n{text_of(mapping(file).get('content'))}"
            log.emit(Notification(shown.rstrip(), "context"), f"{key}:file:{at}", stream)

    def _told(self, block: Any, key: str, stream: str) -> None:
        """Blocks that may stand in any message."""
        emit = self._log.emit
        match block:
            case {"type": "tool_result"}:
                self._result(block, key, stream)
            case {"type": "summary"}:
                summary = block.get("summary")
                emit(Compacted(text_of(mapping(summary).get("summary", summary))), key, stream)
            case {"type": "manual_bash_invocation"}:
                emit(User(f"! {text_of(mapping(block.get('args')).get('cmd'))}"), key, stream)
                output, failed = _run(block.get("toolRun"))
                if output:
                    emit(Notification(output, "warning" if failed else "info"), f"{key}:output", stream)
            case {"type": "text"} | str():
                emit(Notification(block_text(block), "info"), key, stream)
            case _:
                emit(Notification(block_text(block), "info"), key, stream)
                self._log.note("unknown", f"block type {mapping(block).get('type')!r}")

    def _result(self, block: dict[str, Any], key: str, stream: str) -> None:
        run = block.get("run")
        if mapping(run).get("status") in _WAITING and mapping(run).get("result") is None:
            return  # told when the thread is read again
        output, failed = (
            _run(run) if run is not None else (content_text(block.get("content", block.get("output"))), False)
        )
        call = string(block.get("toolUseID", block.get("tool_use_id")))
        stopped = mapping(run).get("status") in _STOPPED
        failed = failed or block.get("is_error") is True
        self._log.emit(ToolOutput(call, output, failed, interrupted=stopped), key, stream)

    def _used(self, usage: Any, key: str, stream: str) -> None:
        if not isinstance(usage, dict):
            return
        model = string(usage.get("model"))
        if model and stream == MAIN:
            self._log.facts.model = model
        given, written = count(usage.get("inputTokens")), count(usage.get("cacheCreationInputTokens"))
        if model and model.rpartition("/")[2].startswith("gpt-"):
            given, written = given + written, 0  # of OpenAI's models, Amp calls all that was not cached written
        read, answered = count(usage.get("cacheReadInputTokens")), count(usage.get("outputTokens"))
        if given or read or written or answered:
            thought = min(count(usage.get("reasoningTokens") or usage.get("thinkingTokens")), answered)
            self._counted.add(key)
            self._log.emit(TokenUsage(model, given, read, written, answered, thought), f"{key}:usage", stream)

    def _ledger(self, ledger: dict[str, Any]) -> None:
        """Calls that no message tells of."""
        for at, event in enumerate(map(mapping, listing(ledger.get("events")))):
            message = self._prefix + (string(event.get("toMessageId")) or "")
            tokens = mapping(event.get("tokens"))
            given, answered = count(tokens.get("input")), count(tokens.get("output"))
            if message in self._counted or not (given or answered):
                continue
            if key := self._key(f"ledger:{string(event.get('id')) or at}", event, at):
                self._log.at(event.get("timestamp"))
                usage = TokenUsage(string(event.get("model")), given, 0, 0, answered, 0, apart=True)
                self._log.emit(usage, key, self._stream)

    def _state(self, state: dict[str, Any], key: str, stream: str) -> None:
        match state.get("type"):
            case "cancelled":
                self._log.emit(TurnEnd("interrupted"), f"{key}:end", stream)
            case "error":
                error = state.get("error")
                told = text_of(mapping(error).get("message")) or text_of(error)
                self._log.emit(Notification(told or "the model's answer failed", "error"), f"{key}:error", stream)


def _run(run: Any) -> tuple[str, bool]:
    """The output of a tool's run, and whether it failed."""
    if not isinstance(run, dict):
        return content_text(run), False
    result, failed = run.get("result"), run.get("status") in _FAILED
    if isinstance(result, dict):
        failed = failed or result.get("success") is False or result.get("exitCode") not in (0, None)
        output = next((content_text(result[part]) for part in ("output", "content", "diff") if result.get(part)), None)
        if output is None:
            output = "" if "output" in result or "content" in result else text_of(result)
    else:
        output = content_text(result)
    if not output and failed:
        error = run.get("error")
        output = text_of(mapping(error).get("message")) or text_of(error or run.get("reason") or run.get("status"))
    return output, failed


def claims(head: Head) -> bool:
    document = head.document
    if not isinstance(document, dict) or not isinstance(document.get("messages"), list):
        return False
    return text_of(document.get("id")).startswith("T-") and ("created" in document or "v" in document)


def _places(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    yield Place(data_folder(environment, home) / "amp" / "threads", ("T-*.json",))
    for folder in settings_folders(environment, home):
        for editor in _EDITORS:  # before threads had a place of their own
            yield Place(folder / editor / "User" / "globalStorage" / "sourcegraph.amp" / "threads3", ("T-*.json",))


reader = Reader(
    name=AGENT,
    agent=AGENT,
    title="Amp",
    claims=claims,
    decoder=Thread,
    places=_places,
    document=True,
    payload=element_of("messages"),
)
