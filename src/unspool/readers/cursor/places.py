"""Where a transcript lies says what it does not say itself: whose session it is, and of which project."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from unspool.model import MAIN

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_DASHED = re.compile(r"[^A-Za-z0-9]+")
_ABSOLUTE = re.compile(r"(?:file://)?(/|[A-Za-z]:[\\/])")
_FOLDER = "agent-transcripts"


class Whereabouts(Struct, frozen=True):
    session: str
    agent: str | None
    """The sub-agent whose transcript it is."""
    dashes: str | None
    """The project's folder, everything in it but letters and digits turned into dashes: nobody can turn it back."""

    @property
    def stream(self) -> str:
        return MAIN if self.agent is None else f"agent:{self.agent}"


def whereabouts(path: str) -> Whereabouts:
    """`…/projects/<dashes>/agent-transcripts/<id>.jsonl`, also `<id>/<id>.jsonl` and `<id>/subagents/<id>.jsonl`."""
    file = Path(path)
    parts = file.parts
    dashes = parts[parts.index(_FOLDER) - 1] if _FOLDER in parts[1:] else None
    stem = file.name.partition(".")[0]
    if file.parent.name == "subagents" and file.parent.parent.name:
        return Whereabouts(file.parent.parent.name, stem, dashes)
    named = stem if _UUID.fullmatch(stem) or not _UUID.fullmatch(file.parent.name) else file.parent.name
    return Whereabouts(named, None, dashes)


def project_in(arguments: Any, dashes: str) -> str | None:
    """The project, if a path in a tool call leads through a folder that has these dashes."""
    for text in _texts(arguments):
        if _ABSOLUTE.match(text):
            for folder in _folders(text.removeprefix("file://")):
                if _DASHED.sub("-", folder).strip("-") == dashes.strip("-"):
                    return folder
    return None


def _texts(arguments: Any) -> Iterator[str]:
    """Strings that may be paths: those of a call that are not long, one level deep."""
    if isinstance(arguments, dict):
        for value in arguments.values():
            for one in value if isinstance(value, list) else (value,):
                if isinstance(one, str) and len(one) < 1000:
                    yield one


def _folders(path: str) -> Iterator[str]:
    for cut in re.finditer(r"[\\/]", path):
        yield path[: cut.start()]
    yield path
