"""`unspool grep`"""

from typing import TYPE_CHECKING

import click

from unspool.cli.options import AGENT, JOBS, MAX_RECORD

if TYPE_CHECKING:
    from unspool.jobs.grep import Hit

_NARROW = 100
"""Columns below which a hit has only the id of its session and its kind before it."""


def _known(_context: click.Context, _option: click.Parameter, kinds: tuple[str, ...]) -> tuple[str, ...]:
    """A name that no event has would find nothing, and look as if there were nothing."""
    if kinds:
        from unspool.jobs.grep import KINDS

        for kind in kinds:
            if kind not in KINDS:
                raise click.BadParameter(f"{kind!r} is none of {', '.join(KINDS)}")
    return kinds


@click.command("grep")
@click.argument("pattern")
@click.argument("paths", metavar="[PATH…]", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Each event that matches, as a JSON line.")
@click.option("--raw", is_flag=True, help="The same, with what the event came from (`metadata.payload`) beside it.")
@click.option("--limit", metavar="N", type=click.IntRange(min=1), help="Stop after N events.")
@AGENT
@click.option(
    "--kind",
    "kinds",
    metavar="K",
    multiple=True,
    callback=_known,
    help="Find only events of this type (tool_call, user, …), or tool calls with an action of this kind "
    "(file_edit, …); may be several.",
)
@click.option("-i", "--ignore-case", is_flag=True, help="Capitals and small letters are the same, A to Z only.")
@click.option("-E", "--regexp", is_flag=True, help="PATTERN is a regular expression.")
@JOBS
@MAX_RECORD
@click.pass_context
def command(
    context: click.Context,
    pattern: str,
    paths: tuple[str, ...],
    as_json: bool,
    raw: bool,
    limit: int | None,
    agent: str | None,
    kinds: tuple[str, ...],
    ignore_case: bool,
    regexp: bool,
    jobs: int | None,
) -> None:
    """Search the events of agents' logs.

    PATTERN is looked for in the compact JSON of each event's type and content: {"type":…,"content":{…}}. Without PATH
    in all logs on this machine. Exit status 1 when nothing matched.

    \b
    unspool grep 'connection refused' --kind tool_result
    unspool grep checkout.py --kind file_edit --kind file_write
    unspool grep '"name":"apply_patch"' --raw --limit 5
    """
    import gc

    from unspool.cli.reading import reading
    from unspool.cli.words import plural, say, say_lost
    from unspool.jobs.grep import Query, grep
    from unspool.sources.copies import fetched, named, named_json

    gc.disable()  # nothing here is cyclic
    form = "raw" if raw else "json" if as_json else "line"
    query = Query(pattern, regexp, ignore_case, kinds, agent, form, limit)
    files = found = notes = 0
    lost: list[str] = []
    with fetched(paths) as local, reading("searching") as seen:
        for path, searched in grep(query, local, jobs):
            seen(path)
            files += 1
            found += len(searched.hits)
            notes += searched.notes
            lost += [named(searched.fault)] if searched.fault else []
            for hit in searched.hits:
                hit.line = named_json(hit.line)
                _say(hit)
    if notes:
        where = "`unspool cook` names them" if paths else "see `unspool sources`"
        say(f"{plural(notes, 'record')} in these logs could not be read or understood: {where}")
    say_lost(lost)
    if not files:
        say("no log: see `unspool sources` for where we look")
    if not found:
        context.exit(1)


def _say(hit: "Hit") -> None:
    from unspool.cli.words import colour, fit, local, terminal_width
    from unspool.views.harmless import safe
    from unspool.views.prose import cells, whole_characters

    if hit.line:
        click.echo(hit.line, nl=False)
        return
    _, session, time, stream, kind = hit.event
    columns = terminal_width(1, 160)
    where = "" if stream == "main" else f"{stream[:14]} "
    # Only the whole id is certain to name one session: `show` looks among all of them, and a search reads few.
    place = safe(f"{session} {kind} " if columns < _NARROW else f"{session} {local(time):<16} {where}{kind:<13} ")
    width = max(columns - len(place), 20)
    before, match = safe(hit.before), safe(hit.match)
    before = before[whole_characters(before, max(len(before) - width // 3, 0)) :]
    if cells(before) + cells(match) >= width:
        before, match = "", fit(match, width - 1).rstrip()
    after = fit(safe(hit.after), width - cells(before) - cells(match)).rstrip()
    marked = click.style(match, fg="red", bold=True)
    click.echo(f"{click.style(place, dim=True)}{before}{marked}{after}", color=colour())
