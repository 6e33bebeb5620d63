"""Secrets out of what is to be shared: before anything is cut, so that no half of a key is left in a title."""

import os
import re
from collections import Counter
from typing import Any

import msgspec
from msgspec.structs import replace

from unspool.jobs.view.loaded import Loaded, loaded
from unspool.model import Action, Cooked, CookedMessage, Event, Meaning
from unspool.model.event import ToolCall
from unspool.transforms.redact import Redactor

_PLACEHOLDER = re.compile(rb"\[REDACTED:([a-z0-9-]+):[0-9a-f]{4}\]")


class Redaction:
    """The same secret has the same placeholder in all that one run writes; no two runs have them in common."""

    def __init__(self) -> None:
        self._redactor = Redactor(os.urandom(32))
        self._found: set[bytes] = set()

    def text(self, text: str) -> str:
        return self._redactor.text(text)

    def values(self, value: Any) -> Any:
        return self._redactor.values(value)

    def see(self, written: bytes) -> None:
        """Remember which secrets were taken out of what is written."""
        self._found.update(found[0] for found in _PLACEHOLDER.finditer(written))

    @property
    def kinds(self) -> dict[str, int]:
        """How many different secrets of each kind."""
        found = [_PLACEHOLDER.fullmatch(placeholder) for placeholder in self._found]
        return dict(Counter(match[1].decode() for match in found if match).most_common())

    def loaded(self, known: Loaded) -> Loaded:
        """The same reel without its secrets."""
        cooked = known.cooked
        clean = Cooked(
            [self._message(message) for message in cooked.messages],
            [
                replace(tool, description=self.text(tool.description), parameters=self.values(tool.parameters))
                for tool in cooked.tools
            ],
            [replace(request, error=self.values(request.error)) for request in cooked.requests],
            [replace(note, reason=self.text(note.reason)) for note in cooked.notes],
        )
        events = [self._event(event) for event in known.events]
        made = loaded(clean, known.agents, known.version, events if known.typed is not None else None)
        made.first_bytes = known.first_bytes
        return made

    def _message(self, message: CookedMessage) -> CookedMessage:
        calls = message.tool_calls
        if calls is not None:
            calls = tuple(replace(call, arguments=self.values(call.arguments)) for call in calls)
        return replace(message, content=self.text(message.content), tool_calls=calls)

    def _event(self, event: Event) -> Event:
        content = event.content
        if isinstance(content, ToolCall):
            meaning = content.meaning
            actions = msgspec.convert(self.values(msgspec.to_builtins(list(meaning.actions))), tuple[Action, ...])
            told = Meaning(meaning.kind, self.values(meaning.arguments), actions)
            return _with(event, ToolCall(content.name, content.provider_call_id, self.values(content.given), told))
        changed = {
            name: clean
            for name in content.__struct_fields__
            if isinstance(text := getattr(content, name), str) and (clean := self.text(text)) is not text
        }
        return _with(event, replace(content, **changed)) if changed else event


def _with(event: Event, content: Any) -> Event:
    return Event(event.session_id, event.stream_id, event.key, event.before, event.timestamp, content, event.origin)
