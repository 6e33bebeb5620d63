"""Tool calls in the words of the agent that made them, ready to be shown."""

import re
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from unspool.actions import vocabulary_for
from unspool.actions.vocabulary import Vocabulary
from unspool.jobs.view.pages import Call
from unspool.model import CookedCall
from unspool.model.event import ToolCall
from unspool.sources.jsontext import dumps
from unspool.sources.values import mapping, text_of
from unspool.views.outline import change_of, does

_STEERING = re.compile(
    r"\x1b(?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\|$)|.?)"
    r"|[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069]"
)
MOST = 24_000
"""Characters of one text that are sent without being asked for."""


@lru_cache(64)
def words_of(agent: str | None) -> Vocabulary:
    return vocabulary_for(agent or "")


def in_words(call: CookedCall, agent: str | None) -> ToolCall:
    arguments: Any = call.arguments
    if set(arguments) == {"raw"} and isinstance(arguments["raw"], str):
        arguments = arguments["raw"]  # what the model wrote was no JSON object
    return ToolCall(call.name, call.id, arguments, words_of(agent).read)


def shown(call: ToolCall) -> Call:
    told = briefly(call)
    written = indented(call.given)
    diff = change_of(call) if call.kind in ("file_edit", "file_write", "plan") or call.actions else ""
    is_diff = bool(diff) and call.kind != "plan"
    lines = diff.split("\n") if is_diff else []
    return Call(
        name=call.name,
        id=call.provider_call_id,
        kind=call.kind,
        does=told[:400],
        arguments=written,
        diff=diff,
        path=text_of(mapping(call.arguments).get("file_path")) or None,
        added=sum(line.startswith("+") for line in lines) if is_diff else None,
        removed=sum(line.startswith("-") for line in lines) if is_diff else None,
    )


def shortened(call: Call) -> Call:
    """As it is sent without being asked for the whole."""
    left = max(len(call.arguments), len(call.diff)) - MOST
    return call if left <= 0 else replace(call, arguments=call.arguments[:MOST], diff=call.diff[:MOST], cut=left)


_TELLING = ("command", "cmd", "file_path", "path", "query", "pattern", "url", "prompt", "description", "name")


def briefly(call: ToolCall) -> str:
    """What it does, in one line; of a tool that we do not know, its most telling argument."""
    given = call.arguments
    if call.kind != "generic" or not isinstance(given, dict):
        return one_line(does(call))
    values = [value for key in _TELLING if isinstance(value := given.get(key), str) and value]
    values += [value for value in given.values() if isinstance(value, str) and value]
    return one_line(values[0] if values else does(call) if given else "")


def indented(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return msgspec.json.format(dumps(value), indent=2)


def lines_of(text: str) -> int:
    """As many as are shown: behind the last there is none, though a line ends there."""
    return text.rstrip("\n").count("\n") + 1 if text else 0


def one_line(text: str) -> str:
    """The beginning, without what would steer a terminal or turn the line around."""
    text = text[:2000]
    return " ".join((text if text.isprintable() else _STEERING.sub("", text)).split())
