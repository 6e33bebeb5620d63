"""Recordings of Gemini CLI: a log that is only ever appended to.

    {"sessionId", "projectHash", "startTime", "kind": "main" | "subagent"}     first
    {"id", "type", …}                    a message; one with the same id takes the place of the one before
    {"$set": {"lastUpdated": …}}         changes of what the first line says; `messages` replaces all messages
    {"$rewindTo": id}                    that message and all behind it are taken back
    {"$patch": {"updates": [{"id", "content"}], "removeIds", "orderIds"}}     newer, in place of a list of all messages:
                                         those that are new stand before it, each in its line

What happened stays told. What was taken back was said all the same, and its tokens were paid for: a rewind is one more
event. A list that replaces all messages brings what is new in it. If it holds none of the messages that came before, or
a summary of them, the history was compressed: it is what the model is shown from there on, and nobody said it again.
"""

from pathlib import Path
from typing import Any

from unspool.dialect import Head, Record
from unspool.model import Event, Facts, Note, Origin
from unspool.model.event import Notification, Summary
from unspool.readers.gemini_cli.folder import folder_of, parent_of, project_of
from unspool.readers.gemini_cli.shapes import Changes, Line, Message, changes_of, line_of
from unspool.readers.gemini_cli.turns import Turns
from unspool.readers.genai import first_kept, is_snapshot
from unspool.readers.log import Log
from unspool.sources.values import listing, mapping, string, text_of

AGENT = "gemini_cli"
_CHANGES = ("$set", "$patch")
_BEAT = Changes()
"""Nothing but the time changed."""
_OPENS = "< \t\r\n"
"""With one of these a summary begins, and hardly a prompt."""


def claims(head: Head) -> bool:
    return not isinstance(mapping(head.document).get("messages"), list) and any(map(_is_record, head.lines))


def _is_record(line: dict[str, Any]) -> bool:
    if "projectHash" in line:
        return isinstance(line.get("sessionId"), str)
    if len(line) == 1:
        return any(isinstance(line.get(key), dict) for key in _CHANGES) or isinstance(line.get("$rewindTo"), str)
    return line.get("type") == "gemini" and "id" in line and "content" in line


class Recording:
    def __init__(self, path: str) -> None:
        self._path = path
        self._log = Log(AGENT)
        self._turns = Turns(self._log, folder_of(path))
        self._begun = False
        """The session has its name."""
        self._held: list[tuple[Origin, Message]] = []
        """A summary of all that came before, and messages behind it: what stands behind them tells what it left."""

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        log, line = self._log, record.value
        log.origin = record.origin
        if line.__class__ is not Line:
            line = self._opened(record)
        if line is None:
            pass
        elif line.id is not None and self._begun:  # nearly all that say something
            if self._held or (line.type == "user" and _is_snapshot(line)):
                self._held.append((record.origin, line))
            else:
                self._turns.message(line)
        elif line.changes is None or line.changes != _BEAT or not self._begun:
            self._line(line)
        elif self._held:  # every other line says only when it was written
            self._release()
        return log.take() if log.out else []

    def _opened(self, record: Record) -> Line | None:
        """A line that did not come in shape; what is neither a message nor a change is told right here."""
        value = self._log.record(record)
        if value is None:
            return None
        if "id" in value or isinstance(value.get("$set"), dict):
            return line_of(value)
        if isinstance(patch := value.get("$patch"), dict):
            self._patch(patch)
            return None
        self._release()
        if "$rewindTo" in value:
            self._rewind(value["$rewindTo"])
        elif "sessionId" in value:
            self._change(changes_of(value))
        elif "type" in value:
            return line_of(value)
        else:
            self._log.note("unknown", f"record with the keys {', '.join(list(value)[:5])}")
        return None

    def _line(self, line: Line) -> None:
        self._release()
        if line.id is None and line.changes is not None:
            self._change(line.changes)
        elif line.id is None and line.session_id is not None:
            self._change(line)
        else:
            self._open(None)
            self._turns.message(line)

    def close(self) -> list[Event | Note]:
        self._release()
        self._turns.flush()
        return self._log.take()

    def _open(self, opening: Changes | Line | None) -> None:
        """The session is named by the first line; should that be lost, by the file."""
        if self._begun:
            return
        self._begun = True
        log, turns = self._log, self._turns
        opening = opening or Changes()
        name = string(opening.session_id) or Path(self._path).stem
        parent = parent_of(self._path)
        log.session = parent or name
        if parent is not None:
            turns.belong(name, f"agent:{name}")
        elif opening.kind == "subagent":
            turns.belong(name)
        log.at(opening.start_time)
        facts = log.facts
        facts.project = project_of(self._path, string(opening.project_hash))
        if parent is None:
            facts.started = log.time

    def _change(self, changes: Changes | Line) -> None:
        self._open(changes)
        log = self._log
        if changes.messages is not None:
            self._replace(changes.messages)
        directories = listing(changes.directories)
        if log.facts.project is None and directories and isinstance(directories[0], str):
            log.facts.project = directories[0]
        if isinstance(summary := changes.summary, str) and summary:
            log.facts.title = summary
            self._turns.flush()
            self._turns.emit(Summary(summary), f"{log.origin.line}:summary")

    def _replace(self, messages: list[Message | None]) -> None:
        turns = self._turns
        known = [message is not None and turns.knows(message.id) for message in messages]
        compressed = turns.begun and (not any(known) or any(map(_is_snapshot, messages)))
        for message in messages:
            if message is not None and turns.awaits(message.id):  # its words are still to be told: those of the list
                turns.message(message, "", history=True)
                break
        if compressed:
            kept = (message.pieces for message in messages if message is not None and not _is_snapshot(message))
            turns.kept = first_kept(self._log, kept)
        for at, message in enumerate(messages):
            rewritten = compressed and not known[at]
            turns.message(message, f"{self._log.origin.line}.{at}", history=True, rewritten=rewritten)

    def _patch(self, patch: dict[str, Any]) -> None:
        """What became of the history. Without a summary, the last prompts among what was removed are taken back."""
        self._open(None)
        log, new = self._log, {message.id for _, message in self._held}
        if self._held:
            order = [name for name in listing(patch.get("orderIds")) if isinstance(name, str) and name not in new]
            self._turns.kept = log.first_prompt([f"{name}:user" for name in order])
            self._release(rewritten=True)
        else:
            self._turns.flush()
            log.take_back_these({f"{name}:user" for name in map(text_of, listing(patch.get("removeIds")))})
        for update in map(mapping, [patch, *listing(patch.get("updates"))]):
            if "content" in update and self._turns.knows(name := update.get("id")):
                kind = "user" if log.first_prompt([f"{name}:user"]) else "gemini"
                self._turns.message(Message(string(name), type=kind, content=update["content"]), history=True)

    def _release(self, rewritten: bool = False) -> None:
        """`rewritten`: they are what the model is shown from here on."""
        if not self._held:
            return
        held, self._held = self._held, []
        here = self._log.origin
        for self._log.origin, message in held:
            self._turns.message(message, history=rewritten, rewritten=rewritten)
        if rewritten:
            self._turns.flush()
        self._log.origin = here

    def _rewind(self, name: Any) -> None:
        self._open(None)
        self._turns.rewind(text_of(name))
        self._turns.emit(Notification(f"rewound to {text_of(name)}", "info"), f"{self._log.origin.line}:rewind")


def _is_snapshot(message: Message | None) -> bool:
    content = None if message is None else message.content
    first = content[0] if type(content) is list and content else content
    text = first.get("text") if type(first) is dict else first
    return type(text) is str and text[:1] in _OPENS and is_snapshot(text)


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
