"""`unspool servers`"""

from typing import TYPE_CHECKING, Any

import click

from unspool.cli.options import JSON, Seconds

if TYPE_CHECKING:
    from unspool.model import Tool
    from unspool.servers.registry import Server


@click.group("servers")
def command() -> None:
    """MCP servers, whose tools models may call: `unspool ask --servers NAME`.

    They are kept in servers.json in $UNSPOOL_HOME, in the form that most programs share (`mcpServers`).
    """


@command.command(
    "add", short_help="Set a server up: a command, or an address.", context_settings={"ignore_unknown_options": True}
)
@click.argument("name", metavar="NAME")
@click.argument("line", metavar="[-- COMMAND ARG…]", nargs=-1)
@click.option("--url", metavar="URL", help="Of a server that is spoken to over HTTP.")
@click.option(
    "-H", "--header", "headers", metavar="NAME:VALUE", multiple=True, help="To send with every request to it."
)
@click.option("--env", "variables", metavar="NAME=VALUE", multiple=True, help="For the environment of the command.")
@click.option("--cwd", metavar="FOLDER", help="The folder that the command runs in.")
@click.option(
    "--timeout", metavar="S", type=Seconds(), default=120.0, help="Seconds that one call may take (default 120)."
)
@click.option(
    "--start-timeout", metavar="S", type=Seconds(), default=30.0, help="Seconds until it must answer (default 30)."
)
@click.option("--one-at-a-time", is_flag=True, help="It takes no two calls at once.")
@click.option("--trust", is_flag=True, help="Call its tools without asking.")
@click.option("--force", is_flag=True, help="In place of the server of this name.")
@JSON
def add(
    name: str,
    line: tuple[str, ...],
    url: str | None,
    headers: tuple[str, ...],
    variables: tuple[str, ...],
    cwd: str | None,
    timeout: float,
    start_timeout: float,
    one_at_a_time: bool,
    trust: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Set a server up: a command that is started when it is needed, or an address.

    \b
    unspool servers add files -- npx -y @modelcontextprotocol/server-filesystem .
    unspool servers add wiki --url https://mcp.example.com/mcp
    """
    from unspool.cli.json_lines import echo
    from unspool.cli.words import say
    from unspool.servers.registry import Server, add_server

    if bool(line) == bool(url):
        raise click.UsageError("give either -- COMMAND, or --url")
    server = Server(
        command=line[0] if line else None,
        args=list(line[1:]),
        env=_pairs(variables, "=", "--env"),
        cwd=cwd,
        url=url,
        headers=_pairs(headers, ":", "--header"),
        timeout=timeout,
        start_timeout=start_timeout,
        parallel=not one_at_a_time,
        trusted=trust,
    )
    add_server(name, server, replace=force)
    if as_json:
        echo([_record(name, server)])
    else:
        say(f"{name} is set up; `unspool servers tools {name}` shows what it offers")


def _record(name: str, server: "Server") -> dict[str, Any]:
    """For programs, without what may hold keys."""
    return {
        "name": name,
        "kind": "http" if server.url else "stdio",
        "server": str(server),
        "timeout": server.timeout,
        "start_timeout": server.start_timeout,
        "parallel": server.parallel,
        "trusted": server.trusted,
    }


def _pairs(given: tuple[str, ...], between: str, option: str) -> dict[str, str]:
    pairs = [each.partition(between) for each in given]
    if wrong := [each for each, (_, found, _) in zip(given, pairs, strict=True) if not found]:
        raise click.UsageError(f"{option} {wrong[0].partition('=')[0]}: there is no {between!r} in it")
    return {name.strip(): value.strip() for name, _, value in pairs}


@command.command("list")
@JSON
def list_(as_json: bool) -> None:
    """The servers that are set up, without what may hold keys."""
    from unspool.cli.json_lines import echo
    from unspool.cli.words import fit, say
    from unspool.servers.registry import read_servers

    servers = read_servers()
    if as_json:
        echo(_record(name, server) for name, server in servers.items())
        return
    for name, server in servers.items():
        click.echo(f"{name:<16} {'trusted' if server.trusted else 'asks':<8} {fit(str(server), 90).rstrip()}")
    if not servers:
        say("no server is set up; `unspool servers add` does it")


@command.command("tools")
@click.argument("names", metavar="[NAME…]", nargs=-1)
@JSON
def tools(names: tuple[str, ...], as_json: bool) -> None:
    """The tools of these servers, or of all, as models are told of them. --json gives what `request --tools` takes."""
    from unspool.cli.json_lines import echo
    from unspool.cli.words import say
    from unspool.errors import ServerFailed
    from unspool.jobs.servers import list_tools
    from unspool.wires.normalised import write_tool

    failed = False
    for found in list_tools(names):
        if isinstance(found, ServerFailed):
            failed = True
            say(f"unspool: {found}")
        elif as_json:
            echo(map(write_tool, found))
        else:
            for tool in found:
                _say_tool(tool)
    if failed:
        click.get_current_context().exit(ServerFailed.exit_status)


def _say_tool(tool: "Tool") -> None:
    from unspool.cli.words import colour, one_line

    click.echo(click.style(one_line(tool.name), bold=True), color=colour())
    if tool.description:
        click.echo(f"  {one_line(tool.description)[:110]}")
    required = tool.parameters.get("required") or []
    for name, schema in (tool.parameters.get("properties") or {}).items():
        kind = schema.get("type", "any") if isinstance(schema, dict) else "any"
        click.echo(click.style(f"  {name}: {kind}{'' if name in required else '?'}", dim=True), color=colour())


@command.command("call")
@click.argument("name", metavar="SERVER___TOOL")
@click.argument("arguments", metavar="[JSON|-]", default="{}")
@JSON
def call(name: str, arguments: str, as_json: bool) -> None:
    """Call a tool yourself. Exit status 1 if it failed."""
    from unspool.cli.conversation import told
    from unspool.cli.json_lines import echo
    from unspool.jobs.servers import call_tool, read_arguments
    from unspool.sources.files import stdin_text
    from unspool.wires.normalised import write_block

    written = stdin_text() if arguments == "-" else arguments
    result = call_tool(name, read_arguments(written))
    if as_json:
        echo([write_block(result)])
    else:
        for block in result.content:
            click.echo(told(block))
    if result.is_error:
        click.get_current_context().exit(1)


@command.command("rm")
@click.argument("name", metavar="NAME")
@JSON
def rm(name: str, as_json: bool) -> None:
    """Forget a server."""
    from unspool.cli.json_lines import echo
    from unspool.cli.words import say
    from unspool.servers.registry import remove_server

    gone = remove_server(name)
    if as_json:
        echo([_record(name, gone)])
    else:
        say(f"{name} is forgotten")
