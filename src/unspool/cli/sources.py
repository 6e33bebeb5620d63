"""`unspool sources`"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unspool.cli.options import JOBS, JSON, MAX_RECORD
from unspool.cli.words import plural
from unspool.views.harmless import safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unspool.jobs.sources import SourceSeen

_WIDE = 80
"""Columns that all of the table needs."""


@click.command("sources")
@JSON
@JOBS
@MAX_RECORD
def command(as_json: bool, jobs: int | None) -> None:
    """Where each agent keeps its logs on this machine: files, bytes, sessions, and what could not be read."""
    import gc

    import msgspec

    from unspool.cli.reading import reading
    from unspool.jobs.sources import sources

    gc.disable()  # nothing here is cyclic
    with reading() as seen:
        found = sources(jobs, seen)
    if as_json:
        click.echo(b"".join(msgspec.json.encode(source) + b"\n" for source in found), nl=False)
    else:
        _say(found)


def _say(found: "list[SourceSeen]") -> None:
    from unspool.cli.words import colour, human, local, terminal_width

    width = terminal_width(1, 10_000)
    heads = f"{'oldest':<16}  newest" if width >= _WIDE else "newest"
    click.secho(f"{'agent':<18} {'files':>7} {'bytes':>8} {'sessions':>8}  {heads}", dim=True, color=colour())
    for source in sorted(found, key=lambda source: (-source.files, source.title)):
        there = source.files > 0
        newest = local(source.newest)
        times = f"{local(source.oldest):<16}  {newest}" if width >= _WIDE else newest[:10]
        row = f"{source.title:<18} {source.files:>7,} {human(source.bytes):>8} {source.sessions:>8,}  {times}"
        if there:
            click.secho(row.rstrip(), bold=True, color=colour())
        else:
            click.secho(f"{source.title:<18} {_looked(source, width - 19)}", dim=True, color=colour())
        for folder in dict.fromkeys(place.folder for place in source.places if place.exists and there):
            patterns = [name for place in source.places if place.folder == folder for name in place.patterns]
            for line in _listed(f"  {_short(folder)}: ", list(dict.fromkeys(patterns)), width):
                click.secho(line, dim=True, color=colour())
        for folder in dict.fromkeys(place.folder for place in source.places if not place.readable):
            click.secho(f"  cannot be looked into: {_short(folder)}", fg="yellow", color=colour())
        for path in source.unclaimed[:3]:
            click.secho(f"  not a log that we know: {_short(path)}", fg="yellow", color=colour())
        if len(source.unclaimed) > 3:
            click.secho(f"  … and {plural(len(source.unclaimed) - 3, 'more file')}", fg="yellow", color=colour())
        for reason, number in list(source.notes.items())[:5]:
            click.secho(f"  {number:,} × {safe(reason)}", fg="yellow", color=colour())


def _listed(head: str, names: list[str], width: int) -> "Iterator[str]":
    """The names behind the head, in as many lines as a terminal of this width needs."""
    line = head
    for name, end in zip(names, [", "] * (len(names) - 1) + [""], strict=True):
        if len(line) + len(name) + len(end) > width and line.strip():
            yield line.rstrip()
            line = "    "
        line += name + end
    yield line


def _looked(source: "SourceSeen", room: int) -> str:
    """Where nothing was found, in short: all places are in the JSON. Of a path that is too long its end tells most."""
    folders = list(dict.fromkeys(place.folder for place in source.places))
    if not folders:
        return "read where a path is given"
    more = f" and {plural(len(folders) - 1, 'more place')}" if len(folders) > 1 else ""
    first, most = _short(folders[0]), max(room - len("nothing in ") - len(more), 8)
    return f"nothing in {first if len(first) <= most else '…' + first[1 - most :]}{more}"


def _short(path: str) -> str:
    home = str(Path.home())
    return safe(f"~{path[len(home) :]}" if path.startswith(home + os.sep) else path)
