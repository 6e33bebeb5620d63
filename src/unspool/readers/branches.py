"""Where a person went back, in logs whose records name the record before them: two things follow the same record.

a1 ── b2 ── c3      asked, answered, asked
       └─── d4      and asked otherwise: in place of c3
"""

from msgspec.structs import replace

from unspool.model import MAIN, Event, Note
from unspool.model.event import Compacted, Said, Thinking, ToolCall, ToolOutput, User

_CONVERSATION = (User, Thinking, Said, ToolCall, ToolOutput, Compacted)


class Branches:
    def __init__(self) -> None:
        self._places: dict[str, str | None] = {}
        """For each record the last up to it, or itself, that is part of the conversation."""
        self._first: dict[str | None, str] = {}
        """What followed a record first, by its event's id."""

    def told(self, name: str, before: str | None, items: list[Event | Note]) -> list[Event | Note]:
        """The events of the record of this name; a prompt says what it is in place of.

        A record that names none before it may go on from the last one all the same: it says nothing of going back.
        """
        place = None if before is None else self._places.get(before, before)
        at, event = next(((at, item) for at, item in enumerate(items) if _is_spoken(item)), (0, None))
        if not isinstance(event, Event):
            self._places.setdefault(name, place)  # unless it is a record that comes once more
            return items
        self._places[name] = name
        first = self._first.setdefault(place, event.id)
        if before is not None and first != event.id and isinstance(event.content, User):
            items[at] = replace(event, content=User(event.content.text, first))
        return items


def _is_spoken(item: Event | Note) -> bool:
    return isinstance(item, Event) and item.stream_id == MAIN and isinstance(item.content, _CONVERSATION)
