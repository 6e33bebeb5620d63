"""The store, opened to work with."""

from collections.abc import Callable

from unspool.store.store import Store
from unspool.threads import coming


def open_store(say: Callable[[str], None]) -> Store:
    """With what had come of answers when somebody was killed. `say` is told what the user should know."""
    store = Store.open()
    if store.caution is not None:
        say(store.caution)
    try:
        for turn in coming.take_in(store):
            say(f"what had come of an answer when unspool was killed is kept: turn {turn.id}")
    except BaseException:
        store.database.close()
        raise
    return store
