"""`unspool show`"""

from typing import TYPE_CHECKING

import click

from unspool.cli.options import COST, MAX_RECORD

if TYPE_CHECKING:
    from unspool.ingest.sessions import Found

_PIECE = 1 << 20


@click.command("show")
@click.argument("session", metavar="SESSION|PATH")
@click.option("--json", "as_json", is_flag=True, help="The events, as JSON lines.")
@click.option("--raw", is_flag=True, help="The events, each with what it came from (`metadata.payload`).")
@click.option("--markdown", "as_markdown", is_flag=True, help="The transcript as Markdown, nothing cut.")
@click.option("--stream", metavar="NAME", help="Only this stream: main, or agent:ID.")
@COST
@click.option("--full", is_flag=True, help="Cut nothing: whole outputs, thinking, and what the model was shown.")
@click.option("--thinking", is_flag=True, help="All of the thinking.")
@MAX_RECORD
def command(
    session: str,
    as_json: bool,
    raw: bool,
    as_markdown: bool,
    stream: str | None,
    costs: bool,
    full: bool,
    thinking: bool,
) -> None:
    """One session as a readable transcript: prompts, answers, tool calls with their results, edits, sub-agents.

    SESSION is an id, the beginning of one, or `latest`; PATH a log, or - for standard input. Of several sessions in one
    place, the newest is shown.

    \b
    unspool show latest
    unspool show 138942b1 --markdown > session.md
    """
    import gc

    from unspool.cli.reading import reading
    from unspool.cli.words import fit, local, one_line, plural, say, say_lost, terminal_width
    from unspool.errors import SessionNotFound
    from unspool.jobs.show import find, on_disk
    from unspool.sources.files import DASH
    from unspool.sources.storage import is_url

    if costs and (as_json or raw or as_markdown):
        raise click.UsageError(
            "--cost goes with the readable transcript; for programs: `unspool sessions --cost --json`"
        )
    gc.disable()  # nothing here is cyclic
    with on_disk(session) as name:
        with reading() as seen:
            shown = find(name, seen)
        say_lost([f"{note.origin.file}: {note.reason}" for note in shown.lost])
        if shown.others:
            say(f"the newest of {plural(len(shown.others) + 1, 'session')}; the others:")
            widest = max(len(one_line(other.id)) for other in shown.others[:20])
            for other in shown.others[:20]:
                told = f"  {one_line(other.id):<{widest}}  {local(other.start):<16}  "
                say(told + fit(one_line(other.prompt), max(terminal_width(2, 120) - len(told), 20)).rstrip())
            if len(shown.others) > 20:
                say(f"  … and {len(shown.others) - 20:,} more: see `unspool sessions {session}`")
        if stream is not None and stream not in shown.session.streams:
            names = ", ".join(shown.session.streams)
            raise SessionNotFound(f"{shown.session.id} has no stream {stream!r}, only {names}")
        if as_json or raw:
            _events(shown.session, stream, raw, copied=session == DASH or is_url(session))
        else:
            _transcript(shown.session, stream, as_markdown, costs, full, thinking)


def _events(session: "Found", stream: str | None, raw: bool, copied: bool) -> None:
    from unspool.exports.events import line
    from unspool.jobs.show import events
    from unspool.sources.copies import named_json

    for event, agent, payload in events(session, stream, raw):
        told = line(event, agent, payload)
        click.echo(named_json(told) if copied else told, nl=False)


def _transcript(
    session: "Found", stream: str | None, as_markdown: bool, costs: bool, full: bool, thinking: bool
) -> None:
    from unspool.cli.words import colour, columns_of, plural, say, shows_colour
    from unspool.jobs.show import show
    from unspool.sources.copies import named
    from unspool.views.markdown import markdown
    from unspool.views.outline import outline
    from unspool.views.text import Cut, lines

    assembled, notes = show(session, stream)
    if as_markdown:
        for line in markdown(assembled):
            click.echo(line)
    else:
        width = columns_of(1)
        for line in _header(session, width, costs):
            click.echo(line, color=colour())
        painted = paint if shows_colour() else lambda text, _style: text
        for line in lines(outline(assembled), painted, Cut(full, thinking, session.facts.project, width)):
            _say(line)
    notes = [note for note in notes if note.kind != "repaired"]  # what was mended was understood
    if notes:
        first = named(f"{notes[0].origin}: {notes[0].reason}")
        say(f"{plural(len(notes), 'record')} not understood, the first at {first}")


def _say(line: str) -> None:
    """Write a line in pieces: click makes several copies of what it writes, and a line can be very long."""
    from unspool.cli.words import colour

    for at in range(0, len(line), _PIECE):
        click.echo(line[at : at + _PIECE], nl=False, color=colour())
    click.echo()


def _header(session: "Found", width: int | None, costs: bool) -> list[str]:
    from unspool.cli.words import human, local, one_line, plural, span
    from unspool.jobs.sessions import row_of
    from unspool.views.prose import broken, cells

    row = row_of(session)
    tokens = row.tokens
    place = f"{row.project or ''}{f' ({row.branch})' if row.branch else ''}"
    about = [row.agent, row.model, place, ", ".join(filter(None, [local(row.start), span(row.duration or None)]))]
    words = ("in", "cached", "written", "out")
    told = (tokens.input, tokens.cache_read, tokens.cache_write, tokens.output)
    counts = [
        plural(row.turns, "turn"),
        plural(row.tools, "tool call"),
        ", ".join(f"{human(number)} {what}" for number, what in zip(told, words, strict=True) if number),
        _cost(session) if costs else "",
    ]
    name, where = one_line(row.id), one_line(" · ".join(filter(None, about)))
    fits = width is None or cells(name) + cells(where) + 2 <= width
    return [
        *(click.style(line, bold=True) for line in broken(one_line(row.title), width) if line),
        click.style(name, fg="yellow") + (click.style(f"  {where}", dim=True) if fits else ""),
        *(click.style(line, dim=True) for line in broken(where, width) if not fits),
        click.style(" · ".join(filter(None, counts)), dim=True),
        "",
    ]


def _cost(session: "Found") -> str:
    from unspool.jobs.sessions import cost_of
    from unspool.views.money import dollars

    cost = cost_of(session)
    return dollars(cost.usd, 2, cost.complete, cost.estimated) if cost.usd is not None else "cost unknown"


def paint(text: str, style: str) -> str:
    match style:
        case "prompt":
            return click.style(text, fg="cyan", bold=True)
        case "call":
            return click.style(text, bold=True)
        case "thinking":
            return click.style(text, dim=True, italic=True)
        case "agent":
            return click.style(text, fg="magenta")
        case "added":
            return click.style(text, fg="green")
        case "removed" | "error":
            return click.style(text, fg="red")
        case "warning":
            return click.style(text, fg="yellow")
    return click.style(text, dim=True)
