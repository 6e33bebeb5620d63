"""Slack's blocks. Each is made by a function that keeps its limits, so none can be made that Slack would refuse."""

from collections.abc import Iterable
from typing import Any, TypeAlias

from msgspec import Struct

from unspool.views.slack.pieces import Piece, Text, bold, plain, units, write

HEADER = 150
SECTION = 3_000
FIELD = 2_000
FIELDS = 10
ELEMENTS = 10
BLOCKS = 50
TOTAL = 10_000
"""Of all texts of a message. Slack does not document it, and refuses some messages with a little more."""
_SECTIONS = 3
"""Of one text: what is longer is cut."""
_ELEMENT = 500
_FALLBACK = 300

Block: TypeAlias = dict[str, Any]


class Message(Struct, frozen=True):
    """What `chat.postMessage` and `chat.update` are given."""

    blocks: list[Block]
    text: str
    """For notifications, and for clients that show no blocks."""


def header(text: str) -> Block:
    return {"type": "header", "text": {"type": "plain_text", "text": plain(text, HEADER)}}


def section(pieces: Iterable[Piece], limit: int = SECTION) -> Block:
    return _section(write(pieces, min(limit, SECTION))[0])


def sections(pieces: Iterable[Piece]) -> list[Block]:
    """A long text, over several."""
    return [_section(text) for text in write(pieces, SECTION, _SECTIONS)]


def _section(text: str) -> Block:
    return {"type": "section", "text": _mrkdwn(text)}


def fields(named: list[tuple[str, list[Piece]]]) -> Block:
    """Names and values, two beside each other."""
    texts = [write([*bold(f"{name}:"), Text("\n"), *value], FIELD // 4)[0] for name, value in named[:FIELDS]]
    return {"type": "section", "fields": [_mrkdwn(text) for text in texts]}


def context(elements: list[list[Piece]]) -> Block:
    return {"type": "context", "elements": [_mrkdwn(write(each, _ELEMENT)[0]) for each in elements[:ELEMENTS]]}


def _mrkdwn(text: str) -> Block:
    return {"type": "mrkdwn", "text": text}


def message(blocks: list[Block], told: str) -> Message:
    """As many of the blocks as one message may hold."""
    kept, used = [], 0
    for block in blocks[:BLOCKS]:
        used += size(block)
        if used > TOTAL:
            break
        kept.append(block)
    return Message(kept, plain(told, _FALLBACK))


def size(block: Block) -> int:
    """Of all its texts."""
    texts = [block["text"]] if "text" in block else [*block.get("fields", ()), *block.get("elements", ())]
    return sum(units(text["text"]) for text in texts)
