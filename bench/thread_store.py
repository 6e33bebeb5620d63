"""Measures one thing about the store of threads, in a store of its own, and prints the figure.

python bench/thread_store.py CASE FOLDER [--quick]

Threads have 1,000 turns of about 700 characters. Times are milliseconds of CPU after start-up, the best of several;
appending is one transaction a turn, as `unspool ask` stores them.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from prose import Prose
from unspool.model import Draft, Message, Text
from unspool.store.store import Store
from unspool.threads.context import resolve
from unspool.wires.normalised import write_context

_LONG, _MANY, _QUICK = 1_000, 100_000, 5_000
_SEED = "unspool threads 1"


def fill(store: Store, prose: Prose, turns: int, long: int = _LONG) -> str:
    """So many turns, in threads of a thousand; the last thread has the bookmark `last`."""
    before: tuple[str, ...] = ()
    with store.database.transaction():
        for number in range(turns):
            message = Message("assistant" if number % 2 else "user", (Text(f"{number} {prose.text(680)}"),))
            head = "last" if number == turns - long else None
            continues = () if number % long == 0 else before
            before = (store.put_draft(Draft(message, continues=continues, head=head)).id,)
    return before[0]


def best(what: Callable[[], object], times: int = 7) -> float:
    """Milliseconds of CPU."""
    costs = []
    for _ in range(times):
        begin = time.process_time()
        what()
        costs.append(time.process_time() - begin)
    return min(costs) * 1000


def resolving(store: Store, name: str) -> Callable[[], bytes]:
    return lambda: msgspec.json.encode(write_context(resolve(store, [name])))


def resolve_long(folder: Path, many: int) -> float:
    with Store.open(folder) as store:
        fill(store, Prose(_SEED), many)
        return best(resolving(store, "last"))


def append(folder: Path, many: int) -> float:
    """Among so many turns, the mean of a thousand."""
    with Store.open(folder) as store:
        fill(store, Prose(_SEED), many)
        texts = [Prose(f"{number}").text(680) for number in range(1000)]

        def add() -> None:
            for text in texts:
                store.append(Draft(Message("user", (Text(text),)), continues=("last",)))

        return best(add, 1) / len(texts)


def others(folder: Path, many: int) -> float:
    """Resolving a thread of 100 turns by its bookmark, among others against alone."""
    costs = []
    for name, turns in (("crowd", many), ("alone", 100)):
        with Store.open(folder / name) as store:
            fill(store, Prose(_SEED), turns, 100)
            costs.append(best(resolving(store, "last"), 50))
    return costs[0] / costs[1]


def forks(folder: Path, _many: int) -> float:
    """What 1,000 forks of one thread add to its space beyond their own turns, one each."""
    sizes = []
    for name, turns, own in (("one", 100, 0), ("own", 0, 1000), ("forks", 100, 1000)):
        with Store.open(folder / name) as store:
            prose = Prose(_SEED)
            tip = (fill(store, prose, turns, 100),) if turns else ()
            with store.database.transaction():
                for number in range(own):
                    message = Message("user", (Text(f"{number} {prose.text(680)}"),))
                    made = store.put_draft(Draft(message, continues=tip), follow=False)
                    tip = tip if turns else (made.id,)
            store.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        sizes.append(sum(path.stat().st_size for path in (folder / name).iterdir()))
    one, own_turns, forked = sizes
    return (forked - own_turns) / one


_FIGURES = {"thread-resolve": resolve_long, "thread-append": append, "thread-others": others, "thread-forks": forks}


if __name__ == "__main__":
    print(_FIGURES[sys.argv[1]](Path(sys.argv[2]), _QUICK if "--quick" in sys.argv else _MANY))
