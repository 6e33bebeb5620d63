"""Where a record came from, and what could not be understood about it."""

from typing import Literal, TypeAlias

from msgspec import Struct

NoteKind: TypeAlias = Literal["unreadable", "skipped", "repaired", "odd", "unknown", "internal"]
"""unreadable: no JSON, the line is lost. skipped: JSON, but no record. repaired: read after mending the text.
odd: a known thing in a wrong shape, kept. unknown: a thing of a kind that we do not know, kept raw.
internal: unspool itself failed at this record or file; the reason names the exception."""


class Origin(Struct, frozen=True, gc=False):
    """Raw bytes are never copied around: they are read again from here."""

    file: str
    line: int
    """From 1; for a file that is one JSON document, the number of the record in it; 0 for the whole file."""
    offset: int
    """Of the first byte, after decompression."""
    size: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class Note(Struct, frozen=True, gc=False):
    """A fault in the data. Never an exception."""

    kind: NoteKind
    reason: str
    origin: Origin
