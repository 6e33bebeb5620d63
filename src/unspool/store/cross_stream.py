"""An export of cross.stream (`frames.jsonl` and `cas/`): its `gpt.turn` frames become turns with the ids that they had.

A file of `cas/` is named by the base64 of its hash, `sha256-…`. Other topics are left alone: among them are providers'
keys. Bookmarks end where they would have ended here: a turn without a name of its own follows its thread's.
"""

import hashlib
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec

from unspool.errors import InputNotFound, WrongContext
from unspool.model import Answer, Document, Message, Note, Origin, Role, Stop, StopReason, Turn
from unspool.sources.jsontext import Unreadable, loads
from unspool.sources.records import read_lines
from unspool.sources.values import listing, mapping, string
from unspool.store.ids import parse
from unspool.store.moving import Moved, settle, take_bookmark, take_turns
from unspool.store.packing import pack
from unspool.store.store import Store
from unspool.wires.anthropic.decode import usage_of
from unspool.wires.normalised import read_blocks
from unspool.wires.values import leftover, medium_of

FRAMES, CAS = "frames.jsonl", "cas"
_TOPIC = "gpt.turn"
_SHA256 = "sha256-"
_ROLES: dict[Any, Role] = {"system": "system", "developer": "system", "assistant": "assistant"}
_encode = msgspec.json.Encoder().encode


def import_frames(store: Store, folder: Path, *, strict: bool = False) -> Moved:
    """Take in the turns of such a folder. What is wrong in it is noted."""
    if not (folder / FRAMES).is_file():
        raise InputNotFound(f"{folder}: no {FRAMES} in it")
    moved = Moved()
    heads: dict[str, tuple[str, Origin]] = {}
    waiting: list[tuple[Turn, bytes, Origin]] = []
    known: set[str] = set()
    with store.database.transaction():
        for frame, origin in _frames(folder, moved):
            try:
                message = _message(frame, folder)
                turn = _turn(frame, message, heads, known, origin, moved)
            except (ValueError, WrongContext) as error:
                moved.notes.append(Note("skipped", str(error), origin))
                continue
            packed = pack(message)
            if store.put_message(packed.hash, packed.body, packed.blobs.items()):
                moved.messages += 1
                moved.blobs += len(packed.blobs)
            known.add(turn.id)
            if turn.head is not None:
                heads[turn.head] = turn.id, origin
            waiting.append((turn, _encode(turn), origin))
        take_turns(store, waiting, moved)
        for name, (turn_id, origin) in heads.items():
            take_bookmark(store, name, turn_id, origin, moved)
        settle(store, moved, strict)
    return moved


def _frames(folder: Path, moved: Moved) -> Iterator[tuple[dict[str, Any], Origin]]:
    for record in read_lines(str(folder / FRAMES)):
        if isinstance(record, Note):
            moved.notes.append(record)
            continue
        try:
            frame = loads(record.data)
        except Unreadable as error:
            moved.notes.append(Note("unreadable", f"no JSON: {error}", record.origin))
            continue
        if not isinstance(frame, dict):
            moved.notes.append(Note("skipped", "no frame: not an object", record.origin))
        elif frame.get("topic") == _TOPIC:
            yield frame, record.origin


def _turn(
    frame: dict[str, Any],
    message: Message,
    heads: dict[str, tuple[str, Origin]],
    known: set[str],
    origin: Origin,
    moved: Moved,
) -> Turn:
    meta = mapping(frame.get("meta"))
    id_ = parse(string(frame.get("id")) or "")
    if id_ is None:
        raise ValueError(f"{frame.get('id')!r} is no id of a turn")
    given = meta.get("continues")
    continues: list[str] = []
    for name in [given] if isinstance(given, str) else listing(given):
        parent = parse(str(name))
        parent = heads.get(str(name), (None,))[0] if parent not in known else parent
        if parent is None:
            reason = f"turn {id_} continues {name}, which is not there: it stands without it"
            moved.notes.append(Note("odd", reason, origin))
        else:
            continues.append(parent)
    followed = next((name for up in reversed(continues) for name, (at, _) in heads.items() if at == up), None)
    document = meta.get("type") == "document"
    size = meta.get("file_size")
    return Turn(
        id=id_,
        role=message.role,
        message=pack(message).hash,
        continues=tuple(dict.fromkeys(continues)),
        inherited=mapping(meta.get("inherited") or meta.get("options")),
        head=string(meta.get("head")) or followed,
        cache=meta.get("cache") is True or meta.get("cache_control") == "ephemeral",
        type="document" if document else None,
        content_type=string(meta.get("content_type")) if document else None,
        document_name=string(meta.get("document_name")),
        original_path=string(meta.get("original_path")),
        file_size=size if isinstance(size, int) else None,
        answer=_answer(meta.get("message")),
        origin={"source": "cross.stream"},
    )


def _answer(said: Any) -> Answer | None:
    if not isinstance(said, dict):
        return None
    raw = string(said.get("stop_reason"))
    reason: StopReason = next((known for known in get_args(StopReason) if known == raw), "other")
    return Answer(
        model=string(said.get("model")),
        response_id=string(said.get("id")),
        stop=Stop(reason, raw) if raw else None,
        usage=usage_of(said.get("usage")),
        extra=leftover(said, "model", "id", "stop_reason", "usage", "role", "type"),
    )


def _message(frame: dict[str, Any], folder: Path) -> Message:
    meta = mapping(frame.get("meta"))
    data = _payload(string(frame.get("hash")) or "", folder / CAS)
    role = _ROLES.get(meta.get("role"), "user")
    if meta.get("type") == "document":
        media_type = string(meta.get("content_type"))
        encoded = b64encode(data).decode()
        name = string(meta.get("document_name"))
        return Message(role, (Document(medium_of(media_type), "base64", encoded, media_type, name),))
    content: Any = data.decode("utf-8", "replace")
    if meta.get("content_type") == "application/json":
        try:
            content = loads(data)
        except Unreadable as error:
            raise ValueError(f"{frame.get('hash')}: no JSON: {error}") from error
    elif meta.get("content_type") is None:
        content = _blocks(data) or content
    return Message(role, read_blocks(content if isinstance(content, str | list) else [content]))


def _blocks(data: bytes) -> list[Any] | None:
    """A list of blocks, which is what most turns are that do not say of what type they are."""
    try:
        value = loads(data)
    except Unreadable:
        return None
    if not isinstance(value, list) or not all(isinstance(mapping(block).get("type"), str) for block in value):
        return None
    return value


def _payload(hash_: str, cas: Path) -> bytes:
    """What is kept under a hash, if it still has it."""
    if not hash_:
        raise ValueError("a turn without content")
    names = [b64encode(hash_.encode()).decode(), urlsafe_b64encode(hash_.encode()).decode(), hash_.replace("/", "_")]
    file = next((cas / name for name in names if (cas / name).is_file()), cas / names[0])
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ValueError(f"{file}: {error.strerror}") from error
    if hash_.startswith(_SHA256) and b64encode(hashlib.sha256(data).digest()).decode() != hash_.removeprefix(_SHA256):
        raise ValueError(f"{file} does not have the hash {hash_}")
    return data
