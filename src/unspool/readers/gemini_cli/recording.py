"""Recordings of Gemini CLI: a log that is only ever appended to.

    {"sessionId", "projectHash", "startTime", "kind": "main" | "subagent"}     first
    {"id", "type", …}                    a message; one with the same id takes the place of the one before
    {"$set": {"lastUpdated": …}}         changes of what the first line says; `messages` replaces all messages
    {"$rewindTo": id}                    that message and all behind it are taken back

What happened stays told. What was taken back was said all the same, and its tokens were paid for: a rewind is one more
event. A list that replaces all messages brings what is new in it. If it holds none of the messages that came before, or
a summary of them, the history was compressed: it is what the model is shown from there on, and nobody said it again.
"""

from pathlib import Path
from typing import Any

from unspool.dialect import Head, Record
from unspool.model import Event, Facts, Note
from unspool.model.event import Notification, Summary
from unspool.readers.gemini_cli.folder import folder_of, parent_of, project_of
from unspool.readers.gemini_cli.turns import Turns
from unspool.readers.genai import first_kept, is_snapshot
from unspool.readers.log import Log
from unspool.sources.values import listing, mapping, string, text_of

AGENT = "gemini_cli"


def claims(head: Head) -> bool:
    return not isinstance(mapping(head.document).get("messages"), list) and any(map(_is_record, head.lines))


def _is_record(line: dict[str, Any]) -> bool:
    if "projectHash" in line:
        return isinstance(line.get("sessionId"), str)
    if len(line) == 1:
        return isinstance(line.get("$set"), dict) or isinstance(line.get("$rewindTo"), str)
    return line.get("type") == "gemini" and "id" in line and "content" in line


class Recording:
    def __init__(self, path: str) -> None:
        self._path = path
        self._log = Log(AGENT)
        self._turns = Turns(self._log, folder_of(path))

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        log, value = self._log, record.value
        log.origin = record.origin
        if value.__class__ is not dict:
            value = log.record(record)
        if value is None:
            pass
        elif "id" in value and log.session:  # nearly all that say something
            self._turns.message(value)
        else:
            self._record(value)
        return log.take() if log.out else []

    def _record(self, value: dict[str, Any]) -> None:
        if "id" in value:
            self._open({})
            self._turns.message(value)
        elif isinstance(changes := value.get("$set"), dict):
            if len(changes) > 1 or "lastUpdated" not in changes:  # every other line says only that
                self._change(changes)
        elif "$rewindTo" in value:
            self._rewind(value["$rewindTo"])
        elif "sessionId" in value:
            self._change(value)
        elif "type" in value:
            self._open({})
            self._turns.message(value)
        else:
            self._log.note("unknown", f"record with the keys {', '.join(list(value)[:5])}")

    def close(self) -> list[Event | Note]:
        self._turns.flush()
        return self._log.take()

    def _open(self, header: dict[str, Any]) -> None:
        """The session is named by the first line; should that be lost, by the file."""
        log, turns = self._log, self._turns
        if log.session:
            return
        name = string(header.get("sessionId")) or Path(self._path).stem
        parent = parent_of(self._path)
        log.session = parent or name
        if parent is not None:
            turns.belong(name, f"agent:{name}")
        elif header.get("kind") == "subagent":
            turns.belong(name)
        log.at(header.get("startTime"))
        facts = log.facts
        facts.project = project_of(self._path, string(header.get("projectHash")))
        if parent is None:
            facts.started = log.time

    def _change(self, changes: dict[str, Any]) -> None:
        self._open(changes)
        log = self._log
        if isinstance(messages := changes.get("messages"), list):
            self._replace(messages)
        directories = listing(changes.get("directories"))
        if log.facts.project is None and directories and isinstance(directories[0], str):
            log.facts.project = directories[0]
        if isinstance(summary := changes.get("summary"), str) and summary:
            log.facts.title = summary
            self._turns.flush()
            self._turns.emit(Summary(summary), f"{log.origin.line}:summary")

    def _replace(self, messages: list[Any]) -> None:
        turns = self._turns
        known = [turns.knows(mapping(message).get("id")) for message in messages]
        compressed = turns.begun and (not any(known) or any(map(_is_snapshot, messages)))
        for message in messages:
            if turns.awaits(mapping(message).get("id")):  # its words are still to be told: those of the list, then
                turns.message(message, "", history=True)
                break
        if compressed:
            turns.kept = first_kept(self._log, (message for message in messages if not _is_snapshot(message)))
        for at, message in enumerate(messages):
            rewritten = compressed and not known[at]
            turns.message(message, f"{self._log.origin.line}.{at}", history=True, rewritten=rewritten)

    def _rewind(self, name: Any) -> None:
        self._open({})
        self._turns.rewind(text_of(name))
        self._turns.emit(Notification(f"rewound to {text_of(name)}", "info"), f"{self._log.origin.line}:rewind")


def _is_snapshot(message: Any) -> bool:
    content = mapping(message).get("content")
    first = content[0] if isinstance(content, list) and content else content
    text = first.get("text") if isinstance(first, dict) else first
    return isinstance(text, str) and is_snapshot(text)


def unfold(value: Any) -> tuple[Any, dict[str, Any]]:
    """The record; of a list that replaced all messages, also each message by its id and those of its calls."""
    named: dict[str, Any] = {}
    for message in map(mapping, listing(mapping(mapping(value).get("$set", value)).get("messages"))):
        calls = (mapping(call).get("id") for call in listing(message.get("toolCalls")))
        for name in (message.get("id"), *calls):
            named.setdefault(str(name), message)
    return value, named


def payload(unfolded: tuple[Any, dict[str, Any]], event: Event) -> Any:
    """The message of such a list that the event came from: its key begins with the id."""
    value, named = unfolded
    if named:
        begin, *parts = event.key.removeprefix(f"{event.stream_id.removeprefix('agent:')}:").split(":")
        for part in (*parts, ""):
            if begin in named:
                return named[begin]
            begin = f"{begin}:{part}"
    return value
