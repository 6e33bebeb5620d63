"""The normal form of a message: what it says, without what changes when a client sends it back."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from unspool.model import Block, Compaction, Document, Message, Other, Text, ToolResult, ToolUse

_NUMBERS = re.compile(r"\d+")
_THOUGHTS = re.compile(r"<(think|thinking)>.*?</\1>\s*", re.DOTALL)
_canonical = msgspec.json.Encoder(order="sorted").encode


class Normal(NamedTuple):
    """What one message says, or several in a row that are one."""

    role: str
    text: str
    calls: tuple[Any, ...] = ()
    """Name and arguments of each."""
    results: tuple[Any, ...] = ()
    """Of each: the call that it answers, by its id or its place, whether it failed, and what it says."""
    others: tuple[Any, ...] = ()

    @property
    def spoken(self) -> tuple[Any, ...]:
        """Role, text and calls: an answer without what the provider's own tools put into it."""
        return self[:3]


def normal(message: Message) -> Normal:
    """What the message says. A result still names its call by the id."""
    blocks = message.blocks
    if len(blocks) == 1 and type(block := blocks[0]) is Text:
        return Normal(message.role, _spoken(message.role, block.text.strip()))
    texts: list[str] = []
    calls: list[Any] = []
    results: list[Any] = []
    others: list[Any] = []
    for block in blocks:
        match block:
            case Text():
                texts.append(block.text)
            case ToolUse():
                calls.append((block.name, _arguments(block)))
            case ToolResult():
                results.append((block.call_id, bool(block.is_error), *_told(block.content)))
            case _:
                others += _told((block,))
    text = _spoken(message.role, "".join(texts).strip())
    return Normal(message.role, text, tuple(calls), tuple(results), tuple(others))


def joined(several: Sequence[Normal]) -> Normal:
    """Messages in a row, all by one speaker, as one."""
    return Normal(
        several[0].role,
        "".join([each.text for each in several]),
        tuple(call for each in several for call in each.calls),
        tuple(result for each in several for result in each.results),
        tuple(other for each in several for other in each.others),
    )


def _spoken(role: str, text: str) -> str:
    """Without the thoughts before an answer, which some clients send back in tags, and others take out of them."""
    return _THOUGHTS.sub("", text, count=1) if role == "assistant" and text.startswith("<think") else text


def _arguments(block: ToolUse) -> bytes | str:
    return (block.text or "").strip() if block.arguments is None else _bytes(block.arguments)


def _told(blocks: Sequence[Block]) -> Iterator[Any]:
    for block in blocks:
        match block:
            case Text(text=text):
                if text.strip():
                    yield text.strip()
            case Document():
                yield block.medium, block.source, block.data, block.name
            case Compaction():
                yield "compaction", block.text or block.encrypted
            case Other():
                yield block.kind, _bytes(block.value)
            case ToolUse():
                yield block.name, _arguments(block)
            case ToolResult():
                yield from _told(block.content)


def _bytes(value: Any) -> bytes | str:
    try:
        return _canonical(value)
    except UnicodeEncodeError:  # a lone surrogate
        return repr(value)


def alike(one: str, other: str) -> bool:
    """Whether two system prompts are the same, but for numbers (a clock, a date) or few of their lines.

    One line of several may differ, or less than half of all; where either is a single line, words are compared.
    """
    if one == other:
        return True
    first, second = _NUMBERS.sub("0", one), _NUMBERS.sub("0", other)
    if first == second:
        return True
    ours, theirs = set(first.splitlines()), set(second.splitlines())
    if len(ours) < 2 or len(theirs) < 2:
        ours, theirs = set(first.split()), set(second.split())
    shared = len(ours & theirs)
    return 2 * shared > len(ours | theirs) or (shared > 0 and len(ours) == len(theirs) == shared + 1)
