"""The JSON style: one object for each thing that happens, for programs."""

from collections.abc import Iterator
from typing import Any

import msgspec

from unspool.model.event import ToolCall
from unspool.views.pretty.columns import escaped
from unspool.views.pretty.moments import Moment

_encode = msgspec.json.Encoder().encode
_NAMES = {
    "Started": "start",
    "Prompted": "user",
    "Spoke": "assistant",
    "Thought": "thinking",
    "ToolStarted": "tool_start",
    "ToolEnded": "tool_end",
    "Listed": "todo",
    "Noticed": "notice",
    "Passed": "line",
    "Ended": "result",
}


class Records:
    def show(self, moment: Moment) -> Iterator[str]:
        name = type(moment).__name__
        told: dict[str, Any] = {"type": _NAMES[name]}
        for field in moment.__struct_fields__:
            value = getattr(moment, field)
            if isinstance(value, ToolCall):
                told |= {"name": value.name, "kind": value.kind, "arguments": value.arguments}
            elif value is not None and value != ():
                told[field] = value
        yield escaped(_encode(told).decode("utf-8", "replace"))

    def close(self) -> Iterator[str]:
        return iter(())
