"""What a vocabulary is: an agent's tools by name, each a struct with the arguments that the tool takes.

    class Read(Call, frozen=True):                      the tool's own shape, field by field
        file_path: str
        offset: int | None = None

        def action(self) -> Action:                     what it means to any agent
            return FileRead(self.file_path, self.offset)

Arguments that do not fit their struct make the call `generic`, and stay untouched.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, cast

import msgspec
from msgspec import Struct

from unspool.model import Action, Kind, Meaning
from unspool.model.action import Mcp


class Call(Struct, frozen=True, gc=False):
    """The arguments of one tool, as that tool takes them. More keys than these are let through."""

    renamed: ClassVar[tuple[str, ...]] = ()
    """Keys of the call that stand under another name in its action, and so need not stand beside it."""

    def action(self) -> Action:
        raise TypeError(f"{type(self).__name__} does not say what it means")

    def actions(self) -> tuple[Action, ...]:
        """Where one action cannot say it all."""
        return ()


class Vocabulary(Struct, frozen=True):
    agent: str
    tools: Mapping[str, type[Call]]
    mcp: Callable[[str], tuple[str, str] | None]
    """Server and tool, if the name is that of a tool on a server."""

    def read(self, name: str, arguments: Any) -> Meaning:
        """What the call means. Never raises."""
        tool = self.tools.get(name)
        if tool is None:
            place = self.mcp(name)
            return meaning(Mcp(*place, arguments)) if place else Meaning("generic", arguments)
        try:
            call = msgspec.convert(arguments, tool, strict=False)
            action, actions = call.action(), call.actions()
        except ValueError:  # a ValidationError is one; so is what a grammar says of text that it does not know
            return Meaning("generic", arguments)
        carried = {key: value for key, value in arguments.items() if key not in tool.renamed}
        return meaning(action, carried, actions)


def meaning(action: Action, carried: Mapping[str, Any] | None = None, actions: tuple[Action, ...] = ()) -> Meaning:
    """An action as kind and arguments, with what else the call carried behind its own fields."""
    fields = cast(dict[str, Any], msgspec.to_builtins(action))
    kind = cast(Kind, fields.pop("kind"))
    if kind == "generic":
        return Meaning(kind, fields.get("arguments"), actions)
    if carried:
        fields |= {key: value for key, value in carried.items() if key not in fields}
    return Meaning(kind, fields, actions)


def mcp_of(name: str) -> tuple[str, str] | None:
    """`mcp__S__T` → S, T. The tool may hold two underscores itself."""
    if not name.startswith("mcp__"):
        return None
    server, _, tool = name[5:].partition("__")
    return (server, tool) if server and tool else None
