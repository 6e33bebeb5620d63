"""`unspool context`"""

import click

from unspool.cli.options import JSON, as_text


@click.group("context")
def command() -> None:
    """What a model is given: the messages of a thread, and the options that hold at its end.

    HEADISH is a turn: its id, a bookmark, or the beginning of an id that no other has. Several are told one after
    another, what they share only once; without any, the newest turn's thread.
    """


@command.command("resolve", short_help="The context, as JSON.")
@click.argument("headishes", metavar="[HEADISH…]", type=as_text, nargs=-1)
@JSON
def resolve(headishes: tuple[str, ...], as_json: bool) -> None:  # noqa: ARG001 - it is JSON in any case
    """The context as one JSON object: {"messages", "options"}.

    \b
    unspool context resolve research | jq .options
    unspool context resolve research | unspool request - -p milli
    """
    from unspool.cli.json_lines import echo
    from unspool.cli.opening import opened
    from unspool.threads.context import resolve
    from unspool.wires.normalised import write_context

    with opened() as store:
        echo([write_context(resolve(store, headishes))])


@command.command("list", short_help="The turns that a context is made of.")
@click.argument("headishes", metavar="[HEADISH…]", type=as_text, nargs=-1)
@JSON
def list_(headishes: tuple[str, ...], as_json: bool) -> None:
    """The turns that a context is made of: {"id", "role", "content", "options", "cache"} each."""
    from unspool.cli.json_lines import echo
    from unspool.cli.opening import opened
    from unspool.jobs.threads import show_thread, snippets
    from unspool.threads.context import records

    with opened() as store:
        if as_json:
            echo(records(store, headishes))
            return
        turns = show_thread(store, headishes)
    from unspool.cli.words import colour, fit, one_line, option_text, terminal_width

    for each, text in zip(turns, snippets(turns).values(), strict=True):
        turn = each.turn
        told = [f"{key} {option_text(value)}" for key, value in turn.inherited.items()]
        told += ["cached"] if turn.cache else []
        about = f"  {', '.join(told)}" if told else ""
        width = max(terminal_width(1, 120) - len(turn.id) - 13 - len(about), 20)
        line = f"{click.style(turn.id, fg='yellow')}  {turn.role:<9}  {fit(one_line(text), width).rstrip()}"
        click.echo(line + click.style(about, dim=True), color=colour())
