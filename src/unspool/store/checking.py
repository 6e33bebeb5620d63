"""Whether the store is what it was: every hash is worked out anew, everything that is pointed to is there.

Columns are read as bytes, whatever they have become: a database can be edited by hand.
"""

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from unspool.errors import CycleFound, StoreFault
from unspool.graph.ancestry import parents_first
from unspool.model import Turn
from unspool.store.database import FAULTS
from unspool.store.packing import UNREADABLE, blobs_of, digest
from unspool.store.store import Store

Kind: TypeAlias = Literal["database", "blob", "message", "turn", "bookmark"]


class Fault(Struct, frozen=True):
    kind: Kind
    name: str
    """A hash, an id, or the name of a bookmark."""
    reason: str


class Checked(Struct):
    """How many of each were looked at."""

    turns: int = 0
    messages: int = 0
    blobs: int = 0
    bookmarks: int = 0
    bytes: int = 0
    """Of messages and blobs."""


def check(store: Store, checked: Checked) -> Iterator[Fault]:
    """Each fault; `checked` is counted up on the way."""
    try:
        with store.database.snapshot():
            for (said,) in store.database.execute("PRAGMA integrity_check"):
                if said != "ok":
                    yield Fault("database", store.database.path, said)
            yield from _blobs(store, checked)
            yield from _messages(store, checked)
            yield from _turns(store, checked)
            yield from _bookmarks(store, checked)
    except (*FAULTS, StoreFault) as error:  # so broken that rows cannot be read
        yield Fault("database", store.database.path, str(error))


def _bytes(column: str) -> str:
    return f"CAST(ifnull({column}, '') AS BLOB)"


def _text(column: str) -> str:
    return f"CAST(ifnull({column}, '') AS TEXT)"


def _blobs(store: Store, checked: Checked) -> Iterator[Fault]:
    for key, data in store.database.execute(f"SELECT {_bytes('hash')}, {_bytes('data')} FROM blobs"):
        checked.blobs += 1
        checked.bytes += len(data)
        if digest(data) != key.hex():
            yield Fault("blob", key.hex(), f"its data has the hash {digest(data)}")


def _messages(store: Store, checked: Checked) -> Iterator[Fault]:
    listed: dict[bytes, set[str]] = {}
    for key, blob in store.database.execute(f"SELECT {_bytes('message')}, {_bytes('blob')} FROM message_blobs"):
        listed.setdefault(key, set()).add(blob.hex())
    kept = {key.hex() for (key,) in store.database.execute(f"SELECT {_bytes('hash')} FROM blobs")}
    for key, body in store.database.execute(f"SELECT {_bytes('hash')}, {_bytes('body')} FROM messages"):
        checked.messages += 1
        checked.bytes += len(body)
        name = key.hex()
        if digest(body) != name:
            yield Fault("message", name, f"its body has the hash {digest(body)}")
        try:
            used = blobs_of(body)
        except UNREADABLE as error:
            yield Fault("message", name, f"no message: {error}")
            continue
        if used != listed.pop(key, set()):
            yield Fault("message", name, "its list of blobs is not that of its body")
        for missing in used - kept:
            yield Fault("message", name, f"blob {missing} is not there")


def _turns(store: Store, checked: Checked) -> Iterator[Fault]:
    parents: dict[str, list[str]] = {}
    for turn, parent in store.database.execute(
        f"SELECT {_text('turn')}, {_text('parent')} FROM parents ORDER BY turn, position"
    ):
        parents.setdefault(turn, []).append(parent)
    said = {key for (key,) in store.database.execute(f"SELECT {_bytes('hash')} FROM messages")}
    continues: dict[str, list[str]] = {}
    columns = f"{_text('id')}, {_bytes('hash')}, {_bytes('message')}, {_bytes('facts')}"
    for row in store.database.execute(f"SELECT {columns} FROM turns"):
        checked.turns += 1
        name = row[0]
        continues[name] = parents.pop(name, [])
        yield from _turn(row, continues[name], said)
    for name in parents:
        yield Fault("turn", name, "it has parents, and is not there")
    for name, above in continues.items():
        for parent in above:
            if parent not in continues:
                yield Fault("turn", name, f"it continues {parent}, which is not there")
    known = {name: [parent for parent in above if parent in continues] for name, above in continues.items()}
    try:
        parents_first(known, known)
    except CycleFound as error:
        yield Fault("turn", str(error).split()[1], str(error))


def _turn(row: tuple[Any, ...], parents: list[str], said: set[bytes]) -> Iterator[Fault]:
    name, key, message, facts = row
    if digest(facts) != key.hex():
        yield Fault("turn", name, f"its facts have the hash {digest(facts)}")
    try:
        turn = msgspec.json.decode(facts, type=Turn)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        yield Fault("turn", name, f"no turn: {error}")
        return
    if (turn.id, turn.message, list(turn.continues)) != (name, message.hex(), parents):
        yield Fault("turn", name, "its facts are of another turn, message or parents than its row")
    if message not in said:
        yield Fault("turn", name, f"message {message.hex()} is not there")


def _bookmarks(store: Store, checked: Checked) -> Iterator[Fault]:
    query = f"SELECT {_text('name')}, turn, turn IN (SELECT id FROM turns) FROM bookmarks"
    for name, turn, there in store.database.execute(query):
        checked.bookmarks += 1
        if not there:
            yield Fault("bookmark", name, f"turn {turn} is not there")
