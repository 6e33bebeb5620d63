"""Aider's chat history: Markdown, `.aider.chat.history.md` in the folder that it ran in, one run behind the other.

    # aider chat started at 2026-01-02 03:04:05     a run, and so a session: its time is its id
    > Aider v0.86.1                                 what the program said
    #### make it faster                             what a person typed
    the rest                                        what the model said

Aider ends its own lines, the first and the second kind, with two blanks. Where a run's do, lines without them that look
the same are the model's. What the program says in many lines has one mark, before the first of them, and the two blanks
behind the last; what the model says follows an empty line.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from unspool.actions.vocabulary import meaning
from unspool.dialect import Head, Place, Reader, Record
from unspool.model import Event, Facts, Meaning, Note, Origin
from unspool.model.action import FileWrite
from unspool.model.event import (
    Level,
    Notification,
    Said,
    SlashCommand,
    Thinking,
    TokenUsage,
    ToolCall,
    ToolOutput,
    User,
)
from unspool.readers.aider.edits import Edit, edits_in, whole_file
from unspool.readers.aider.thoughts import parted
from unspool.readers.log import Log
from unspool.sources.files import legible
from unspool.sources.values import clock, count

AGENT = "aider"
FILE = ".aider.chat.history.md"
_RUN = "# aider chat started at "
_BREAK = "  "
_MARKS = ("#", ">")
_NOTHING: list[Event | Note] = []
_TOKENS = re.compile(
    r"Tokens: ([\d.,]+[kM]?) sent"
    r"(?:, ([\d.,]+[kM]?) cache write)?(?:, ([\d.,]+[kM]?) cache hit)?, ([\d.,]+[kM]?) received"
)
_OLD_TOKENS = re.compile(r"([\d.,]+[kM]?) prompt tokens, ([\d.,]+[kM]?) completion tokens")
_MODEL = re.compile(r"(?:Main model|Models?): (\S+)(?=,| with | using |$)")
_EDITOR = re.compile(r"Editor model: (\S+)(?=,| with | using |$)")
_APPLIED = "Applied edit to "
_CONFIRMED = re.compile(r"\? \(Y\)es/\(N\)o[^\n]*\]: \w+\s*\Z")
"""A question of the program's, with what was answered: `Add file to the chat? (Y)es/(N)o [Yes]: skip`."""
_QUESTION = "# Question: "
"""What stands before a question of the user's, where `/help` passes it on."""
_LONG = 30
"""Nobody types so much of what was just said."""
_FAILED = re.compile(r"[\w.]*(?:Errors?|Exception)\b|litellm\.|Can't|Unable to|The LLM did not conform|Traceback")
_UNITS = {"k": 1_000, "M": 1_000_000}


def claims(head: Head) -> bool:
    return head.text.startswith(_RUN) or f"\n{_RUN}" in head.text


class History:
    def __init__(self, path: str) -> None:
        file = Path(path)
        self._project = legible(str(file.parent)) if file.name == FILE and file.is_absolute() else None
        self._log = Log(AGENT)
        self._runs: dict[str, int] = {}
        self._kind = ""
        """What the gathered lines are: `user`, `tool`, one thing that the program said in many `lines`, or `model`."""
        self._lines: list[str] = []
        self._origins: list[Origin] = []
        """Of the lines that the program said, each."""
        self._begun = Origin(path, 0, 0, 0)
        self._before = 0
        self._breaks: bool | None = None
        """Whether this run's own lines end in two blanks; None until one of them came."""
        self._open = False
        """The program is not done: the line with its two blanks is still to come."""
        self._asked = False
        """Somebody typed something in this run."""
        self._said = ""
        self._command = ""
        """The last that was typed."""
        self._editor: str | None = None
        """The model that carries out what an architect says."""
        self._carrying_out = False
        """It answers, and not the main model."""
        self._edits: list[Edit] | None = None
        """The edits in what was said that are not applied yet; None until somebody asks."""

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        line = record.data.decode("utf-8", "replace").rstrip("\r")
        number = record.origin.line
        blank = number - self._before - 1
        self._before = number
        if self._kind == "model" and line[:1] not in _MARKS:  # most lines of most histories
            if blank > 0:
                self._lines += [""] * blank
            self._lines.append(line)
            return _NOTHING
        if line.startswith(_RUN):
            self._flush()
            self._log.origin = record.origin
            self._run(line.removeprefix(_RUN).strip())
            return self._log.take()
        if not self._log.session:
            self._log.origin = record.origin
            self._log.note("skipped", "a line before the first run")
            return self._log.take()
        kind, text = self._kind_of(line, blank)
        if kind != self._kind or (kind == "user" and blank > 0):
            self._flush()
            self._kind, self._begun, self._origins = kind, record.origin, []
        elif kind in ("model", "lines"):
            self._lines += [""] * blank
        self._lines.append(text)
        if kind == "tool":
            self._origins.append(record.origin)
        return self._log.take()

    def close(self) -> list[Event | Note]:
        self._flush()
        return self._log.take()

    def _run(self, started: str) -> None:
        """Runs that began in the same second are counted."""
        name = re.sub(r"\s+", "T", started) or "unknown"
        number = self._runs[name] = self._runs.get(name, 0) + 1
        self._log.session = f"{name}-{number}" if number > 1 else name
        self._log.time = None
        self._log.at(started)
        facts = self._log.facts
        facts.started = clock(started)
        facts.project = self._project
        self._breaks = None
        self._open = False
        self._asked = False
        self._said, self._edits = "", None
        self._command = ""
        self._editor, self._carrying_out = None, False

    def _kind_of(self, line: str, blank: int) -> tuple[str, str]:
        own = line.endswith(_BREAK)
        for mark, kind in (("####", "user"), (">", "tool")):
            if line.startswith(f"{mark} ") or line == mark:
                if self._breaks is None and (own or kind == "user"):
                    self._breaks = own
                if own or not self._breaks:
                    self._open = False
                    return kind, line[len(mark) + 1 :].rstrip()
        if self._breaks and (self._open or (not blank and self._kind != "model")):
            text = line if self._open else line.removeprefix("> ")
            self._open = not own
            return "lines", text.rstrip()
        return "model", line

    def _flush(self) -> None:
        kind, lines = self._kind, self._lines
        self._kind, self._lines = "", []
        if not lines:
            return
        self._log.origin = self._begun
        match kind:
            case "user":
                self._typed("\n".join(lines), str(self._begun.line))
            case "tool":
                self._told(lines)
            case "lines":
                self._notify(lines, self._begun)
            case _:
                self._answer("\n".join(lines), str(self._begun.line))

    def _typed(self, text: str, key: str) -> None:
        self._asked = True
        if _CONFIRMED.search(text):
            self._notify([text], self._begun)
            return
        handed_on = self._is_handed_on(text)
        self._carrying_out = handed_on and not text.startswith(_QUESTION)
        if handed_on:
            self._log.emit(Notification(text, "context"), key)
        elif text.startswith("/") and text[1:2].isalpha():
            self._command = name = text.split(maxsplit=1)[0]
            self._log.emit(SlashCommand(name, text[len(name) :].strip() or None), key)
        elif text.startswith("!"):  # aider takes it for this
            self._log.emit(SlashCommand("/run", text[1:].strip() or None), key)
        elif text.strip() and text != "<blank>":
            self._log.emit(User(text), key)

    def _is_handed_on(self, text: str) -> bool:
        """Whether the program typed it: an architect's answer, which goes on to the editor, or what `/help` found."""
        if text.startswith(_QUESTION) and self._command == "/help":
            return True
        return len(text) >= _LONG and text.split() == self._said.split()

    def _answer(self, text: str, key: str) -> None:
        if not self._asked:  # nobody answers yet: it is the command line of this run, with a message of many lines
            self._notify([text.removeprefix("> ")], self._begun)
            return
        said, thoughts = parted(text) if "think" in text.lower() else (text, [])
        for at, thought in enumerate(thoughts):
            self._log.emit(Thinking(thought), f"{key}:thinking:{at}")
        said = said.strip("\n")
        if said.strip():
            self._log.emit(Said(said), key)
        self._said, self._edits = said, None

    def _told(self, lines: list[str]) -> None:
        """What the program said: line by line where a line means something, else together."""
        together: list[str] = []
        begun = self._begun
        for line, origin in zip(lines, self._origins, strict=True):
            usage = _usage(line)
            applied = line.startswith(_APPLIED)
            if together and (usage or applied or _level(line) != _level(together[0])):
                self._notify(together, begun)
                together = []
            if usage is None and not applied:
                self._learn(line)
                begun = begun if together else origin
                together.append(line)
                continue
            self._log.origin = origin
            if usage is not None:
                fresh, read, written, output = usage
                model = self._editor if self._carrying_out else None
                count = TokenUsage(model or self._log.facts.model, fresh, read, written, output, 0)
                self._log.emit(count, str(origin.line))
            else:
                self._applied(line, str(origin.line))
        self._notify(together, begun)

    def _notify(self, lines: list[str], begun: Origin) -> None:
        if text := "\n".join(lines).strip():
            self._log.origin = begun
            self._log.emit(Notification(text, _level(text)), str(begun.line))

    def _learn(self, line: str) -> None:
        facts = self._log.facts
        if line.startswith("Aider v"):
            facts.version = line.removeprefix("Aider v").strip()
        elif found := _MODEL.match(line):
            facts.model = found[1]
        elif found := _EDITOR.match(line):
            self._editor = found[1]

    def _applied(self, line: str, key: str) -> None:
        """An edit is a call of the tool that aider is: made by what the model wrote, and answered by this line."""
        path = line.removeprefix(_APPLIED).strip()
        waiting = edits_in(self._said) if self._edits is None else self._edits
        edits = [edit for edit in waiting if edit.path == path]
        if not edits and (whole := whole_file(self._said, path)) is not None:
            edits = [whole]
        self._edits = [edit for edit in waiting if edit.path != path]
        if edits:
            actions = tuple(edit.action for edit in edits)
            told = meaning(actions[0], None, actions if len(actions) > 1 else ())
            name = "write_file" if isinstance(actions[0], FileWrite) else "edit_block"
        else:
            name, told = "edit_block", Meaning("file_edit", {"file_path": path})
        self._log.emit(ToolCall(name, key, told.arguments, told), key)
        self._log.emit(ToolOutput(key, line, False), f"{key}:result")


def _usage(line: str) -> tuple[int, int, int, int] | None:
    """Input, read from the cache, written to it, output; rounded, as aider writes them.

    What it sent contains what was written to the cache, and with most providers what was read from it.
    """
    if found := _TOKENS.match(line):
        sent, written, read, received = (_number(text) for text in found.groups())
        fresh = max(0, sent - written)
        return fresh - read if fresh >= read else fresh, read, written, received
    if found := _OLD_TOKENS.match(line):
        return _number(found[1]), 0, 0, _number(found[2])
    return None


def _number(text: str | None) -> int:
    if not text:
        return 0
    digits = text.rstrip("kM").replace(",", "").rstrip(".")
    try:
        return count(round(float(digits) * _UNITS.get(text[-1], 1)))
    except (ValueError, OverflowError):  # no number, or none that can be counted to
        return 0


def _level(text: str) -> Level:
    if text.startswith(("Warning", "Only ", "Skipping")):
        return "warning"
    return "error" if _FAILED.match(text) else "info"


def _places(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    """Aider writes into the project that it works on; nobody can list all of those."""
    yield Place(Path.cwd(), (FILE,))
    yield Place(home, (FILE,))
    if given := environment.get("AIDER_CHAT_HISTORY_FILE"):
        file = Path(given).expanduser()
        yield Place(file.parent, (file.name,))


reader = Reader(
    name=AGENT,
    agent=AGENT,
    title="Aider",
    claims=claims,
    decoder=History,
    places=_places,
)
