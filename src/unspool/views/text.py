"""Rows for a terminal: one colour for each kind, outputs cut to a few lines."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from unspool.views.harmless import safe_lines
from unspool.views.outline import HOOK, Row
from unspool.views.pretty.look import more, short
from unspool.views.prose import broken

Paint: TypeAlias = Callable[[str, str], str]
"""Text and the name of a style → text as the terminal wants it."""

_LINES, _DIFF = 8, 40
"""Lines of an output and of a diff that are shown."""
_MARGIN = "  "
_UNSAID = ("context", "system")
"""What nobody typed: shown only where all is, as are hooks that did their work."""
_BRIEF = 0.1
"""Seconds that are not worth telling."""
_FOLDED = 160
"""Characters of a folded thought."""
_APART = ("prompt", "said", "agent")
"""Rows with a blank line before them."""


class Cut:
    """How much of long things is shown, and what need not be said of paths: the folder that they are all in. On a
    terminal, of which the width is given, what was said is broken between words."""

    def __init__(
        self, full: bool, thinking: bool = False, project: str | None = None, width: int | None = None
    ) -> None:
        self.width = width
        self.full = full
        self.thinking = thinking or full
        self.project = f"{project.rstrip('/')}/" if project and len(project) > 1 else None

    def near(self, head: str) -> str:
        """A line with paths as they are seen from the project."""
        return head.replace(self.project, "") if self.project and not self.full else head

    def lines(self, text: str, most: int) -> tuple[list[str], int]:
        """The lines to show, and how many are left out."""
        lines = text.rstrip("\n").split("\n") if text.strip() else []
        if self.full:
            return lines, 0
        shown = lines if len(lines) <= most + 1 else lines[:most]
        return list(map(short, shown)), len(lines) - len(shown)

    def prose(self, text: str, margin: int) -> Iterator[str]:
        """The lines of what somebody said, so many columns from the left."""
        return broken(text, None if self.width is None else self.width - margin)


def lines(rows: Iterator[Row], paint: Paint, cut: Cut) -> Iterator[str]:
    """Each line of the transcript, without its end."""
    before, depth = None, 0
    for row in rows:
        if row.kind == "notice" and not cut.full and (row.level in _UNSAID or _is_quiet(row)):
            continue
        if before not in (None, "agent") and (row.kind in _APART or (before == "said" and row.kind == "call")):
            yield ("│ " * min(row.depth, depth)).rstrip()
        yield from _row(row, paint, cut)
        before, depth = row.kind, row.depth


def _is_quiet(row: Row) -> bool:
    return row.level == "info" and row.head.startswith(HOOK)


def _row(row: Row, paint: Paint, cut: Cut) -> Iterator[str]:
    margin = "│ " * row.depth if row.depth else ""
    match row.kind:
        case "prompt":
            for number, line in enumerate(cut.prose(safe_lines(row.head).strip(), len(margin) + 2)):
                yield margin + paint(f"{'❯' if number == 0 else ' '} {line}", "prompt")
        case "said":
            said = cut.prose(safe_lines(row.head).strip(), len(margin) + len(_MARGIN))
            yield from (f"{margin}{_MARGIN}{line}" for line in said)
        case "thinking":
            yield from (f"{margin}{_MARGIN}{line}" for line in _thinking(row.head, paint, cut, len(margin)))
        case "call":
            yield from (f"{margin}{_MARGIN}{line}" for line in _call(row, paint, cut))
        case "result":
            yield from (f"{margin}{_MARGIN}{_MARGIN}{line}" for line in _result(row, paint, cut))
        case "agent":
            yield margin[:-2] + paint(f"╭ {safe_lines(row.head)}", "agent")
        case "end":
            took = f" {_took(row.seconds)}" if row.seconds is not None else ""
            yield margin + _MARGIN + paint(f"─ {_first(row.head)}{took}", "dim" if row.level == "info" else row.level)
        case _:
            yield from (f"{margin}{_MARGIN}{line}" for line in _notice(row, paint, cut))


def _thinking(text: str, paint: Paint, cut: Cut, margin: int) -> Iterator[str]:
    """Folded to a line unless all of it is wanted."""
    text = safe_lines(text).strip()
    if not cut.thinking:
        first, *others = text.split("\n")
        rest = f" {more(len(others))}" if others else " …"
        shown = next(cut.prose(first[:_FOLDED].rstrip(), margin + len(_MARGIN) + 2 + len(rest)))
        text = shown + rest if others or shown != first else first
    for number, line in enumerate(cut.prose(text, margin + len(_MARGIN) + 2)):
        yield paint(f"{'✻' if number == 0 else ' '} {line}", "thinking")


def _call(row: Row, paint: Paint, cut: Cut) -> Iterator[str]:
    name, _, rest = safe_lines(cut.near(row.head)).partition("  ")
    first, *others = rest.split("\n") if rest else [""]
    took = paint(f"  {_took(row.seconds)}", "dim") if row.seconds is not None and row.seconds >= _BRIEF else ""
    mark = {"error": "✗", "warning": "…"}.get(row.level, "●")
    yield f"{paint(mark, 'error' if row.level == 'error' else 'call')} {paint(name, 'call')}  {first}{took}".rstrip()
    shown, left = cut.lines("\n".join(others), _LINES)
    yield from (f"{_MARGIN}{line}" for line in shown)
    if left:
        yield paint(_MARGIN + more(left), "dim")
    changed, left = cut.lines(safe_lines(row.body), _DIFF)
    for line in changed:
        style = {"+": "added", "-": "removed", "@": "dim"}.get(line[:1], "") if row.form == "diff" else ""
        yield _MARGIN + (paint(line, style) if style else line)
    if left:
        yield paint(_MARGIN + more(left), "dim")


def _result(row: Row, paint: Paint, cut: Cut) -> Iterator[str]:
    shown, left = cut.lines(safe_lines(row.body), _LINES)
    style = "error" if row.level == "error" else "dim"
    for line in shown:
        yield paint(line, style)
    if left:
        yield paint(more(left), "dim")


def _notice(row: Row, paint: Paint, cut: Cut) -> Iterator[str]:
    style = {"error": "error", "warning": "warning"}.get(row.level, "dim")
    shown, left = cut.lines(safe_lines(row.head), 2)
    for number, line in enumerate(shown):
        rest = f" {more(left)}" if left and number == len(shown) - 1 else ""
        yield paint(f"{'·' if number == 0 else ' '} {line}{rest}", style)
    body, left = cut.lines(safe_lines(row.body), _LINES)
    yield from (paint(f"{_MARGIN}{line}", "dim") for line in body)
    if left:
        yield paint(_MARGIN + more(left), "dim")


def _took(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def _first(text: str) -> str:
    return safe_lines(text).strip().split("\n")[0]
