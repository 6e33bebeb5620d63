"""A run as a thread: which moments are told in Slack, and how. Pure: moments in, what to say out.

    the head     the run's title, session and tools; 🚀 on it while it runs, then ✅ or 🚨
    a tool       ⏳ while it runs, the same message ✅ or ❌ with its outcome afterwards
    the answer   what the model says between tools: one message, numbered when it says several things
    the result   how it went, with model, turns and cost

Secrets are taken out of a text before anything of it is cut: half a key would be recognised by nobody.
"""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from msgspec import Struct, structs

from unspool.model.action import PlanItem
from unspool.model.event import ToolCall
from unspool.views.outline import bare_output
from unspool.views.pretty.banner import Banner
from unspool.views.pretty.look import MARKS, fault, price
from unspool.views.pretty.moments import (
    Ended,
    Listed,
    Moment,
    Noticed,
    Spoke,
    Started,
    ToolEnded,
    ToolStarted,
)
from unspool.views.pretty.tools import Label, labels, todo_line, todos
from unspool.views.slack.blocks import Message, context, fields, header, message, section, sections
from unspool.views.slack.mrkdwn import mrkdwn
from unspool.views.slack.pieces import Open, Piece, Text, bold, clean, code, first_line, italic, link, shorten

HEAD = "head"
RUNNING, SUCCEEDED, FAILED = "rocket", "white_check_mark", "rotating_light"
_WINDOW = 32_000
"""How much of a text is looked at: far more than is shown, so that a secret that begins in that is seen whole."""
_ANSWER = 10_000
_GROUP, _GROUPED = 6_000, 10
"""Characters and texts in one message of the model's."""
_COMMAND, _LINES, _ARGUMENT, _OUTCOME, _TOOL = 600, 10, 160, 240, 1_200
_TOOLS = 12
_UNTOLD = ("Description", "Prompt", "Timeout")
_PATHS = ("File", "Path", "To")


class Say(Struct, frozen=True):
    """A message by its key: a new one, or the newest form of one that was said before."""

    key: str
    message: Message
    settled: bool = True
    """It will not change any more."""
    urgent: bool = False
    """Said even when there is no time for the rest."""
    joinable: bool = False
    """Short, and may stand in one message with others of its kind."""
    held: bool = False
    """May wait a moment: the next moment may change it."""


class Unsay(Struct, frozen=True):
    """Said better elsewhere: if it was not sent yet, it need not be, or in this form."""

    key: str
    instead: Message | None


class React(Struct, frozen=True):
    name: str


Told: TypeAlias = Say | Unsay | React


def significant(moment: Moment) -> bool:
    """Whether it is told: what the agent itself says and does, and what goes wrong; not what its sub-agents do."""
    match moment:
        case Started() | Ended():
            return True
        case Spoke(text=text, depth=0):
            return bool(text.strip())
        case ToolStarted(depth=0) | Listed(depth=0):
            return True
        case ToolEnded(depth=0, call=call):
            return call is not None
        case Noticed(level="error", depth=0):
            return True
    return False


class Story:
    def __init__(self, redact: Callable[[str], str], banner: Banner) -> None:
        self._redact = redact
        self._banner = banner
        self._session: str | None = None
        self._folder = ""
        self._begun = False
        self._in_turn = False
        """Something happened that no result has told the end of."""
        self._number = 0
        self._texts: list[str] = []
        """What the model said since the last tool."""
        self._first = 1
        self._spoken = Message([], "")
        """The same as a message."""
        self._list: set[str] = set()
        self._list_key = ""

    def tell(self, moment: Moment) -> list[Told]:
        return list(self._tell(moment)) if significant(moment) else []

    def end(self) -> list[Told]:
        """Nothing more will happen. What ended without a result did not succeed."""
        if not self._in_turn:
            return []
        told = [header("🚨 Ended Without a Result"), section([Text("The stream ended, and nobody said how it went.")])]
        self._in_turn = False
        return [self._say_new("result", message(told, "🚨 Ended without a result"), urgent=True), React(FAILED)]

    def _tell(self, moment: Moment) -> Iterator[Told]:
        if not self._begun and not isinstance(moment, Started):
            yield from self._start(Started("", ""))
        if isinstance(moment, Ended):
            moment = self._answered(moment)
        if not isinstance(moment, Spoke):
            yield from self._close_group(moment if isinstance(moment, Ended) else None)
        if isinstance(moment, Spoke | ToolStarted) and not self._in_turn:
            self._in_turn = True  # another turn follows a result
            yield React(RUNNING)
        match moment:
            case Started():
                yield from self._start(moment)
            case Spoke(text=text):
                yield self._spoke(text)
            case ToolStarted(id=id_, call=call):
                yield from self._tool(id_, call, None)
            case ToolEnded(id=id_, call=ToolCall() as call):
                yield from self._tool(id_, call, moment)
            case Listed(items=items, text=text):
                yield from self._listed(items, text)
            case Noticed(text=text):
                told = shorten(self._safe(text), _TOOL, _LINES)
                yield self._say_new("notice", message([section([Text(f"🚨 {told}")])], f"🚨 {told}"))
            case Ended():
                yield from self._ended(moment)

    def _start(self, start: Started) -> Iterator[Told]:
        if self._begun and start.session == self._session:
            return  # every turn begins so
        title = self._safe(self._banner.title or f"{start.agent or 'Agent'} Session Started")
        blocks = [header(f"🚀 {title}")]
        if about := self._about():
            blocks.append(section(about))
        named: list[tuple[str, list[Piece]]] = []
        if start.session:
            named.append(("Session ID", code(self._safe(start.session))))
        if start.tools:
            more = f" and {len(start.tools) - _TOOLS} more" if len(start.tools) > _TOOLS else ""
            named.append(("Tools", [Text(self._safe(", ".join(start.tools[:_TOOLS]) + more))]))
        if start.model:
            named.append(("Model", [Text(self._safe(start.model))]))
        if named:
            blocks.append(fields(named))
        told = message(blocks, f"🚀 {title}")
        if self._session:  # another one in the same stream
            yield self._say_new("start", told)
        else:  # the head, or what was not known when it was said
            yield Say(HEAD, told, settled=bool(start.session), urgent=True)
        yield React(RUNNING)
        self._begun, self._session, self._in_turn = True, start.session, True
        self._folder = f"{start.folder.rstrip('/')}/" if start.folder else ""

    def _about(self) -> list[Piece]:
        description, url = self._banner.description, self._banner.url
        pieces: list[Piece] = [Text(self._safe(description))] if description else []
        if url:
            url = self._safe(url)
            pieces += [*([Text("\n")] if pieces else []), *link(url, [Text(url)])]
        return pieces

    def _spoke(self, text: str) -> Say:
        text = shorten(self._safe(text).strip(), _ANSWER)
        if self._texts and (len(self._texts) == _GROUPED or sum(map(len, self._texts)) + len(text) > _GROUP):
            self._first += len(self._texts)
            self._texts = []
        if not self._texts:
            self._number += 1
        self._texts.append(text)
        self._spoken = self._said()
        return Say(f"said {self._number}", self._spoken, settled=False, held=True)

    def _said(self) -> Message:
        pieces: list[Piece] = [*bold("Assistant:"), Text("\n")]
        numbered = self._first + len(self._texts) > 2
        told: list[Piece] = []
        for number, text in enumerate(self._texts, self._first):
            told = self._markup(text)
            pieces += [*([Text(f"{number}. ")] if numbered else []), *told, Text("\n")]
        return message(sections(pieces), first_line(_raw(told)))

    def _answered(self, end: Ended) -> Ended:
        """Where a result has no text of its own, what was said last is the answer."""
        return structs.replace(end, text=self._texts[-1]) if end.succeeded and not end.text and self._texts else end

    def _close_group(self, ended: Ended | None) -> Iterator[Told]:
        """A result mostly repeats what was said last; then it is enough to say it there."""
        if not self._texts:
            return
        key = f"said {self._number}"
        if ended is not None and ended.text and shorten(self._safe(ended.text).strip(), _ANSWER) == self._texts[-1]:
            self._texts.pop()
            yield Unsay(key, self._said() if self._texts else None)
        else:
            yield Say(key, self._spoken)
        self._texts, self._first = [], 1

    def _tool(self, id_: str, call: ToolCall, end: ToolEnded | None) -> Iterator[Told]:
        failed = end is not None and end.status == "FAILED"
        if (items := todos(call)) and not failed:
            if end is None:
                yield from self._listed(items)
            return
        pieces = [Text(f"{MARKS[end.status] if end else '⏳'} "), *bold("Tool:"), Text(f" {self._safe(call.name)}")]
        about = self._call(call)
        pieces += about
        description = next((label.value for label in labels(call) if label.name == "Description"), "")
        told = self._outcome(end) if end is not None else _running(first_line(self._safe(description)))
        if told:
            pieces += [Text("\n"), *italic(shorten(told, _OUTCOME))]
        settled = end is not None and end.status in ("COMPLETED", "FAILED")
        yield Say(f"tool {id_}", message([section(pieces, _TOOL)], _raw(pieces)), settled=settled, joinable=True)

    def _call(self, call: ToolCall) -> list[Piece]:
        """What it is about: the command, the file, the pattern; of a tool that we do not know, its arguments."""
        told = [label for label in dict.fromkeys(labels(call)) if label.name not in _UNTOLD]
        if not told:
            return []
        if call.kind in ("mcp", "generic"):
            return [piece for label in told[:5] for piece in self._named("\n", label)]
        first = code(shorten(self._safe(self._near(told[0])), _COMMAND, _LINES))
        rest = [piece for label in told[1:4] for piece in self._named(" · ", label, label.name == told[0].name)]
        return [Text("\n"), *first, *rest, Text(f" and {len(told) - 4} more" if len(told) > 4 else "")]

    def _near(self, label: Label) -> str:
        """A path as it is seen from where the run is."""
        return label.value.removeprefix(self._folder) if label.name in _PATHS else label.value

    def _named(self, before: str, label: Label, again: bool = False) -> list[Piece]:
        """A name, unless it is said again, and its value. They are looked at together: a name tells a password."""
        name, _, value = self._safe(f"{label.name}: {self._near(label)}").partition(": ")
        line = shorten(" ".join(value.split()).replace("`", "ˋ"), _ARGUMENT)
        return [Text(before if again else f"{before}{name}: "), *code(line)]

    def _outcome(self, end: ToolEnded) -> str:
        """The first line of the result that says something, and how long it took."""
        failed = end.status == "FAILED"
        output = (fault if failed else bare_output)(end.output[:_WINDOW])
        line = first_line(self._safe(output)) or end.reason or ("failed" if failed else "done")
        line = shorten(line, _OUTCOME - 20)
        if end.seconds is None:
            return line
        took = duration(end.seconds)
        return f"{line[:-1]}, {took})" if line.endswith(")") and "(" in line else f"{line} ({took})"

    def _listed(self, items: tuple[PlanItem, ...], text: str | None = None) -> Iterator[Told]:
        """One list a run, as it stands; another one only if it has nothing in common with it."""
        names = {item.text for item in items} or {text or ""}
        if names.isdisjoint(self._list):
            self._number += 1
            self._list_key = f"list {self._number}"
        self._list = names
        pieces: list[Piece] = [Text("📝 "), *bold("Todo List:"), Text("\n")]
        lines = [self._safe(todo_line(item)) for item in items] or [self._safe(text or "")]
        pieces += [Text(f"\n{' '.join(line.split())}") for line in lines]
        done = sum(item.status in ("completed", "done") for item in items)
        told = message(sections(pieces), f"📝 Todo List: {done} of {len(items)} done" if items else "📝 Todo List")
        yield Say(self._list_key, told, settled=False)

    def _ended(self, end: Ended) -> Iterator[Told]:
        reason = f" ({self._safe(end.reason)})" if end.reason and end.text else ""
        title = "✅ Task Success" if end.succeeded else f"❌ Task Failed{reason}"
        text = self._safe(end.text or end.reason or "").strip()
        if end.succeeded:
            answer = self._markup(shorten(text, _ANSWER)) if text else italic("No text")
        else:
            answer = [Text("🚨 "), *bold("Error:"), Text(f" {fault(text) or 'unknown'}")]
        elements = [
            ("Model", end.model),
            ("Turns", None if end.turns is None else str(end.turns)),
            ("Cost", price(end)),
            ("Duration", None if end.seconds is None else duration(end.seconds)),
            ("Denied", ", ".join(end.denied)),
        ]
        told = [[*bold(f"{name}:"), Text(f" {self._safe(value)}")] for name, value in elements if value]
        blocks = [header(title), *sections(answer), context(told)]
        brief = first_line(_raw(answer) if end.succeeded and text else fault(text))
        yield self._say_new("result", message(blocks, f"{title}: {brief}" if brief else title), urgent=True)
        yield React(SUCCEEDED if end.succeeded else FAILED)
        self._in_turn = False

    def _say_new(self, kind: str, told: Message, urgent: bool = False) -> Say:
        self._number += 1
        return Say(f"{kind} {self._number}", told, urgent=urgent)

    def _safe(self, text: str) -> str:
        return self._redact(clean(text[:_WINDOW]))  # colours may stand in the middle of a key

    def _markup(self, text: str) -> list[Piece]:
        """Of Markdown without secrets; and without those that only stand there once its escapes are taken out."""
        return [self._without_secrets(piece) for piece in mrkdwn(text)]

    def _without_secrets(self, piece: Piece) -> Piece:
        match piece:
            case Text(raw):
                return Text(self._redact(raw))
            case Open(begin, end):
                return Open(self._redact(begin), end)
        return piece


def _raw(pieces: list[Piece]) -> str:
    return "".join(piece.raw for piece in pieces if isinstance(piece, Text))


def _running(description: str) -> str:
    return description if not description or description[-1] in ".…!?" else f"{description}..."


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.2f}s" if seconds < 1 else f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m {rest}s" if minutes < 60 else f"{minutes // 60}h {minutes % 60}m"
