"""A training record: one conversation, as trainers take it.

Messages are in the shape of OpenAI's chat API, the one that every trainer knows: `role`, `content` (text, a list of
parts or null), `tool_calls` (arguments as a JSON text), `tool_call_id`, `name`, and `reasoning_content` beside them.
"""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from unspool.model.identity import fingerprint
from unspool.model.session import Tokens

_NAME = 80
"""Letters of a session's name in that of a record: a file may be called by it."""
Relation: TypeAlias = Literal["main", "retry", "switch", "edit", "compaction", "subagent", "side"]


class TrainingTurn(Struct):
    """One message of a record, and whether a model is to be trained on it."""

    message: dict[str, Any]
    train: bool = False
    """The model generated it, and no earlier record of the session holds it."""
    generated: bool = False
    """The model generated it in this recording; else it was only sent."""
    model: str | None = None
    time: int | None = None
    """Milliseconds since 1970."""
    tokens: Tokens | None = None
    """Of the call that generated it."""
    stop: str | None = None
    """Why the model stopped, in neutral words: see `StopReason`."""


def only_id(session: str, source: str) -> str:
    """For the only record of a session. Files may hold sessions of one name, which makes no two records one."""
    return f"{session[:_NAME]}-{fingerprint([source, session])[:12]}"


class TrainingRecord(Struct):
    turns: list[TrainingTurn]
    tools: list[dict[str, Any]]
    """As OpenAI's API takes them: `{"type": "function", "function": {…}}`, or whole where they are no functions."""
    session: str
    source: str
    """The file that it came from, as it was named to us."""
    date: str | None = None
    """YYYY-MM-DD of the session."""
    scenario: str = ""
    agent: str | None = None
    model: str | None = None
    relation: Relation = "main"
    id: str = ""
    """Of the record: stable, and unique in a run."""
    parent: str | None = None
    """The record that it branches off, continues or was called by."""
    call: str | None = None
    """Of a sub-agent: the tool call that asked for it."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [turn.message for turn in self.turns]
