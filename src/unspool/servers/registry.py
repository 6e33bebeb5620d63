"""The servers that are set up: `servers.json` in `$UNSPOOL_HOME`, in the form that most programs share.

    {"mcpServers": {"files": {"command": "…", "args": […], "env": {…}}, "wiki": {"url": "https://…", "headers": {…}}}}

Only its owner can read it, because `env` and `headers` may hold keys.
"""

import re
from codecs import BOM_UTF8
from pathlib import Path

import msgspec
from msgspec import Struct

from unspool.errors import NotConfigured, OutputNotWritable
from unspool.sources.hiding import may_hold_key, without_keys
from unspool.sources.home import data_folder, write_private

_SERVERS = "mcpServers"
BETWEEN = "___"
"""What joins a server's name and a tool's."""
_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_-]{0,30}")


class Server(Struct, frozen=True, omit_defaults=True):
    """Either a command, which is started and spoken to over its input and output, or an address."""

    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = {}
    timeout: float = 120.0
    """Seconds that one call may take."""
    start_timeout: float = 30.0
    """Seconds until it must have answered for the first time, and again until its tools are listed."""
    parallel: bool = True
    """It may be given several calls at once."""
    trusted: bool = False
    """Its tools are called without asking."""

    def __str__(self) -> str:
        """For people: without what may hold keys."""
        if self.url is not None:
            return without_keys(self.url)
        before = ["", *self.args]
        return " ".join([self.command or "", *(_shown(each, up) for each, up in zip(self.args, before, strict=False))])


def _shown(argument: str, before: str) -> str:
    """An argument of a command, hidden where it or the one before it is called like a key: `--token …`, `TOKEN=…`."""
    name, between, _ = argument.partition("=")
    if between and may_hold_key(name):
        return f"{name}=…"
    if before.startswith("-") and "=" not in before and may_hold_key(before) and not argument.startswith("-"):
        return "…"
    return without_keys(argument)


class _File(Struct):
    servers: dict[str, Server] = msgspec.field(name=_SERVERS, default_factory=dict)


def servers_path() -> Path:
    return data_folder() / "servers.json"


def read_servers() -> dict[str, Server]:
    path = servers_path()
    try:
        return msgspec.json.decode(_written(path), type=_File).servers
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise NotConfigured(f"{path}: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise NotConfigured(f"{path}: {error}") from error


def _written(path: Path) -> bytes:
    return path.read_bytes().removeprefix(BOM_UTF8)


def _write(name: str, server: Server | None) -> None:
    """Put one server in its place, or take it away. What other programs keep in the file stays: nobody else has it."""
    path = servers_path()
    try:
        document = msgspec.json.decode(_written(path)) if path.exists() else {}
        servers = document.setdefault(_SERVERS, {})
        if server is None:
            del servers[name]
        else:
            servers[name] = msgspec.to_builtins(server)
        write_private(path, msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")
    except OSError as error:
        raise OutputNotWritable(f"{path}: {error.strerror}") from error


def add_server(name: str, server: Server, replace: bool = False) -> None:
    if not _NAME.fullmatch(name) or BETWEEN in name:
        raise NotConfigured(f"{name!r} cannot be a server's name: letters, digits, - and _, 31 at most, no {BETWEEN}")
    if (server.command is None) == (server.url is None):
        raise NotConfigured("a server is either a command or an address")
    if name in read_servers() and not replace:
        raise NotConfigured(f"there is a server {name} already; --force replaces it")
    _write(name, server)


def remove_server(name: str) -> Server:
    """The server that was set up under this name."""
    gone = find_server(name, read_servers())
    _write(name, None)
    return gone


def find_server(name: str, servers: dict[str, Server]) -> Server:
    if name not in servers:
        known = ", ".join(servers) or "none; `unspool servers add` sets one up"
        raise NotConfigured(f"no server {name!r} is set up; there are {known}")
    return servers[name]
