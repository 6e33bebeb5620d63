"""`unspool sessions`"""

from typing import TYPE_CHECKING

import click

from unspool.cli.options import AGENT, JOBS, JSON

if TYPE_CHECKING:
    from unspool.jobs.sessions import SessionRow


@click.command("sessions")
@click.argument("paths", metavar="[PATH…]", nargs=-1)
@AGENT
@click.option("--project", metavar="DIR", help="Only sessions that ran in this folder or below it.")
@click.option("--since", metavar="T", help="Only what went on after T: a date, a time, or a span such as 3d or 12h.")
@click.option("--until", metavar="T", help="Only what began before T.")
@click.option("--limit", metavar="N", type=click.IntRange(min=1), help="The N newest.")
@JSON
@JOBS
def command(
    paths: tuple[str, ...],
    agent: str | None,
    project: str | None,
    since: str | None,
    until: str | None,
    limit: int | None,
    as_json: bool,
    jobs: int | None,
) -> None:
    """List the sessions of coding agents, newest first.

    Without PATH: all that the agents on this machine have kept. PATH is a log or a folder with logs, or a URL of such.

    \b
    unspool sessions --since 3d
    unspool sessions --project . --json | jq .tokens
    """
    import gc
    from pathlib import Path

    import msgspec

    from unspool.cli.reading import reading
    from unspool.cli.words import moment
    from unspool.jobs.sessions import Filter, list_sessions
    from unspool.sources.copies import fetched, named

    gc.disable()  # nothing here is cyclic
    wanted = Filter(
        agent,
        str(Path(project).expanduser().resolve()) if project else None,
        moment(since) if since else None,
        moment(until) if until else None,
    )
    with fetched(paths) as local, reading() as seen:
        rows = list_sessions(local, wanted, limit, jobs, seen)
        for row in rows if local != list(paths) else ():
            row.files = list(map(named, row.files))
    if as_json:
        click.echo(b"".join(msgspec.json.encode(row) + b"\n" for row in rows), nl=False)
        return
    _say(rows, bool(paths or agent or project or since or until))


def _say(rows: "list[SessionRow]", filtered: bool) -> None:
    from unspool.cli.words import (
        colour,
        fit,
        human,
        local,
        one_line,
        plural,
        say,
        short_names,
        span,
        terminal_width,
    )
    from unspool.model.session import Tokens
    from unspool.views.harmless import safe

    if not rows:
        say("no session that matches" if filtered else "no session: see `unspool sources` for where we look")
        return
    names = short_names([row.id for row in rows])
    widest = max(len("session"), *map(len, names))
    wide = (columns := terminal_width(1, 120)) >= 100
    asked = max(columns - widest - (78 if wide else 56), 12)
    words = ("input", "cached", "output")
    heads = _line(f"{'session':<{widest}}", "agent", "start", "took", "turns", "tools", words, wide)
    lines = [click.style(f"{heads}  asked", dim=True)]
    for row, name in zip(rows, names, strict=True):
        counts = (
            human(row.tokens.input + row.tokens.cache_write),
            human(row.tokens.cache_read),
            human(row.tokens.output),
        )
        shown = click.style(f"{safe(name):<{widest}}", fg="yellow")
        start = local(row.start) if wide else local(row.start)[5:]  # without the year
        line = _line(shown, row.agent, start, span(row.duration), row.turns, row.tools, counts, wide)
        lines.append(f"{line}  {fit(one_line(row.prompt or row.title or '(nothing)'), asked).rstrip()}")
    click.echo("\n".join(lines), color=colour())
    total = sum((row.tokens for row in rows), Tokens())
    say(
        f"{plural(len(rows), 'session')}: {human(total.input + total.cache_write)} tokens in, "
        f"{human(total.cache_read)} from the cache, {human(total.output)} out"
    )


def _line(
    name: str, agent: str, start: str, took: str, turns: object, tools: object, tokens: tuple[str, str, str], wide: bool
) -> str:
    """One row but for what was asked; on a narrow terminal only what cannot be done without."""
    read, cached, output = tokens
    if not wide:  # without the year
        return f"{name} {agent:<11} {start:<11} {tools!s:>5} {read:>7} {cached:>7} {output:>7}"
    return f"{name} {agent:<11} {start:<16} {took:>7} {turns!s:>5} {tools!s:>5} {read:>7} {cached:>7} {output:>7}"
