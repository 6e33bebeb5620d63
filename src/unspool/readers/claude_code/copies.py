"""Agents that were given all that their master said: older versions write it into the agent's own log once more.

<session>/subagents/agent-acompact-<id>.jsonl, agent-aside_question-<id>.jsonl    named after what they are for
<session>/subagents/agent-<id>.jsonl                                              begins with what it was asked
"""

import re
from pathlib import Path
from typing import Any

import msgspec

from unspool.sources.storage import noticed

_AGENT = re.compile(r"agent-a[a-z_]+-[0-9a-f]+\.jsonl")


class _Named(msgspec.Struct):
    uuid: Any = None


_named = msgspec.json.Decoder(_Named).decode


def told_above(path: str) -> set[str]:
    """The ids of the session's own records, where the log of an agent may repeat them."""
    log = Path(path)
    session = next((folder.parent for folder in log.parents if folder.name == "subagents"), None)
    if session is None or not _AGENT.fullmatch(log.name):
        return set()
    try:
        master = noticed(session.with_name(f"{session.name}.jsonl")).read_bytes()
    except OSError:  # then the copy is all that there is
        return set()
    return {uuid for line in master.splitlines() if isinstance(uuid := _uuid(line), str)}


def _uuid(line: bytes) -> Any:
    try:
        return _named(line).uuid
    except (msgspec.DecodeError, UnicodeDecodeError):  # it is told of where the session is read
        return None
