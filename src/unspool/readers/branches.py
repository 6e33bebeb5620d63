"""Where a person went back, in logs whose records name the record before them: two things follow the same record.

a1 ── b2 ── c3 ── f6      asked, answered, asked; and later went on from here: behind c3
       └─── d4 ── e5      and asked otherwise: in place of c3
"""

from msgspec.structs import replace

from unspool.model import MAIN, Event, Note
from unspool.model.event import Compacted, Said, Summary, Thinking, ToolCall, ToolOutput, User

_ASKED = (User, Summary)
_SAID = (*_ASKED, Thinking, Said, ToolCall)
_CONVERSATION = (*_SAID, ToolOutput, Compacted)


class Branches:
    def __init__(self) -> None:
        self._places: dict[str, str | None] = {}
        """For each record the last up to it, or itself, that is part of the conversation."""
        self._first: dict[str | None, str] = {}
        """What followed a record first, by its event's id."""
        self._said: dict[str | None, str | None] = {}
        """For each such record what was asked or answered there, or last before it, by its event's id."""
        self._here: str | None = None
        """The last of them."""

    def told(self, name: str, before: str | None, items: list[Event | Note]) -> list[Event | Note]:
        """The events of the record of this name; a prompt says what it is in place of, or what it comes behind.

        A record that names none before it may go on from the last one all the same: it says nothing of going back.
        """
        place = None if before is None else self._places.get(before, before)
        at, event = next(((at, item) for at, item in enumerate(items) if _is_spoken(item)), (0, None))
        if not isinstance(event, Event):
            self._places.setdefault(name, place)  # unless it is a record that comes once more
            return items
        here, self._here = self._here, name
        self._places[name] = name
        if not isinstance(event.content, Compacted):  # behind which the model has another history
            self._said[name] = event.id if isinstance(event.content, _SAID) else self._said.get(place)
        first = self._first.setdefault(place, event.id)
        if before is None or not isinstance(event.content, _ASKED):
            return items
        if first != event.id:
            items[at] = replace(event, content=replace(event.content, replaces=first))
        elif place != here and (left := self._said.get(place)) is not None:
            items[at] = replace(event, content=replace(event.content, follows=left))
        return items


def _is_spoken(item: Event | Note) -> bool:
    return isinstance(item, Event) and item.stream_id == MAIN and isinstance(item.content, _CONVERSATION)
