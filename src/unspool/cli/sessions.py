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

    Without PATH: all that the agents on this machine have kept. PATH is a log or a folder with logs.

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

    gc.disable()  # nothing here is cyclic
    wanted = Filter(
        agent,
        str(Path(project).expanduser().resolve()) if project else None,
        moment(since) if since else None,
        moment(until) if until else None,
    )
    with reading() as seen:
        rows = list_sessions(paths, wanted, limit, jobs, seen)
    if as_json:
        click.echo(b"".join(msgspec.json.encode(row) + b"\n" for row in rows), nl=False)
        return
    _say(rows)


def _say(rows: "list[SessionRow]") -> None:
    from unspool.cli.words import colour, fit, human, local, one_line, plural, say, short_names, span, terminal_width

    if not rows:
        say("no session: see `unspool sources` for where we look")
        return
    names = short_names([row.id for row in rows])
    widest = max(len("session"), *map(len, names))
    prompt = max(terminal_width(1, 120) - 69 - widest, 12)
    numbers = f"{'turns':>5} {'tools':>5} {'input':>7} {'output':>7}"
    head = f"{'session':<{widest}} {'agent':<11} {'start':<16} {'took':>7} {numbers}  asked"
    click.secho(head, dim=True, color=colour())
    for row, name in zip(rows, names, strict=True):
        tokens = row.tokens
        numbers = f"{row.turns:>5} {row.tools:>5} {human(tokens.total - tokens.output):>7} {human(tokens.output):>7}"
        asked = fit(one_line(row.prompt or row.title or "(nothing)"), prompt).rstrip()
        place = f"{fit(row.agent, 11)} {local(row.start):<16} {span(row.duration):>7}"
        short = click.style(f"{name:<{widest}}", fg="yellow")
        click.echo(f"{short} {place} {numbers}  {asked}", color=colour())
    total = sum((row.tokens for row in rows), type(rows[0].tokens)())
    say(
        f"{plural(len(rows), 'session')}: {human(total.input)} tokens in, {human(total.cache_read)} from the cache, "
        f"{human(total.cache_write)} into it, {human(total.output)} out"
    )
