"""Cursor's older transcripts: text, with a line for whose turn it is and marks in what the model did.

user:
<user_query>
what was typed
</user_query>

assistant:
[Thinking] what it thought
[Tool call] Read
  path: src/main.py
[Tool result] Read
  what came of it
what it said
"""

import re
from typing import Any

from unspool.actions import vocabulary_for
from unspool.dialect import Head, Record
from unspool.model import Event, Facts, Note
from unspool.model.event import AgentMessage, Notification, Said, Thinking, ToolOutput, User
from unspool.readers.calls import arguments_of, call_of
from unspool.readers.cursor.places import project_in, whereabouts
from unspool.readers.cursor.prompts import parted
from unspool.readers.cursor.transcript import AGENT
from unspool.readers.log import Log
from unspool.sources.jsontext import Unreadable, loads

_ROLES = frozenset(("user:", "assistant:", "system:"))
_MARK = re.compile(r"\[(Thinking|Tool call|Tool result)\] ?(.*)")
_MARKS = ("<user_query>", "[Thinking]", "[Tool call] ", "[Tool result]")
_ARGUMENT = re.compile(r"([A-Za-z_][\w-]*)(?:: ?|=)(.*)")


def claims(head: Head) -> bool:
    first = head.text.lstrip("\ufeff \r\n").partition("\n")[0].rstrip()
    if first not in _ROLES:
        return False
    return any(mark in head.text for mark in _MARKS) or "agent-transcripts" in head.path


class PlainTranscript:
    def __init__(self, path: str) -> None:
        self._where = whereabouts(path)
        self._log = Log(AGENT, self._where.session)
        self._vocabulary = vocabulary_for(AGENT)
        self._role = ""
        self._mark = ""
        """What the lines that come belong to: a mark's name, or nothing for what was said."""
        self._head = ""
        """What stands on the line of the mark."""
        self._lines: list[str] = []
        self._begun = 0
        self._before = 0
        self._open: list[tuple[str, str]] = []
        """Calls of this turn without a result: their names and ids."""

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        number = record.origin.line
        line = record.data.decode("utf-8", "replace").rstrip("\r")
        blank = number - self._before - 1 if self._lines or self._mark else 0
        self._before = number
        if line in _ROLES:
            self._flush()
            self._role = line[:-1]
            if self._role == "user":
                self._open = []
        elif self._role == "assistant" and (mark := _MARK.match(line)):
            self._flush()
            self._mark, self._head = mark[1], mark[2]
        elif not self._role:
            self._log.origin = record.origin
            self._log.note("skipped", "a line before the first turn")
            return self._log.take()
        else:
            if self._ends_mark(line, blank):
                self._flush()
                blank = 0
            self._lines += [""] * blank
            self._lines.append(line)
        if not self._begun:
            self._begun = number
            self._log.origin = record.origin
        return self._log.take()

    def close(self) -> list[Event | Note]:
        self._flush()
        return self._log.take()

    def _ends_mark(self, line: str, blank: int) -> bool:
        """What belongs to a mark is indented; a thought that begins on the line of its mark is a paragraph."""
        if not self._mark or line[0] in " \t":
            return False
        return self._mark != "Thinking" or not self._head or blank > 0

    def _flush(self) -> None:
        """What was gathered is whole."""
        mark, head, lines, key = self._mark, self._head, self._lines, str(self._begun)
        self._mark, self._head, self._lines, self._begun = "", "", [], 0
        log = self._log
        facts = log.facts
        if mark == "Tool call":
            given = _arguments(lines)
            log.emit(call_of(self._vocabulary, head.strip(), given, key), key, self._where.stream)
            self._open.append((head.strip(), key))
            if facts.project is None and self._where.dashes is not None:
                facts.project = project_in(given, self._where.dashes)
        elif mark == "Tool result":
            log.emit(ToolOutput(self._answered(head.strip()), _dedented(lines), False), key, self._where.stream)
        elif mark == "Thinking":
            log.emit(Thinking("\n".join(filter(None, (head, _dedented(lines))))), key, self._where.stream)
        elif text := "\n".join(lines).strip():
            self._said(text, key)

    def _said(self, text: str, key: str) -> None:
        log, stream = self._log, self._where.stream
        if self._role == "assistant":
            log.emit(Said(text), key, stream)
        elif self._role == "system":
            log.emit(Notification(text, "system"), key, stream)
        else:
            prompt = parted(text)
            log.at(prompt.time)
            if prompt.shown:
                log.emit(Notification(prompt.shown, "context"), f"{key}:shown", stream)
            if prompt.typed:
                typed = "\n".join(prompt.typed)
                agent = self._where.agent
                log.emit(User(typed) if agent is None else AgentMessage(typed, None, agent), f"{key}:typed", stream)

    def _answered(self, name: str) -> str | None:
        """The id of the first call of that name that has no result yet; the log has no ids, so it is the call's key."""
        for at, (called, key) in enumerate(self._open):
            if called == name or not name:
                del self._open[at]
                return key
        return None


def _dedented(lines: list[str]) -> str:
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:] for line in lines).strip("\n")


def _arguments(lines: list[str]) -> Any:
    """`key: value` or `key=value` a line, where a value may go on in the next lines; or JSON; or a patch."""
    body = _dedented(lines)
    if not body:
        return {}
    if body.startswith("{"):
        return arguments_of(body)
    if body.startswith("*** Begin Patch"):
        return {"patch": body}
    found: dict[str, Any] = {}
    key = None
    for line in body.split("\n"):
        if not line.startswith((" ", "\t")) and (argument := _ARGUMENT.match(line)):
            key = argument[1]
            found[key] = argument[2]
        elif key is None:
            return {"raw": body}
        else:
            found[key] += f"\n{line}"
    return {key: _value(text) for key, text in found.items()}


def _value(text: str) -> Any:
    if text[:1] in ("[", "{"):
        try:
            return loads(text)
        except Unreadable:
            pass
    return text
