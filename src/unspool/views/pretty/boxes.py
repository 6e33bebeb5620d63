"""The box style: each thing that happens in a frame of its own, all frames of one width.

╔═════════════════════════ tool ═════════════════════════╗
║                                                        ║
║  ✅ Tool: Bash - COMPLETED (0.75s)                     ║
║  🔧 Command: ls -la                                    ║
║                                                        ║
║  📄 Result: total 24                                   ║
║                                                        ║
╚════════════════════════════════════════════════════════╝
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from unspool.model.action import PlanItem
from unspool.model.event import ToolCall
from unspool.views.diffs import written_by
from unspool.views.outline import bare_output
from unspool.views.pretty.columns import Row, cells, cut, pin, safe, safe_line
from unspool.views.pretty.look import (
    BRIEF_LINES,
    COMMAND_LINES,
    DIFF_LINES,
    MARKS,
    NARROWEST,
    OUTPUT_LINES,
    RUNNING,
    Look,
    fault,
    figures,
    head_lines,
    is_hidden,
    more,
    short,
    took,
)
from unspool.views.pretty.markup import Markup, plain
from unspool.views.pretty.moments import (
    Ended,
    Listed,
    Moment,
    Noticed,
    Passed,
    Prompted,
    Spoke,
    Started,
    Thought,
    ToolEnded,
    ToolStarted,
)
from unspool.views.pretty.tools import labels, todo_line, todos

_BLANK: Row = (0, "")
_HANG = 3
"""Columns that the further lines of a label stand further in."""
_STEP = 2
"""Columns that a sub-agent's frames stand further in."""
_BOLD, _DIM, _RED, _GREEN, _YELLOW, _BLUE, _MAGENTA, _CYAN = "1", "2", "31", "32", "33", "34", "35", "36"
_TINTS = {"COMPLETED": _GREEN, "FAILED": _RED, "INTERRUPTED": _YELLOW, "ORPHANED": _YELLOW}
_DIFF = {"+": _GREEN, "-": _RED, "@": _CYAN}
_LEVELS = {"info": ("💡", _DIM), "warning": ("❗", _YELLOW), "error": ("🚨", _RED)}


class Boxes:
    """The lines to print for each moment, without their ends."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._markup = Markup(look.color)
        self._before: str | None = None
        """What was printed last: a box, a line, or a line that passed."""
        self._folder: str | None = None
        self._called = ""
        """The last call that was shown."""
        self._said = ""
        """The last words, which a result may repeat."""
        self._shows: dict[type, Callable[[Any], Iterator[str]]] = {
            Started: self._started,
            Prompted: self._prompted,
            Spoke: self._spoke,
            Thought: self._thought,
            ToolStarted: self._tool_started,
            ToolEnded: self._tool_ended,
            Listed: self._listed,
            Noticed: self._noticed,
            Passed: self._passed,
            Ended: self._ended,
        }

    def show(self, moment: Moment) -> Iterator[str]:
        return self._shows[type(moment)](moment)

    def close(self) -> Iterator[str]:
        return iter(())

    # Frames

    def _box(self, title: str, rows: Iterable[Row], tint: str, depth: int = 0, margin: int = 2) -> Iterator[str]:
        """A frame around the rows, which must fit: see `_inside`."""
        inside, indent = self._inside(depth)
        paint, left, end = self._look.color, f"{indent}║{' ' * margin}", "║"
        named = f" {title} "
        before = (inside - len(named)) // 2
        top = f"{indent}╔{'═' * before}{named}{'═' * (inside - before - len(named))}╗"
        bottom = f"{indent}╚{'═' * inside}╝"
        if paint:
            left, end = f"{indent}\x1b[{tint}m║\x1b[0m{' ' * margin}", f"\x1b[{tint}m║\x1b[0m"
            top, bottom = f"\x1b[{tint}m{top}\x1b[0m", f"\x1b[{tint}m{bottom}\x1b[0m"
        room, pinned = inside - margin, self._look.terminal
        if self._before is not None:
            yield ""
        self._before = "box"
        yield top
        for columns, drawn in chain((_BLANK,), rows, (_BLANK,)):
            line = f"{left}{drawn}{' ' * (room - columns)}{end}"
            yield pin(line) if pinned else line
        yield bottom

    def _inside(self, depth: int) -> tuple[int, str]:
        """Columns between the sides of a frame, and the blanks before it: right sides stand below each other."""
        indent = min(depth * _STEP, max(0, self._look.width - NARROWEST))
        return self._look.width - indent - 2, " " * indent

    def _room(self, depth: int, margin: int = 2) -> int:
        """Columns for text: as much is left free on its right as on its left."""
        return max(1, self._inside(depth)[0] - 2 * margin)

    def _line(self, text: str, tint: str, depth: int) -> Iterator[str]:
        """One line without a frame; all of a long one only where nothing is cut."""
        inside, indent = self._inside(depth)
        if self._before not in (None, "line"):
            yield ""
        self._before = "line"
        if self._look.full:
            for _, drawn in plain(text, inside):
                yield self._drawn(f"{indent}  {drawn}", tint)
        else:
            first, _, rest = text.partition("\n")
            told = f" ({more(rest.count(chr(10)) + 1)})" if rest else ""
            yield self._drawn(f"{indent}  {cut(first, inside - len(told))}{told}", tint)

    def _drawn(self, line: str, tint: str) -> str:
        line = self._paint(line, tint)
        return pin(line) if self._look.terminal else line

    def _paint(self, text: str, tint: str) -> str:
        return f"\x1b[{tint}m{text}\x1b[0m" if self._look.color and text else text

    # Rows

    def _text(self, text: str, width: int, tint: str = "") -> Iterator[Row]:
        for columns, drawn in plain(text, width):
            yield columns, self._paint(drawn, tint) if tint else drawn

    def _cut(self, text: str, width: int, most: int, tint: str = "") -> Iterator[Row]:
        """The first lines of what may be long, and how many more there are."""
        lines, left = head_lines(text, None if self._look.full else most)
        for line in lines:
            yield from self._text(safe(line if self._look.full else short(line)), width, tint)
        if left:
            told = more(left)
            yield cells(told), self._paint(told, _DIM)

    def _labels(self, call: ToolCall, width: int, most: int | None = None) -> Iterator[Row]:
        for label in labels(call)[:most]:
            text = f"{label.emoji} {label.name}: {self._near(label.value)}"
            yield from _hanging(self._cut(text, width - _HANG, COMMAND_LINES), _HANG)

    def _near(self, value: str) -> str:
        """A path as it is seen from the folder of the run."""
        return value.removeprefix(self._folder) if self._folder else value

    def _change(self, call: ToolCall, width: int) -> Iterator[Row]:
        change = written_by(call.meaning)
        if not change.strip():
            return
        yield _BLANK
        lines, left = head_lines(change, None if self._look.full else DIFF_LINES)
        for line in lines:
            tint = _DIFF.get(line[:1], "")
            rows = self._text(safe(line if self._look.full else short(line)), width - 1, tint)
            yield from _hanging(rows, 1)  # below the text, not below its sign
        if left:
            yield cells(more(left)), self._paint(more(left), _DIM)

    def _todos(self, items: Iterable[PlanItem], width: int) -> Iterator[Row]:
        yield from self._text("📝 Todo List:", width, _BOLD)
        yield _BLANK
        for item in items:
            yield from self._text(safe(todo_line(item)), width, _DIM if item.status == "completed" else "")

    # Moments

    def _started(self, start: Started) -> Iterator[str]:
        self._folder = f"{start.folder.rstrip('/')}/" if start.folder else None
        banner, width = self._look.banner, self._room(0, 3)
        about = [
            banner.description,
            f"URL: {banner.url}" if banner.url else None,
            f"Session ID: {start.session}" if start.session.strip("-") else None,
            f"Model: {start.model}" if start.model else None,
            f"Folder: {start.folder}" if start.folder else None,
        ]
        title = f"🚀 {banner.title or 'Session Initialized'}"
        rows = chain(self._text(safe(title), width, _BOLD), *(self._text(safe(line), width) for line in about if line))
        yield from self._box("system", rows, _MAGENTA, margin=3)

    def _prompted(self, said: Prompted) -> Iterator[str]:
        width, text = self._room(said.depth), said.text.strip("\n")
        rows = self._cut(text, width, BRIEF_LINES) if said.depth else self._text(safe(text), width)
        yield from self._box("user", rows, _GREEN, said.depth)

    def _spoke(self, said: Spoke) -> Iterator[str]:
        self._said = said.text
        rows = self._markup.rows(safe(said.text), self._room(said.depth))
        yield from self._box("assistant", rows, _BLUE, said.depth)

    def _thought(self, thought: Thought) -> Iterator[str]:
        text = safe(thought.text.strip())
        if self._look.thinking or self._look.full:
            yield from self._box("thinking", self._text(text, self._room(thought.depth), _DIM), _DIM, thought.depth)
        else:
            yield from self._line(f"💭 {text.replace('**', '')}", _DIM, thought.depth)  # titles of thoughts are bold

    def _tool_started(self, start: ToolStarted) -> Iterator[str]:
        call, depth = start.call, start.depth
        if self._look.queue:
            if call.kind == "agent":  # what it does is shown before it ends
                about = " · ".join(label.value for label in labels(call)[:2])
                yield from self._line(f"{RUNNING} Tool: {safe(f'{start.name} {about}')}", _CYAN, depth)
            return
        self._called = start.id
        width = self._room(depth)
        if items := todos(call):
            yield from self._box("todo", self._todos(items, width), _CYAN, depth)
            return
        head = self._text(f"{RUNNING} Tool: {safe(start.name)}", width, _BOLD)
        yield from self._box("tool", chain(head, self._labels(call, width), self._change(call, width)), _CYAN, depth)

    def _tool_ended(self, end: ToolEnded) -> Iterator[str]:
        call, queue, status = end.call, self._look.queue, end.status
        if not queue and (end.reason is not None or (status == "COMPLETED" and call is not None and todos(call))):
            return  # only the queue tells of calls that have no result
        width = self._room(end.depth)
        timed = "timeout after " if status == "ORPHANED" else ""
        spent = "" if end.seconds is None else f" ({timed}{_seconds(end.seconds, timed)})"
        head = self._text(f"{MARKS[status]} Tool: {safe(end.name)} - {status}{spent}", width, _BOLD)
        parts: list[Iterable[Row]] = [head]
        if not queue and call is not None and end.id != self._called:
            parts.append(self._labels(call, width, 1))  # its call stands further above
        if queue and call is not None:
            parts += [self._labels(call, width), self._change(call, width)]
            if items := todos(call):
                parts += [[_BLANK], self._todos(items, width)]
        title = "tool" if end.reason is None else status.lower()
        outcome = self._outcome(end, width)
        if not (queue and status == "COMPLETED" and call is not None and todos(call)):
            parts += [[_BLANK], outcome]
        yield from self._box(title, chain.from_iterable(parts), _TINTS[status], end.depth)

    def _outcome(self, end: ToolEnded, width: int) -> Iterator[Row]:
        if end.reason is not None:
            mark = "🔍" if end.status == "ORPHANED" else "🚫"
            return self._text(safe(f"{mark} {end.reason}"), width)
        if end.status == "COMPLETED":
            output = bare_output(end.output).strip("\n").rstrip() or "(no output)"
            label = "📄 Result:\n" if output[0].isspace() else "📄 Result: "  # what is indented stays below itself
            return self._cut(label + output, width, OUTPUT_LINES)
        mark, word, tint = ("🚨", "Error", _RED) if end.status == "FAILED" else ("🚫", "Interrupted", _YELLOW)
        return self._cut(f"{mark} {word}: {fault(end.output) or '(no output)'}", width, OUTPUT_LINES, tint)

    def _listed(self, plan: Listed) -> Iterator[str]:
        width = self._room(plan.depth)
        rows = self._todos(plan.items, width) if plan.items else self._markup.rows(safe(plan.text or ""), width)
        yield from self._box("todo", rows, _CYAN, plan.depth)

    def _noticed(self, notice: Noticed) -> Iterator[str]:
        if is_hidden(notice) and not self._look.full:
            return
        mark, tint = _LEVELS.get(notice.level, ("💡", _DIM))
        yield from self._line(f"{mark} {safe(notice.text.strip())}", tint, notice.depth)

    def _passed(self, passed: Passed) -> Iterator[str]:
        if self._before not in (None, "passed"):
            yield ""
        self._before = "passed"
        yield safe_line(passed.line)

    def _ended(self, end: Ended) -> Iterator[str]:
        width = self._room(0)
        rows: list[Iterable[Row]] = []
        if end.succeeded:
            rows.append(self._text("✅ Task Success", width, _BOLD))
            if end.text and end.text.strip() != self._said.strip():
                rows += [[_BLANK], self._markup.rows(safe(end.text), width)]
        else:
            reason = f" ({safe(end.reason)})" if end.reason else ""
            rows.append(self._text(f"❌ Task Failed{reason}", width, _BOLD))
            if end.text:
                rows += [[_BLANK], self._text(safe(f"🚨 Error: {fault(end.text)}"), width, _RED)]
        rows.append([_BLANK])
        rows += [self._text(safe(f"{mark} {word}: {figure}"), width) for mark, word, figure in figures(end)]
        yield from self._box("result", chain.from_iterable(rows), _GREEN if end.succeeded else _RED)


def _hanging(rows: Iterator[Row], by: int) -> Iterator[Row]:
    """All but the first row so much further in."""
    for at, (columns, drawn) in enumerate(rows):
        yield (columns + by, " " * by + drawn) if at else (columns, drawn)


def _seconds(seconds: float, timed: str) -> str:
    return f"{seconds:g}s" if timed else took(seconds)
