"""Take threads away: the turns that nothing else needs, and the messages and blobs that only they had."""

from collections.abc import Iterable

from msgspec import Struct

from unspool.errors import WrongTurn
from unspool.store.store import Store


class Removed(Struct):
    turns: list[str]
    """Newest first."""
    bookmarks: list[str]


def remove_thread(store: Store, headish: str, *, branches: bool = False, dry_run: bool = False) -> Removed:
    """Take away the thread that ends at a turn, back to the first turn that another thread or bookmark needs.

    A bookmark that something else continues from goes alone. With `branches`, so does all that continues the turn.
    """
    with store.database.transaction():
        turn, bookmarks = store.find(headish), store.bookmarks()
        named = {headish} if bookmarks.get(headish) == turn else {name for name, at in bookmarks.items() if at == turn}
        kept = {at for name, at in bookmarks.items() if name not in named}
        doomed = store.below(turn)
        if len(doomed) > 1 and not branches:
            if headish not in named:
                raise WrongTurn(f"{len(doomed) - 1} later turns go on from {turn}: remove them too with --branches")
            doomed = set()
        elif turn in kept and not branches:
            doomed = set()
        _climb(store, doomed, kept - doomed)
        gone = Removed(sorted(doomed, reverse=True), sorted(named | {n for n, at in bookmarks.items() if at in doomed}))
        if not dry_run:
            _remove(store, gone)
    return gone


def _climb(store: Store, doomed: set[str], kept: set[str]) -> None:
    """Add what only these turns continue."""
    todo = list(doomed)
    while todo:
        for parent in store.turn(todo.pop()).continues:
            if parent not in doomed and parent not in kept and doomed.issuperset(store.children(parent)):
                doomed.add(parent)
                todo.append(parent)


def _remove(store: Store, gone: Removed) -> None:
    database = store.database
    database.execute("PRAGMA defer_foreign_keys = ON")  # they point to each other
    database.executemany("DELETE FROM bookmarks WHERE name = ?", _rows(gone.bookmarks))
    database.executemany("DELETE FROM turns WHERE id = ?", _rows(gone.turns))
    sweep(store)


def sweep(store: Store) -> None:
    """Drop the messages that no turn says, and the blobs that no message has; inside a transaction."""
    store.database.execute("DELETE FROM messages WHERE hash NOT IN (SELECT message FROM turns)")
    store.database.execute("DELETE FROM blobs WHERE hash NOT IN (SELECT blob FROM message_blobs)")


def _rows(values: Iterable[str]) -> list[tuple[str]]:
    return [(value,) for value in values]
