"""`unspool record`"""

from collections.abc import Iterator

import click


@click.group("record", invoke_without_command=True)
@click.option(
    "--target", metavar="URL", help="Forward everything there; without it, path and headers tell the provider."
)
@click.option("-o", "--output", metavar="FILE|DIR", help="The trace to append to (trace.jsonl); - is standard output.")
@click.option("--port", metavar="N", type=click.IntRange(0, 65535), default=8080, help="8080; 0 takes a free one.")
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", help="Listen there: 127.0.0.1; others need a token.")
@click.option(
    "--upstream", "upstreams", metavar="NAME=URL", multiple=True, help="One more upstream, served at /NAME/…."
)
@click.option("--token", metavar="T", envvar="UNSPOOL_RECORD_TOKEN", help="Serve only those who have it: at /~T/….")
@click.option(
    "--allow-origin",
    metavar="URL",
    multiple=True,
    help="Accept calls from web pages of this origin, such as http://localhost:3000; may be several.",
)
@click.option("--by-session", is_flag=True, help="A file for each session: DIR/<date>/<session>.jsonl.")
@click.option(
    "--compact", is_flag=True, help="One zstd stream: the file grows with what is new, not with what was sent."
)
@click.option("--redact-body", is_flag=True, help="Take keys, tokens and passwords out of bodies too.")
@click.option(
    "--strict",
    is_flag=True,
    help="Hold every byte until it is written; refuse calls that cannot be recorded.",
)
@click.option("--durable", is_flag=True, help="Hold answers until request and call survive a power cut.")
@click.option("--timeout", metavar="S", type=click.FloatRange(0.01), help="Give up an upstream that is silent so long.")
@click.option(
    "--patience",
    metavar="S",
    type=click.FloatRange(0),
    default=30,
    help="How long calls in flight may take when it is told to end: 30.",
)
@click.option("--json", "as_json", is_flag=True, help="What happens, as JSON lines on standard output.")
@click.option("-q", "--quiet", is_flag=True, help="No line for each call.")
@click.pass_context
def command(
    context: click.Context,
    /,
    output: str | None,
    upstreams: tuple[str, ...],
    by_session: bool,
    compact: bool,
    as_json: bool,
    quiet: bool,
    **given: object,
) -> None:
    """Record API traffic: a proxy that passes every byte on as it comes, and writes each call to a file.

    Clients are pointed at it in place of the API: ANTHROPIC_BASE_URL=http://127.0.0.1:8080, OPENAI_BASE_URL=…:8080/v1.
    One port serves all providers. Keys and cookies are never written down. Ctrl-C or SIGTERM ends it, when the calls in
    flight are over. `unspool run` does all this around one command.

    An answer starts only when its request is in a file that survives a crash of the recorder (after 0.25 s it starts
    anyway, and this is reported). With --durable it starts when the request is synced to the disk, and ends when the
    whole call is. With --strict every byte, in both directions, waits until it is written. If the disk takes no more,
    --strict answers 503, or cuts the connection if the answer has started; without it calls are passed on and counted.

    \b
    unspool record -o trace.jsonl
    unspool record --target http://localhost:11434 --by-session -o logs
    unspool record unpack trace.jsonl.zst -o trace.jsonl
    """
    if context.invoked_subcommand is not None:
        return
    from pathlib import Path

    import msgspec

    from unspool.cli.telling import Teller, needed, upstreams_of

    if by_session and compact:
        raise click.UsageError("--compact and --by-session exclude each other: a compact trace is one stream")
    if output == "-" and (compact or as_json):
        raise click.UsageError(f"{'--compact' if compact else '--json'} needs a file: -o FILE")
    if by_session and output in (None, "-"):
        raise click.UsageError("--by-session needs a folder: -o DIR")
    with needed():
        from unspool.jobs.record import Settings, record

    place = Path(output or ("trace.jsonl.zst" if compact else "trace.jsonl"))
    given |= {"output": place, "upstreams": upstreams_of(upstreams), "by_session": by_session, "compact": compact}
    settings = msgspec.convert(given, Settings)
    named = "standard output" if output == "-" else str(place)
    teller = Teller(named, as_json, quiet, settings.token is not None)
    counts = record(settings, teller.say, teller.listening, teller.called)
    teller.ended(counts)


@command.command("unpack", short_help="The plain form of a --compact trace.")
@click.argument("trace", metavar="FILE")
@click.option("-o", "--output", metavar="FILE", default="-", help="Where to write; - is standard output (default).")
def unpack(trace: str, output: str) -> None:
    """The plain form of a trace that was recorded with --compact: JSON lines, byte for byte what they would have been.

    Calls that a killed recorder left in the journal are not in it: `unspool cook` reads these, and the next recorder
    takes them in.
    """
    from unspool.cli.words import say
    from unspool.exports.writing import write
    from unspool.ingest.outputs import output_for
    from unspool.sources.files import Damaged, blocks

    target = output_for(output, [trace])
    faults: list[str] = []

    def lines() -> Iterator[bytes]:
        try:
            yield from blocks(trace)
        except Damaged as damage:
            faults.append(str(damage))

    write(target, lines())
    if faults:
        say(f"unspool: {trace}: {faults[0]}; what is whole was unpacked")
