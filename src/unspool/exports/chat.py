"""`messages`: what most trainers take. One line a record: `{"messages": […], "tools": […]}`, and nothing else.

Tools are flat: the `function` of each, and what is no function whole.
"""

from collections.abc import Iterable
from typing import Any

ENDING = ".jsonl"


def line(messages: Iterable[bytes], tools: Iterable[bytes]) -> bytes:
    """The record, from parts that are JSON already."""
    return b'{"messages":[' + b",".join(messages) + b'],"tools":[' + b",".join(tools) + b"]}\n"


def flat(tool: dict[str, Any]) -> Any:
    function = tool.get("function")
    return function if isinstance(function, dict) else tool
