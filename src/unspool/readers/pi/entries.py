"""Session files of Pi and of the agents built on it: a header, then entries that name the entry before them.

    {"type": "session", "version": 3, "id": …, "cwd": …}
    {"type": "message", "id": "a1", "parentId": null, "message": {"role": "user", …}}
    {"type": "message", "id": "b2", "parentId": "a1", "message": {"role": "assistant", …}}

The entries are a tree: who goes back and asks again begins a branch. All branches stand in the file in the order in
which they happened, and so they are told: what was left behind was said and paid for too. What was asked anew says in
whose place it is. Version 1 has no ids.
"""

import os
from collections.abc import Callable, Container, Iterable
from pathlib import Path
from typing import Any, ClassVar, TypeGuard

from unspool.dialect import Record
from unspool.model import MAIN, Event, Facts, Note
from unspool.model.event import AgentSpawn, Compacted, Notification, Said, Summary, Thinking, ToolCall, User
from unspool.readers.blocks import content_text
from unspool.readers.branches import Branches
from unspool.readers.log import Log
from unspool.readers.pi.messages import Messages
from unspool.readers.repeats import Repeats
from unspool.sources.values import clock, count, listing, mapping, string, text_of

_STATE = frozenset(
    # What extensions keep for themselves, settings and bookmarks: nobody said it, and no model saw it.
    "thinking_level_change label service_tier_change credential_pin ttsr_injection archive context_transform "
    "context_edit leaf child_usage_attributed session_state agent_status".split()
)
_HEADERS = ("session", "title")
_ROOT, _UNKNOWN = "", 0
"""What the first entry follows, and what one follows that does not say."""


class Entries:
    """`others` are sessions that are kept in the same place; those in files stand beside this one."""

    def __init__(self, agent: str, path: str, others: Container[str] = ()) -> None:
        file = Path(path)
        self._folder, self._others = file.parent, others
        name = _session_of(file.name)
        self._log = Log(agent, name)
        self._messages = Messages(self._log)
        self._stream, self._prefix = MAIN, ""
        above = next((folder for folder in (*file.parents,)[:3] if Path(f"{folder}.jsonl").is_file()), None)
        self._nested = above is not None
        if above is not None:  # sub-agents are kept in a folder of the session's name
            name = name if above == file.parent else str(file.parent.relative_to(above).as_posix())
            self._log.session = _session_of(above.name)
            self._stream, self._prefix = f"agent:{name}", f"{name}:"
        self._repeats = Repeats()
        self._branches = Branches()
        self._spoken: list[tuple[str | None, str | None]] = []
        """For each entry its id and that of its first event, if it has one that a compaction may keep."""
        self._forked: str | None = None
        """When, if it began with a copy of another session that is at hand: what is older was paid for there."""

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> Iterable[Event | Note]:
        log = self._log
        value = log.record(record)
        if value is None:
            return log.take()
        self._tell(value, record)
        items, name, before = log.take(), string(value.get("id")), value.get("parentId", _UNKNOWN)
        self._spoken.append((name, next((item.id for item in items if _begins(item)), None)))
        if name is None or value.get("type") in _HEADERS:
            return items
        return self._branches.told(name, _ROOT if before is None else string(before), items)

    def _tell(self, value: dict[str, Any], record: Record) -> None:
        kind = value.get("type")
        tell = self._TYPES.get(kind) if isinstance(kind, str) else None
        if tell is None:
            if not isinstance(kind, str) or kind not in _STATE:
                self._log.note("unknown", f"record type {kind!r}")
            return
        key = self._repeats.key(value.get("id"), record) if kind not in _HEADERS else ""
        if key is not None:
            self._log.at(value.get("timestamp"))
            tell(self, value, self._prefix + key)

    def close(self) -> Iterable[Event | Note]:
        return self._log.take()

    def _header(self, value: dict[str, Any], _key: str) -> None:
        log = self._log
        if self._nested:
            _ = log.facts
            return
        log.session = string(value.get("id")) or log.session
        facts = log.facts
        facts.project = string(value.get("cwd")) or facts.project
        facts.started = clock(value.get("timestamp")) or facts.started
        facts.title = string(value.get("title")) or facts.title
        facts.branch = string(mapping(value.get("git")).get("branch")) or facts.branch
        if isinstance(value.get("modelId"), str):
            self._messages.switched(value["modelId"], "model")
        if origin := string(value.get("parentSession", value.get("branchedFrom"))):
            original = origin.replace("\\", "/").rpartition("/")[2]
            facts.parent = _session_of(original)
            beside = self._folder / original  # which may be a name that no file can have
            if facts.parent in self._others or os.path.isfile(beside):  # noqa: PTH113
                self._forked = clock(value.get("timestamp"))
        log.at(value.get("timestamp"))

    def _message(self, value: dict[str, Any], key: str) -> None:
        message = value.get("message")
        if "timestamp" not in value and isinstance(message, dict):
            self._log.at(message.get("timestamp"))
        if isinstance(message, dict) and "usage" in message and self._is_copy():
            message = {name: told for name, told in message.items() if name != "usage"}
        self._messages.read(message, key, self._stream)

    def _is_copy(self) -> bool:
        return self._forked is not None and (self._log.time or self._forked) < self._forked

    def _model(self, value: dict[str, Any], key: str) -> None:
        model = value.get("modelId")
        if not isinstance(model, str):  # Oh My Pi: one text, and models for other work than answering
            model = text_of(value.get("model")).partition("/")[2] or text_of(value.get("model"))
        if model and value.get("role") in (None, "default"):
            self._messages.switched(model, key, self._stream)

    def _compacted(self, value: dict[str, Any], key: str) -> None:
        before = count(value.get("tokensBefore")) or None
        content = Compacted(text_of(value.get("summary")), string(value.get("method")), before, self._kept(value))
        self._log.emit(content, key, self._stream)
        self._aside({"model": self._messages.model, **value}, key)

    def _kept(self, value: dict[str, Any]) -> str | None:
        """What the model still sees begins with an entry that is named, in version 1 by its place."""
        at, name = value.get("firstKeptEntryIndex"), value.get("firstKeptEntryId")
        if not isinstance(at, int):
            at = next((at for at, (entry, _) in enumerate(self._spoken) if entry == name), len(self._spoken))
        return next((event for _, event in self._spoken[max(at, 0) :] if event), None)

    def _cleared(self, _value: dict[str, Any], key: str) -> None:
        self._log.emit(Compacted(trigger="clear"), key, self._stream)

    def _summary(self, value: dict[str, Any], key: str) -> None:
        self._log.emit(Summary(text_of(value.get("summary"))), key, self._stream)
        self._aside({"model": self._messages.model, **value}, key)

    def _shown(self, value: dict[str, Any], key: str) -> None:
        self._log.emit(Notification(content_text(value.get("content")), "context"), key, self._stream)

    def _custom(self, value: dict[str, Any], key: str) -> None:
        """State of an extension; of OpenClaw's, errors are for people too."""
        data = mapping(value.get("data"))
        if text_of(value.get("customType")).endswith("-error"):
            told = data.get("error") or data.get("message") or data
            self._log.emit(Notification(text_of(told), "error"), key, self._stream)
        elif value.get("customType") == "model-snapshot" and isinstance(data.get("modelId"), str):
            self._messages.switched(data["modelId"], key, self._stream)

    def _ephemeral(self, value: dict[str, Any], key: str) -> None:
        """What a single request carried beside the conversation."""
        for at, message in enumerate(listing(value.get("messages"))):
            shown = Notification(content_text(mapping(message).get("content")), "context")
            self._log.emit(shown, f"{key}:{at}", self._stream)

    def _named(self, value: dict[str, Any], _key: str) -> None:
        if not self._nested:
            self._log.facts.title = string(value.get("name", value.get("title"))) or self._log.facts.title

    def _moved(self, value: dict[str, Any], _key: str) -> None:
        """Prime looks at the repository again whenever a turn begins."""
        if not self._nested:
            facts = self._log.facts
            facts.branch = string(mapping(value.get("git")).get("branch")) or facts.branch

    def _begun(self, value: dict[str, Any], key: str) -> None:
        """How a sub-agent was started."""
        if self._nested:
            agent = self._prefix.rstrip(":")
            spawn = AgentSpawn(agent, None, string(value.get("agent")), string(value.get("task")))
            self._log.emit(spawn, f"{key}:spawn")
        prompt = value.get("systemPrompt")
        if prompt:
            self._log.emit(Notification(content_text(prompt), "system"), key, self._stream)

    def _aside(self, value: dict[str, Any], key: str) -> None:
        """Tokens that no answer of the conversation took: to sum it up, to keep a cache warm."""
        if not self._is_copy():
            self._messages.used(value.get("usage"), value.get("model"), key, self._stream)

    def _mode(self, value: dict[str, Any], key: str) -> None:
        self._log.emit(Notification(f"mode: {text_of(value.get('mode'))}", "info"), key, self._stream)

    _TYPES: ClassVar[dict[str, Callable[["Entries", dict[str, Any], str], None]]] = {
        "session": _header,
        "message": _message,
        "model_change": _model,
        "compaction": _compacted,
        "branch_summary": _summary,
        "custom_message": _shown,
        "custom": _custom,
        "ephemeral": _ephemeral,
        "session_info": _named,
        "title": _named,
        "title_change": _named,
        "session_init": _begun,
        "git_state": _moved,
        "model_usage": _aside,
        "usage": _aside,
        "mode_change": _mode,
        "reset_boundary": _cleared,
        "reset": _cleared,
    }


def _begins(item: Event | Note) -> TypeGuard[Event]:
    return isinstance(item, Event) and isinstance(item.content, User | Thinking | Said | ToolCall)


def _session_of(name: str) -> str:
    """The id in a file's name: `<time>_<id>.jsonl`, or `<id>.jsonl.deleted.<time>`."""
    return name.partition(".jsonl")[0].rpartition("_")[2]
