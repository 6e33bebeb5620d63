"""A file as a turn."""

from base64 import b64encode
from collections.abc import Sequence
from mimetypes import MimeTypes
from pathlib import Path

from unspool.errors import InputNotFound, WrongTurn
from unspool.model import Document, Draft, Message, Turn
from unspool.sources.files import DASH, legible
from unspool.store.store import Store
from unspool.wires.values import medium_of

MOST = 100_000_000
"""Bytes that a document may have."""

_STDIN = "standard input"
_TYPES = {
    ".csv": "text/csv",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".json": "application/json",
    ".markdown": "text/markdown",
    ".md": "text/markdown",
    ".webp": "image/webp",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
"""What not every version's table has."""
_KNOWN = frozenset({"application/json", "application/pdf", *_TYPES.values()})


def document(
    path: str | Path,
    name: str | None = None,
    *,
    cache: bool = False,
    head: str | None = None,
    continues: Sequence[str] = (),
) -> Draft:
    """The file, or standard input (`-`), whole, as a user's turn. One of over 100 MB is refused."""
    file = None if path == DASH else Path(path)
    data = _read(file)
    if not data:
        raise WrongTurn(f"{file or _STDIN} is empty")
    media_type = media_type_of(file.name if file else name or "", data)
    name = name or (legible(file.name) if file else None)
    block = Document(medium_of(media_type), "base64", b64encode(data).decode(), media_type, name)
    return Draft(
        Message("user", (block,)),
        continues=tuple(continues),
        head=head,
        cache=cache,
        type="document",
        content_type=media_type,
        document_name=name,
        original_path=legible(str(file.absolute())) if file else None,
        file_size=len(data),
    )


def _read(file: Path | None) -> bytes:
    try:
        if file is not None and (size := file.stat().st_size) > MOST:
            raise WrongTurn(f"{file}: {size:,} bytes; a document may have {MOST:,}")
        with file.open("rb") if file is not None else open(0, "rb", closefd=False) as opened:
            data = opened.read(MOST + 1)  # a pipe, or a file that grows, has no size beforehand
    except OSError as error:
        raise InputNotFound(f"{file or _STDIN}: {error.strerror}") from error
    if len(data) > MOST:
        raise WrongTurn(f"{file or _STDIN}: no end after {MOST:,} bytes, the most that a document may have")
    return data


def add_documents(
    store: Store,
    paths: Sequence[str],
    name: str | None = None,
    continues: Sequence[str] = (),
    *,
    cache: bool = False,
    head: str | None = None,
    move: bool = False,
) -> list[Turn]:
    """Each file as a turn that goes on from the one before it; all of them, or none."""
    turns: list[Turn] = []
    before = tuple(continues)
    with store.database.transaction():
        for path in paths:
            named = None if turns else head  # then it follows
            turns.append(store.put_draft(document(path, name, cache=cache, continues=before, head=named), move=move))
            before = (turns[-1].id,)
    return turns


def media_type_of(name: str, data: bytes) -> str:
    """By the name, where that tells a form that providers know; else whatever is text is plain text."""
    suffix = Path(name).suffix.lower()
    known = _TYPES.get(suffix) or MimeTypes().guess_type(f"x{suffix}", strict=False)[0]  # not what this system adds
    if known is not None and (known in _KNOWN or known.startswith(("text/", "image/"))):
        return known
    return "text/plain" if _is_text(data) else known or "application/octet-stream"


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in data
