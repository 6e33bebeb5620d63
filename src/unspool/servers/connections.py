"""Connections to MCP servers, by the official SDK. It is asynchronous; it runs in a thread of its own.

So the rest of the program is ordinary: it asks, and waits for a future, which it may cancel.
"""

import logging
import math
import os
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from unspool.errors import ServerFailed, UnspoolError
from unspool.model import Tool, ToolResult, ToolUse
from unspool.servers.registry import BETWEEN, Server
from unspool.servers.results import failed, read_result
from unspool.sources.hiding import without_keys
from unspool.wires.normalised import read_tools

if TYPE_CHECKING:
    from anyio import CancelScope, Lock
    from anyio.from_thread import BlockingPortal
    from mcp import Client

T = TypeVar("T")
_PAGES = 200
"""Pages of tools of one server: a list that never ends cannot hold us."""
_LINE, _TAIL = 300, 2_000
"""Letters of a reason, and of what a server said before it ended."""


class _Connection:
    def __init__(self, server: Server, client: "Client", lock: "Lock") -> None:
        self.server, self.client, self.lock = server, client, lock


class Connections:
    """Use it in a `with`: at its end all servers are told to end."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._offered: dict[str, tuple[_Connection, str]] = {}
        """By its full name, whose each tool is, and what it is called there."""
        self._starting: CancelScope | None = None

    def __enter__(self) -> "Connections":
        try:
            import mcp  # noqa: F401
            from anyio.from_thread import start_blocking_portal
        except ImportError as error:
            raise UnspoolError("MCP servers need the package mcp: pip install 'unspool[mcp]'") from error
        logging.getLogger("mcp").addHandler(logging.NullHandler())  # what it would print, we tell in one line
        self._portal: BlockingPortal = self._stack.enter_context(start_blocking_portal("asyncio"))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def open(self, name: str, server: Server) -> list[Tool]:
        """Connect, and tell which tools there are, by their full names."""
        log = self._stack.enter_context(_log())
        try:
            client = self._entered(self._started(self._client(server, log), server.start_timeout))
            connection = _Connection(server, client, self._portal.call(_lock))
            listed = self._portal.call(self._tools, connection)
        except KeyboardInterrupt:
            if self._starting is not None:
                self._portal.call(self._starting.cancel)  # or we would wait for it at our end
            raise
        except TimeoutError as error:
            limit = f"{server.start_timeout:g} s (`servers add --start-timeout S` gives it longer)"
            raise ServerFailed(f"MCP server {name} ({server}): no answer within {limit}{_last_words(log)}") from error
        except Exception as error:  # whatever a server does, it is told
            raise ServerFailed(f"MCP server {name} ({server}): {_reason(error)}{_last_words(log)}") from error
        self._offered |= {f"{name}{BETWEEN}{each['name']}": (connection, each["name"]) for each in listed}
        return read_tools([{**each, "name": f"{name}{BETWEEN}{each['name']}"} for each in listed])

    def _entered(self, manager: "AbstractAsyncContextManager[T]") -> T:
        """Open until the end."""
        return self._stack.enter_context(self._portal.wrap_async_context_manager(manager))

    @asynccontextmanager
    async def _started(self, client: "Client", limit: float) -> "AsyncIterator[Client]":
        """The SDK bounds each of its questions by itself, and asks several: here all of them together have so long."""
        import anyio

        with anyio.fail_after(limit) as scope:
            self._starting = scope
            async with client:
                self._starting, scope.deadline = None, math.inf
                yield client

    def _client(self, server: Server, log: TextIO) -> "Client":
        from importlib.metadata import version

        from mcp import Client, StdioServerParameters
        from mcp.client.stdio import stdio_client
        from mcp.client.streamable_http import streamable_http_client
        from mcp.types import Implementation

        about = Implementation(name="unspool", version=version("unspool"))
        if server.url is None:
            command, given = server.command or "", server.env or None
            started = StdioServerParameters(command=command, args=server.args, env=given, cwd=server.cwd)
            return Client(stdio_client(started, errlog=log), client_info=about)
        if not server.headers:
            return Client(server.url, client_info=about)
        import httpx2

        timeout = httpx2.Timeout(server.start_timeout, read=server.timeout + 30)
        http = self._entered(httpx2.AsyncClient(headers=server.headers, timeout=timeout))
        return Client(streamable_http_client(server.url, http_client=http), client_info=about)

    async def _tools(self, connection: _Connection) -> list[dict[str, Any]]:
        import anyio

        found: dict[str, dict[str, Any]] = {}
        cursor: str | None = None
        with anyio.fail_after(connection.server.start_timeout):
            for _ in range(_PAGES):
                page = await connection.client.list_tools(cursor=cursor)
                for tool in page.tools:  # providers refuse two of one name
                    found.setdefault(tool.name, tool.model_dump(mode="json", by_alias=True, exclude_none=True))
                cursor = page.next_cursor
                if cursor is None:
                    break
        return list(found.values())

    def server_of(self, name: str) -> Server | None:
        """Whose tool it is, by its full name."""
        found = self._offered.get(name)
        return found[0].server if found else None

    def call(self, call: ToolUse, name: str) -> "Future[ToolResult]":
        """Begin a call of the tool with this full name. What comes of it is always a result, good or bad."""
        connection, tool = self._offered[name]
        return self._portal.start_task_soon(self._call, connection, tool, call)

    async def _call(self, connection: _Connection, tool: str, call: ToolUse) -> ToolResult:
        from mcp import MCPError

        limit = connection.server.timeout
        try:
            if connection.server.parallel:
                return await _answer(connection, tool, call)
            async with connection.lock:
                return await _answer(connection, tool, call)
        except MCPError as error:
            if "timed out" in error.message.lower():
                return failed(call, f"The tool gave no result within {limit:g} s.", "timeout")
            return failed(call, f"MCP error {error.code}: {error.message}")
        except TimeoutError:
            return failed(call, f"The tool gave no result within {limit:g} s.", "timeout")
        except Exception as error:  # whatever a server does, the call gets its answer
            return failed(call, f"The server failed: {_reason(error)}")


async def _answer(connection: _Connection, tool: str, call: ToolUse) -> ToolResult:
    import anyio

    given: Mapping[str, Any] = call.arguments or {}
    limit = connection.server.timeout
    with anyio.fail_after(limit + 5):  # should the SDK's own limit not hold
        result = await connection.client.call_tool(tool, dict(given), read_timeout_seconds=limit)
    return read_result(call, result.model_dump(mode="json", by_alias=True, exclude_none=True))


async def _lock() -> "Lock":
    import anyio

    return anyio.Lock()


@contextmanager
def _log() -> Iterator[TextIO]:
    """A file for what a server writes to its standard error; it goes with us."""
    handle, name = tempfile.mkstemp(prefix="unspool-")
    try:
        with open(handle, "w+", encoding="utf-8", errors="replace") as file:
            yield file
    finally:
        Path(name).unlink(missing_ok=True)


def _reason(error: BaseException) -> str:
    """The first cause that says something, in one line: task groups wrap what went wrong in them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    said = " ".join(str(error).split())  # of what does not fit the protocol, where it does not stands in the next lines
    return without_keys(said)[:_LINE] or type(error).__name__


def _last_words(log: TextIO) -> str:
    """What a server that does not start wrote to its standard error."""
    log.flush()
    end = log.buffer.seek(0, os.SEEK_END)
    log.buffer.seek(max(end - 4 * _TAIL, 0))  # a letter has four bytes at most
    said = log.buffer.read().decode("utf-8", "replace").strip()
    return f"\n{said[-_TAIL:]}" if said else ""
