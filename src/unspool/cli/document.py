"""`unspool document`"""

import click

from unspool.cli.options import JSON, as_text
from unspool.cli.thread import BOOKMARK, MOVE


@click.command("document")
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@click.option("-n", "--name", metavar="NAME", type=as_text, help="What to call it; otherwise the file's name.")
@click.option(
    "-c", "--continues", metavar="HEADISH", type=as_text, multiple=True, help="What it goes on from; may be several."
)
@click.option("--cache", is_flag=True, help="Ask the provider to cache all up to here.")
@BOOKMARK
@MOVE
@JSON
def command(
    files: tuple[str, ...],
    name: str | None,
    continues: tuple[str, ...],
    cache: bool,
    bookmark: str | None,
    move: bool,
    as_json: bool,
) -> None:
    """Store files (- is standard input) as turns, to be continued: text, Markdown, JSON, CSV, images, PDF.

    Over 100 MB is refused. Of several files, each goes on from the one before it.

    \b
    unspool document report.pdf -b report
    unspool ask -c report 'What are the three main points?'
    """
    from unspool.cli.json_lines import echo
    from unspool.cli.opening import opened
    from unspool.jobs.threads import shown
    from unspool.threads.documents import add_documents

    if name is not None and len(files) > 1:
        raise click.UsageError("--name is for one file")
    with opened() as store:
        turns = add_documents(store, files, name, continues, cache=cache, head=bookmark, move=move)
        records = [each.record() for each in shown(store, turns)] if as_json else []
    if as_json:
        echo({key: value for key, value in record.items() if key != "content"} for record in records)
    else:
        for turn in turns:
            click.echo(turn.id)
