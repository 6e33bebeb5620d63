"""The store as a folder: `store.jsonl` and `blobs/`. What is written here can be read by any program, and by us again.

    {"kind":"store","version":1}
    {"kind":"message","hash":HASH,"body":{"role":…,"blocks":[…]}}
    {"kind":"turn","hash":HASH,"facts":{"id":…,"role":…,"message":HASH,"continues":[ID,…],…}}
    {"kind":"bookmark","name":NAME,"turn":ID}
    blobs/HASH

A hash is the SHA-256 of the bytes of `body`, of `facts`, or of the file. Messages stand before the turns that say
them, turns behind those that they continue.
"""

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec import Raw, Struct

from unspool.dialect import Record
from unspool.errors import BookmarkTaken, InputNotFound, OutputNotWritable, StoreFault, StrictFault
from unspool.model import Note, Origin, Turn
from unspool.sources.records import read_lines
from unspool.store.ids import parse
from unspool.store.packing import blobs_of, digest
from unspool.store.removal import sweep
from unspool.store.store import Store

LINES, BLOBS = "store.jsonl", "blobs"
_VERSION = 1
_HASH = re.compile(r"[0-9a-f]{64}")


class _Store(Struct, tag="store", tag_field="kind"):
    version: int


class _Message(Struct, tag="message", tag_field="kind"):
    hash: str
    body: Raw


class _Turn(Struct, tag="turn", tag_field="kind"):
    hash: str
    facts: Raw


class _Bookmark(Struct, tag="bookmark", tag_field="kind"):
    name: str
    turn: str


_Line: TypeAlias = _Store | _Message | _Turn | _Bookmark
_encode = msgspec.json.Encoder().encode
_line = msgspec.json.Decoder(_Line).decode
_turn = msgspec.json.Decoder(Turn).decode


class Moved(Struct):
    """What was written, or taken in."""

    turns: int = 0
    messages: int = 0
    blobs: int = 0
    bookmarks: int = 0
    known: int = 0
    """Turns that were here already."""
    renamed: dict[str, str] = {}
    """Bookmarks whose name another thread had, and what they are called now."""
    notes: list[Note] = []


def export_store(store: Store, folder: Path, ids: Sequence[str] = ()) -> Moved:
    """Write the whole store, or the threads of these turns, into a folder that is not there yet, or empty."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise OutputNotWritable(f"{folder} is there already, and not empty")
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = folder.with_name(f".{folder.name[:100]}.part")
        shutil.rmtree(beside, ignore_errors=True)
        (beside / BLOBS).mkdir(parents=True, mode=0o700)
        beside.chmod(0o700)
        moved = Moved()
        try:
            with store.database.snapshot(), (beside / LINES).open("wb") as file:
                (beside / LINES).chmod(0o600)
                file.writelines(line + b"\n" for line in _lines(store, ids, beside / BLOBS, moved))
            if folder.exists():
                folder.rmdir()
            beside.rename(folder)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise OutputNotWritable(f"{error.filename or folder}: {error.strerror}") from error
    return moved


def _lines(store: Store, ids: Sequence[str], blobs: Path, moved: Moved) -> Iterator[bytes]:
    yield _encode(_Store(_VERSION))
    turns = store.lineage(ids or store.tips())
    for hash_ in dict.fromkeys(turn.message for turn in turns):
        body = store.body(hash_)
        for blob in sorted(blobs_of(body)):
            file = blobs / blob
            if not file.exists():
                file.write_bytes(store.blob(blob))
                file.chmod(0o600)
                moved.blobs += 1
        moved.messages += 1
        yield _encode(_Message(hash_, Raw(body)))
    for turn in turns:
        moved.turns += 1
        facts = store.facts(turn.id)
        yield _encode(_Turn(digest(facts), Raw(facts)))
    known = {turn.id for turn in turns}
    for name, at in store.bookmarks().items():
        if at in known:
            moved.bookmarks += 1
            yield _encode(_Bookmark(name, at))


def import_store(store: Store, folder: Path, *, strict: bool = False) -> Moved:
    """Take in what such a folder holds. What is wrong in it is noted, and left out with all that goes on from it.

    With `strict`, nothing is taken in unless all of it is right.
    """
    if not (folder / LINES).is_file():
        raise InputNotFound(f"{folder}: no {LINES} in it")
    moved = Moved()
    waiting: list[tuple[Turn, bytes, Origin]] = []
    bookmarks: list[tuple[str, str, Origin]] = []
    with store.database.transaction():
        for record in read_lines(str(folder / LINES)):
            if isinstance(record, Note):
                moved.notes.append(record)
                continue
            try:
                match _line(record.data):
                    case _Store(version=version) if version > _VERSION:
                        raise StoreFault(f"{folder} was written by a newer unspool (its form {version})")
                    case _Message() as message:
                        _take_message(store, message, folder / BLOBS, moved)
                    case _Turn() as line:
                        waiting.append((_checked(line), bytes(line.facts), record.origin))
                    case _Bookmark(name=name, turn=turn):
                        bookmarks.append((name, turn, record.origin))
            except (msgspec.MsgspecError, ValueError) as error:
                moved.notes.append(_note(record, str(error)))
        take_turns(store, waiting, moved)
        for name, turn, origin in bookmarks:
            take_bookmark(store, name, turn, origin, moved)
        settle(store, moved, strict)
    return moved


def settle(store: Store, moved: Moved, strict: bool) -> None:
    """At the end of a transaction that took something in."""
    if strict and moved.notes:
        first = moved.notes[0]
        raise StrictFault(f"nothing was taken in: {first.origin}: {first.reason}")
    sweep(store)


def _take_message(store: Store, line: _Message, blobs: Path, moved: Moved) -> None:
    body = bytes(line.body)
    if digest(body) != line.hash:
        raise ValueError(f"message {line.hash}: its body has the hash {digest(body)}")
    kept: list[tuple[str, bytes]] = []
    for name in sorted(blobs_of(body)):
        if not _HASH.fullmatch(name):
            raise ValueError(f"message {line.hash}: {name!r} is no hash")
        try:
            data = (blobs / name).read_bytes()
        except OSError as error:
            raise ValueError(f"message {line.hash}: {blobs / name}: {error.strerror}") from error
        if digest(data) != name:
            raise ValueError(f"message {line.hash}: {blobs / name} has the hash {digest(data)}")
        kept.append((name, data))
    if store.put_message(line.hash, body, kept):
        moved.messages += 1
        moved.blobs += len(kept)


def _checked(line: _Turn) -> Turn:
    facts = bytes(line.facts)
    if digest(facts) != line.hash:
        raise ValueError(f"turn {line.hash}: its facts have the hash {digest(facts)}")
    turn = _turn(facts)
    if parse(turn.id) != turn.id:
        raise ValueError(f"{turn.id!r} is no id of a turn")
    if not _HASH.fullmatch(turn.message):
        raise ValueError(f"turn {turn.id}: {turn.message!r} is no hash")
    return turn


def take_turns(store: Store, waiting: Iterable[tuple[Turn, bytes, Origin]], moved: Moved) -> None:
    """Each behind those that it continues, whatever order they come in; inside a transaction."""
    todo = list(waiting)
    while todo:
        later = []
        for turn, facts, origin in todo:
            if not all(map(store.has, turn.continues)):
                later.append((turn, facts, origin))
            elif fault := _take_turn(store, turn, facts, moved):
                moved.notes.append(Note("skipped", fault, origin))
        if len(later) == len(todo):
            break
        todo = later
    for turn, _, origin in todo:
        missing = next(parent for parent in turn.continues if not store.has(parent))
        moved.notes.append(Note("skipped", f"turn {turn.id} continues {missing}, which is not there", origin))


def _take_turn(store: Store, turn: Turn, facts: bytes, moved: Moved) -> str | None:
    """Why it was not taken, if so."""
    if store.has(turn.id):
        moved.known += 1
        return None if store.facts(turn.id) == facts else f"another turn has the id {turn.id}"
    if not store.has_message(turn.message):
        return f"turn {turn.id}: message {turn.message} is not there"
    store.put_turn(turn, facts)
    moved.turns += 1
    return None


def take_bookmark(store: Store, name: str, turn: str, origin: Origin, moved: Moved) -> None:
    """Where another thread has the name, the bookmark gets a number behind it; inside a transaction."""
    if not store.has(turn):
        moved.notes.append(Note("skipped", f"bookmark {name}: turn {turn} is not there", origin))
        return
    at = store.bookmarks().get(name)
    if at is not None and (at == turn or store.continues(at, turn)):
        return  # ours has gone on since
    given = store.free_name(name) if at is not None and not store.continues(turn, at) else name
    try:
        store.point(given, turn)
    except BookmarkTaken as error:  # no name that we allow
        moved.notes.append(Note("skipped", str(error), origin))
        return
    moved.bookmarks += 1
    if given != name:
        moved.renamed[name] = given


def _note(record: Record, reason: str) -> Note:
    return Note("skipped", reason, record.origin)
