"""Zed's threads with its own agent: a row each, whose `data` is the whole thread as JSON, mostly packed.

~/.local/share/zed/threads/threads.db
threads   id, parent_id, summary, updated_at, created_at, folder_paths, data_type json | zstd, data

version 0.3   messages: [{"User": {id, content}} | {"Agent": {content, tool_results}} | "Resume"]
before        messages: [{id, role, segments | text, tool_uses, tool_results}]
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from unspool.actions import vocabulary_for
from unspool.dialect import Head, Place, Reader, Record
from unspool.model import MAIN, Content, Event, Facts, Note
from unspool.model.event import (
    AgentSpawn,
    Compacted,
    Notification,
    Said,
    Summary,
    Thinking,
    TokenUsage,
    ToolCall,
    ToolOutput,
    User,
)
from unspool.readers.calls import arguments_of
from unspool.readers.columns import chosen, decoded, has, plain
from unspool.readers.families import Family
from unspool.readers.folders import data_folder
from unspool.readers.log import Log
from unspool.readers.repeats import Repeats
from unspool.sources.jsontext import Unreadable, loads
from unspool.sources.sqlite import rows, tables
from unspool.sources.values import clock, count, listing, mapping, placeholder, string, text_of

_AGENT = "zed"
_COLUMNS = (
    *("id", "parent_id", "summary", "updated_at", "created_at", "folder_paths", "folder_paths_order"),
    *("data_type", "data"),
)
_TERMINAL = ("terminal", "sandboxed_terminal", None)
_ENDED_BADLY = ('Command "', "The user stopped this command", "Command cancelled: ")
"""How the output of a command begins that failed, ran out of time or was stopped: the call itself went well."""
_STOPPED = ("Tool canceled by user", "Permission to run tool denied by user", *_ENDED_BADLY[1:])
_COUNTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")

Tokens = tuple[int, int, int, int]
"""As `_COUNTS` names them: all disjoint."""
_NOTHING: Tokens = (0, 0, 0, 0)


def _claims(head: Head) -> bool:
    return has(head.tables, "threads", "id", "summary", "updated_at", "data_type", "data")


def _rows(path: str) -> Iterator[Record | Note]:
    """The family of the threads first, because a sub-agent's may come before its parent's."""
    found = tables(path)
    if "threads" not in found:
        return rows(path, {})
    columns = chosen(found, "threads", _COLUMNS)
    kin = "SELECT id, parent_id FROM threads WHERE parent_id IS NOT NULL ORDER BY id"
    order = "created_at" if "created_at" in found["threads"] else "updated_at"
    threads = f"SELECT {columns} FROM threads ORDER BY {order}, id"
    return rows(path, {"kin": kin, "threads": threads} if "parent_id" in found["threads"] else {"threads": threads})


class Database:
    def __init__(self, _path: str) -> None:
        self._log = Log(_AGENT)
        self._read = vocabulary_for(_AGENT).read
        self._family = Family()
        self._spawned: set[str] = set()
        self._key = ""
        self._name = ""
        """What the keys of the thread's events begin with."""
        self._repeats = Repeats()
        self._stream = MAIN

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        row = mapping(self._log.value(record))
        match row.get("table"), string(row.get("id")), row.get("parent_id"):
            case "kin", str(thread), str(parent):
                self._family.parents[thread] = parent
            case "threads", str(thread), _:
                name = self._repeats.key(thread, record)
                if name is not None:  # else it was told, of a database that is written to
                    self._name = name
                    self._thread(row, thread)
            case _:
                self._log.note("skipped", "a row of no table that is read")
        return self._log.take()

    def close(self) -> list[Event | Note]:
        return []

    def _thread(self, row: dict[str, Any], key: str) -> None:
        data = plain(row.get("data"))
        if data is None:
            self._log.note("unreadable", "a thread whose packed data is damaged")
        thread = mapping(decoded(self._log, data, "a thread"))
        log, self._key = self._log, key
        self._stream = self._family.enter(log, key)
        log.at(row.get("updated_at"))
        model = string(mapping(thread.get("model")).get("model"))
        facts = log.facts
        if self._stream == MAIN:
            facts.title = string(row.get("summary") or thread.get("title") or thread.get("summary"))
            facts.model = model
            facts.started = clock(row.get("created_at"))
            facts.project = _folder(row, thread)
        else:
            self._announce(thread, string(row.get("summary")))
        self._messages(thread, model)
        if summary := _detail(thread):
            self._emit(Summary(summary), f"{self._name}:summary")

    def _messages(self, thread: dict[str, Any], model: str | None) -> None:
        """Each with what its call used, and at last what the thread used besides, where it says so."""
        messages = listing(thread.get("messages"))
        calls = _calls(thread.get("request_token_usage"), messages)
        total = _tokens(thread.get("cumulative_token_usage"))
        spent = _sum(calls.values())
        if any(total) and any(a > b for a, b in zip(spent, total, strict=True)):
            calls, spent = {}, _NOTHING  # they cannot all be true; the thread's own total can
        for number, message in enumerate(messages):
            self._message(message, f"{self._name}:{number}")
            self._usage(calls.get(number, _NOTHING), model, str(number))
        if any(total):
            a, b, c, d = (whole - part for whole, part in zip(total, spent, strict=True))
            self._usage((a, b, c, d), model, "rest")

    def _usage(self, tokens: Tokens, model: str | None, name: str) -> None:
        if any(tokens):
            given, read, write, output = tokens
            self._emit(TokenUsage(model, given, read, write, output, 0, apart=True), f"{self._name}:usage:{name}")

    def _announce(self, thread: dict[str, Any], title: str | None) -> None:
        """A sub-agent that no result named."""
        if self._key not in self._spawned:
            self._spawned.add(self._key)
            call = string(mapping(thread.get("subagent_context")).get("tool_use_id"))
            parent = self._family.parents[self._key]
            stream = MAIN if parent == self._log.session else f"agent:{parent}"
            self._log.emit(AgentSpawn(self._key, call, description=title), f"{self._key}:spawn", stream)

    def _message(self, message: Any, key: str) -> None:
        match message:
            case {"User": dict(told)}:
                self._user(listing(told.get("content")), key)
            case {"Agent": dict(told)}:
                self._agent(told, key)
            case {"Compaction": told}:
                self._emit(Compacted(_summary_of(told)), key)
            case "Resume" | {"Resume": _}:
                self._emit(Notification("Continue where you left off", "context"), key)
            case {"role": str(role)}:
                self._older(message, role, key)
            case dict():
                self._log.note("unknown", f"a message of kind {next(iter(message), None)!r}")
            case _:
                self._log.note("odd", "a message that is no object")

    def _user(self, content: list[Any], key: str) -> None:
        typed: list[str] = []
        shown: list[str] = []
        for item in content:
            match item:
                case {"Text": str(text)}:
                    typed.append(text)
                case {"Mention": dict(mention)}:
                    name = _mention(mention.get("uri"))
                    typed.append(f"[{name}]")
                    if text := text_of(mention.get("content")):
                        shown.append(f"{name}\n{text}")
                case {"Image": image}:
                    typed.append(f"\n{_picture(image)}\n")
                case _:
                    self._strange(item)
        if text := "".join(typed).strip("\n"):  # the pieces are those of one line
            self._emit(User(text), key)
        for at, text in enumerate(shown):
            self._emit(Notification(text, "context"), f"{key}:shown:{at}")

    def _agent(self, told: dict[str, Any], key: str) -> None:
        for at, item in enumerate(listing(told.get("content"))):
            match item:
                case {"Text": str(text)}:
                    if text:
                        self._emit(Said(text), f"{key}:{at}")
                case {"Thinking": thought}:
                    self._emit(Thinking(text_of(mapping(thought).get("text"))), f"{key}:{at}")
                case {"RedactedThinking": _}:
                    self._emit(Thinking(""), f"{key}:{at}")
                case {"ToolUse": dict(use)}:
                    self._call(use, f"{key}:{at}")
                case _:
                    self._strange(item)
        for at, (call, result) in enumerate(mapping(told.get("tool_results")).items()):
            self._result(mapping(result), call, f"{key}:result:{at}")

    def _older(self, message: dict[str, Any], role: str, key: str) -> None:
        """Before 0.3; in the oldest of all, results stood in the user's next message, and text without segments."""
        texts: list[str] = []
        for at, item in enumerate(listing(message.get("segments")) or [{"type": "text", "text": message.get("text")}]):
            segment = mapping(item)
            match segment.get("type"):
                case "text":
                    texts.append(text_of(segment.get("text")))
                case "thinking":
                    self._emit(Thinking(text_of(segment.get("text"))), f"{key}:{at}")
                case "RedactedThinking":
                    self._emit(Thinking(""), f"{key}:{at}")
                case _:
                    self._strange(item)
        results = listing(message.get("tool_results"))
        if text := "\n".join(filter(None, texts)):
            hidden = message.get("is_hidden") is True or (role == "user" and bool(results))
            self._emit(_said(text, role, hidden), key)
        if context := text_of(message.get("context")):
            self._emit(Notification(context, "context"), f"{key}:context")
        for at, use in enumerate(listing(message.get("tool_uses"))):
            self._call(mapping(use), f"{key}:call:{at}")
        for at, result in enumerate(results):
            self._result(mapping(result), string(mapping(result).get("tool_use_id")), f"{key}:result:{at}")

    def _call(self, use: dict[str, Any], key: str) -> None:
        name, given = text_of(use.get("name")), _given(use.get("input"))
        arguments = arguments_of(use.get("raw_input") if given is None else given)
        self._emit(ToolCall(name, string(use.get("id")), arguments, self._read), key)

    def _result(self, result: dict[str, Any], call: str | None, key: str) -> None:
        content = result.get("content")
        output = "\n".join(map(_content, content if isinstance(content, list) else [content]))
        told, failed = result.get("output"), result.get("is_error") is True
        if result.get("tool_name") in _TERMINAL:
            failed = failed or output.startswith(_ENDED_BADLY)
        stopped = failed and output.startswith(_STOPPED)
        self._emit(ToolOutput(call, output or text_of(told), failed, interrupted=stopped), key)
        child = mapping(told).get("session_id")
        if isinstance(child, str) and child in self._family.parents and child not in self._spawned:
            self._spawned.add(child)
            self._emit(AgentSpawn(child, call), f"{child}:spawn")

    def _strange(self, item: Any) -> None:
        kind = item.get("type") or next(iter(item), None) if isinstance(item, dict) else type(item).__name__
        self._log.note("unknown", f"content of kind {kind!r}")

    def _emit(self, content: Content, key: str) -> None:
        self._log.emit(content, key, self._stream)


def _tokens(value: Any) -> Tokens:
    told = mapping(value)
    given, read, write, output = (count(told.get(name)) for name in _COUNTS)
    return given, read, write, output


def _sum(tokens: Iterable[Tokens]) -> Tokens:
    a = b = c = d = 0
    for given, read, write, output in tokens:
        a, b, c, d = a + given, b + read, c + write, d + output
    return a, b, c, d


def _calls(value: Any, messages: list[Any]) -> dict[int, Tokens]:
    """What was used, by the number of the message at which it was known.

    Kept by the prompt's id, of whose calls only the last is told; before 0.3 one for each message, where those of
    prompts repeat the last answer's.
    """
    if isinstance(value, list):
        answers = [mapping(message).get("role") == "assistant" for message in messages]
        pairs = zip(value, answers, strict=False)
        return {at: _tokens(told) for at, (told, answer) in enumerate(pairs) if answer}
    prompts = [(at, text_of(mapping(mapping(message).get("User")).get("id"))) for at, message in enumerate(messages)]
    prompts = [(at, prompt) for at, prompt in prompts if prompt]
    ends = [at - 1 for at, _ in prompts[1:]] + [len(messages) - 1]
    told = mapping(value)
    return {end: _tokens(told[prompt]) for (_, prompt), end in zip(prompts, ends, strict=False) if prompt in told}


def _said(text: str, role: str, hidden: bool) -> Content:
    if hidden or role == "system":
        return Notification(text, "system" if role == "system" else "context")
    return User(text) if role == "user" else Said(text)


def _given(value: Any) -> Any:
    """A call's input; newer versions wrap it to tell JSON from plain text."""
    match value:
        case {"type": "json" | "text", "value": wrapped} if len(value) == 2:
            return wrapped
    return value


def _content(item: Any) -> str:
    match item:
        case {"Text": text} | {"type": "text", "text": text}:
            return text_of(text)
        case {"Image": image} | {"type": "image", "image": image}:
            return _picture(image)
    return text_of(item)


def _picture(image: Any) -> str:
    return placeholder("image", "image/png", mapping(image).get("source"))


def _mention(uri: Any) -> str:
    """`{"File": {"abs_path": …}}` → its path; what has none by its name or kind."""
    for kind, value in mapping(uri).items():
        told = mapping(value)
        named = told.get("abs_path") or told.get("path") or told.get("url") or told.get("name")
        return f"{kind.lower()}: {text_of(named)}" if named else kind.lower()
    return text_of(uri)


def _summary_of(told: Any) -> str:
    """The text wherever it stands: the shape differs by who compacted. A provider's own can't be read."""
    if "ProviderNative" in mapping(told):
        return ""
    while isinstance(told, dict):
        told = told.get("summary") or told.get("text") or told.get("Text") or next(iter(told.values()), None)
    return text_of(told)


def _detail(thread: dict[str, Any]) -> str:
    state = mapping(thread.get("detailed_summary_state")).get("Generated")
    return text_of(thread.get("detailed_summary") or mapping(state).get("text"))


def _folder(row: dict[str, Any], thread: dict[str, Any]) -> str | None:
    """The first of the folders of its window. They are kept in the order of their names; where each stood, beside."""
    if kept := text_of(row.get("folder_paths")):
        paths = kept.split("\n")
        order = text_of(row.get("folder_paths_order")).split(",")
        first = order.index("0") if "0" in order and len(order) == len(paths) else 0
        return paths[first]
    for tree in listing(mapping(thread.get("initial_project_snapshot")).get("worktree_snapshots")):
        return string(mapping(tree).get("worktree_path"))
    return None


def _places(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    folders = [
        Path(environment.get("FLATPAK_XDG_DATA_HOME") or data_folder(environment, home)) / "zed",
        home / "Library" / "Application Support" / "Zed",
    ]
    if local := environment.get("LOCALAPPDATA"):
        folders.append(Path(local) / "Zed")
    for folder in folders:
        yield Place(folder / "threads", ("threads.db",))
    yield Place(home / ".var" / "app", ("dev.zed.Zed*/data/zed/threads/threads.db",))


def _unfold(row: Any) -> tuple[str, Any]:
    """The thread's id, and what it holds."""
    try:
        return f"{mapping(row).get('id')}", loads(plain(mapping(row).get("data")) or b"")
    except Unreadable:
        return "", None


def _payload(unfolded: tuple[str, Any], event: Event) -> Any:
    """The message whose number stands in the key, out of the whole thread."""
    name, thread = unfolded
    number = event.key.removeprefix(name).partition(":")[2].partition(":")[0]
    messages = listing(mapping(thread).get("messages"))
    return messages[int(number)] if number.isdecimal() and int(number) < len(messages) else thread


reader = Reader(
    name=_AGENT,
    agent=_AGENT,
    title="Zed",
    claims=_claims,
    decoder=Database,
    places=_places,
    rows=_rows,
    unfold=_unfold,
    payload=_payload,
)
