"""What happens in a run, one moment after another. Terminal, Markdown and chat are told the same.

Started                          the run says who it is
Prompted, Spoke, Thought         what was said
ToolStarted … ToolEnded          a call and what became of it, joined by `id`; any number may be open at once
Listed                           a list of tasks that no tool call holds
Noticed                          what the agent says of itself: retries, hooks, refusals
Passed                           a line that is no record
Ended                            how a turn, and mostly the run, went
"""

from typing import Literal, TypeAlias

from msgspec import Struct

from unspool.model.action import PlanItem
from unspool.model.event import Level, ToolCall
from unspool.model.session import Tokens

Status: TypeAlias = Literal["COMPLETED", "FAILED", "INTERRUPTED", "ORPHANED"]
"""INTERRUPTED: the run says so, or went on without it. ORPHANED: no result for so long; it may still come."""


class Started(Struct, frozen=True, gc=False):
    agent: str
    """As people know it: Claude Code."""
    session: str
    model: str | None = None
    folder: str | None = None
    version: str | None = None
    tools: tuple[str, ...] = ()


class Prompted(Struct, frozen=True, gc=False):
    """What a person said, or inside a sub-agent, its master."""

    text: str
    depth: int = 0
    """0 for the agent itself, 1 for its sub-agents, and so on."""


class Spoke(Struct, frozen=True, gc=False):
    """What the model said: Markdown."""

    text: str
    depth: int = 0


class Thought(Struct, frozen=True, gc=False):
    text: str
    depth: int = 0


class ToolStarted(Struct, frozen=True, gc=False):
    id: str
    """Unlike that of any other call of the run."""
    call: ToolCall
    depth: int = 0
    parent: str | None = None
    """The id of the call that the sub-agent works for, if one made this call."""

    @property
    def name(self) -> str:
        return self.call.name


class ToolEnded(Struct, frozen=True, gc=False):
    """A status of a call. One that was interrupted or orphaned may have a second, if its result comes late."""

    id: str
    call: ToolCall | None
    """None where a result came without its call."""
    status: Status
    output: str = ""
    """As the model saw it; where there is no result, nothing."""
    reason: str | None = None
    """Why there is no result."""
    seconds: float | None = None
    depth: int = 0
    parent: str | None = None

    @property
    def name(self) -> str:
        return self.call.name if self.call is not None else self.id


class Listed(Struct, frozen=True, gc=False):
    items: tuple[PlanItem, ...]
    text: str | None = None
    depth: int = 0


class Noticed(Struct, frozen=True, gc=False):
    text: str
    level: Level = "info"
    depth: int = 0


class Passed(Struct, frozen=True, gc=False):
    line: str
    """Without its end, and as it came: whoever shows it must make it safe."""


class Ended(Struct, frozen=True, gc=False):
    succeeded: bool
    text: str | None = None
    """The answer, or what went wrong."""
    reason: str | None = None
    """The agent's own word for what went wrong: error_max_turns."""
    seconds: float | None = None
    api_seconds: float | None = None
    turns: int | None = None
    cost: float | None = None
    """In dollars. None where nobody says."""
    model: str | None = None
    tokens: Tokens = Tokens()
    """Of the run so far."""
    denied: tuple[str, ...] = ()
    """Tools that were not allowed."""
    cost_is_partial: bool | None = None
    """True: the cost leaves out calls without a known price."""


Moment: TypeAlias = Started | Prompted | Spoke | Thought | ToolStarted | ToolEnded | Listed | Noticed | Passed | Ended
