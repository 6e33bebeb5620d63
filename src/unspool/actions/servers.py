"""Names of tools that live on MCP servers, as agents write them: server and tool, or None for any other name."""

from unspool.actions.vocabulary import mcp_of


def underscored(name: str) -> tuple[str, str] | None:
    """`mcp_S_T`, split at the second underscore: Gemini CLI, Crush, Cursor. And what `doubled` knows."""
    if not name.startswith("mcp_") or name.startswith("mcp__"):
        return doubled(name)
    server, _, tool = name[4:].partition("_")
    return (server, tool) if server and tool else None


def doubled(name: str) -> tuple[str, str] | None:
    """`S__T`, or with the prefix of Claude Code."""
    if name.startswith("mcp__"):
        return mcp_of(name)
    server, _, tool = name.partition("__")
    tool = tool.removeprefix("_")  # Droid writes three
    return (server, tool) if server and tool else None
