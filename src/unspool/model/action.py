"""Actions: what a tool call means, whoever's tool it was.

An agent's own tools (`Read`, `exec_command`, `replace`, …) are many; what they do to a machine is little:

    file_read  file_edit  file_write  file_delete  file_move      a file
    execute  search  web                                          the shell, the tree, the network
    plan  agent  ask  mcp  generic                                the rest

A field that is None was not said. `generic` is a call that we do not understand, or whose arguments are not what its
tool expects: its arguments stay untouched.
"""

from collections.abc import Collection
from typing import Any, Literal, TypeAlias, cast

from msgspec import Struct

Kind: TypeAlias = Literal[
    "file_read",
    "file_edit",
    "file_write",
    "file_delete",
    "file_move",
    "execute",
    "search",
    "web",
    "plan",
    "agent",
    "ask",
    "mcp",
    "generic",
]


class Hunk(Struct, frozen=True, gc=False, omit_defaults=True):
    """One place of a file that an edit changes."""

    lines: tuple[str, ...]
    """As in a unified diff: each begins with a blank, `-` or `+`."""
    context: tuple[str, ...] = ()
    """What stands behind `@@`: where the place is to be looked for."""
    at_end: bool = False
    """The place is the end of the file."""


class FileRead(Struct, frozen=True, gc=False, omit_defaults=True, tag="file_read", tag_field="kind"):
    file_path: str
    offset: int | None = None
    limit: int | None = None


class FileEdit(Struct, frozen=True, gc=False, omit_defaults=True, tag="file_edit", tag_field="kind"):
    file_path: str
    old_string: str
    new_string: str
    replace_all: bool
    hunks: tuple[Hunk, ...] = ()
    """Where the edit is a patch; then the strings are empty."""
    added: int | None = None
    """Lines, where they can be told."""
    removed: int | None = None


class FileWrite(Struct, frozen=True, gc=False, omit_defaults=True, tag="file_write", tag_field="kind"):
    file_path: str
    content: str | None = None
    """None if the call does not say what is written: `sort names > sorted`."""


class FileDelete(Struct, frozen=True, gc=False, omit_defaults=True, tag="file_delete", tag_field="kind"):
    file_path: str


class FileMove(Struct, frozen=True, gc=False, omit_defaults=True, tag="file_move", tag_field="kind"):
    file_path: str
    to: str


class Execute(Struct, frozen=True, gc=False, omit_defaults=True, tag="execute", tag_field="kind"):
    command: str
    description: str | None = None
    timeout: float | None = None
    """As the tool counts it: milliseconds in most."""
    workdir: str | None = None


class Search(Struct, frozen=True, gc=False, omit_defaults=True, tag="search", tag_field="kind"):
    pattern: str | None = None
    query: str | None = None
    path: str | None = None


class Web(Struct, frozen=True, gc=False, omit_defaults=True, tag="web", tag_field="kind"):
    url: str | None = None
    query: str | None = None


class PlanItem(Struct, frozen=True, gc=False, omit_defaults=True):
    text: str
    status: str | None = None
    """pending, in_progress, completed, cancelled: as the agent writes it."""
    priority: str | None = None


class Plan(Struct, frozen=True, gc=False, omit_defaults=True, tag="plan", tag_field="kind"):
    items: tuple[PlanItem, ...] = ()
    text: str | None = None


class Agent(Struct, frozen=True, gc=False, omit_defaults=True, tag="agent", tag_field="kind"):
    """Work given to another agent."""

    description: str | None = None
    prompt: str | None = None
    agent_type: str | None = None


class Ask(Struct, frozen=True, gc=False, omit_defaults=True, tag="ask", tag_field="kind"):
    """A question to the person."""

    question: str
    options: tuple[str, ...] = ()


class Mcp(Struct, frozen=True, gc=False, omit_defaults=True, tag="mcp", tag_field="kind"):
    server: str
    tool: str
    arguments: Any = None


class Generic(Struct, frozen=True, gc=False, omit_defaults=True, tag="generic", tag_field="kind"):
    arguments: Any = None


Action: TypeAlias = (
    FileRead
    | FileEdit
    | FileWrite
    | FileDelete
    | FileMove
    | Execute
    | Search
    | Web
    | Plan
    | Agent
    | Ask
    | Mcp
    | Generic
)

KIND_OF: dict[type[Action], Kind] = {each: cast(Kind, each.__struct_config__.tag) for each in Action.__args__}
"""The kind of each type of action."""


class Meaning(Struct, frozen=True, gc=False):
    """What a vocabulary says of one call."""

    kind: Kind
    arguments: Any
    """The fields of that kind, and beside them what else the call carried. Untouched for `generic`."""
    actions: tuple[Action, ...] = ()
    """Where the call did more than one thing, or more precisely than `arguments` can say."""

    def is_any_of(self, kinds: Collection[str]) -> bool:
        """Return whether the call, or one of its actions, is of one of these kinds."""
        return self.kind in kinds or any(KIND_OF[type(action)] in kinds for action in self.actions)
