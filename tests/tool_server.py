"""An MCP server, written with the official SDK, whose tools do all that tools do. Run it: over its input and output, or

over HTTP at the port that is given. `slow` tells by a file that it has begun.
"""

import base64
import sys
import time
from pathlib import Path

import anyio
from mcp.server.mcpserver import Image, MCPServer
from mcp.types import BlobResourceContents, EmbeddedResource, TextResourceContents

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
server = MCPServer("tin tools")


@server.tool()
def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


@server.tool()
def weather(city: str) -> dict[str, str]:
    """What it is like outside; structured."""
    return {"city": city, "sky": "clear"}


@server.tool()
def fail(why: str = "no reason") -> str:
    """Always fails."""
    raise ValueError(why)


@server.tool()
def picture() -> Image:
    """A picture of one point."""
    return Image(data=PICTURE, format="png")


@server.tool()
def note() -> EmbeddedResource:
    """A file, as text."""
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri="file:///yard.txt", text="Mow it."))


@server.tool()
def chest() -> EmbeddedResource:
    """A file that no model takes."""
    held = BlobResourceContents(uri="file:///chest.zip", mime_type="application/zip", blob="UEsDBA==")
    return EmbeddedResource(type="resource", resource=held)


@server.tool()
async def hang() -> str:
    """Never comes back."""
    await anyio.sleep(3600)
    return "never"


@server.tool()
async def slow(begun: str, until: str) -> str:
    """Writes the first file, and comes back when the second is there."""
    Path(begun).write_text("begun")
    for _ in range(1000):
        if Path(until).exists():
            return f"both at {time.time_ns()}"
        await anyio.sleep(0.02)
    return "nobody came"


@server.tool()
def die() -> str:
    """Ends the server."""
    import os

    os._exit(3)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run()
