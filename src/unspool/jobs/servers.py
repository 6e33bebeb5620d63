"""MCP servers, used directly: which tools there are, and what one gives."""

from collections.abc import Iterator
from typing import Any

from unspool.errors import NotConfigured, ServerFailed, WrongContext
from unspool.model import Tool, ToolResult, ToolUse
from unspool.servers.connections import Connections
from unspool.servers.registry import BETWEEN, find_server, read_servers
from unspool.sources.jsontext import Unreadable, loads


def list_tools(names: tuple[str, ...]) -> Iterator[list[Tool] | ServerFailed]:
    """Of these servers, or of all; of one that fails, why."""
    known = read_servers()
    wanted = {name: find_server(name, known) for name in names or known}
    if not wanted:
        raise NotConfigured("no server is set up; `unspool servers add` does it")
    with Connections() as connections:
        for name, server in wanted.items():
            try:
                yield connections.open(name, server)
            except ServerFailed as error:
                yield error


def call_tool(name: str, arguments: dict[str, Any]) -> ToolResult:
    """By its full name, `SERVER___TOOL`."""
    server, between, _ = name.partition(BETWEEN)
    if not between:
        raise NotConfigured(f"{name!r} is no tool: name it SERVER{BETWEEN}TOOL")
    known = read_servers()
    server = max((each for each in known if name.startswith(each + BETWEEN)), key=len, default=server)
    found = find_server(server, known)
    with Connections() as connections:
        offered = {tool.name for tool in connections.open(server, found)}
        if name not in offered:
            raise NotConfigured(f"{server} has no such tool; it has {', '.join(sorted(offered)) or 'none'}")
        return connections.call(ToolUse("call", name, arguments), name).result()


def read_arguments(written: str) -> dict[str, Any]:
    try:
        value = loads(written)
    except Unreadable as error:
        raise WrongContext(f"the arguments are no JSON: {error}") from error
    if not isinstance(value, dict):
        raise WrongContext("the arguments are no JSON object")
    return value
