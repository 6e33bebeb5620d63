"""What a vocabulary is: an agent's tools by name, each a struct with the arguments that the tool takes.

    class Read(Call, frozen=True):                      the tool's own shape, field by field
        file_path: str
        offset: int | None = None

        def action(self) -> Action:                     what it means to any agent
            return FileRead(self.file_path, self.offset)

Arguments that do not fit their struct make the call `generic`, and stay untouched.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Self

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from unspool.model import Action, Meaning
from unspool.model.action import KIND_OF, Ask, Generic, Mcp


class Call(Struct, frozen=True, gc=False):
    """The arguments of one tool, as that tool takes them. More keys than these are let through."""

    renamed: ClassVar[tuple[str, ...]] = ()
    """Keys of the call that stand under another name in its action, and so need not stand beside it."""
    spelled: ClassVar[Mapping[str, str]] = {}
    """Other names of its fields: as other agents call them, or as the tool once did."""
    bare: ClassVar[str | None] = None
    """The field that the arguments are, where they are a string or a list and no object."""

    @classmethod
    def spell(cls, arguments: Any) -> Any:
        """The arguments under the names of the fields. A key whose field is taken stays what it is."""
        if cls.bare and isinstance(arguments, str | list):
            return {cls.bare: arguments}
        spelled = cls.spelled
        if not spelled or not isinstance(arguments, dict) or spelled.keys().isdisjoint(arguments):
            return arguments
        out: dict[str, Any] = {}
        for key, value in arguments.items():
            field = spelled.get(key, key)
            out[key if field in out or field in arguments else field] = value
        return out

    @classmethod
    def of(cls, arguments: Any) -> Self:
        """Raises a ValidationError if they do not fit."""
        return msgspec.convert(cls.spell(arguments), cls, strict=False)

    def action(self) -> Action:
        raise TypeError(f"{type(self).__name__} does not say what it means")

    def actions(self) -> tuple[Action, ...]:
        """Where one action cannot say it all."""
        return ()

    def beside(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Of what the call was given, what is to stand beside its action where that does not say it."""
        renamed = self.renamed
        return {key: value for key, value in given.items() if key not in renamed} if renamed else given


class Vocabulary(Struct, frozen=True):
    agent: str
    tools: Mapping[str, type[Call]]
    mcp: Callable[[str], tuple[str, str] | None]
    """Server and tool, if the name is that of a tool on a server."""
    agents: Mapping[str, type[Call]] = {}
    """Tools that are agents of the user's own: what their names start with, before the agent's."""

    def tool(self, name: str) -> type[Call] | None:
        """The shape of what the tool takes, if it is known."""
        return self.tools.get(name) or self._own_agent(name, None)[0]

    def read(self, name: str, arguments: Any) -> Meaning:
        """What the call means. Never raises."""
        tool, given = self.tools.get(name), arguments
        if tool is None:
            tool, given = self._own_agent(name, arguments)
        if tool is None:
            place = self.mcp(name)
            return meaning(Mcp(*place, arguments)) if place else Meaning("generic", arguments)
        try:
            given = tool.spell(given)
            call = msgspec.convert(given, tool, strict=False)
            action, actions = call.action(), call.actions()
        except (ValueError, RecursionError):  # a ValidationError is one; so is what a grammar says of unknown text
            return Meaning("generic", arguments)
        if action.__class__ is Generic:  # a tool that we know, and that none of our kinds fits
            return Meaning("generic", arguments, actions)
        return meaning(action, call.beside(given), actions)

    def _own_agent(self, name: str, arguments: Any) -> tuple[type[Call] | None, Any]:
        """The tool that an agent of the user's own is, and which agent that is beside the arguments."""
        for start, tool in self.agents.items():
            if name.startswith(start) and "__" not in name:  # else a tool on a server
                named = {"agent_type": name.removeprefix(start)}
                return tool, {**arguments, **named} if isinstance(arguments, dict) else arguments
        return None, arguments


def meaning(action: Action, carried: Mapping[str, Any] | None = None, actions: tuple[Action, ...] = ()) -> Meaning:
    """An action as kind and arguments, with what else the call carried behind its own fields."""
    sort = type(action)
    kind = KIND_OF[sort]
    if sort is Mcp or sort is Ask or sort is Generic:  # what they were given stays what it is
        fields = {name: value for name, value in asdict(action).items() if value is not None and value != ()}
        if sort is Generic:
            return Meaning(kind, fields.get("arguments"), actions)
    else:
        fields = msgspec.to_builtins(action)
        del fields["kind"]
    return Meaning(kind, {**fields, **carried, **fields} if carried else fields, actions)


def several(given: str | tuple[str, ...]) -> tuple[str, ...]:
    """What a tool takes as one or as more. None at all does not fit."""
    if not given:
        raise ValueError("none given")
    return (given,) if isinstance(given, str) else given


def each(actions: Iterable[Action]) -> tuple[Action, ...]:
    """The actions of a call that may have done several things. One alone says no more than the call itself."""
    found = tuple(actions)
    return found if len(found) > 1 else ()


def mcp_of(name: str) -> tuple[str, str] | None:
    """`mcp__S__T` → S, T. The tool may hold two underscores itself."""
    if not name.startswith("mcp__"):
        return None
    server, _, tool = name[5:].partition("__")
    return (server, tool) if server and tool else None
