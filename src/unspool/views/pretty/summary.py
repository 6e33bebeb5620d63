"""The Markdown style: for the summary of a CI job, or to be kept. It ends in a table of what the run cost."""

from collections.abc import Iterator

from unspool.views.diffs import written_by
from unspool.views.markdown import fenced
from unspool.views.outline import bare_output
from unspool.views.pretty.columns import safe, safe_line
from unspool.views.pretty.look import (
    COMMAND_LINES,
    DIFF_LINES,
    LONG_LINE,
    MARKS,
    OUTPUT_LINES,
    Look,
    fault,
    figures,
    head_lines,
    is_hidden,
    more,
    short,
    took,
)
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

_ROOM = 4
"""How many times as much is shown as in a terminal; not all of it, because what CI takes of a summary is bounded."""
_ESCAPED = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]<>#|~"})


class Summary:
    """The lines for each moment, without their ends."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._said = ""
        self._passing = False

    def show(self, moment: Moment) -> Iterator[str]:
        if isinstance(moment, Passed):  # lines that passed one after another are one block of code
            if not self._passing:
                yield from ("", "```text")
            self._passing = True
            yield safe_line(moment.line).replace("```", "` ` `")
            return
        if self._passing:
            self._passing = False
            yield "```"
        depth = getattr(moment, "depth", 0)
        begun = False
        for line in self._lines(moment):
            if not begun:
                yield ""
                begun = True
            yield f"{'> ' * depth}{line}".rstrip() if depth else line

    def close(self) -> Iterator[str]:
        if self._passing:
            yield "```"

    def _lines(self, moment: Moment) -> Iterator[str]:
        match moment:
            case Started():
                yield from self._started(moment)
            case Prompted(text=text):
                yield from (f"> {line}".rstrip() for line in safe(text).strip().split("\n"))
            case Spoke(text=text):
                self._said = text
                yield from safe(text).strip("\n").split("\n")
            case Thought(text=text):
                if self._look.thinking or self._look.full:
                    yield from _folded("💭 Thinking", safe(text).strip().split("\n"))
            case ToolStarted():
                if not self._look.queue:
                    yield from self._call(moment)
            case ToolEnded():
                yield from self._tool_ended(moment)
            case Listed(items=items, text=text):
                yield "**📝 Todo List**"
                yield ""
                yield from [f"- {_plain(todo_line(item))}" for item in items] or safe(text or "").split("\n")
            case Noticed(text=text, level=level):
                if not is_hidden(moment) or self._look.full:
                    mark = {"warning": "⚠️", "error": "🚨"}.get(level, "💡")
                    yield f"*{mark} {_plain(text)}*"
            case Ended():
                yield from self._ended(moment)

    def _started(self, start: Started) -> Iterator[str]:
        banner = self._look.banner
        yield f"## 🚀 {_plain(banner.title or start.agent)}"
        yield ""
        if banner.description:
            yield _plain(banner.description)
            yield ""
        about = {"URL": banner.url, "Session": start.session.strip("-"), "Model": start.model, "Folder": start.folder}
        yield from (f"- {name}: `{_code(value)}`" for name, value in about.items() if value)

    def _call(self, call: ToolStarted | ToolEnded) -> Iterator[str]:
        """What is called, and with what; the title stands above it."""
        if call.call is None:
            return
        if isinstance(call, ToolStarted):
            yield f"**⏳ {_plain(call.name)}**"
            yield ""
        if items := todos(call.call):
            yield from (f"- {_plain(todo_line(item))}" for item in items)
        for label in labels(call.call):
            if "\n" in label.value:
                yield f"- {label.emoji} {_plain(label.name)}:"
                yield ""
                yield from (f"  {line}" for line in fenced(self._cut(label.value, COMMAND_LINES), ""))
            else:
                yield f"- {label.emoji} {_plain(label.name)}: `{_code(self._short(label.value))}`"
        if change := written_by(call.call.meaning):
            yield ""
            yield from fenced(self._cut(change, DIFF_LINES), "diff")

    def _tool_ended(self, end: ToolEnded) -> Iterator[str]:
        if end.reason is not None and not self._look.queue:
            return
        spent = f" ({took(end.seconds)})" if end.seconds is not None else ""
        yield f"**{MARKS[end.status]} {_plain(end.name)} {end.status}{spent}**"
        yield ""
        if self._look.queue:
            yield from self._call(end)
            yield ""
        if end.reason is not None:
            yield _plain(end.reason)
        elif end.status == "COMPLETED":
            output = bare_output(end.output).strip("\n")
            if output.strip() and not (end.call is not None and todos(end.call)):
                yield from _folded("📄 Result", fenced(self._cut(output, OUTPUT_LINES), ""))
        else:
            yield from fenced(self._cut(fault(end.output), OUTPUT_LINES), "")

    def _cut(self, text: str, most: int) -> str:
        lines, left = head_lines(text, None if self._look.full else _ROOM * most)
        shown = list(map(self._short, lines))
        return safe("\n".join([*shown, more(left)] if left else shown))

    def _short(self, line: str) -> str:
        return line if self._look.full else short(line, _ROOM * LONG_LINE)

    def _ended(self, end: Ended) -> Iterator[str]:
        reason = f" ({_plain(end.reason)})" if end.reason else ""
        yield "### ✅ Task Success" if end.succeeded else f"### ❌ Task Failed{reason}"
        yield ""
        if end.text and end.text.strip() != self._said.strip():
            yield from safe(end.text).strip("\n").split("\n") if end.succeeded else fenced(safe(fault(end.text)), "")
            yield ""
        rows = [*([("🤖", "Model", end.model)] if end.model else []), *figures(end)]
        yield "| | " + " | ".join(f"{mark} {word}" for mark, word, _ in rows) + " |"
        yield "| --- |" + " ---: |" * len(rows)
        yield "| **Run** | " + " | ".join(_plain(figure) for _, _, figure in rows) + " |"


def _folded(title: str, lines: Iterator[str] | list[str]) -> Iterator[str]:
    yield f"<details><summary>{title}</summary>"
    yield ""
    yield from lines
    yield ""
    yield "</details>"


def _plain(text: str) -> str:
    """Text in a line of Markdown that means nothing but itself."""
    return safe_line(" ".join(text.split())).translate(_ESCAPED)


def _code(text: str) -> str:
    """Text between backticks."""
    return safe_line(text).replace("`", "\u02cb")
