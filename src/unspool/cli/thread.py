"""`unspool thread`"""

from typing import TYPE_CHECKING

import click

from unspool.cli.options import JSON, MAX_RECORD, as_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unspool.jobs.threads import Shown, ThreadRow

BOOKMARK = click.option(
    "-b", "--bookmark", metavar="NAME", type=as_text, help="A name for the thread, which follows it."
)
MOVE = click.option("--move", is_flag=True, help="Take the bookmark away from another thread.")


@click.group("thread")
def command() -> None:
    """Conversations that you hold yourself: listed, shown, forked, removed, or made from what others recorded.

    HEADISH is a turn: its id, a bookmark, or the beginning of an id that no other has.
    """


@command.command("list", short_help="All threads, newest first.")
@click.option("--limit", metavar="N", type=click.IntRange(min=1), help="The N newest.")
@JSON
def list_(limit: int | None, as_json: bool) -> None:
    """All threads, newest first: each by its last turn."""
    from unspool.cli.json_lines import echo
    from unspool.cli.opening import opened
    from unspool.jobs.threads import list_threads

    with opened() as store:
        rows = list_threads(store, limit)
        others = [] if as_json else [turn for row in rows for turn in store.next_to(row.id)]
    if as_json:
        echo(rows)
    else:
        _say_threads(rows, others)


@command.command("show", short_help="The turns of a thread.")
@click.argument("headishes", metavar="[HEADISH…]", type=as_text, nargs=-1)
@click.option("--full", is_flag=True, help="Cut nothing.")
@JSON
def show(headishes: tuple[str, ...], full: bool, as_json: bool) -> None:
    """The turns of a thread, from its beginning; without HEADISH, of the newest."""
    from unspool.cli.json_lines import echo
    from unspool.cli.opening import opened
    from unspool.jobs.threads import show_thread

    with opened() as store:
        turns = show_thread(store, headishes)
    if as_json:
        echo(each.record() for each in turns)
    else:
        _say_turns(turns, full)


@command.command("tree", short_help="All that went on from where a thread begins.")
@click.argument("headishes", metavar="[HEADISH…]", type=as_text, nargs=-1)
@click.option("--full", is_flag=True, help="Every turn: nothing is left out of long runs.")
@JSON
def tree(headishes: tuple[str, ...], full: bool, as_json: bool) -> None:
    """All that went on from where a thread begins; without HEADISH, of all threads."""
    from unspool.cli.json_lines import echo
    from unspool.cli.opening import opened
    from unspool.jobs.threads import grow, snippets

    with opened() as store:
        grown = grow(store, headishes)
    if as_json:
        echo({**each.record(), "children": grown.children[name]} for name, each in grown.turns.items())
        return
    from unspool.cli.words import colour, say
    from unspool.views.turns import tree as drawn

    told = snippets(grown.turns.values())
    for number, (margin, turn) in enumerate(drawn(grown.roots, grown.children, len(grown.turns) if full else 6)):
        if number and turn in grown.roots:
            click.echo()
        if isinstance(turn, int):
            click.secho(f"{margin}   … {turn:,} turns", dim=True, color=colour())
        else:
            _say_branch(margin, grown.turns[turn], told[turn])
    if not grown.turns:
        say("no turn is stored yet")


@command.command("fork", short_help="Give any turn a bookmark of its own.")
@click.argument("headish", metavar="[HEADISH]", type=as_text, required=False)
@BOOKMARK
@MOVE
@JSON
def fork(headish: str | None, bookmark: str | None, move: bool, as_json: bool) -> None:
    """A bookmark of its own at any turn: what is said there from now on is another thread. Nothing is copied.

    \b
    unspool thread fork research -b research-in-french
    unspool ask -c research-in-french 'Encore une fois, en français'
    """
    from unspool.cli.json_lines import echo
    from unspool.cli.opening import opened
    from unspool.jobs.threads import fork_thread

    with opened() as store:
        turn, name = fork_thread(store, headish, bookmark, move=move)
    if as_json:
        echo([{"id": turn, "bookmark": name}])
    else:
        click.echo(f"{name}  {turn}")


@command.command("rm", short_help="Remove threads for good.")
@click.argument("headishes", metavar="HEADISH…", type=as_text, nargs=-1, required=True)
@click.option("--branches", is_flag=True, help="All that goes on from there, too.")
@click.option("-n", "--dry-run", is_flag=True, help="Only say what would go.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask, even on a terminal.")
@JSON
def remove(headishes: tuple[str, ...], branches: bool, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Remove threads for good: their turns, back to the first that another thread or bookmark needs.

    A bookmark that something else goes on from is removed alone.
    """
    import sys

    from unspool.cli.json_lines import echo
    from unspool.cli.opening import opened
    from unspool.cli.words import plural
    from unspool.store.removal import remove_thread

    with opened() as store:
        for headish in headishes:
            ask = not (dry_run or yes) and sys.stdin is not None and sys.stdin.isatty()
            gone = remove_thread(store, headish, branches=branches, dry_run=dry_run or ask)
            told = f"{plural(len(gone.turns), 'turn')}{''.join(f', bookmark {name}' for name in gone.bookmarks)}"
            if ask:
                click.confirm(f"Remove {told}?", abort=True, err=True)
                gone = remove_thread(store, headish, branches=branches)
            if as_json:
                echo([gone])
            else:
                click.echo(f"{'would remove' if dry_run else 'removed'} {told}")


@command.command("add", short_help="Store a turn without asking any model.")
@click.argument("text", type=as_text, required=False)
@click.option(
    "-c", "--continues", metavar="HEADISH", type=as_text, multiple=True, help="What it goes on from; may be several."
)
@click.option("--role", type=click.Choice(["user", "assistant", "system"]), default="user", help="Who says it.")
@click.option("--options", metavar="JSON", type=as_text, help="Options that hold from here on; null takes one away.")
@click.option("--cache", is_flag=True, help="Ask the provider to cache all up to here.")
@click.option("--turns", metavar="FILE", help="Turns, or a context, as JSON; - is standard input.")
@BOOKMARK
@MOVE
@JSON
def add(
    text: str | None,
    continues: tuple[str, ...],
    role: str,
    options: str | None,
    cache: bool,
    turns: str | None,
    bookmark: str | None,
    move: bool,
    as_json: bool,
) -> None:
    """Store a turn without asking any model: TEXT, or standard input.

    With --turns: JSON lines, each a turn {"role", "content", "inherited", "head", "continues", "cache"}, which goes on
    from the one before it unless it says otherwise; or a context {"messages", "options"}.

    \b
    unspool thread add --role system 'Answer in one sentence.' -b brief
    unspool context resolve brief | unspool thread add --turns - -b copy
    """
    from unspool.cli.json_lines import echo
    from unspool.cli.opening import opened
    from unspool.jobs.adding import read_turns, text_turn
    from unspool.jobs.threads import shown
    from unspool.threads.adding import add_turns

    if turns is not None and (text is not None or cache or options or role != "user"):
        raise click.UsageError("--turns comes alone: role, options and cache stand in the turns")
    values = read_turns(turns) if turns is not None else [text_turn(text, role, options, cache)]
    with opened() as store:
        stored = add_turns(store, values, continues, head=bookmark, move=move)
        told = shown(store, stored) if as_json else []
    if as_json:
        echo(each.record() for each in told)
    else:
        for turn in stored:
            click.echo(turn.id)


@command.command("from", short_help="Make a thread from a session or a recorded call.")
@click.argument("name", metavar="SESSION|REQUEST")
@click.option("--at", metavar="TURN", help="Cut it there: how many turns to keep, or the id of a session's event.")
@click.option("--stream", metavar="NAME", help="Of a session: main (default), or agent:ID.")
@BOOKMARK
@MOVE
@JSON
@MAX_RECORD
def from_(name: str, at: str | None, stream: str | None, bookmark: str | None, move: bool, as_json: bool) -> None:
    """Make a thread from an agent's session or a recorded call, to be continued with any provider.

    SESSION is an id, the beginning of one, `latest`, or a log; REQUEST is FILE#ID or FILE#N, counted from 1. What was
    taken in before is shared: only what is new is stored.

    \b
    unspool thread from latest -b yesterday
    unspool thread from trace.jsonl#3 --at 5
    """
    from unspool.cli.json_lines import echo
    from unspool.cli.opening import opened
    from unspool.cli.words import plural, say
    from unspool.jobs.importing import thread_from

    with opened() as store:
        made = thread_from(store, name, at, stream=stream, head=bookmark, move=move)
    last = made.turns[-1]
    if as_json:
        ids = [turn.id for turn in made.turns]
        echo([{"id": last.id, "bookmark": bookmark, "turns": ids, "new": made.new, "left": made.left}])
    else:
        click.echo(last.id)
        left = f", {plural(made.left, 'turn')} left out behind it" if made.left else ""
        new = "all" if made.new == len(made.turns) else f"{made.new:,}" if made.new else "none"
        say(f"{plural(len(made.turns), 'turn')}, {new} new{left}")
    if made.notes:
        first = made.notes[0]
        say(f"{plural(len(made.notes), 'record')} not understood, the first at {first.origin}: {first.reason}")


def _say_threads(rows: "list[ThreadRow]", others: list[str]) -> None:
    from unspool.cli.words import colour, fit, local, one_line, plural, say, short_names, terminal_width

    if not rows:
        say("no thread yet: `unspool ask` begins one, `unspool thread from` takes one from a log")
        return
    names = short_names([row.id for row in rows], 10, others)
    widest = max(map(len, names))
    marks = [", ".join(row.bookmarks) for row in rows]
    marked = min(max(len("bookmark"), *map(len, marks)), 24)
    room = terminal_width(1, 120) - widest - marked - 29
    has_models = room >= 31
    asked = max(room - 19 if has_models else room, 12)
    head = f"{'thread':<{widest}}  {'bookmark':<{marked}}  {'last':<16} {'turns':>5}  {'model':<18} "
    click.secho(head.removesuffix("" if has_models else f"{'model':<18} ") + "asked", dim=True, color=colour())
    for row, name, mark in zip(rows, names, marks, strict=True):
        shown = click.style(f"{name:<{widest}}", fg="yellow")
        model = f"{fit(one_line(row.model), 18)} " if has_models else ""
        state = f"({row.status}) " if row.status != "complete" else ""
        text = fit(state + one_line(row.prompt or "(nothing)"), asked).rstrip()
        click.echo(f"{shown}  {fit(mark, marked)}  {local(row.end):<16} {row.turns:>5}  {model}{text}", color=colour())
    say(plural(len(rows), "thread"))


def _say_turns(turns: "list[Shown]", full: bool) -> None:
    from unspool.cli.show import paint
    from unspool.cli.words import colour, columns_of
    from unspool.views.text import Cut, lines
    from unspool.views.turns import rows

    widest, width = len(str(len(turns))), columns_of(1)
    for number, each in enumerate(turns, 1):
        if number > 1:
            click.echo()
        for line in _heading(f"{number:>{widest}}  ", each, width):
            click.echo(line, color=colour())
        for line in lines(rows(each.turn, each.message, full), paint, Cut(full, width=width)):
            click.echo(line, color=colour())


def _heading(number: str, each: "Shown", width: int | None) -> "Iterator[str]":
    from unspool.cli.words import human, local, one_line, option_text
    from unspool.jobs.threads import when
    from unspool.views.money import dollars
    from unspool.views.prose import broken, cells

    turn, answer = each.turn, each.turn.answer
    told = [turn.role, local(when(turn))]
    if answer is not None:
        told.append(answer.model or "")
        if usage := answer.usage:
            read = usage.input + usage.cache_read + usage.cache_write
            told.append(f"{human(read)} in, {human(usage.output)} out")
        told.append(dollars(answer.cost, 4) if answer.cost is not None else "")
    told += ["cached"] if turn.cache else []
    told += [f"{key} {option_text(value)}" for key, value in turn.inherited.items()]
    marks = "".join(f"  {name}" for name in each.bookmarks)
    about, named = one_line(" · ".join(filter(None, told))), click.style(marks, fg="green", bold=True)
    name = click.style(number, dim=True) + click.style(turn.id, fg="yellow")
    if width is None or cells(f"{number}{turn.id}  {about}{marks}") <= width:
        yield f"{name}  {click.style(about, dim=True)}{named}"
        return
    yield name + named
    for line in broken(about, width - len(number)):
        yield " " * len(number) + click.style(line, dim=True)


def _say_branch(margin: str, each: "Shown", text: str) -> None:
    from unspool.cli.words import colour, fit, one_line, terminal_width

    turn = each.turn
    marks = "".join(f" {name}" for name in each.bookmarks)
    others = "".join(f" +{parent}" for parent in turn.continues[:-1])
    width = max(terminal_width(1, 120) - len(margin) - len(turn.id) - len(turn.role) - len(marks) - len(others) - 4, 20)
    shown = fit(one_line(text), width).rstrip()
    told = f"{margin}{click.style(turn.id, fg='yellow')} {click.style(turn.role, dim=True)}"
    click.echo(f"{told}{click.style(marks + others, fg='green', bold=True)}  {shown}", color=colour())
