"""`unspool cook`"""

from typing import TYPE_CHECKING

import click

from unspool.cli.options import COST, MAX_RECORD

if TYPE_CHECKING:
    from unspool.sources.outputs import Output

_kept: list[object] = []
"""What was made, held to the end of the process: see `run`."""
FORMATS = ("auto", "openai", "claude", "gemini", "responses", "cohere", "interactions")


@click.command("cook", short_help="Recorded API traffic → a deduplicated graph.")
@click.argument("inputs", metavar="INPUT…", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", default="-", help="Where to write; - is standard output (default).")
@click.option(
    "--format",
    "wire",
    type=click.Choice(FORMATS),
    default="auto",
    help="The API of the requests; auto recognises each by itself. Answers are always recognised.",
)
@click.option(
    "--strict", is_flag=True, help="Exit with 1 if there is any note: a line or a part of it that was not understood."
)
@click.option("--notes", metavar="FILE", help="Write what could not be understood there too, as JSON lines.")
@COST
@click.option("-q", "--quiet", is_flag=True, help="No summary on standard error.")
@MAX_RECORD
def command(
    inputs: tuple[str, ...], output: str, wire: str, strict: bool, notes: str | None, costs: bool, quiet: bool
) -> None:
    """Turn recorded API traffic or agents' logs into a deduplicated graph of their conversations.

    INPUT is a file, a folder, a URL of such (s3://…), - (standard input), or a session: its id, the beginning of it, or
    latest. Files are JSON lines, one JSON array or object, also .gz and .zst, or an agent's log. Each message and tool
    is written once; each request lists its messages by id, and names the request it continues.

    \b
    unspool cook trace.jsonl -o cooked.json
    unspool cook traces/ | jq '.requests[] | {id, parent_id, parent_reason}'
    """
    import gc

    from unspool.cli.progress import Progress
    from unspool.errors import StrictFault
    from unspool.exports.cooked import encode, encode_notes
    from unspool.exports.writing import write
    from unspool.ingest.finding import is_session
    from unspool.jobs.cook import cook
    from unspool.sources.files import expand

    targets = _targets(inputs, output, notes)
    gc.disable()  # nothing here is cyclic, and what is kept is kept to the end
    sessions = [given for given in inputs if is_session(given)]
    files = list(expand(given for given in inputs if given not in sessions))
    for target in targets:
        target.refuse(files)
    with Progress(files, shown=not quiet) as progress:
        cooked = cook(*inputs, wire=wire, seen=progress.seen)
    _kept.append(cooked)
    write(targets[0], encode(cooked))
    if notes:
        write(targets[1], encode_notes(cooked.notes))
    if not quiet:
        from unspool.cli.summary import say_summary

        say_summary(cooked, len(files) + len(sessions), costs)
    if strict and cooked.notes:
        from unspool.cli.words import plural

        first = cooked.notes[0]
        told = f"{plural(len(cooked.notes), 'note')}, the first at {first.origin}: {first.reason}"
        raise StrictFault(f"--strict: {told}")


def _targets(inputs: tuple[str, ...], output: str, notes: str | None) -> "list[Output]":
    """Return the outputs, after checking that they are neither inputs nor the same."""
    from pathlib import Path

    from unspool.ingest.outputs import output_for
    from unspool.sources.storage import whole

    if notes and whole(notes) == whole(output) and not Path(output).is_char_device():
        raise click.UsageError(f"--output and --notes are both {output!r}")
    return [output_for(path, inputs) for path in (output, notes) if path is not None]
