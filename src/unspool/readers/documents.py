"""What readers of JSON documents share: an element by its number, and files that stand beside a log."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from unspool.model import Event
from unspool.sources.jsontext import Unreadable, loads
from unspool.sources.storage import noticed
from unspool.sources.values import mapping


def element_of(*keys: str) -> Callable[[Any, Event], Any]:
    """The payload of a document: the element of its list, under one of these keys, whose number is the event's line.

    What came from no element came from the document.
    """

    def payload(document: Any, event: Event) -> Any:
        found = document if isinstance(document, list) else next(filter(None, map(mapping(document).get, keys)), None)
        number = event.origin.line
        return found[number - 1] if isinstance(found, list) and 0 < number <= len(found) else document

    return payload


def read_json(file: str | Path) -> Any:
    """What the file says; None if it is not there, or no JSON."""
    try:
        return loads(noticed(Path(file)).read_bytes())
    except (OSError, *Unreadable):
        return None
