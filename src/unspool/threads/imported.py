"""A conversation that somebody else held as a thread of ours.

The same conversation again, or one that has gone on since, shares the turns that are here already: what it says up to
there is compared by its meaning. Turns of one session are shared with no other; recorded calls share with each other,
because only what they say tells which of them are one conversation.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from unspool.errors import WrongTurn
from unspool.model import Answer, Block, Draft, Message, ToolResult, Turn
from unspool.store.packing import pack
from unspool.store.store import Store
from unspool.threads.options import inherited

_MARK = "cache_control"
_WHOSE = ("source", "agent", "session")


class Step(Struct, frozen=True):
    """One message of a foreign conversation."""

    message: Message
    answer: Answer | None = None


def import_thread(
    store: Store,
    steps: Sequence[Step],
    origin: dict[str, Any],
    head: str | None = None,
    *,
    move: bool = False,
    options: dict[str, Any] | None = None,
) -> tuple[list[Turn], int]:
    """The thread, and how many of its turns are new. The first of them says which options hold from there on."""
    if not steps:
        raise WrongTurn("nothing was said in it")
    thread: list[Turn] = []
    new = 0
    with store.database.transaction():
        for number, step in enumerate(steps, 1):
            message = _unmarked(step.message)
            before = thread[-1].id if thread else None
            shared = _shared(store, message, before, origin)
            if number == len(steps):  # the same words with other options are another end
                shared = (turn for turn in shared if not _changed(options or {}, [*thread, turn]))
            turn = next(shared, None)
            if turn is None:
                continues = () if before is None else (before,)
                own = {} if new else _changed(options or {}, thread)
                draft = Draft(message, continues=continues, answer=step.answer, origin=origin, inherited=own)
                turn = store.put_draft(draft, follow=False)
                new += 1
            thread.append(turn)
        if head is not None:
            store.point(head, thread[-1].id, move=move)
    return thread, new


def _changed(options: dict[str, Any], thread: Sequence[Turn]) -> dict[str, Any]:
    """What has to be said behind these turns for the options to hold; None takes one away."""
    before = inherited(turn.inherited for turn in thread)
    return {key: value for key, value in options.items() if value != before.get(key)}


def _shared(store: Store, message: Message, before: str | None, origin: dict[str, Any]) -> Iterator[Turn]:
    """Imported turns that say the same at the same place."""
    if before is None:
        yield from (turn for turn in store.roots(pack(message).hash) if _is_kin(turn, origin))
        return
    meaning = message.id
    for child in map(store.turn, store.children(before)):
        if _is_kin(child, origin) and child.continues == (before,) and store.message(child.message).id == meaning:
            yield child


def _is_kin(turn: Turn, origin: dict[str, Any]) -> bool:
    return turn.origin is not None and all(turn.origin.get(key) == origin.get(key) for key in _WHOSE)


def _unmarked(message: Message) -> Message:
    """Without the marks of what was to be cached: they move with each call, and are the caller's own affair."""
    blocks = tuple(map(_without_mark, message.blocks))
    return replace(message, blocks=blocks)


def _without_mark(block: Block) -> Block:
    if isinstance(block, ToolResult):
        block = replace(block, content=tuple(map(_without_mark, block.content)))
    if not block.extra or _MARK not in block.extra:
        return block
    return replace(block, extra={key: value for key, value in block.extra.items() if key != _MARK} or None)
