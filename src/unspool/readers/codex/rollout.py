"""A thread's log, `rollout-<time>-<thread>.jsonl`, line by line. Its lines are of three generations:

{"id", "timestamp", "instructions"}, {"record_type": "state"}, {"type": "message", …}     until September 2025
{"timestamp", "type": "response_item", "payload": {"type": "message", …}}                 since
{…, "ordinal": 7, "metadata": {…}}                                                        since 2026
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from unspool.dialect import Record
from unspool.model import Event, Facts, Note, Origin
from unspool.model.event import Compacted, Notification, Said, User
from unspool.readers.codex.copied import Copied, comes_from_another, may_repeat, parent_of
from unspool.readers.codex.happenings import Happenings
from unspool.readers.codex.items import Items
from unspool.readers.codex.reverted import kept_of
from unspool.readers.codex.texts import asked_in, told
from unspool.readers.codex.thread import Thread
from unspool.sources.jsontext import Unreadable, loads
from unspool.sources.records import read_lines
from unspool.sources.storage import noticed
from unspool.sources.values import listing, mapping, string, text_of

_NAME = re.compile(r"rollout-[\dT-]{19}-(.+?)\.jsonl")
_PASSED_OVER = frozenset(
    (
        "world_state",  # what the model knew of its surroundings, which its messages say too
        "inter_agent_communication_metadata",  # a flag beside a message
        "retained_context",  # answers of the person, which outputs say too
        "dynamic_tools_updated",  # what the model may call, which the log does not tell otherwise either
        "security_risk_score",
        "agent_response_observation",
    )
)
_SERVING = ("subagent", "guardian_review", "memory_consolidation")
"""Kinds of threads that no person speaks with."""
_UNSPOKEN = ("realtime_session_started", "realtime_session_closed", "bem_item_promoted")


class Rollout:
    """Reads one thread."""

    def __init__(self, path: str, follows: bool = True) -> None:
        """`follows`: which turns of another file were taken back is looked up there."""
        name = Path(path).name
        self._follows = follows
        found = _NAME.match(name)
        self._path = path
        self._thread = Thread(found[1] if found else name.partition(".")[0])
        self._thread.tells_patches = True
        self._log = self._thread.log
        self._outbox = self._thread.outbox
        self._items = Items(self._thread)
        self._happenings = Happenings(self._thread, self._items)
        self._header: dict[str, Any] | None = None
        self._began = 0
        """The line of the header."""
        self._copied: Copied | None = None
        """While it is not yet certain that the thread speaks for itself."""
        self._unsure: list[tuple[Origin, dict[str, Any]]] = []

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> Iterable[Event | Note]:
        log, line = self._log, record.value
        log.origin = record.origin
        if line is None:
            line = log.value(record)
        if line.__class__ is not dict:
            if line is not None:
                log.note("skipped", "a line that is no object")
        elif self._copied is None:
            self._read(line)
        else:
            self._sort(self._copied, line)
        return log.take() if log.out else ()

    def close(self) -> Iterable[Event | Note]:
        self._tell_unsure()  # should more come, it may still be a copy
        self._outbox.close()
        return self._log.take()

    def _read(self, line: dict[str, Any]) -> None:
        kind, payload = line.get("type"), line.get("payload")
        if payload.__class__ is dict:
            log, time = self._log, line.get("timestamp")
            if time.__class__ is str and len(time) == 24 and time[23] == "Z":  # nearly always
                log.time = time
            else:
                log.at(time)
            if "ordinal" in line:
                self._thread.itemised = True
            if kind == "response_item":
                self._items.read(payload)
            elif kind == "event_msg":
                self._happenings.read(payload)
            elif kind.__class__ is str and (handler := self._HANDLERS.get(kind)) is not None:
                handler(self, payload)
            elif text_of(kind) not in _PASSED_OVER:
                self._log.note("unknown", f"record type {kind!r}")
        elif "payload" in line:
            self._log.note("odd", f"a record of type {kind!r} whose payload is no object")
        else:
            self._bare(line)

    def _bare(self, line: dict[str, Any]) -> None:
        """A line of the first generation: an item without an envelope."""
        if "type" in line:
            self._items.read(line)
        elif "id" in line and "timestamp" in line:
            self._log.at(line["timestamp"])
            self._meta(line)
        elif "record_type" not in line:
            self._log.note("skipped", "an object that is no record")

    # the header

    def _meta(self, header: dict[str, Any]) -> None:
        if self._header is not None:
            self._again(header)
            return
        self._header, self._began = header, self._log.origin.line
        thread, log = self._thread, self._log
        thread.id = string(header.get("id")) or log.session
        log.session = thread.id
        if _is_agent(header):
            root = string(header.get("session_id"))
            log.session = root if root and root != thread.id else parent_of(header) or thread.id
        if log.session != thread.id:
            thread.is_agent = True
            self._outbox.stream = f"agent:{thread.id}"
            self._outbox.prefix = f"{thread.id}:"
        elif header.get("history_base"):
            self._outbox.prefix = f"{log.time}:"  # the thread goes on in this file, whose lines begin at 1 again
            self._take_back(header)
        thread.tally.inherits = comes_from_another(header)
        if header.get("history_mode") == "paginated":
            thread.itemised = True
        if may_repeat(header):
            self._copied = Copied(header)
        self._learn(header)
        if text := text_of(mapping(header.get("base_instructions")).get("text")):
            self._outbox.say(Notification(text, "system"))

    def _learn(self, header: dict[str, Any]) -> None:
        facts = self._log.facts
        facts.project = _text(header.get("cwd")) or facts.project
        facts.version = _text(header.get("cli_version")) or facts.version
        facts.branch = _text(mapping(header.get("git")).get("branch")) or facts.branch
        if not self._thread.is_agent:
            time, self._log.time = self._log.time, None
            self._log.at(header.get("timestamp"))
            facts.started, self._log.time = self._log.time, time or self._log.time
            facts.parent = _text(header.get("forked_from_id"))
            facts.title = _titles(self._path).get(self._thread.id, facts.title)

    def _take_back(self, header: dict[str, Any]) -> None:
        """The turns that the person took back by going on in this file."""
        kept = kept_of(self._path, header) if self._follows else None
        if kept is None:
            return
        file, end = kept
        try:
            for told in Rollout(file, follows=False)._whole():
                if isinstance(told, Event) and isinstance(told.content, User) and told.origin.offset >= end:
                    self._log.take_back(told.key)
                    return
        except OSError:
            return

    def _whole(self) -> Iterator[Event | Note]:
        """All that its file tells."""
        for record in read_lines(self._path):
            if isinstance(record, Record):
                yield from self.feed(record)
        yield from self.close()

    def _again(self, header: dict[str, Any]) -> None:
        """A second header: the same again, or, right behind the first, that of the thread that was copied."""
        other = string(header.get("id"))
        if other == self._thread.id:
            return
        if self._header is not None and self._log.origin.line == self._began + 1:
            self._copied = Copied(self._header)
            self._copied.found = True
            self._thread.tally.inherits = True
            self._log.facts.parent = self._log.facts.parent or other
        else:
            self._log.note("odd", "the header of another thread, among the records of this one")

    # the copied part

    def _sort(self, copied: Copied, line: dict[str, Any]) -> None:
        """A record that may be another thread's: copied records are passed over, but for the tokens they count."""
        if copied.found and mapping(line.get("payload")).get("type") == "token_count":
            self._inherit(self._log.origin, line)  # the first of its own comes behind its first answer
            return
        verdict = copied.verdict(line)
        if verdict or copied.ends_before:
            for origin, earlier in self._unsure:
                self._inherit(origin, earlier)
            self._unsure.clear()
        match verdict:
            case True:
                self._inherit(self._log.origin, line)
            case False:
                self._unsure.append((self._log.origin, line))
                self._resume()
            case None:
                self._unsure.append((self._log.origin, line))

    def _inherit(self, _origin: Origin, line: dict[str, Any]) -> None:
        payload = mapping(line.get("payload"))
        if payload.get("type") == "token_count":
            self._thread.tally.inherit(mapping(payload.get("info")))

    def _resume(self) -> None:
        """From here on the thread speaks for itself."""
        self._copied = None
        self._tell_unsure()

    def _tell_unsure(self) -> None:
        unsure, self._unsure = self._unsure, []
        for origin, line in unsure:
            self._log.origin = origin
            self._read(line)

    # other records

    def _turn(self, context: dict[str, Any]) -> None:
        facts = self._log.facts
        if facts.project is None:
            facts.project = _text(context.get("cwd"))
        self._thread.runs(context.get("model"))

    def _usage(self, record: dict[str, Any]) -> None:
        self._outbox.go_on()
        thread = record.get("thread_id")
        if isinstance(thread, str) and self._header is not None and thread != self._thread.id:
            return  # copied from another
        usage = self._thread.tally.recorded(record, self._thread.model)
        if usage is not None:
            self._outbox.say(usage)

    def _compacted(self, record: dict[str, Any]) -> None:
        self._outbox.go_on()
        text, before = text_of(record.get("message")), self._thread.tally.context
        history = map(mapping, listing(record.get("replacement_history")))
        asked: list[str] = []
        around: list[str] = []
        for content in [item.get("content") for item in history if item.get("role") == "user"]:
            if words := asked_in(content):
                asked += words
            else:
                around += (shown.text for shown in told(content) if isinstance(shown, Notification))
        known = (self._log.id_of(self._thread.shown.get(hash(text))) for text in around)
        prompts = (*filter(None, known), *self._log.prompts_of(asked))
        self._thread.compacted(Compacted(text, tokens_before=before, prompts=prompts), is_echo=False)

    def _spoken(self, record: dict[str, Any]) -> None:
        """Of a conversation by voice, what was said."""
        match record:
            case {"type": "transcript_segment", "role": "user", "text": str(words)}:
                self._thread.hears = True
                self._outbox.say(User(words))
            case {"type": "transcript_segment", "role": "assistant", "text": str(words)}:
                self._outbox.say(Said(words))
            case {"type": kind} if kind in _UNSPOKEN:
                pass
            case _:
                self._log.note("unknown", f"realtime item type {record.get('type')!r}")

    def _told(self, letter: dict[str, Any]) -> None:
        self._items.agent_message(letter)

    _HANDLERS: ClassVar[dict[str, Callable[["Rollout", dict[str, Any]], None]]] = {
        "turn_context": _turn,
        "session_meta": _meta,
        "token_usage_record": _usage,
        "compacted": _compacted,
        "inter_agent_communication": _told,
        "realtime_item": _spoken,
    }


def _is_agent(header: dict[str, Any]) -> bool:
    """Whether a thread works for another; one that people forked from another does not."""
    source, kind = header.get("source"), header.get("thread_source")
    if kind in _SERVING or not mapping(source).keys().isdisjoint(("subagent", "internal")):
        return True
    return source == "subagent" or (source is None and kind is None)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _titles(path: str) -> dict[str, str]:
    """Names that people gave their threads; Codex keeps them in one file beside the folder of sessions."""
    for folder in Path(path).parents:
        if folder.name in ("sessions", "archived_sessions"):
            index = folder.parent / "session_index.jsonl"
            try:
                return _read_titles(index, index.stat().st_mtime_ns)
            except OSError:
                return {}
    return {}


@lru_cache(maxsize=4)
def _read_titles(index: Path, _changed: int) -> dict[str, str]:
    titles: dict[str, str] = {}
    for line in noticed(index).read_bytes().splitlines():
        try:
            entry = mapping(loads(line))
        except Unreadable:
            continue
        if isinstance(entry.get("id"), str) and isinstance(entry.get("thread_name"), str):
            titles[entry["id"]] = entry["thread_name"]
    return titles
