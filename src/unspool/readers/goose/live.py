"""Goose's live stream: `goose run --output-format stream-json`.

{"type": "message", "message": {"id", "role", "created", "content": […]}}      the model's words come in pieces
{"type": "notification", "extension_id", "log": {"message"} | "progress": …}   what extensions and sub-agents tell
{"type": "error", "error"}        {"type": "complete", "total_tokens", "input_tokens", "output_tokens"}
"""

from pathlib import Path
from typing import Any

from unspool.dialect import Head, Record
from unspool.model import Event, Facts, Note, Origin
from unspool.model.event import Notification, Said, Thinking, TokenUsage, TurnEnd
from unspool.readers.goose.messages import AGENT, Messages
from unspool.readers.log import Log
from unspool.sources.values import count, listing, mapping, string, text_of

_PIECES: dict[str, type[Said | Thinking]] = {"text": Said, "thinking": Thinking}
"""Blocks that come in pieces, and what they are; their text stands under their name."""


def claims(head: Head) -> bool:
    return any(map(_is_event, head.lines))


def _is_event(line: dict[str, Any]) -> bool:
    match line:
        case {"type": "message", "message": {"role": "user" | "assistant", "created": _, "content": list()}}:
            return True
        case {"type": "notification", "extension_id": _}:
            return True
        case {"type": "complete", "total_tokens": _}:
            return True
    return False


class Stream:
    def __init__(self, path: str) -> None:
        self._log = Log(AGENT)
        self._messages = Messages(self._log)
        self._messages.enter(Path(path).name.partition(".")[0])
        self._pieces: list[str] = []
        self._of: tuple[str, str] = ("", "")
        """The message that the pieces are of, and the kind of their block."""
        self._begun: tuple[Origin, str | None] = (self._log.origin, None)
        self._failed: tuple[str, str] | None = None
        """What went wrong, and the key of its event, until the turn is over: `complete` comes behind errors too."""

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        value = self._log.value(record)
        if isinstance(value, dict):
            self._read(value, str(record.origin.line))
        elif value is not None:
            self._log.note("skipped", "no object")
        return self._log.take()

    def close(self) -> list[Event | Note]:
        self._flush()
        self._fail()
        self._messages.close()
        return self._log.take()

    def _read(self, value: dict[str, Any], key: str) -> None:
        if value.get("type") == "message":
            self._fail()
            self._message(mapping(value.get("message")), key)
            return
        self._flush()
        match value.get("type"):
            case "notification":
                self._noticed(value, key)
            case "error":
                error = text_of(mapping(value.get("error")).get("message") or value.get("error"))
                self._fail()
                self._log.emit(Notification(error, "error"), key)
                self._failed = error, f"{key}:end"
            case "complete":
                given, answered = count(value.get("input_tokens")), count(value.get("output_tokens"))
                if given or answered:
                    usage = TokenUsage(self._log.facts.model, given, 0, 0, answered, 0, apart=True)
                    self._log.emit(usage, f"{key}:usage")
                if not self._fail():
                    self._log.emit(TurnEnd("completed"), key)
            case kind:
                self._log.note("unknown", f"record type {kind!r}")

    def _fail(self) -> bool:
        """The end of a turn in which something went wrong, if there was such."""
        failed, self._failed = self._failed, None
        if failed is not None:
            self._log.emit(TurnEnd("failed", text=failed[0]), failed[1])
        return failed is not None

    def _message(self, message: dict[str, Any], key: str) -> None:
        """Pieces of one text share the id of their message."""
        blocks = listing(message.get("content"))
        kind = text_of(mapping(blocks[0]).get("type")) if len(blocks) == 1 else ""
        name = string(message.get("id"))
        if message.get("role") == "assistant" and name is not None and kind in _PIECES:
            if self._of != (name, kind):
                self._flush()
                self._messages.reveal()
                self._log.at(message.get("created"))
                self._of, self._begun = (name, kind), (self._log.origin, self._log.time)
            self._messages.learn(mapping(message.get("metadata")))
            self._pieces.append(text_of(blocks[0].get(kind)))
            return
        self._flush()
        self._messages.read({**message, "id": None}, key)

    def _flush(self) -> None:
        if self._pieces:
            log, here = self._log, (self._log.origin, self._log.time)
            log.origin, log.time = self._begun
            if text := "".join(self._pieces):
                log.emit(_PIECES[self._of[1]](text), f"{log.origin.line}:{self._of[1]}")
            log.origin, log.time = here
        self._pieces, self._of = [], ("", "")

    def _noticed(self, value: dict[str, Any], key: str) -> None:
        told = text_of(mapping(value.get("log")).get("message") or mapping(value.get("progress")).get("message"))
        if told:
            self._log.emit(Notification(told, "info"), key)
