"""A run as lines of text, for programs that want to show it themselves."""

from collections.abc import Collection, Iterable, Iterator
from typing import get_args

from unspool.errors import UnknownFormat
from unspool.jobs.pretty.run import STREAMS, Run
from unspool.readers import READERS
from unspool.sources.files import DASH
from unspool.views.pretty.assembler import ORPHAN_AFTER
from unspool.views.pretty.banner import Banner
from unspool.views.pretty.look import NARROWEST, WIDTH, Look
from unspool.views.pretty.styles import Name, style_of


def pretty(
    lines: Iterable[str | bytes],
    *,
    style: Name = "box",
    width: int = WIDTH,
    color: bool = False,
    queue: bool = False,
    thinking: bool = False,
    full: bool = False,
    format: str | None = None,  # noqa: A002  # as the command's option
    title: str | None = None,
    description: str | None = None,
    url: str | None = None,
    orphan_after: float = ORPHAN_AFTER,
    one_tool_at_a_time: bool = False,
) -> Iterator[str]:
    """The lines of an agent's live stream as lines to print, each as soon as it can be.

    A line is given with or without its end; what is given back has none. `format` is one of claude, codex, cursor,
    droid, gemini, goose, opencode, pi and qwen; without it the first lines tell.
    """
    _check("style", style, get_args(Name))
    _check("format", format or "claude", STREAMS)
    look = Look(max(width, NARROWEST), color, False, full, thinking, queue, Banner(title, description, url))
    drawn = style_of(style, look)
    run = Run(DASH, READERS[STREAMS[format]] if format else None, orphan_after, one_tool_at_a_time)
    for line in lines:
        data = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
        for moment in run.feed(data if data.endswith(b"\n") else data + b"\n"):
            yield from drawn.show(moment)
    for moment in run.close():
        yield from drawn.show(moment)
    yield from drawn.close()


def _check(what: str, given: str, known: Collection[str]) -> None:
    if given not in known:
        raise UnknownFormat(f"no {what} {given!r}; there are {', '.join(known)}")
