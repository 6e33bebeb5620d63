"""How much a record uses tools: the numbers of the tool-usage report."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from unspool.transforms.integrity import CALL, text_of


class ToolUsage(Struct, frozen=True):
    session_count: int = 0
    tool_call_count: int = 0
    tool_definition_count: int = 0
    client_turns: int = 0
    """Runs of system and user messages; what tools say breaks no run."""
    assistant_turns: int = 0
    assistant_turns_with_tools: int = 0

    def __add__(self, other: "ToolUsage") -> "ToolUsage":
        names = self.__struct_fields__
        return ToolUsage(*(getattr(self, name) + getattr(other, name) for name in names))


def usage_of(messages: Sequence[dict[str, Any]], tools: int) -> ToolUsage:
    """Of one record, before calls are put into its text."""
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
    return ToolUsage(1, calls, tools, clients, assistants, with_tools)


def calls_of(message: dict[str, Any]) -> int:
    calls = message.get("tool_calls")
    if isinstance(calls, list) and calls:
        return len(calls)
    if message.get("function_call"):
        return 1
    return text_of(message.get("content")).count(CALL)
