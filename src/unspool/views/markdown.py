"""Rows as Markdown, to be kept or pasted."""

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from unspool.model.session import Session
from unspool.views.harmless import safe, safe_lines
from unspool.views.outline import Row, outline

__all__ = ["Row", "markdown", "rows_as_markdown"]

_FENCE = re.compile(r"^[ \t]*(`{3,})", re.MULTILINE)


def markdown(session: Session) -> Iterator[str]:
    """Each line, without its end. Nothing is cut."""
    facts = session.facts
    yield f"# {_line(facts.title or facts.id)}"
    yield ""
    about = {
        "agent": facts.agent,
        "session": facts.id,
        "project": facts.project,
        "model": facts.model,
        "branch": facts.branch,
    }
    yield from (f"- {name}: {_line(value)}" for name, value in about.items() if value)
    yield from rows_as_markdown(outline(session))


def rows_as_markdown(rows: Iterable[Row]) -> Iterator[str]:
    for row in rows:
        if row.kind == "notice" and row.level in ("context", "system"):
            continue
        yield ""
        quote = "> " * row.depth
        told = replace(row, head=safe_lines(row.head), body=safe_lines(row.body))
        yield from (f"{quote}{line}".rstrip() for line in _row(told))


def _row(row: Row) -> Iterator[str]:
    match row.kind:
        case "prompt":
            yield "## Prompt"
            yield ""
            yield from row.head.strip().split("\n")
        case "said":
            yield from row.head.strip().split("\n")
        case "thinking":
            yield "<details><summary>Thinking</summary>"
            yield ""
            yield from row.head.strip().split("\n")
            yield ""
            yield "</details>"
        case "call":
            name, _, rest = row.head.partition("  ")
            took = f" ({row.seconds:.1f} s)" if row.seconds is not None else ""
            failed = " failed" if row.level == "error" else ""
            yield f"**{name}**{failed}{took}"
            if rest:
                yield ""
                yield from fenced(rest, "")
            if row.body:
                yield ""
                yield from fenced(row.body, "diff" if row.form == "diff" else "")
        case "result":
            if row.body.strip():
                yield "<details><summary>Result</summary>"
                yield ""
                yield from fenced(row.body.rstrip("\n"), "")
                yield ""
                yield "</details>"
        case "agent":
            yield f"### {row.head}"
        case _:
            yield f"*{_line(row.head)}*"
            if row.body:
                yield ""
                yield from row.body.strip().split("\n")


def fenced(text: str, language: str) -> Iterator[str]:
    """A block of code whose fence is longer than any in it."""
    longest = max((len(fence) for fence in _FENCE.findall(text)), default=2)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}{language}"
    yield from text.split("\n")
    yield fence


def _line(text: str) -> str:
    return safe(" ".join(text.split()))
