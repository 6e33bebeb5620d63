"""The roles of a conversation as a trace: does a request continue the one before it?

system user assistant(text) assistant(calls) tool     →  S U Ac At T
system user assistant(text and calls)        tool user →  S U Act T U     continues it
"""

from collections.abc import Sequence
from typing import Any


def role_of(message: dict[str, Any]) -> str:
    """U user, R user with nothing but tool results, S system, T tool, A assistant: c with content, t with calls."""
    content = message.get("content")
    match message.get("role"):
        case "assistant":
            calls = message.get("tool_calls") or message.get("function_call")
            return f"A{'c' if content else ''}{'t' if calls else ''}"
        case "user":
            results = isinstance(content, list) and content and all(map(_is_result, content))
            return "R" if results else "U"
        case "system" | "developer":
            return "S"
        case "tool" | "function":
            return "T"
        case other:
            return str(other)


def _is_result(part: object) -> bool:
    return isinstance(part, dict) and part.get("type") == "tool_result"


def continues(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether one trace is the beginning of the other. A text and calls apart may come back as one message."""
    if after[: len(before)] == before:
        return True
    at = 0
    for role in after:
        if at == len(before):
            return True
        if before[at] == role:
            at += 1
        elif role == "Act" and tuple(before[at : at + 2]) == ("Ac", "At"):
            at += 2
        else:
            return False
    return at == len(before)
