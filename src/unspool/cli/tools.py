"""`unspool tools`"""

from typing import TYPE_CHECKING

import click

from unspool.cli.options import AGENT, JOBS, JSON, MAX_RECORD

if TYPE_CHECKING:
    from unspool.jobs.tools import ToolSeen


@click.command("tools")
@click.argument("paths", metavar="[PATH…]", nargs=-1)
@AGENT
@JSON
@click.option("--diff", "differences", is_flag=True, help="Only where calls differ from what our vocabulary expects.")
@JOBS
@MAX_RECORD
def command(paths: tuple[str, ...], agent: str | None, as_json: bool, differences: bool, jobs: int | None) -> None:
    """Which tools agents called: how often, with which arguments of which types, and what they mean.

    Without PATH: in all logs on this machine. Recorded API traffic may be given too: the agent is recognised by its
    name, its system prompt or its tools.

    \b
    unspool tools --agent codex
    unspool tools traces/ --diff --json
    """
    import gc
    from contextlib import ExitStack

    import msgspec

    from unspool.cli.reading import reading
    from unspool.cli.words import say, say_lost
    from unspool.jobs.show import on_disk
    from unspool.jobs.tools import tools
    from unspool.sources.copies import named as known_as

    gc.disable()  # nothing here is cyclic
    with ExitStack() as stack:
        named = [stack.enter_context(on_disk(path)) for path in paths]
        found, lost = tools(named, jobs, stack.enter_context(reading()))
        lost = list(map(known_as, lost))
    told = [tool for tool in found if agent is None or tool.agent == agent]
    if differences:
        told = [tool for tool in told if tool.differences]
    if as_json:
        click.echo(b"".join(msgspec.json.encode(tool) + b"\n" for tool in told), nl=False)
    elif not told:
        say("no difference" if differences else "no tool was called")
    else:
        _say(told, differences)
    say_lost(lost)


def _say(seen: "list[ToolSeen]", differences: bool) -> None:
    from unspool.cli.words import colour, fit, one_line, terminal_width

    width = terminal_width(1, 120)
    name = 30 if width >= 73 else 16
    agent = None
    for tool in seen:
        if tool.agent != agent:
            click.echo(nl=agent is not None)
            agent = tool.agent
            click.secho(
                f"{agent:<{name}} {'calls':>7} {'generic':>8}  {'kind':<11} arguments", dim=True, color=colour()
            )
        kind = next(iter(tool.kinds))
        arguments = ", ".join(f"{name}: {'|'.join(seen.types)}" for name, seen in tool.arguments.items())
        share = (
            click.style(f"{tool.generic:>8.0%}", fg="yellow")
            if tool.generic and tool.known
            else f"{tool.generic:>8.0%}"
        )
        line = f"{fit(one_line(tool.name), name)} {tool.calls:>7,} {share}  {kind:<11} "
        click.echo(line + fit(one_line(arguments), max(width - name - 31, 12)).rstrip(), color=colour())
        for difference in tool.differences if differences else ():
            click.secho(f"  {one_line(difference)}", fg="yellow", color=colour())
