"""`unspool store`"""

from typing import TYPE_CHECKING

import click

from unspool.cli.options import JSON

if TYPE_CHECKING:
    from unspool.store.moving import Moved


@click.group("store")
def command() -> None:
    """The store that threads are kept in: checked, written to a folder, read from one.

    It lies in $UNSPOOL_HOME, or where this system keeps data; only its owner can read it.
    """


@command.command("check", short_help="Work out every hash anew.")
@JSON
@click.pass_context
def check(context: click.Context, as_json: bool) -> None:
    """Work out every hash anew, and look for all that is pointed to. Exit status 1 if anything is wrong."""
    from msgspec.structs import asdict

    from unspool.cli.json_lines import echo
    from unspool.cli.opening import opened
    from unspool.cli.words import human, one_line, plural
    from unspool.store.checking import Checked, check

    checked = Checked()
    with opened() as store:
        faults = 0
        for fault in check(store, checked):
            faults += 1
            if as_json:
                echo([fault])
            else:
                click.echo(f"{fault.kind} {one_line(fault.name)}: {one_line(fault.reason)}")
    if as_json:
        echo([{**asdict(checked), "faults": faults}])
    else:
        counts = (plural(number, name[:-1]) for name, number in asdict(checked).items() if name != "bytes")
        click.echo(
            f"{', '.join(counts)}, {human(checked.bytes)}B: {plural(faults, 'fault') if faults else 'all right'}"
        )
    if faults:
        context.exit(1)


@command.command("export", short_help="Write it to a new folder.")
@click.argument("folder", metavar="FOLDER")
@click.argument("headishes", metavar="[HEADISH…]", nargs=-1)
@JSON
def export(folder: str, headishes: tuple[str, ...], as_json: bool) -> None:
    """Write the store, or only some threads, to a new folder: store.jsonl, and blobs/ by their hashes."""
    from pathlib import Path

    from unspool.cli.opening import opened
    from unspool.ingest.outputs import output_for
    from unspool.store.moving import LINES, export_store

    output_for(folder, names=[LINES])
    with opened() as store:
        moved = export_store(store, Path(folder), [store.find(name) for name in headishes])
    _say_moved(moved, "written", as_json)


@command.command("import", short_help="Take in what was written to a folder.")
@click.argument("folder", metavar="FOLDER")
@click.option("--strict", is_flag=True, help="Take nothing in, and exit with 1, if anything is wrong.")
@JSON
def import_(folder: str, strict: bool, as_json: bool) -> None:
    """Take in what `export` wrote, or an export of cross.stream (frames.jsonl and cas/). What is here already stays."""
    from pathlib import Path

    from unspool.cli.opening import opened
    from unspool.jobs.stores import take_in

    with opened() as store:
        moved = take_in(store, Path(folder), strict=strict)
    _say_moved(moved, "taken in", as_json)


def _say_moved(moved: "Moved", done: str, as_json: bool) -> None:
    from unspool.cli.json_lines import echo
    from unspool.cli.words import plural, say

    for note in moved.notes:
        say(f"{note.origin}: {note.reason}")
    if as_json:
        echo([moved])
        return
    counts = [plural(getattr(moved, f"{name}s"), name) for name in ("turn", "message", "blob", "bookmark")]
    known = f"; {plural(moved.known, 'turn')} were here already" if moved.known else ""
    click.echo(f"{', '.join(counts)} {done}{known}")
    for name, given in moved.renamed.items():
        click.echo(f"bookmark {name} is on another thread here: it is called {given}")
