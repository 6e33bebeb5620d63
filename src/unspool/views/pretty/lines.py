"""The line style: one line for each thing that happens, to be read in a CI log and searched by grep.

[tool] Bash: ls -la
[result] Bash COMPLETED (0.75s): total 24 … 2 more lines
[done] success, 15.00s, API 5.00s, 5 turns, $0.0234: All done.
"""

from collections.abc import Iterator

from unspool.views.outline import bare_output
from unspool.views.pretty.columns import safe_line
from unspool.views.pretty.look import LONG_LINE, Look, fault, is_hidden, more, price, short, took
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

_TINTS = {"error": "31", "warning": "33", "tool": "36", "result": "32", "text": "34", "thinking": "2", "done": "1"}


class Lines:
    def __init__(self, look: Look) -> None:
        self._look = look

    def show(self, moment: Moment) -> Iterator[str]:
        match moment:
            case Passed(line=line):
                yield safe_line(line)
            case ToolStarted():
                if not self._look.queue:
                    yield self._line("tool", self._call(moment), moment.depth)
            case ToolEnded():
                yield from self._tool_ended(moment)
            case Spoke(text=text, depth=depth):
                yield self._line("text", self._folded(text), depth)
            case Prompted(text=text, depth=depth):
                yield self._line("user", self._folded(text), depth)
            case Thought(text=text, depth=depth):
                yield self._line("thinking", self._folded(text, all_of_it=self._look.thinking), depth)
            case Listed(items=items, text=text, depth=depth):
                told = " · ".join(map(todo_line, items)) or text or ""
                yield self._line("todo", self._folded(told), depth)
            case Noticed(text=text, level=level, depth=depth):
                if not is_hidden(moment) or self._look.full:
                    kind = level if level in ("warning", "error") else "notice"
                    yield self._line(kind, self._folded(text), depth)
            case Started():
                yield self._line("start", self._started(moment), 0)
            case Ended():
                yield self._line("done" if moment.succeeded else "error", self._ended(moment), 0)

    def close(self) -> Iterator[str]:
        return iter(())

    def _line(self, kind: str, text: str, depth: int) -> str:
        mark = f"[{kind}]"
        if self._look.color and (tint := _TINTS.get(kind)):
            mark = f"\x1b[{tint}m{mark}\x1b[0m"
        return f"{'  ' * depth}{mark} {text}"

    def _folded(self, text: str, all_of_it: bool = False) -> str:
        """One line: the first that says anything, and how many more there are; or all of them, ends shown as ⏎."""
        text = text.strip()
        if self._look.full or all_of_it:
            return safe_line(text.replace("\r\n", "\n").replace("\n", " ⏎ ").replace("\t", " "))
        first, _, rest = text.partition("\n")
        left = f" {more(rest.count(chr(10)) + 1)}" if rest else ""
        return safe_line(short(first.rstrip("\r").replace("\t", " "), LONG_LINE) + left)

    def _call(self, start: ToolStarted) -> str:
        about = self._about(start)
        return f"{safe_line(start.name)}: {about}" if about else safe_line(start.name)

    def _about(self, start: ToolStarted | ToolEnded) -> str:
        """What a call is about; nothing for one that we did not see."""
        if start.call is None:
            return ""
        if items := todos(start.call):
            about = " · ".join(map(todo_line, items))
        else:
            told = labels(start.call)
            about = " · ".join(
                [label.value if not at else f"{label.name}: {label.value}" for at, label in enumerate(told)]
            )
        return self._folded(about)

    def _tool_ended(self, end: ToolEnded) -> Iterator[str]:
        if end.reason is not None and not self._look.queue:
            return
        spent = f" ({took(end.seconds)})" if end.seconds is not None else ""
        kind = {"COMPLETED": "result", "FAILED": "error"}.get(end.status, "warning")
        told = fault(end.output) if end.status == "FAILED" else bare_output(end.output)
        about = self._folded(end.reason or told)
        if self._look.queue and (asked := self._about(end)):
            about = f"{asked} → {about}" if about else asked
        name = safe_line(end.name)
        yield self._line(
            kind, f"{name} {end.status}{spent}: {about}" if about else f"{name} {end.status}{spent}", end.depth
        )

    def _started(self, start: Started) -> str:
        banner = self._look.banner
        about = {
            "title": banner.title,
            "description": banner.description,
            "url": banner.url,
            "session": start.session.strip("-"),
            "model": start.model,
            "folder": start.folder,
        }
        return safe_line(f"{start.agent} " + " ".join(f"{name}={value}" for name, value in about.items() if value))

    def _ended(self, end: Ended) -> str:
        parts = ["success" if end.succeeded else f"failed ({end.reason})" if end.reason else "failed"]
        if end.seconds is not None:
            parts.append(took(end.seconds))
        if end.api_seconds is not None:
            parts.append(f"API {took(end.api_seconds)}")
        if end.turns is not None:
            parts.append(f"{end.turns} turn{'' if end.turns == 1 else 's'}")
        parts.append(f"cost {price(end)}")
        if end.denied:
            parts.append(f"denied {' and '.join(end.denied)}")
        text = fault(end.text) if end.text and not end.succeeded else end.text
        return safe_line(", ".join(parts)) + (f": {self._folded(text)}" if text else "")
