"""Which files cannot hold a hit, told from their raw bytes: sound, so that a search loses nothing by it.

A hit is found in an event's JSON, and the file says the same with other spacing, keys and escapes. But a word stays a
word: a run of letters, digits and underscores in an event stands in its file too, unless

- it is a word that we write ourselves: a field's name, a kind, a phrase of a reader's;
- it may be a number that we computed, or the tail of an escape;
- the file escapes plain letters (`\\u0061`), or its texts are put together from pieces.

So has a regular expression words that stand in whatever it matches: see `expressions`.
"""

import os
import re
from collections.abc import Iterable
from functools import cache, partial
from itertools import chain
from pathlib import Path

from unspool.ingest.expressions import alternatives
from unspool.ingest.heads import beginning, marked, reader_of
from unspool.sources.files import SQLITE, Damaged, blocks
from unspool.transforms.scanning import holds

_WORD = re.compile(r"[A-Za-z0-9]+")  # no underscores: names of servers' tools are put together with them
_TAIL = re.compile(r"\A(?:[nrt]|u?[0-9a-f]{0,4})", re.IGNORECASE)
"""What an escape may leave at the beginning of a pattern that was cut out of the middle of a text."""
_ESCAPE = re.compile(r"\\(?:u[0-9a-f]{0,4}|.|$)", re.IGNORECASE)  # a pattern may be in capitals
_HEX = re.compile(r"[0-9a-fA-F]+")
_ESCAPED_LETTER = re.compile(rb"\\u00(?:3[0-9]|4[1-9a-fA-F]|5[0-9aAfF]|6[1-9a-fA-F]|7[0-9aA])")
_FOR_PEOPLE = re.compile(rb'"""(?:.|\n)*?"""|(?:^|  )#.*$|^ *(?:from|import) .*$', re.MULTILINE)
"""Docstrings, comments and imports."""
_SHORTEST = 4


def words(*literals: str) -> list[str]:
    """The runs of literals that may serve as needles, the longest first."""
    runs = [run for text in literals for run in _WORD.findall(_ESCAPE.sub(" ", _TAIL.sub(" ", text, count=1)))]
    return sorted((run for run in runs if len(run) >= _SHORTEST and not _HEX.fullmatch(run)), key=len, reverse=True)


@cache
def needles_for(pattern: str, regex: bool = False, fold: bool = False) -> tuple[bytes, ...]:
    """Words of which one must stand in the raw bytes of a log, if the pattern is in one of its events; none if it has
    no such words."""
    if fold:
        return tuple(map(bytes.lower, needles_for(pattern, regex)))
    found = [_needle(words(*runs)) for runs in (alternatives(pattern) or [[]] if regex else [[pattern]])]
    return tuple(needle for needle in found if needle) if all(found) else ()


def _needle(candidates: list[str]) -> bytes | None:
    code = _code() if candidates else b""
    if not code:  # no word, or installed without its source: then nothing is certain
        return None
    known = (word.encode() for word in candidates)
    return next((word for word in known if word.lower() not in code or word.lower() not in _own_words()), None)


def cannot_match(pattern: str, path: str, fold: bool = False, regex: bool = False) -> bool:
    """Whether no event of the log can hold the pattern; `fold` takes capitals for small letters."""
    needles = needles_for(pattern, regex, fold)
    name = os.fsencode(path)
    if not needles or _in(needles, name, fold):  # some logs name their agents by their files
        return False
    start, rest = beginning(path)
    if not start or start.startswith(SQLITE):
        return False
    reader = marked(start) or reader_of(path)[0]
    if reader is None or reader.rows is not None or reader.pieced:
        return False
    if _holds(chain([start], rest), needles, fold, reader.refers(path)):
        return False
    others = [other for other in reader.beside(path) if Path(other).is_file()]
    return not any(_in(needles, os.fsencode(other), fold) or _holds(blocks(other), needles, fold) for other in others)


def _holds(pieces: Iterable[bytes], needles: tuple[bytes, ...], fold: bool, refers: bytes = b"") -> bool:
    """Whether a word stands there, or may: plain letters are escaped, or further files are referred to."""
    keep = max(*map(len, needles), len(refers), len(r"\u0061")) - 1
    tail = b""
    try:
        for piece in pieces:
            for data in (tail + piece[:keep], piece) if tail else (piece,):
                if may_hold(data, needles, fold) or (refers and holds(data, refers)):
                    return True
            tail = (tail + piece[-keep:])[-keep:]
    except Damaged:
        pass  # behind the damage nothing is read either
    return False


def may_hold(data: bytes, needles: tuple[bytes, ...], fold: bool) -> bool:
    """Whether one of the words stands there, or may: plain letters are escaped."""
    return _in(needles, data, fold) or (holds(data, b"\\u00") and _ESCAPED_LETTER.search(data) is not None)


def _in(needles: tuple[bytes, ...], data: bytes, fold: bool) -> bool:
    return any(map(partial(holds, data.lower() if fold else data), needles))


@cache
def _code() -> bytes:
    """All of our code that may write into an event, in small letters."""
    home = Path(__file__).parent.parent
    folders = (home / name for name in ("model", "sources", "actions", "readers"))
    files = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    return b"\n".join(path.read_bytes() for path in files).lower()


@cache
def _own_words() -> bytes:
    """The same without what is there only for people."""
    return _FOR_PEOPLE.sub(b"", _code())
