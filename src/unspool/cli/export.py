"""`unspool export`"""

from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from unspool.cli.options import MAX_RECORD

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unspool.jobs.view.catalog import Catalog
    from unspool.jobs.view.redacting import Redaction

_REDACT = click.option(
    "--redact/--no-redact", default=True, help="Replace keys, tokens and passwords by placeholders (default)."
)
_QUIET = click.option("-q", "--quiet", is_flag=True, help="Do not say what was done.")


@click.group("export")
def command() -> None:
    """Conversations as pages or Markdown, to be kept or shared. Secrets are taken out."""


@command.command("html", short_help="The viewer and the data, in one file or as a site.")
@click.argument("paths", metavar="FILE|FOLDER|SESSION|THREAD…", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", help="One page with everything in it; - is standard output.")
@click.option(
    "--site", metavar="DIR", help="A folder instead: a page with a list, and the data of each session beside it."
)
@_REDACT
@_QUIET
@MAX_RECORD
@click.pass_obj
def html(version: str, paths: tuple[str, ...], output: str | None, site: str | None, redact: bool, quiet: bool) -> None:
    """The viewer and the data in one file that opens from disk, without a server.

    \b
    unspool export html latest -o session.html
    unspool export html ~/.claude/projects/shop --site pages
    """
    from pathlib import Path

    from unspool.cli.reading import reading
    from unspool.exports.writing import write
    from unspool.ingest.outputs import output_for
    from unspool.jobs.view.catalog import opened
    from unspool.jobs.view.redacting import Redaction

    if (output is None) == (site is None):
        raise click.UsageError("either -o FILE or --site DIR")
    from unspool.web.page import one_page
    from unspool.web.page import site as pages

    redaction = Redaction() if redact else None
    page = output if site is None else str(Path(site, "index.html"))
    target = output_for(page or "-", paths)
    with ExitStack() as stack:
        with reading() as seen:
            catalog = stack.enter_context(opened(paths, seen))
        if site is not None:
            _write_site(site, paths, pages(catalog, version, redaction))
        else:
            write(target, one_page(catalog, version, redaction))
    if not quiet:
        _say(target.path, catalog, redaction)


@command.command("markdown", short_help="A transcript as Markdown.")
@click.argument("path", metavar="FILE|SESSION|THREAD")
@click.option("-o", "--output", metavar="FILE", default="-", help="Where to write; - is standard output (default).")
@_REDACT
@_QUIET
@MAX_RECORD
def markdown(path: str, output: str, redact: bool, quiet: bool) -> None:
    """A transcript as Markdown, nothing cut. Of recorded calls: the main path of each conversation; of a thread: all
    that was said up to that turn.

    \b
    unspool export markdown latest -o session.md
    """
    from unspool.exports.writing import write
    from unspool.ingest.outputs import output_for
    from unspool.jobs.view.catalog import opened
    from unspool.jobs.view.redacting import Redaction
    from unspool.jobs.view.writing import as_markdown

    redaction = Redaction() if redact else None
    target = output_for(output, [path])
    with opened([path]) as catalog:
        lines = (line.encode("utf-8", "replace") for reel in catalog for line in as_markdown(reel, redaction))
        write(target, lines)
    if not quiet:
        _say(output, catalog, redaction)


def _write_site(folder: str, inputs: "Iterable[str]", files: "Iterable[tuple[str, bytes]]") -> None:
    from pathlib import Path

    from unspool.errors import OutputNotWritable
    from unspool.exports.writing import write
    from unspool.ingest.outputs import output_for

    for name, data in files:
        place = Path(folder, name)
        target = output_for(str(place), inputs)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputNotWritable(f"{place.parent}: {error.strerror}") from error
        write(target, [data])


def _say(place: str, catalog: "Catalog", redaction: "Redaction | None") -> None:
    from unspool.cli.view import counted, say_notes
    from unspool.cli.words import say, say_lost

    say_notes(catalog)
    say_lost(catalog.lost)
    told = ", ".join(f"{count:,} × {kind}" for kind, count in redaction.kinds.items()) if redaction else ""
    if told:
        say(f"redacted: {told}")
    if place == "-":
        return
    if redaction is None:
        say("nothing was redacted")
    elif not told:
        say("no secret was found to be redacted; pictures are not looked into")
    say(f"{counted(catalog)} in {place}" if len(catalog) > 1 else place)
