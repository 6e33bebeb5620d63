"""Which tools a model is told of: those of its thread's servers; else those that came with a recorded call.

Nobody here carries out what was recorded elsewhere. So the model is told not to call it, unless the thread says how
tools are to be used (`tool_mode`): then a call ends the loop, and waits for a result.
"""

from collections.abc import Sequence
from typing import Any

from unspool.model import Context, Tool
from unspool.wires.normalised import read_tools, write_tool

OPTION = "tools"


def definitions(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Of a recorded call, for the option of its thread. What the provider ran itself is its own affair."""
    written = [write_tool(tool) for tool in tools if tool.name and not tool.server_side]
    return [{key: value for key, value in each.items() if key != "cache_control"} for each in written]


def offered(context: Context, served: Sequence[Tool]) -> tuple[list[Tool], Context]:
    """The tools to send, and the context to send them with."""
    if served or not context.options.get(OPTION):
        return list(served), context
    tools = read_tools(context.options[OPTION])
    return tools, Context(context.messages, {"tool_mode": "none", **context.options})
