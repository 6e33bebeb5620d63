"""A session: one run of one agent."""

from msgspec import Struct


class Facts(Struct, omit_defaults=True):
    """What a log says of its session beside the events. Filled as the log is read; the last word wins."""

    agent: str
    id: str
    project: str | None = None
    """The folder it ran in."""
    title: str | None = None
    model: str | None = None
    version: str | None = None
    """Of the agent."""
    branch: str | None = None
    started: str | None = None
    """Where the log says so beside its events."""
    parent: str | None = None
    """The session that this one is a sub-agent or a fork of, where it is not a stream of it."""
