"""`unspool view`"""

import os
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from unspool.cli.options import MAX_RECORD

if TYPE_CHECKING:
    from unspool.jobs.view.catalog import Catalog


@click.command("view")
@click.argument("paths", metavar="[FILE|FOLDER|SESSION|THREAD]…", nargs=-1)
@click.option(
    "--port", metavar="N", type=click.IntRange(0, 65535), help="Listen there; by default 7766, or any that is free."
)
@click.option("--no-open", is_flag=True, help="Do not open the browser.")
@click.option("--list", "only_list", is_flag=True, help="Say what would be shown, and serve nothing.")
@MAX_RECORD
@click.pass_obj
def command(version: str, paths: tuple[str, ...], port: int | None, no_open: bool, only_list: bool) -> None:
    """See conversations in the browser: requests as a graph, transcripts, usage; what grows appears by itself.

    FILE is recorded API traffic, what `unspool cook` wrote, or an agent's log (- is standard input); FOLDER any mix.
    SESSION is an id, the beginning of one, or latest; THREAD a turn or a bookmark of `unspool thread`, shown with all
    its forks. Without any: all sessions of the agents on this machine, and all threads.

    Only this machine can reach it, with the token in the address. Nothing is written, nothing loaded from elsewhere.

    \b
    unspool view trace.jsonl
    unspool view latest
    """
    from unspool.cli.reading import reading
    from unspool.cli.words import say
    from unspool.errors import UnspoolError
    from unspool.jobs.view.catalog import opened

    with ExitStack() as stack:
        with reading() as seen:
            catalog = stack.enter_context(opened(paths, seen))
        if only_list:
            _list(catalog)
            return
        try:
            from unspool.web.server import serve
        except ImportError as error:
            raise UnspoolError(f"`unspool view` needs {error.name}: pip install 'unspool[view]'") from error

        def ready(address: str, valid_once: str) -> None:
            click.echo(address)
            say("Ctrl-C ends it.")
            if no_open:
                return
            if _has_screen():
                click.launch(valid_once)  # other users can see the arguments of programs
            else:
                port = address.partition("?")[0].rstrip("/").rpartition(":")[2]
                say(f"No screen here; elsewhere `ssh -L {port}:127.0.0.1:{port} …` to this machine, and open it there.")

        _say(catalog)
        serve(catalog, version, port, ready)


def _has_screen() -> bool:
    """Without one, as over ssh, `xdg-open` complains at length, or fills the terminal with a browser for text."""
    names = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME")
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in names)


def _say(catalog: "Catalog") -> None:
    from unspool.cli.words import plural, say, say_lost

    say(counted(catalog) or "no session on this machine: see `unspool sources` for where we look")
    for fault in catalog.faults:
        say(f"unspool: {fault}")
    say_lost(catalog.lost)
    if catalog.unknown:
        say(f"{plural(len(catalog.unknown), 'file')} neither recorded calls nor a log, the first: {catalog.unknown[0]}")


def _list(catalog: "Catalog") -> None:
    from unspool.cli.words import fit, human, one_line, plural, terminal_width
    from unspool.views.money import dollars

    columns = terminal_width(1, 120)
    has_kinds = columns >= 68  # what is counted, requests or turns, tells much of it
    room = max(columns - 56 if has_kinds else columns - 47, 12)
    for reel in catalog:
        if reel.kind != "session":
            reel.load()
    for row in catalog.rows():
        usage = row.usage
        tokens = usage.input + usage.cache_read + usage.cache_write + usage.output
        size = plural(row.requests, "request") if row.requests is not None else plural(row.turns, "turn")
        known = row.cost is not None
        cost = dollars(row.cost, 2, row.priced, row.estimated) if known else "?" if tokens else ""
        kind = f"{row.kind:<8} " if has_kinds else ""
        told = f"{kind}{row.agent or '':<12} {size:>12} {human(tokens):>8} {cost:>10}"
        click.echo(f"{told}  {fit(one_line(row.name), room).rstrip()}")
    say_notes(catalog)
    _say(catalog)


def counted(catalog: "Catalog") -> str:
    from unspool.cli.words import plural

    kinds = [reel.kind for reel in catalog]
    return ", ".join(plural(number, kind) for kind in ("trace", "session", "thread") if (number := kinds.count(kind)))


def say_notes(catalog: "Catalog") -> None:
    """What was not understood of what was read."""
    from unspool.cli.words import plural, say

    for reel in catalog:
        notes = [note for note in reel.load().cooked.notes if note.kind != "repaired"] if reel.is_known else []
        if notes:
            first = reel.note(notes[0])
            say(f"{plural(len(notes), 'record')} not understood, the first: {first.origin}: {first.reason}")
