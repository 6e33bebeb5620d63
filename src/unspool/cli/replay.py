"""`unspool replay`"""

from typing import TYPE_CHECKING

import click

from unspool.cli.options import JSON

if TYPE_CHECKING:
    from rich.text import Text

    from unspool.jobs.replay import Replayed, Reply


@click.command("replay")
@click.argument("requests", metavar="FILE#ID|FILE#N…", nargs=-1, required=True)
@click.option("--model", "models", metavar="M", multiple=True, help="Another model of the same provider.")
@click.option("-p", "--provider", "pointers", metavar="PTR|PROVIDER[/MODEL]", multiple=True, help="Somebody else.")
@click.option("--lenient", is_flag=True, help="Say in words what the provider does not take, with a warning.")
@JSON
def command(
    requests: tuple[str, ...], models: tuple[str, ...], pointers: tuple[str, ...], lenient: bool, as_json: bool
) -> None:
    """Send recorded calls again, the same or to other models, and show the answers beside each other.

    FILE#ID is a call by its id, FILE#N the N-th of a file. What goes to the same API is sent as it was recorded; for
    another it is written anew. With several models or providers, one column each. Nothing is stored. Exit status 3 if
    any call was not answered.

    \b
    unspool replay trace.jsonl#3
    unspool replay trace.jsonl#3 -p gemini/gemini-2.5-pro -p openai/gpt-5-mini
    """
    from unspool.cli.json_lines import echo
    from unspool.cli.words import say
    from unspool.jobs.replay import lines_of, replay
    from unspool.views.diffs import compared

    if models and pointers:
        raise click.UsageError("give either --model or -p")
    failed = False
    for each in replay(requests, models, pointers, lenient):
        for warning in each.warnings:
            say(f"unspool: {each.name}: {warning}")
        failed = failed or any(reply.error for reply in each.replies)
        diffs = [compared(lines_of(each.recorded.message), lines_of(reply.message)) for reply in each.replies]
        if as_json:
            told = [{**reply.record(), "diff": diff} for reply, diff in zip(each.replies, diffs, strict=True)]
            echo([{"request": each.name, "recorded": each.recorded.record(), "replies": told}])
        else:
            _show(each, diffs)
    if failed:
        click.get_current_context().exit(3)


def _show(each: "Replayed", diffs: list[list[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    from unspool.cli.words import colour, one_line, terminal_width

    console = Console(width=terminal_width(1), no_color=colour() is False, highlight=False)
    table = Table(title=one_line(each.name), title_justify="left", expand=True, show_lines=False, pad_edge=False)
    replies = [each.recorded, *each.replies]
    for number, reply in enumerate(replies):
        when = "recorded" if number == 0 else "now"
        table.add_column(f"{when}: {one_line(reply.asked or 'unknown')}", ratio=1, overflow="fold")
    table.add_row(*map(_said, replies))
    table.add_section()
    table.add_row(*map(_account, replies))
    console.print(table)
    for reply, diff in zip(each.replies, diffs, strict=True):
        if reply.error:
            continue
        if not diff:
            console.print(f"{one_line(reply.asked or '')}: the same answer", style="dim")
            continue
        console.print(f"--- recorded\n+++ {one_line(reply.asked or '')}", style="dim", markup=False)
        for line in diff:
            style = {"-": "red", "+": "green"}.get(line[:1], "dim")
            console.print(line, style=style, markup=False, soft_wrap=True)
    console.print()


def _said(reply: "Reply") -> "Text":
    from rich.text import Text

    from unspool.jobs.replay import lines_of
    from unspool.views.harmless import safe

    text = Text("\n".join(safe(line) for line in lines_of(reply.message)))
    if reply.error:
        text.append(("\n" if text else "") + safe(reply.error), "red")
    return text


def _account(reply: "Reply") -> "Text":
    from rich.text import Text

    from unspool.cli.conversation import tokens_of
    from unspool.views.money import dollars

    told = [tokens_of(reply.usage), "cost unknown" if reply.cost is None else dollars(reply.cost, 4)]
    if reply.duration_ms is not None:
        told.append(f"{reply.duration_ms / 1000:.1f} s")
    if reply.stop is not None:
        told.append(reply.stop.reason)
    return Text(" · ".join(told), "dim")
