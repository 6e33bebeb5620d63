"""The threads of the store: listed, shown, as a tree, forked, removed."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from unspool.errors import BookmarkTaken, TurnNotFound
from unspool.model import Message, Text, Turn
from unspool.sources.values import iso_time
from unspool.store.ids import time_of_id
from unspool.store.store import Store
from unspool.threads.context import turns_of
from unspool.views.turns import text_of
from unspool.wires.normalised import write_blocks

_WRAPPED = re.compile(r"\s*<([\w-]+)[^>]*>.*</\1>\s*", re.DOTALL)
"""What an agent says of the machine in its user's name: `<environment_context>…`."""


class ThreadRow(Struct):
    """One thread, as `unspool thread list --json` writes it: by its last turn."""

    id: str
    bookmarks: list[str]
    turns: int
    start: str | None
    end: str | None
    prompt: str | None
    """What was asked first."""
    model: str | None
    """That of the last answer."""
    last: str
    """The role of the last turn."""
    status: str
    """complete, or how the last answer ended."""
    cost: float | None
    """US dollars of all answers, where all are known."""
    origin: dict[str, Any] | None


def list_threads(store: Store, limit: int | None = None) -> list[ThreadRow]:
    """Newest first: what nothing continues, and what has a bookmark."""
    with store.database.snapshot():
        names = _names(store)
        ends = sorted({*store.tips(), *names}, reverse=True)[:limit]
        return [_row(store, end, names.get(end, [])) for end in ends]


def _names(store: Store) -> dict[str, list[str]]:
    """The bookmarks of each turn."""
    names: dict[str, list[str]] = {}
    for name, turn in store.bookmarks().items():
        names.setdefault(turn, []).append(name)
    return names


def _row(store: Store, end: str, names: list[str]) -> ThreadRow:
    turns = store.lineage([end])
    last = turns[-1]
    answers = [turn.answer for turn in turns if turn.answer is not None]
    told = [answer.cost for answer in answers if answer.cost is not None]
    return ThreadRow(
        id=end,
        bookmarks=names,
        turns=len(turns),
        start=next(filter(None, map(when, turns)), iso_time(time_of_id(turns[0].id))),
        end=next(filter(None, map(when, reversed(turns))), iso_time(time_of_id(last.id))),
        prompt=prompt_of(store, turns),
        model=next((answer.model for answer in reversed(answers) if answer.model), None),
        last=last.role,
        status=last.answer.status if last.answer is not None else "complete",
        cost=sum(told) if answers and len(told) == len(answers) else None,
        origin=last.origin,
    )


def when(turn: Turn) -> str | None:
    """When it was said. The id of an imported turn does not tell."""
    if turn.origin is None or turn.origin.get("source") == "cross.stream":
        return iso_time(time_of_id(turn.id))
    return iso_time(turn.answer.started) if turn.answer is not None else None


def prompt_of(store: Store, turns: Sequence[Turn]) -> str | None:
    """The first text that a person typed; a document's name where there is none."""
    for turn in turns:
        if turn.role == "user" and turn.type is None:
            blocks = store.message(turn.message).blocks
            text = "\n".join(block.text for block in blocks if isinstance(block, Text))
            if text.strip() and not _WRAPPED.fullmatch(text):
                return text
    return next((turn.document_name for turn in turns if turn.document_name), None)


class Shown(Struct):
    turn: Turn
    message: Message
    bookmarks: list[str]

    def record(self) -> dict[str, Any]:
        """As `--json` writes it: what is stored, and what was said."""
        told = msgspec.to_builtins(self.turn)
        return {
            "id": self.turn.id,
            "role": self.turn.role,
            "content": write_blocks(self.message.blocks),
            "continues": [],
            "inherited": {},
            "cache": False,
            **told,
            "time": when(self.turn),
            "bookmarks": self.bookmarks,
        }


def show_thread(store: Store, headishes: Sequence[str]) -> list[Shown]:
    """The turns in the order in which they are told."""
    with store.database.snapshot():
        return shown(store, turns_of(store, headishes))


def shown(store: Store, turns: Sequence[Turn]) -> list[Shown]:
    names, messages = _names(store), store.messages(turns)
    return [Shown(turn, message, names.get(turn.id, [])) for turn, message in zip(turns, messages, strict=True)]


class Grown(Struct):
    """Threads that begin together."""

    roots: list[str]
    turns: dict[str, Shown]
    children: dict[str, list[str]]
    """Each turn under one parent only: the nearest."""


def grow(store: Store, headishes: Sequence[str]) -> Grown:
    """All that goes on from where these threads begin; without any name, the whole store."""
    with store.database.snapshot():
        return _grown(store, headishes)


def _grown(store: Store, headishes: Sequence[str]) -> Grown:
    begun = turns_of(store, headishes) if headishes else list(store.turns())
    roots = [turn.id for turn in begun if not turn.continues]
    found = {turn.id: turn for turn in begun}
    todo = list(found)
    while headishes and todo:
        for child in store.children(todo.pop()):
            if child not in found:
                found[child] = store.turn(child)
                todo.append(child)
    ordered = sorted(found.values(), key=lambda turn: turn.id)
    children: dict[str, list[str]] = {turn.id: [] for turn in ordered}
    for turn in ordered:
        near = [parent for parent in turn.continues if parent in found]
        if near:
            children[near[-1]].append(turn.id)
        elif turn.continues:  # what that is, is not among them
            roots.append(turn.id)
    return Grown(roots, {each.turn.id: each for each in shown(store, ordered)}, children)


def fork_thread(store: Store, headish: str | None, name: str | None, *, move: bool = False) -> tuple[str, str]:
    """A bookmark of its own at any turn, which costs nothing else: the turn, and the name."""
    turn = store.find(headish) if headish is not None else store.newest()
    if turn is None:
        raise TurnNotFound(f"{store.folder}: no turn is stored yet")
    with store.database.transaction():
        given = name or _fork_name(store, turn, headish)
        if not move and (at := store.bookmarks().get(given)) is not None:
            raise BookmarkTaken(f"bookmark {given} is there already, at turn {at}: --move takes it from there")
        store.point(given, turn, move=move)
    return turn, given


def _fork_name(store: Store, turn: str, headish: str | None) -> str:
    bookmarks = store.bookmarks()
    named = headish if headish in bookmarks else store.turn(turn).head
    return store.free_name(named or "fork")


def snippets(turns: Iterable[Shown]) -> dict[str, str]:
    """Each turn in one line."""
    return {each.turn.id: " ".join(text_of(each.message.blocks).split()) for each in turns}
