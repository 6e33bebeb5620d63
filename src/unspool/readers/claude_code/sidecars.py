"""What stands beside the log of a sub-agent, `agent-<id>.meta.json`: `{"agentType", "description", "toolUseId"}`.

The result of a call names the agent that it began. Where none came, because the agent was stopped or is still at work,
only this does.
"""

from pathlib import Path
from typing import Any

from unspool.sources.jsontext import Unreadable, loads
from unspool.sources.values import mapping, string

_END = ".meta.json"


class Sidecars:
    """Those of a session's agents."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[Path, dict[str, Any]] = {}

    def agent_of(self, call: str | None) -> tuple[str, dict[str, Any]] | None:
        """The agent that a call asked for, and what is said of it."""
        try:
            paths = sorted(self._folder.rglob(f"agent-*{_END}"))
        except OSError:
            return None
        for path in paths:
            about = self._read.get(path) or self._about(path)
            if string(about.get("toolUseId")) == call:
                return path.name.removeprefix("agent-").removesuffix(_END), about
        return None

    def _about(self, path: Path) -> dict[str, Any]:
        try:
            about = mapping(loads(path.read_bytes()))
        except (OSError, *Unreadable):  # it may be written just now
            return {}
        self._read[path] = about
        return about
