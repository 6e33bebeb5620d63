"""GitHub Copilot CLI: its event logs of all versions.

~/.copilot/session-state/<id>/events.jsonl                  from 0.0.378, with a workspace.yaml beside it
~/.copilot/session-state/<id>.jsonl                         from 0.0.342
~/.copilot/history-session-state/session_<id>_<time>.json   before: one document
"""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from unspool.dialect import Head, Place, Reader
from unspool.readers.copilot_cli.events import AGENT, Events, workspace_of
from unspool.readers.copilot_cli.history import History
from unspool.readers.documents import element_of

_TITLE = "GitHub Copilot CLI"
_GROUPS = ("session", "user", "assistant", "tool", "subagent", "hook", "system", "skill", "permission")


def claims(head: Head) -> bool:
    return sum(map(_is_event, head.lines)) * 2 > len(head.lines)


def _is_event(line: dict[str, Any]) -> bool:
    """`group.name`, with the rest in `data`: others have such types too, but not in this envelope."""
    kind, data = line.get("type"), line.get("data")
    if not isinstance(kind, str) or not isinstance(data, dict) or "seq" in line or "sessionID" in data:
        return False
    group, dot, _ = kind.partition(".")
    return bool(dot) and group in _GROUPS and ("parentId" in line or "id" in line or "timestamp" in line)


def claims_history(head: Head) -> bool:
    document = head.document
    match document:
        case {"sessionId": _, "timeline": list()} | {"sessionId": _, "chatMessages": [{"role": str()}, *_]}:
            return True
    return False


def _roots(environment: Mapping[str, str], home: Path) -> Iterator[Path]:
    if moved := environment.get("COPILOT_HOME"):
        yield Path(moved)
        return
    yield home / ".copilot"
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        if base := environment.get(name):
            yield Path(base) / ".copilot"


def _places(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    for root in _roots(environment, home):
        yield Place(root / "session-state", ("*/events.jsonl", "*.jsonl"))


def _history_places(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    for root in _roots(environment, home):
        yield Place(root / "history-session-state", ("session_*.json",))


def _beside(path: str) -> Iterator[str]:
    if path.endswith("events.jsonl"):
        yield str(workspace_of(Path(path)))


reader = Reader(name=AGENT, agent=AGENT, title=_TITLE, claims=claims, decoder=Events, places=_places, beside=_beside)
history = Reader(
    name="copilot_cli_history",
    agent=AGENT,
    title=_TITLE,
    claims=claims_history,
    decoder=partial(History, AGENT),
    places=_history_places,
    document=True,
    payload=element_of("timeline", "chatMessages"),
)
