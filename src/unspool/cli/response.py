"""`unspool response`"""

from typing import Any

import click

from unspool.cli.request import COMPAT


@click.command("response")
@click.argument("provider", metavar="PROVIDER|PTR")
@click.option("--stream", "as_stream", is_flag=True, help="What each event adds to what is shown, as JSON lines.")
@COMPAT
@click.option("--json", "as_json", is_flag=True, help="In one line.")
def command(provider: str, as_stream: bool, compat: str | None, as_json: bool) -> None:
    """A provider's events in, its answer out: `{"message": {…}}`, the same keys whoever gave it.

    Reads standard input: the events as JSON lines, the raw stream (`data: …`), or one JSON document. PROVIDER is
    anthropic, openai, gemini, cohere, cerebras, or another that `unspool provider list` shows, one's own hosts and
    pointers included. Exit status 3 if the stream broke off, or ended with an error.

    \b
    curl -sN … | unspool response anthropic
    """
    import msgspec

    from unspool.cli.words import plural, say
    from unspool.jobs import response
    from unspool.sources.files import standard_input
    from unspool.sources.jsontext import dumps

    received = response.read_events(standard_input().read())
    events = received.events
    if received.broken:
        line, text = received.broken[0]
        say(f"unspool: standard input:{line}: no JSON: {text}")
        if len(received.broken) > 1:
            say(f"unspool: and {plural(len(received.broken) - 1, 'more line')} that are no JSON")
    told = None if compat else response.answer(provider, events)
    if as_stream:
        shown = response.pieces_as_gpt2099 if compat else response.pieces
        for piece in shown(provider, events):
            click.echo(dumps(piece))
    else:
        written: dict[str, Any]
        written = response.answer_as_gpt2099(provider, events) if told is None else {"message": told.message}
        if told is not None and told.error is not None:
            written["error"] = told.error
        encoded = msgspec.json.encode(written)
        click.echo(encoded if as_json else msgspec.json.format(encoded, indent=2))
    if told is not None and (told.error is not None or not told.complete):
        say(f"unspool: {f'the stream ended with an error: {told.error}' if told.error else 'the stream broke off'}")
        click.get_current_context().exit(3)
