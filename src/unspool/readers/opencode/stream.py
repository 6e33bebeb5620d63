"""OpenCode live: what `opencode run --format json` prints, and the events of its server.

{"type": "tool_use", "timestamp": …, "sessionID": …, "part": {part}}            only what is finished
{"type": "message.part.updated", "properties": {"part": {part}, …}}             whatever changed, again and again
{"type": "session.text.ended", "data": {"text": …, …}}                          the same since version 2
"""

from collections.abc import Callable
from typing import Any

from unspool.dialect import Head, Record
from unspool.model import Event, Facts, Note
from unspool.model.event import TurnEnd
from unspool.readers.log import Log
from unspool.readers.opencode.conversation import AGENT, Conversation, Message
from unspool.readers.opencode.second import Second, is_of_second
from unspool.sources.values import mapping, number, string, text_of

_PRINTED = {
    "step_start": "step-start",
    "text": "text",
    "reasoning": "reasoning",
    "tool_use": "tool",
    "step_finish": "step-finish",
}
"""Types of events that `opencode run` prints, and the type of the part that each holds."""
_GROWING = ("text", "reasoning")
_WORK = ("session.", "message.")
_TWICE = "session.next."
"""Events of version 2, which a server of version 1 sends beside its own."""
_HEARD = frozenset(
    # Of the server, its surroundings and its questions: nothing that a session keeps.
    "session.status session.idle session.diff session.deleted session.compacted message.removed "
    "message.part.removed session.turn.open session.turn.close".split()
)


def claims(head: Head) -> bool:
    return any(map(_is_printed, head.lines)) or any(map(_is_heard, head.lines))


def _is_printed(line: dict[str, Any]) -> bool:
    if not isinstance(line.get("sessionID"), str) or "timestamp" not in line:
        return False
    return isinstance(line.get("part"), dict) or (line.get("type") == "error" and "error" in line)


def _is_heard(line: dict[str, Any]) -> bool:
    event = _event(line)
    told = mapping(event.get("properties"))
    if is_of_second(event):
        return True
    return text_of(event.get("type")).startswith(_WORK) and ("sessionID" in told or "info" in told or "part" in told)


def _event(line: dict[str, Any]) -> dict[str, Any]:
    """The server sends those of all its folders wrapped."""
    inner = line.get("payload")
    return inner if isinstance(inner, dict) else line


class Stream:
    def __init__(self, _path: str) -> None:
        self._log = Log(AGENT)
        self._conversation = Conversation(self._log, live=True)
        self._messages: dict[str, Message] = {}
        self._waiting: dict[str, tuple[Message, dict[str, Any], list[str]]] = {}
        """Parts that still grow, by their ids, and the pieces of their texts."""
        self._cut: dict[str, tuple[int, Message, dict[str, Any]]] = {}
        """Those that were given out before their end, and how much of them."""
        self._prompts: list[Message] = []
        self._costs: dict[str, float] = {}
        """By session, so far."""
        self._ended: tuple[TurnEnd, str] | None = None
        """The end of a turn and its key, where words of the turn may still be printed."""
        self._second = Second(self._conversation, lambda kind, told: self._heard({"type": kind, "properties": told}))
        self._events: dict[str, Callable[[dict[str, Any]], None]] = {
            "session.created": self._session,
            "session.updated": self._session,
            "session.error": self._error,
            "message.updated": self._told,
            "message.part.updated": self._part,
            "message.part.delta": self._delta,
        }

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        line = self._log.record(record)
        if line is None:
            pass
        elif is_of_second(event := _event(line)):
            self._log.at(event.get("created"))
            self._second.read(event, str(record.origin.line))
        elif "properties" in line or "payload" in line:
            self._heard(event)
        elif "data" in line and "part" not in line:
            pass  # of the server and its surroundings
        else:
            self._printed(line)
        return self._log.take()

    def close(self) -> list[Event | Note]:
        self._settle()
        for message in self._messages.values():
            self._conversation.end(message)
        self._conversation.close()
        self._end()
        return self._log.take()

    def _printed(self, line: dict[str, Any]) -> None:
        self._log.at(line.get("timestamp"))
        kind, session = line.get("type"), string(line.get("sessionID")) or self._log.session
        key = str(self._log.origin.line)
        if kind in ("done", "step_start", "error"):
            self._end()
        if kind == "error":
            self._conversation.failed(session, line.get("error"), key)
            self._log.emit(TurnEnd("failed", cost_usd=self._costs.get(session)), f"{key}:end")
        elif isinstance(kind, str) and kind in _PRINTED:
            part = {"type": _PRINTED[kind], **_part(mapping(line.get("part")))}
            self._conversation.part(self._message(part, session, "assistant"), part)  # nothing of the person's is
            if kind == "step_finish":
                self._stepped(part, session, key)
        elif kind != "done":
            self._log.note("unknown", f"record type {kind!r}")

    def _stepped(self, part: dict[str, Any], session: str, key: str) -> None:
        """A step behind which the program does not go on ends the turn: what is printed has no other end."""
        cost = number(part.get("cost"))
        if cost is not None:
            self._costs[session] = self._costs.get(session, 0) + cost
        if part.get("reason") not in ("tool-calls", "unknown", None):
            self._end()
            self._ended = TurnEnd("completed", cost_usd=self._costs.get(session)), f"{key}:end"
            if "messageID" in part:  # who prints parts without ids prints texts last, and then `done`
                self._end()

    def _end(self) -> None:
        if self._ended is not None:
            self._log.emit(*self._ended)
            self._ended = None

    def _message(self, part: dict[str, Any], session: str, role: str = "") -> Message:
        """The message of a part; only the server's events tell of it beforehand."""
        key = string(part.get("messageID")) or str(self._log.origin.line)
        if key not in self._messages:
            guess = "user" if part.get("type") in _GROWING and "time" not in part else "assistant"
            self._begin(self._conversation.lost(key, session, role or guess))
        return self._messages[key]

    def _begin(self, message: Message) -> None:
        """Prompts are whole when the next message begins."""
        for prompt in self._prompts:
            self._conversation.end(prompt)
        self._prompts = [message] if message.role == "user" else []
        self._messages[message.id] = message

    def _heard(self, event: dict[str, Any]) -> None:
        kind = text_of(event.get("type"))
        told = mapping(event.get("properties"))
        if handler := self._events.get(kind):
            handler(told)
        elif kind.startswith(_WORK) and kind not in _HEARD and not kind.startswith(_TWICE):
            self._log.note("unknown", f"record type {kind!r}")
        if kind == "session.idle":
            self._settle()

    def _session(self, told: dict[str, Any]) -> None:
        if isinstance(info := told.get("info"), dict):
            self._conversation.session(info)

    def _error(self, told: dict[str, Any]) -> None:
        if session := string(told.get("sessionID")):
            self._conversation.failed(session, told.get("error"), str(self._log.origin.line))

    def _told(self, told: dict[str, Any]) -> None:
        info = mapping(told.get("info"))
        key = string(info.get("id"))
        if key is None:
            self._log.note("odd", "a message without an id")
        elif (known := self._messages.get(key)) is None:
            self._begin(self._conversation.message(info))
        else:
            self._conversation.tell(known, info)
            if mapping(info.get("time")).get("completed"):
                self._conversation.end(known)

    def _part(self, told: dict[str, Any]) -> None:
        part = mapping(told.get("part"))
        self._log.at(told.get("time"))
        session = string(part.get("sessionID") or told.get("sessionID")) or self._log.session
        message, key = self._message(part, session), string(part.get("id"))
        if key is None:
            self._conversation.part(message, part)
            return
        cut = self._cut[key][0] if key in self._cut else 0
        if _grows(part):
            self._waiting[key] = message, part, [text_of(part.get("text"))[cut:]]
            return
        self._waiting.pop(key, None)
        if cut:
            part = {**part, "text": text_of(part.get("text"))[cut:], "id": f"{key}:rest:{cut}"}
        self._conversation.part(message, part)

    def _delta(self, told: dict[str, Any]) -> None:
        key = string(told.get("partID"))
        if key is None or told.get("field") != "text":
            return
        if key in self._cut and key not in self._waiting:
            self._waiting[key] = *self._cut[key][1:], []
        if key in self._waiting:
            self._waiting[key][2].append(text_of(told.get("delta")))

    def _settle(self) -> None:
        """What waited longer than it should: it may have broken off."""
        for key, (message, part, pieces) in self._waiting.items():
            if part.get("type") in _GROWING:
                text, (cut, *_) = "".join(pieces), self._cut.get(key, (0,))
                self._cut[key] = cut + len(text), message, part
                if text:
                    self._conversation.part(message, {**part, "text": text, "id": f"{key}:rest:{cut}" if cut else key})
            else:
                self._conversation.part(message, part)
        self._waiting.clear()


def _part(part: dict[str, Any]) -> dict[str, Any]:
    """As version 2 prints a tool, its `id` is that of the call, and what it tells of itself stands one deeper."""
    if "partID" not in part:
        return part
    state = mapping(part.get("state"))
    told = mapping(mapping(state.get("metadata")).get("metadata"))
    return {**part, "id": part["partID"], "callID": part.get("id"), "state": {**state, "metadata": told}}


def _grows(part: dict[str, Any]) -> bool:
    """Whether more of it will come: the model's texts tell their end, tools their state."""
    if part.get("type") in _GROWING:
        time = part.get("time")
        return isinstance(time, dict) and "end" not in time
    return part.get("type") == "tool" and mapping(part.get("state")).get("status") == "pending"
