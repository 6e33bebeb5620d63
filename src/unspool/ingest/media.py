"""Images and documents of a log, put back: an event's text has a placeholder in place of each.

    [image: image/png, 1,234 bytes]

The bytes stand in the record that the event came from, in a form of the agent's own. What is just as long, and of the
type that is told, is what the placeholder stands for.
"""

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from unspool.ingest.logs import OpenLog
from unspool.ingest.originals import Originals
from unspool.model import Block, Document, Event, Text
from unspool.sources.values import placeholder
from unspool.wires.values import medium_of

PLACEHOLDER = re.compile(r"\[(image|document|audio|video|file): (?:([\w.+-]+/[\w.+-]+), )?([\d,]+ bytes)\]")
_DATA = ("data", "Data", "base64", "source", "blob", "result")
_TYPES = ("media_type", "mimeType", "mime_type", "mediaType", "mime", "MIMEType", "contentType")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_ADDRESS = re.compile(r"data:([\w.+-]+/[\w.+-]+)(?:;[\w=.-]+)*;base64,([A-Za-z0-9+/_-]+={0,2})")


class Medium(Struct, frozen=True):
    """What a record holds of one: base64, and its type where that stands beside it."""

    data: str
    type: str | None = None


class Media:
    """The logs of a session, for events whose texts have placeholders."""

    def __init__(self) -> None:
        self._logs: dict[str, OpenLog] = {}
        self._originals: dict[str, Originals] = {}

    def came(self, log: OpenLog, event: Event) -> None:
        """An event, and the log that it came from."""
        self._logs[event.origin.file] = log

    def blocks(self, event: Event, text: str) -> tuple[Block, ...]:
        """What an event says. A record is read again only where something is to be put back."""
        log = self._logs.get(event.origin.file)
        if log is None or not PLACEHOLDER.search(text):
            return (Text(text),) if text else ()
        if log.path not in self._originals:
            self._originals[log.path] = Originals(log)
        originals = self._originals[log.path]
        return blocks_of(text, (originals.payload(event), originals.record(event)))


def media_in(value: Any, key: str = "", kind: str | None = None) -> Iterator[Medium]:
    """All that a record of any agent's holds: base64 beside its type, or a `data:` address, in JSON inside JSON too."""
    match value:
        case str():
            if ";base64," in value:
                yield from (Medium(data, told) for told, data in _ADDRESS.findall(value))
            elif key in _DATA and _BASE64.fullmatch(value):
                yield Medium(value, kind)
        case dict():
            kind = next((value[name] for name in _TYPES if isinstance(value.get(name), str)), None)
            for name, inner in value.items():
                yield from media_in(inner, name, kind)
        case list() | tuple():
            for inner in value:
                yield from media_in(inner)


def blocks_of(text: str, record: Any) -> tuple[Block, ...]:
    """The text, with each medium that the record holds in place of its placeholder. What comes first is nearer."""
    blocks: list[Block] = []
    left = list(media_in(record))
    end = 0
    for found in PLACEHOLDER.finditer(text):
        medium = next((each for each in left if _is_meant(found, each)), None)
        if medium is None:
            continue  # only its placeholder is known
        left.remove(medium)
        if said := text[end : found.start()].strip("\n"):
            blocks.append(Text(said))
        kind = medium.type or found[2]
        blocks.append(Document("image" if found[1] == "image" else medium_of(kind), "base64", medium.data, kind))
        end = found.end()
    if said := text[end:].strip("\n") if blocks else text:
        blocks.append(Text(said))
    return tuple(blocks)


def _is_meant(found: re.Match[str], medium: Medium) -> bool:
    _, kind, size = found.groups()
    if kind is not None and medium.type not in (None, kind):
        return False
    return placeholder("", None, medium.data) == f"[: {size}]"
