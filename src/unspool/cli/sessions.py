"""`unspool sessions`"""

from typing import TYPE_CHECKING

import click

from unspool.cli.options import AGENT, COST, JOBS, JSON, MAX_RECORD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unspool.jobs.sessions import SessionRow


_NAME = 12
"""Characters of a name that the table has a column for; a longer one pushes its own row aside, and no other."""


@click.command("sessions")
@click.argument("paths", metavar="[PATH…]", nargs=-1)
@AGENT
@click.option("--project", metavar="DIR", help="Only sessions that ran in this folder or below it.")
@click.option("--since", metavar="T", help="Only what went on after T: a date, a time, today, yesterday, 12h, 3d.")
@click.option("--until", metavar="T", help="Only what began before T.")
@click.option("--limit", metavar="N", type=click.IntRange(min=1), help="The N newest.")
@COST
@JSON
@JOBS
@MAX_RECORD
def command(
    paths: tuple[str, ...],
    agent: str | None,
    project: str | None,
    since: str | None,
    until: str | None,
    limit: int | None,
    costs: bool,
    as_json: bool,
    jobs: int | None,
) -> None:
    """List the sessions of coding agents, newest first.

    Without PATH: all that the agents on this machine have kept. PATH is a log or a folder with logs, or a URL of such.

    \b
    unspool sessions --since 3d
    unspool sessions --project . --cost
    unspool sessions --json | jq .tokens
    """
    import gc

    gc.disable()  # nothing here is cyclic

    from pathlib import Path

    import msgspec

    from unspool.cli.reading import reading
    from unspool.cli.words import moment, say_lost
    from unspool.jobs.sessions import Filter, list_sessions
    from unspool.sources.copies import fetched, named

    wanted = Filter(
        agent,
        str(Path(project).expanduser().resolve()) if project else None,
        moment(since, "--since") if since else None,
        moment(until, "--until") if until else None,
    )
    with fetched(paths) as local, reading() as seen:
        listed = list_sessions(local, wanted, limit, jobs, seen, costs)
        rows = listed.rows
        for row in rows if local != list(paths) else ():
            row.files = list(map(named, row.files))
        lost = list(map(named, listed.lost))
    if as_json:
        click.echo(b"".join(msgspec.json.encode(row) + b"\n" for row in rows), nl=False)
    else:
        _say(rows, listed.ids, costs, bool(paths), bool(agent or project or since or until))
    say_lost(lost)


def _say(rows: "list[SessionRow]", ids: list[str], costs: bool, given: bool, filtered: bool) -> None:
    from unspool.cli.words import colour, fit, say, short_names, terminal_width

    if not rows:
        where = "recorded API calls are shown by `unspool view`" if given else "see `unspool sources` for where we look"
        say("no session that matches" if filtered else f"no session: {where}")
        return
    names = ["session", *short_names([row.id for row in rows], among=ids)]
    widest = max(size for size in map(len, names) if size <= _NAME)
    columns = terminal_width(1, 120)
    heads, *told = _table(rows, _shown(columns - widest, costs))
    asked = max(columns - widest - len(heads) - 3, 8)
    lines = [click.style(f"{names[0]:<{widest}} {heads}  asked", dim=True)]
    yellow, plain = click.style("\n", fg="yellow").split("\n")
    for row, name, line in zip(rows, names[1:], told, strict=True):
        room = asked if len(name) <= widest else max(asked + widest - len(name), 8)
        text = fit(" ".join((row.prompt or row.title or "(nothing)").split()), room).rstrip()
        lines.append(f"{yellow}{name:<{widest}}{plain} {line}  {text}")
    click.echo("\n".join(lines), color=colour())
    say(_sum(rows, costs))


def _shown(room: int, costs: bool) -> list[str]:
    """The columns between name and what was asked. On a narrow terminal only what cannot be done without."""
    tokens, cost = ["input", "cached", "output"], ["cost"] if costs else []
    if room < (69 if costs else 64):
        return ["agent", "start", *(cost or ["tools"])]
    if room < (103 if costs else 92):
        return ["agent", "start", *([] if costs else ["tools"]), *tokens, *cost]
    return ["agent", "start", "took", "turns", "tools", *tokens, *cost]


def _table(rows: "list[SessionRow]", shown: list[str]) -> "Iterator[str]":
    """The heads, then each row, but for its name and what was asked. A narrow one has no year, unless it is another
    than the newest session's."""
    from unspool.cli.words import human, on_clock, span
    from unspool.sources.values import time_of

    starts = [on_clock(time_of(row.start)) for row in rows]
    year = max(starts)[:4]
    wide = "took" in shown
    if not wide:
        starts = [start[5:] if start.startswith(year) else start[:10] for start in starts]
    widths = {"agent": -11, "start": -16 if wide else -11, "turns": 5, "tools": 5, "cost": 10}
    line = " ".join(f"%({head}){widths.get(head, 7)}s" for head in shown)
    yield line % {head: head for head in shown}
    for row, start in zip(rows, starts, strict=True):
        tokens = row.tokens
        cells = {
            "agent": row.agent,
            "start": start,
            "took": span(row.duration or None),  # one moment is all that is known
            "turns": str(row.turns),
            "tools": str(row.tools),
            "input": human(tokens.input + tokens.cache_write),
            "cached": human(tokens.cache_read),
            "output": human(tokens.output),
            "cost": _cost(row) if "cost" in shown else "",
        }
        yield line % cells


def _cost(row: "SessionRow") -> str:
    from unspool.views.money import dollars

    if isinstance(row.cost, float):
        return dollars(row.cost, complete=row.priced is True, estimated=row.estimated is True)
    return "?" if row.tokens.total else ""  # nothing was used, or nobody says so


def _sum(rows: "list[SessionRow]", costs: bool) -> str:
    from unspool.cli.words import human, plural
    from unspool.model.session import Tokens
    from unspool.views.money import dollars

    total = sum((row.tokens for row in rows), Tokens())
    told = (
        f"{plural(len(rows), 'session')}: {human(total.input + total.cache_write)} tokens in, "
        f"{human(total.cache_read)} from the cache, {human(total.output)} out"
    )
    if not costs:
        return told
    priced = [row.cost for row in rows if isinstance(row.cost, float)]
    without = sum(not row.priced for row in rows)
    estimated = any(row.estimated is True for row in rows)
    cost = dollars(sum(priced), complete=not without, estimated=estimated) if priced else "cost unknown"
    return f"{told}, {cost}{f' ({without:,} not fully priced)' if without and priced else ''}"
