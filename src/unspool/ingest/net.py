"""The net under all readers: an exception while one file is read becomes a note, and every other file is still read.

Readers never raise for the content of a file, so an exception is a fault of unspool. It must not hide other files, or
what was read of the same file before it. The net catches `Exception` only. Errors meant for the user (`UnspoolError`)
pass through, and `UNSPOOL_RAISE=1` lets every other exception through too, for development and tests.
"""

import os

from unspool.errors import UnspoolError
from unspool.model import Note, Origin

_REASON_CHARACTERS = 200


def fault_note(error: Exception, origin: Origin) -> Note:
    """Return the note for an exception raised while this record or file was read, or raise the exception again."""
    if isinstance(error, RecursionError):  # the record could be decoded, but not be worked with
        reason = "nested too deeply" if origin.line else "something in it is nested too deeply"
        return Note("unreadable", reason, origin)
    if isinstance(error, UnspoolError) or os.environ.get("UNSPOOL_RAISE") == "1":
        raise error
    if isinstance(error, OSError):
        return Note("unreadable", error.strerror or str(error) or type(error).__name__, origin)
    what = "record" if origin.line else "file"
    reason = f"unspool could not read this {what} because of a fault of its own ({described(error)})"
    return Note("internal", f"{reason}. Please report it.", origin)


def file_note(error: Exception, path: str) -> Note:
    """Return the note for an exception that ended the reading of a whole file, or raise the exception again."""
    return fault_note(error, Origin(path, 0, 0, 0))


def described(error: Exception) -> str:
    """Format the type and the first line of an exception."""
    line = (str(error).strip().splitlines() or [""])[0][:_REASON_CHARACTERS]
    return f"{type(error).__name__}: {line}" if line else type(error).__name__
