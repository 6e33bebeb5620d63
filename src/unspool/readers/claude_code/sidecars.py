"""What stands beside the log of a sub-agent, `agent-<id>.meta.json`: `{"agentType", "description", "toolUseId"}`.

The result of a call names the agent that it began. Where none came, because the agent was stopped or is still at work,
and in the log of an agent that began another, only this does. The agents of a workflow lie in a folder of their own,
`workflows/<run>`, and no call is named there.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unspool.sources.jsontext import Unreadable, loads
from unspool.sources.storage import noticed
from unspool.sources.values import mapping, string

_END = ".meta.json"


class Sidecars:
    """Those of a session's agents."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[Path, dict[str, Any]] = {}

    def agent_of(self, call: str | None) -> tuple[str, dict[str, Any]] | None:
        """The agent that a call asked for, and what is said of it."""
        found = self._below(self._folder)
        return next(((agent, about) for agent, about in found if string(about.get("toolUseId")) == call), None)

    def agents_of_run(self, run: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The agents of a workflow."""
        return self._below(self._folder / "workflows" / Path(run).name)

    def _below(self, folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
        try:
            paths = sorted(folder.rglob(f"agent-*{_END}"))
        except OSError:
            return
        for path in paths:
            yield path.name.removeprefix("agent-").removesuffix(_END), self._read.get(path) or self._about(path)

    def _about(self, path: Path) -> dict[str, Any]:
        try:
            about = mapping(loads(noticed(path).read_bytes()))
        except (OSError, *Unreadable):  # it may be written just now
            return {}
        self._read[path] = about
        return about
