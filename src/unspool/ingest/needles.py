"""Which files cannot hold a hit, told from their raw bytes: sound, so that a search loses nothing by it.

A hit is found in an event's JSON, and the file says the same with other spacing, keys and escapes. But a word stays a
word: a run of letters, digits and underscores in an event stands in its file too, unless

- it is a word that we write ourselves: a field's name, a kind, a phrase of a reader's;
- it may be a number that we computed, or the tail of an escape;
- the file escapes plain letters (`\\u0061`), or its texts are put together from pieces.
"""

import os
import re
from functools import cache
from pathlib import Path

from unspool.dialect import Reader
from unspool.ingest.heads import reader_of
from unspool.readers import READERS
from unspool.sources.files import Damaged, blocks

_WORD = re.compile(r"[A-Za-z0-9]+")  # no underscores: names of servers' tools are put together with them
_TAIL = re.compile(r"\A(?:[nrt]|u?[0-9a-f]{0,4})", re.IGNORECASE)
"""What an escape may leave at the beginning of a pattern that was cut out of the middle of a text."""
_ESCAPE = re.compile(r"\\(?:u[0-9a-f]{0,4}|.|$)", re.IGNORECASE)  # a pattern may be in capitals
_HEX = re.compile(r"[0-9a-fA-F]+")
_ESCAPED_LETTER = re.compile(rb"\\u00(?:3[0-9]|4[1-9a-fA-F]|5[0-9aAfF]|6[1-9a-fA-F]|7[0-9aA])")
_FOR_PEOPLE = re.compile(r'"""(?:.|\n)*?"""|(?:^|  )#.*$|^ *(?:from|import) .*$', re.MULTILINE)
"""Docstrings, comments and imports."""
_SHORTEST = 4
_START = 512


def words(pattern: str) -> list[str]:
    """The runs of a literal that may serve as needles, the longest first."""
    runs = _WORD.findall(_ESCAPE.sub(" ", _TAIL.sub(" ", pattern, count=1)))
    return sorted((run for run in runs if len(run) >= _SHORTEST and not _HEX.fullmatch(run)), key=len, reverse=True)


@cache
def needle_for(pattern: str) -> bytes | None:
    """A word that must stand in the raw bytes of a log, if the pattern is in one of its events."""
    ours = _own_words()
    if not ours:  # installed without its source: then nothing is certain
        return None
    return next((word.encode() for word in words(pattern) if word.lower() not in ours), None)


def cannot_match(pattern: str, path: str, fold: bool = False) -> bool:
    """Whether no event of the log can hold the pattern; `fold` takes capitals for small letters."""
    needle = needle_for(pattern)
    if needle is None or _holds(path, needle, fold):
        return False
    reader = _document_reader(path) or reader_of(path)[0]
    if reader is None or reader.rows is not None or reader.pieced:
        return False
    if reader.refers and _holds(path, reader.refers, fold=False):
        return False
    return not any(_holds(other, needle, fold) for other in reader.beside(path) if Path(other).is_file())


def _holds(path: str, needle: bytes, fold: bool) -> bool:
    """Whether the word stands in the file, or may."""
    wanted = needle.lower() if fold else needle
    tail = b""
    keep = max(len(wanted), 8) - 1
    name = os.fsencode(path)
    if wanted in (name.lower() if fold else name):  # some logs name their agents by their files
        return True
    try:
        for block in blocks(path):
            data = tail + block
            if wanted in (data.lower() if fold else data) or (b"\\u00" in data and _ESCAPED_LETTER.search(data)):
                return True
            tail = data[-keep:]
    except Damaged:
        return False  # behind the damage nothing is read either
    return False


def _document_reader(path: str) -> Reader | None:
    """The reader of a document over many lines whose first keys tell: it need not be decoded for that."""
    start = next(blocks(path, _START), b"")
    return next((reader for reader in READERS.values() if reader.mark and reader.mark.match(start)), None)


@cache
def _own_words() -> str:
    """All that we may write into an event ourselves, and more: our code, without what is there only for people."""
    home = Path(__file__).parent.parent
    folders = (home / name for name in ("model", "sources", "actions", "readers"))
    files = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    code = "\n".join(path.read_text(encoding="utf-8") for path in files)
    return _FOR_PEOPLE.sub("", code).lower()
