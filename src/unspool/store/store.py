"""The store: turns, the messages and blobs that they point to, and bookmarks.

A bookmark follows its thread: when a turn continues the turn that a bookmark names, the bookmark moves to the new turn.
Of several bookmarks there, the one that was named moves; where the turn was named by its id, none does. Of several
parents the last one counts that has a bookmark: it is the nearest.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
from msgspec.structs import asdict

from unspool.errors import BookmarkTaken, StoreFault, TurnNotFound
from unspool.graph.ancestry import parents_first
from unspool.model import Draft, Message, Turn
from unspool.sources.home import data_folder
from unspool.store.database import FAULTS, open_database
from unspool.store.ids import horizon, next_id, parse
from unspool.store.packing import UNREADABLE, digest, pack, unpack

_encode = msgspec.json.Encoder().encode
_turn = msgspec.json.Decoder(Turn).decode
_NAME = re.compile(r"[^\s-]\S{0,199}")
_ADVICE = "`unspool store check` tells more"
_MANY = 500
"""How many are asked for at once."""

_ANCESTORS = """
WITH RECURSIVE up (id) AS (
    SELECT value FROM json_each(?) UNION SELECT parent FROM parents JOIN up ON turn = up.id
) SELECT """


def _decode(facts: bytes) -> Turn:
    try:
        return _turn(facts)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoreFault(f"a turn cannot be read: {error}: {_ADVICE}") from error


def _key(hash_: str) -> bytes:
    try:
        return bytes.fromhex(hash_)
    except ValueError as error:
        raise StoreFault(f"{hash_!r} is not a hash: {_ADVICE}") from error


class Store:
    """Open it in a `with`. Several processes may write at once; each change is whole, or is not there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = open_database(folder)
        self.caution = self.database.caution
        """What the user should know of it."""

    @classmethod
    def open(cls, folder: Path | None = None) -> Self:
        """That of `$UNSPOOL_HOME`, or of this system's folder for data; made if it is not there."""
        return cls(folder or data_folder())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.database.close()
        if isinstance(error, FAULTS):  # rows that cannot be read
            raise StoreFault(f"{self.database.path}: {error}") from error

    # Writing

    def append(self, draft: Draft, *, follow: bool = True, move: bool = False) -> Turn:
        """Store a turn. Without `follow` bookmarks stay; with `move` one may be taken away from another thread."""
        with self.database.transaction():
            return self.put_draft(draft, follow=follow, move=move)

    def put_draft(self, draft: Draft, *, follow: bool = True, move: bool = False) -> Turn:
        """Inside a transaction, as all that begins with `put`."""
        packed = pack(draft.message)
        given = {name: self.find(name) for name in draft.continues}
        (last,) = self.database.execute("SELECT max(id) FROM turns WHERE id < ?", (horizon(),)).fetchone()
        followed = self._followed(given) if follow else None
        head = draft.head or followed
        about = asdict(draft) | {
            "message": packed.hash,
            "continues": tuple(dict.fromkeys(given.values())),
            "head": head,
        }
        turn = Turn(id=next_id(last), role=draft.message.role, **about)
        self.put_message(packed.hash, packed.body, packed.blobs.items())
        self.put_turn(turn)
        if head is not None:
            self.point(head, turn.id, move=move or head == followed)
        return turn

    def put_message(self, hash_: str, body: bytes, blobs: Iterable[tuple[str, bytes]]) -> bool:
        """Once, however often it is said: whether it is new."""
        key = bytes.fromhex(hash_)
        new = self.database.execute("INSERT OR IGNORE INTO messages VALUES (?, ?)", (key, body)).rowcount
        if new:
            for blob, data in blobs:
                self.database.execute("INSERT OR IGNORE INTO blobs VALUES (?, ?)", (bytes.fromhex(blob), data))
                self.database.execute("INSERT INTO message_blobs VALUES (?, ?)", (key, bytes.fromhex(blob)))
        return bool(new)

    def put_turn(self, turn: Turn, facts: bytes | None = None) -> None:
        """`facts` is the turn as JSON, where it was written before: another version may have written it otherwise."""
        facts = facts or _encode(turn)
        row = turn.id, bytes.fromhex(digest(facts)), bytes.fromhex(turn.message), facts
        self.database.execute("INSERT INTO turns VALUES (?, ?, ?, ?)", row)
        parents = [(turn.id, position, parent) for position, parent in enumerate(turn.continues)]
        self.database.executemany("INSERT INTO parents VALUES (?, ?, ?)", parents)

    def point(self, name: str, turn: str, *, move: bool = False) -> None:
        """Make a bookmark, or move it along its thread; to another thread only with `move`. Within a transaction."""
        if not _NAME.fullmatch(name) or not name.isprintable():
            raise BookmarkTaken(f"{name!r} cannot be a bookmark: no blanks, no - at the beginning, 200 letters at most")
        at = self._bookmarked(name) or turn
        if at != turn and not move and not self.continues(turn, at):
            raise BookmarkTaken(f"bookmark {name} is on another thread, at turn {at}: --move takes it from there")
        self.database.execute("INSERT OR REPLACE INTO bookmarks VALUES (?, ?)", (name, turn))

    def _followed(self, given: dict[str, str]) -> str | None:
        for name, turn in reversed(given.items()):
            here = [
                str(each) for (each,) in self.database.execute("SELECT name FROM bookmarks WHERE turn = ?", (turn,))
            ]
            if name in here:
                return name
            if len(here) == 1:
                return here[0]
        return None

    # Names

    def find(self, headish: str) -> str:
        """The id of a turn: by its id, by a bookmark, or by a beginning that only one id has; in this order."""
        exact = parse(headish)
        if exact is not None and self.has(exact):
            return exact
        if (bookmarked := self._bookmarked(headish)) is not None:
            return bookmarked
        if not headish.isascii() or not headish.isalnum():
            raise TurnNotFound(f"no turn and no bookmark is called {headish!r}")
        low = headish.lower()
        rows = self.database.execute("SELECT id FROM turns WHERE id >= ? AND id < ? LIMIT 6", (low, low + "{"))
        found = [turn for (turn,) in rows]
        if not found:
            raise TurnNotFound(f"no turn and no bookmark is called {headish!r}")
        if len(found) > 1:
            names = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
            raise TurnNotFound(f"several turns begin with {headish!r}: {names}")
        return str(found[0])

    def newest(self) -> str | None:
        """The id of the newest turn of all."""
        (found,) = self.database.execute("SELECT max(id) FROM turns").fetchone()
        return None if found is None else str(found)

    def bookmarks(self) -> dict[str, str]:
        return dict(self.database.execute("SELECT name, turn FROM bookmarks ORDER BY name"))

    def _bookmarked(self, name: str) -> str | None:
        row = self.database.execute("SELECT turn FROM bookmarks WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def free_name(self, name: str) -> str:
        """The name with the first number behind it that no bookmark has yet."""
        taken = self.bookmarks()
        return next(each for number in count(2) if (each := f"{name}-{number}") not in taken)

    # Reading

    def turn(self, id_: str) -> Turn:
        return _decode(self.facts(id_))

    def facts(self, id_: str) -> bytes:
        """A turn as it is kept."""
        row = self.database.execute("SELECT facts FROM turns WHERE id = ?", (id_,)).fetchone()
        if row is None:
            raise TurnNotFound(f"no turn has the id {id_}")
        return bytes(row[0])

    def has(self, id_: str) -> bool:
        return self.database.execute("SELECT 1 FROM turns WHERE id = ?", (id_,)).fetchone() is not None

    def has_message(self, hash_: str) -> bool:
        query = "SELECT 1 FROM messages WHERE hash = ?"
        return self.database.execute(query, (bytes.fromhex(hash_),)).fetchone() is not None

    def tips(self) -> list[str]:
        """The turns that nothing continues, oldest first."""
        query = "SELECT id FROM turns WHERE id NOT IN (SELECT parent FROM parents) ORDER BY id"
        return [turn for (turn,) in self.database.execute(query)]

    def next_to(self, turn: str) -> list[str]:
        """Return the ids before and after this one, in their order: no other id has a longer prefix in common."""
        before = "SELECT id FROM turns WHERE id < ?1 ORDER BY id DESC LIMIT 1"
        after = "SELECT id FROM turns WHERE id > ?1 ORDER BY id LIMIT 1"
        return [str(found) for query in (before, after) for (found,) in self.database.execute(query, (turn,))]

    def turns(self) -> Iterator[Turn]:
        """All of them, oldest first."""
        for (facts,) in self.database.execute("SELECT facts FROM turns ORDER BY id"):
            yield _decode(facts)

    def lineage(self, ids: Sequence[str]) -> list[Turn]:
        """These turns and all that they continue: each once, behind its parents, parents in the order given."""
        rows = self.database.execute(f"{_ANCESTORS} facts FROM turns JOIN up USING (id)", (_encode(ids).decode(),))
        found = (_decode(facts) for (facts,) in rows)
        known = {turn.id: turn for turn in found}
        for id_ in ids:
            if id_ not in known:
                raise TurnNotFound(f"no turn has the id {id_}")
        for turn in known.values():
            for parent in turn.continues:
                if parent not in known:
                    raise StoreFault(f"turn {turn.id} continues {parent}, which is not there: {_ADVICE}")
        return [known[id_] for id_ in parents_first(ids, {id_: turn.continues for id_, turn in known.items()})]

    def continues(self, turn: str, ancestor: str) -> bool:
        """Whether the one is, or goes on from, the other."""
        rows = self.database.execute(f"{_ANCESTORS} 1 FROM up WHERE id = ?", (_encode([turn]).decode(), ancestor))
        return rows.fetchone() is not None

    def roots(self, message: str) -> list[Turn]:
        """The turns that begin with this message and continue nothing, oldest first."""
        query = "SELECT facts FROM turns WHERE message = ? AND id NOT IN (SELECT turn FROM parents) ORDER BY id"
        return [_decode(facts) for (facts,) in self.database.execute(query, (bytes.fromhex(message),))]

    def children(self, id_: str) -> list[str]:
        """The turns that continue it, oldest first."""
        rows = self.database.execute("SELECT DISTINCT turn FROM parents WHERE parent = ? ORDER BY turn", (id_,))
        return [turn for (turn,) in rows]

    def below(self, id_: str) -> set[str]:
        """The turn and all that go on from it."""
        found, todo = {id_}, [id_]
        while todo:
            new = [child for child in self.children(todo.pop()) if child not in found]
            found.update(new)
            todo += new
        return found

    def message(self, hash_: str) -> Message:
        return self._messages([hash_])[hash_]

    def messages(self, turns: Sequence[Turn]) -> list[Message]:
        """What was said in these turns."""
        hashes = list(dict.fromkeys(turn.message for turn in turns))
        known: dict[str, Message] = {}
        for at in range(0, len(hashes), _MANY):
            known |= self._messages(hashes[at : at + _MANY])
        return [known[turn.message] for turn in turns]

    def body(self, hash_: str) -> bytes:
        """A message as it is kept, blobs by their hashes."""
        row = self.database.execute("SELECT body FROM messages WHERE hash = ?", (_key(hash_),)).fetchone()
        if row is None:
            raise StoreFault(f"message {hash_} is not there: {_ADVICE}")
        return bytes(row[0])

    def blob(self, hash_: str) -> bytes:
        row = self.database.execute("SELECT data FROM blobs WHERE hash = ?", (_key(hash_),)).fetchone()
        if row is None:
            raise StoreFault(f"blob {hash_} is not there: {_ADVICE}")
        return bytes(row[0])

    def _messages(self, hashes: Sequence[str]) -> dict[str, Message]:
        keys = [_key(hash_) for hash_ in hashes]
        query = f"SELECT hash, body FROM messages WHERE hash IN ({','.join('?' * len(keys))})"
        try:
            known = {bytes(key).hex(): unpack(body, self.blob) for key, body in self.database.execute(query, keys)}
        except UNREADABLE as error:
            raise StoreFault(f"a message cannot be read: {error}: {_ADVICE}") from error
        for hash_ in hashes:
            if hash_ not in known:
                raise StoreFault(f"message {hash_} is not there: {_ADVICE}")
        return known
