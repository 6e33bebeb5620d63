"""How much records use tools: the numbers of the tool-usage report."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from unspool.model.identity import fingerprint
from unspool.transforms.integrity import CALL, text_of


class ToolUsage(Struct, frozen=True):
    """The numbers of one record."""

    tool_call_count: int
    client_turns: int
    """Runs of system and user messages. A tool's result does not end a run."""
    assistant_turns: int
    assistant_turns_with_tools: int
    tools: tuple[str, ...] = ()
    """The names of the tools that the record defines, each once."""


class GroupUsage(Struct):
    """The numbers of all records of a group: a row of the report, column by column."""

    session_count: int = 0
    tool_call_count: int = 0
    tool_definition_count: int = 0
    """Different tools, however many records define them."""
    client_turns: int = 0
    assistant_turns: int = 0
    assistant_turns_with_tools: int = 0


class UsageTotals:
    """Adds up the records of one group."""

    def __init__(self) -> None:
        self.row = GroupUsage()
        self._tools: set[str] = set()

    def add(self, usage: ToolUsage) -> None:
        row = self.row
        row.session_count += 1
        row.tool_call_count += usage.tool_call_count
        row.client_turns += usage.client_turns
        row.assistant_turns += usage.assistant_turns
        row.assistant_turns_with_tools += usage.assistant_turns_with_tools
        self._tools.update(usage.tools)
        row.tool_definition_count = len(self._tools)


def usage_of(messages: Sequence[dict[str, Any]], tools: Iterable[Any]) -> ToolUsage:
    """Count the calls and turns of one record, before its calls are written into its text. `tools` are flat."""
    calls = clients = assistants = with_tools = 0
    side, counted = "", False
    for message in messages:
        match message.get("role"):
            case "assistant":
                made = calls_of(message)
                calls += made
                if side != "assistant":
                    side, counted = "assistant", False
                    assistants += 1
                if made and not counted:
                    counted = True
                    with_tools += 1
            case "system" | "user" | "developer":
                if side != "client":
                    side = "client"
                    clients += 1
    return ToolUsage(calls, clients, assistants, with_tools, tuple(dict.fromkeys(map(_name, tools))))


def _name(tool: Any) -> str:
    """The name of a tool; of a provider's own its type; a hash of a definition without either."""
    names = (tool.get("name"), tool.get("type")) if isinstance(tool, dict) else ()
    return next((name for name in names if isinstance(name, str) and name), None) or fingerprint(tool)


def calls_of(message: dict[str, Any]) -> int:
    calls = message.get("tool_calls")
    if isinstance(calls, list) and calls:
        return len(calls)
    if message.get("function_call"):
        return 1
    return text_of(message.get("content")).count(CALL)
