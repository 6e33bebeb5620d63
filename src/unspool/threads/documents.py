"""A file as a turn."""

import mimetypes
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

from unspool.errors import InputNotFound, WrongTurn
from unspool.model import Document, Draft, Message, Turn
from unspool.store.store import Store
from unspool.wires.values import medium_of

MOST = 100_000_000
"""Bytes that a document may have."""

_TYPES = {
    ".csv": "text/csv",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".json": "application/json",
    ".markdown": "text/markdown",
    ".md": "text/markdown",
    ".webp": "image/webp",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
"""What not every system's table of types has."""


def document(
    path: str | Path,
    name: str | None = None,
    *,
    cache: bool = False,
    head: str | None = None,
    continues: Sequence[str] = (),
) -> Draft:
    """The file, whole, as a user's turn. One of over 100 MB is refused."""
    file = Path(path)
    try:
        size = file.stat().st_size
        if size > MOST:
            raise WrongTurn(f"{file}: {size:,} bytes; a document may have {MOST:,}")
        data = file.read_bytes()
    except OSError as error:
        raise InputNotFound(f"{file}: {error.strerror}") from error
    if not data:
        raise WrongTurn(f"{file} is empty")
    media_type = media_type_of(file.name, data)
    block = Document(medium_of(media_type), "base64", b64encode(data).decode(), media_type, name or file.name)
    return Draft(
        Message("user", (block,)),
        continues=tuple(continues),
        head=head,
        cache=cache,
        type="document",
        content_type=media_type,
        document_name=name or file.name,
        original_path=str(file.absolute()),
        file_size=len(data),
    )


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
    """By the name, else by whether the bytes are text."""
    suffix = Path(name).suffix.lower()
    known = _TYPES.get(suffix) or mimetypes.guess_type(f"x{suffix}", strict=False)[0]
    if known is not None:
        return known
    try:
        data.decode()
    except UnicodeDecodeError:
        return "application/octet-stream"
    return "application/octet-stream" if b"\0" in data else "text/plain"
