"""`unspool request`"""

import click

from unspool.cli.options import as_text

COMPAT = click.option(
    "--compat", type=click.Choice(["gpt2099"]), help="Just as gpt2099 makes it, losses and refusals included."
)


@click.command("request")
@click.argument("headishes", metavar="[HEADISH|-]…", type=as_text, nargs=-1)
@click.option(
    "-p",
    "--provider",
    "named",
    metavar="PTR|PROVIDER[/MODEL]",
    help="Whom it is for; else as in the thread, or the default.",
)
@click.option(
    "--tools",
    "tool_files",
    metavar="FILE",
    multiple=True,
    help="Tools to offer: MCP definitions, as JSON; else those of the thread's servers.",
)
@click.option("--curl", "as_curl", is_flag=True, help="A line for a shell, with the key taken from the environment.")
@click.option("--lenient", is_flag=True, help="Say in words what the provider does not take, with a warning.")
@COMPAT
@click.option("--json", "as_json", is_flag=True, help="In one line.")
def command(
    headishes: tuple[str, ...],
    named: str | None,
    tool_files: tuple[str, ...],
    as_curl: bool,
    lenient: bool,
    compat: str | None,
    as_json: bool,
) -> None:
    """The body of a request, without sending it: what `ask` would send for a thread.

    HEADISH is a turn's id, the beginning of one, or a bookmark; without any, the newest turn. With - a context is read
    from standard input, `{"messages": […], "options": {…}}`: then nothing is stored, and no store is needed.

    \b
    unspool request -p anthropic/claude-sonnet-4-5
    unspool context resolve | unspool request - -p gemini/gemini-2.5-pro --curl
    """
    from unspool.cli.words import say
    from unspool.jobs import request
    from unspool.providers.config import read_config, target_of
    from unspool.sources.jsontext import dumps

    config = read_config()
    if compat:
        context = request.context_for_gpt2099(headishes)
        pointer = named or ((context.get("options") or {}).get("provider_ptr") if isinstance(context, dict) else None)
        target = target_of(pointer, config, model_needed=False)
        body = request.prepare_as_gpt2099(context, tool_files, target.provider.name)
    else:
        resolved = request.context_of(headishes)
        target = request.target_for(resolved, named, config)
        tools, missing = (request.tools_in(tool_files), []) if tool_files else request.tools_of(resolved)
        if missing:
            say(f"unspool: not set up here, so without their tools: {', '.join(missing)}")
        prepared = request.prepare(resolved, tools, target, lenient)
        body = prepared.body
        for warning in prepared.warnings:
            say(f"unspool: {warning}")
    if as_curl:
        click.echo(request.curl(target, body))
    elif as_json:
        click.echo(dumps(body))
    else:
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode(body), indent=2))
