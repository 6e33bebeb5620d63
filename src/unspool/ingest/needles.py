"""Which files cannot hold a hit, told from their raw bytes: sound, so that a search loses nothing by it.

A hit is found in an event's JSON, and the file says the same with other spacing, keys and escapes. But a word stays a
word: a run of letters, digits and underscores in an event stands in its file too, unless

- it is a word that we write ourselves: a field's name, a kind, a phrase of a reader's;
- it may be a number that we computed, or the tail of an escape;
- the file escapes plain letters (`\\u0061`), or its texts are put together from pieces.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType

from unspool.actions import vocabulary_for
from unspool.dialect import Reader
from unspool.sources.files import Damaged, blocks

_WORD = re.compile(r"[A-Za-z0-9]+")  # no underscores: names of servers' tools are put together with them
_TAIL = re.compile(r"\A(?:[nrt]|u?[0-9a-f]{0,4})", re.IGNORECASE)
"""What an escape may leave at the beginning of a pattern that was cut out of the middle of a text."""
_ESCAPE = re.compile(r"\\(?:u[0-9a-f]{0,4}|.|$)", re.IGNORECASE)  # a pattern may be in capitals
_HEX = re.compile(r"[0-9a-fA-F]+")
_ESCAPED_LETTER = re.compile(rb"\\u00(?:3[0-9]|4[1-9a-fA-F]|5[0-9aAfF]|6[1-9a-fA-F]|7[0-9aA])")
_SHORTEST = 4


def words(pattern: str) -> list[str]:
    """The runs of a literal that may serve as needles, the longest first."""
    runs = _WORD.findall(_ESCAPE.sub(" ", _TAIL.sub(" ", pattern, count=1)))
    return sorted((run for run in runs if len(run) >= _SHORTEST and not _HEX.fullmatch(run)), key=len, reverse=True)


def needle_for(pattern: str, reader: Reader) -> bytes | None:
    """A word that must stand in the raw bytes of a log of this reader, if the pattern is in one of its events."""
    if reader.rows is not None or reader.pieced:
        return None
    ours = _own_words(reader)
    fitting = (word for word in words(pattern) if word.lower() not in ours)
    return next((word.encode() for word in fitting), None)


def may_hold(paths: Iterable[str], needle: bytes, fold: bool = False) -> bool:
    """Whether the word stands in one of the files, or may: `fold` takes capitals for small letters."""
    wanted = needle.lower() if fold else needle
    return any(_holds(path, wanted, fold) for path in paths)


def _holds(path: str, needle: bytes, fold: bool) -> bool:
    tail = b""
    keep = max(len(needle), 8) - 1
    name = os.fsencode(path)
    if needle in (name.lower() if fold else name):  # some logs name their agents by their files
        return True
    try:
        for block in blocks(path):
            data = tail + block
            if needle in (data.lower() if fold else data) or (b"\\u00" in data and _ESCAPED_LETTER.search(data)):
                return True
            tail = data[-keep:]
    except Damaged:
        return False  # behind the damage nothing is read either
    return False


@cache
def _own_words(reader: Reader) -> str:
    """All that we may write into an event of this reader ourselves, in small letters."""
    vocabulary_for(reader.agent)
    texts = [text for module in _modules(reader) for text in _texts(module)]
    return "\n".join(texts).lower()


def _modules(reader: Reader) -> Iterator[ModuleType]:
    """The modules whose words may come out: those of events and actions, of vocabularies, and the reader's own."""
    own = getattr(reader.decoder, "func", reader.decoder).__module__.split(".")[:3]
    for name, module in list(sys.modules.items()):
        parts = name.split(".")
        shared = parts[:2] == ["unspool", "readers"] and len(parts) == 3 and not hasattr(module, "reader")
        if (
            shared
            or parts[:3] == own
            or parts[:2] in (["unspool", "actions"], ["unspool", "model"], ["unspool", "sources"])
        ):
            yield module


def _texts(module: ModuleType) -> Iterator[str]:
    for name, value in vars(module).items():
        if name != "__doc__" and getattr(value, "__module__", module.__name__) == module.__name__:
            yield from _constants(value)


def _constants(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case FunctionType():
            for constant in value.__code__.co_consts:
                if constant is not value.__doc__:
                    yield from _constants(constant)
        case CodeType():
            for constant in value.co_consts:
                yield from _constants(constant)
        case property() if value.fget is not None:
            yield from _constants(value.fget)
        case type():
            yield from getattr(value, "__struct_encode_fields__", ())
            yield from (text for name, inner in vars(value).items() if name != "__doc__" for text in _constants(inner))
            config = getattr(value, "__struct_config__", None)
            if config is not None and isinstance(config.tag, str):
                yield config.tag
        case dict():
            yield from (text for pair in value.items() for each in pair for text in _constants(each))
        case tuple() | list() | frozenset() | set():
            yield from (text for each in value for text in _constants(each))
