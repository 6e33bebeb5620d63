"""Reels of what `unspool cook` wrote, or llm-path, whose form it is."""

from typing import Any

import msgspec

from unspool.errors import FileFault, InputNotFound
from unspool.ingest.agents import agent_of
from unspool.jobs.view.growing import Growing
from unspool.jobs.view.loaded import Loaded, loaded
from unspool.jobs.view.reels import Reel
from unspool.model import Cooked, Exchange, Message, Origin, Text, Tool
from unspool.wires import WIRES


class CookedReel(Reel):
    """What `unspool cook` wrote."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._path = path
        self._stamp = Growing(path)

    def files(self) -> list[str]:
        return [self._path]

    def _changed(self) -> bool:
        return self._stamp.changed()

    def _forget(self) -> None:
        self._stamp = Growing(self._path)

    def _read(self, version: int) -> Loaded:
        self._stamp = Growing(self._path)
        self._stamp.mark()
        cooked = read_cooked(self._path)
        return loaded(cooked, whose(cooked), version)


_REQUEST: dict[str, Any] = {
    "parent_id": None, "timestamp": None, "request_messages": [], "response_messages": [], "model": None, "tools": [],
    "duration_ms": None, "parent_reason": None, "retry_of": None, "format": "", "status": None, "stream": False,
    "interrupted": False, "stop_reason": None, "raw_stop_reason": None, "usage": None, "error": None,
    "response_id": None, "response_model": None, "alternatives": [],
}  # fmt: skip
"""What older files do not have."""


def read_cooked(path: str) -> Cooked:
    from unspool.sources.files import TooLarge, blocks, whole

    try:
        data = whole(blocks(path))
    except TooLarge as error:
        raise FileFault(f"{path}: {error}", "unreadable") from error
    try:
        return msgspec.json.decode(data, type=Cooked)
    except msgspec.ValidationError:  # by llm-path, or an older version
        value = msgspec.json.decode(data)
    for request in value.get("requests", []):
        for key, default in {**_REQUEST, "origin": {"file": path, "line": 0, "offset": 0, "size": 0}}.items():
            request.setdefault(key, default)
    try:
        return msgspec.convert({"notes": [], "tools": [], **value}, Cooked, strict=False)
    except msgspec.ValidationError as error:
        raise InputNotFound(f"{path}: not what `unspool cook` writes: {error}") from error


def whose(cooked: Cooked) -> dict[str, str | None]:
    """The agents of requests, by what they say and offer; of logs, the format is the agent's name."""
    messages = {message.id: message for message in cooked.messages}
    tools = {tool.id: Tool(tool.name) for tool in cooked.tools}
    found: dict[str, str | None] = {}
    for request in cooked.requests:
        opening = [messages[name] for name in request.request_messages[:4] if name in messages]
        said = tuple(Message("system", (Text(message.content[:4000]),), "string") for message in opening)
        offered = tuple(tools[name] for name in request.tools if name in tools)
        found[request.id] = agent_of(Exchange(Origin("", 0, 0, 0), request.format, said, offered)) or (
            request.format if request.format not in (*WIRES, "") else None
        )
    return found
