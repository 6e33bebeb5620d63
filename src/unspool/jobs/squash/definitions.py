"""The tools of a session: those of all kept entries by name, the first definition of each."""

import re
from typing import Any

import msgspec
from msgspec import Raw

from unspool.jobs.squash.entries import NULL
from unspool.sources.jsontext import Unreadable, mend, strict
from unspool.sources.values import mapping
from unspool.transforms.json_schema import as_json_schema

_CAPITALS = re.compile(rb'"type"\s*:\s*\[?\s*"[A-Z]{4}')
"""A type as Gemini's clients write it, which JSON Schema does not know."""
_list = msgspec.json.Decoder(list[Raw]).decode
_object = msgspec.json.Decoder(dict[str, Raw]).decode


class Definitions:
    """Told of the tools of one entry after another; most entries bring the same bytes, which cost nothing."""

    def __init__(self, only_last: bool) -> None:
        self._only_last = only_last
        self._newest = NULL
        self._tools: dict[str | bytes, bytes] = {}
        self._values: dict[str | bytes, Any] = {}
        self._wholes: dict[str | bytes, Any] = {}
        self.changed: set[str] = set()
        """Names of tools that were defined anew in another way."""
        self.odd = 0
        """Lists of tools that are none."""

    def add(self, tools: Raw) -> None:
        if tools is self._newest or tools == self._newest:
            return
        self._newest = tools
        if self._only_last:
            self._tools, self._values, self._wholes = {}, {}, {}
        if tools == NULL:
            return
        try:
            definitions = _list(tools)
        except Unreadable:
            self.odd += 1
            return
        for definition in definitions:
            self._define(bytes(definition))

    def _define(self, written: bytes) -> None:
        try:
            whole = strict(written)
        except Unreadable:
            written = mend(written)
            whole = strict(written)
        if _CAPITALS.search(written):
            whole = _spelled(whole)
            written = msgspec.json.encode(whole)
        flat, value = flattened(written, whole)
        name = value.get("name") if isinstance(value, dict) else None
        key = name if isinstance(name, str) and name else written  # without a name only its like is the same tool
        if key not in self._tools:
            self._tools[key], self._values[key], self._wholes[key] = flat, value, whole
        elif isinstance(key, str) and flat != self._tools[key] and value != self._values[key]:
            self.changed.add(key)

    @property
    def flat(self) -> list[bytes]:
        """As the record has them."""
        return list(self._tools.values())

    @property
    def values(self) -> list[Any]:
        return list(self._values.values())

    @property
    def wholes(self) -> list[Any]:
        """As the requests had them."""
        return list(self._wholes.values())


def _spelled(tool: Any) -> Any:
    """Return a tool with its schema in JSON Schema, whether it stands in a `function` or not."""
    if not isinstance(tool, dict):
        return tool
    known = {"parameters": as_json_schema(mapping(tool["parameters"]))} if mapping(tool.get("parameters")) else {}
    return tool | known | ({"function": _spelled(tool["function"])} if "function" in tool else {})


def flattened(definition: bytes, value: Any) -> tuple[bytes, Any]:
    """The `function` object as it stands; of a tool that has none, the whole of it."""
    if isinstance(value, dict) and isinstance(value.get("function"), dict):
        definition, value = bytes(_object(definition)["function"]), value["function"]
    if b"\n" in definition or b"\r" in definition:  # a record is one line
        definition = msgspec.json.encode(value)
    return definition, value
