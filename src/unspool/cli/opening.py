"""The store, opened for a command."""

from typing import TYPE_CHECKING

from unspool.cli.words import say
from unspool.jobs.opening import open_store

if TYPE_CHECKING:
    from unspool.store.store import Store


def opened() -> "Store":
    """What the user should know of it is said beside the data."""
    return open_store(lambda told: say(f"unspool: {told}"))
