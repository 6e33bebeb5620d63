"""Turns from JSON that scripts made: one turn, several, or a whole context.

    {"role", "content", "inherited", "head", "continues", "cache", …}
    {"messages": [{"role", "content"}, …], "options": {…}}

A turn that does not say what it continues goes on from the one before it. `continues` may be a name or several, of
turns in the store or of earlier ones of the same input; null begins a new thread.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from unspool.errors import WrongContext, WrongTurn
from unspool.model import Answer, Document, Draft, Message, Said, Turn
from unspool.store.ids import parse
from unspool.store.store import Store
from unspool.wires.normalised import read_context, read_message

_DOCUMENT = ("content_type", "document_name", "original_path")


def add_turns(
    store: Store,
    values: Iterable[tuple[str, Any]],
    continues: Sequence[str] = (),
    *,
    head: str | None = None,
    move: bool = False,
) -> list[Turn]:
    """Store them all, or none. Each value comes with the place that a fault in it is told by."""
    stored: list[Turn] = []
    names: dict[str, str] = {}
    before = tuple(continues)
    with store.database.transaction():
        for place, value in values:
            for name, draft, follows in _drafts(place, value):
                own = before if follows else tuple(names.get(_plain(up), up) for up in draft.continues)
                named = draft.head or (head if not stored else None)
                turn = store.put_draft(replace(draft, continues=own, head=named), move=move)
                stored.append(turn)
                before = (turn.id,)
                if name is not None:
                    names[_plain(name)] = turn.id
        if head is not None and stored:
            store.point(head, stored[-1].id, move=move)
    return stored


def _drafts(place: str, value: Any) -> Iterator[tuple[str | None, Draft, bool]]:
    """The id that it had, the draft, and whether it goes on from the one before."""
    try:
        if isinstance(value, dict) and "messages" in value:
            context = read_context(value)
            if not context.messages:
                raise WrongTurn("a context without messages, and options are kept with a turn")
            for number, said in enumerate(context.messages):
                inherited = context.options if number == 0 else {}
                yield said.turn, _draft(said, inherited=inherited), True
        elif isinstance(value, dict):
            yield _one(value)
        else:
            raise WrongTurn("neither a turn nor a context: no object")
    except (WrongContext, WrongTurn) as error:
        raise WrongTurn(f"{place}: {error}") from error


def _one(value: dict[str, Any]) -> tuple[str | None, Draft, bool]:
    said = read_message(value)
    inherited = value.get("inherited", value.get("options")) or {}
    head, cache, size = value.get("head"), value.get("cache"), value.get("file_size")
    if not isinstance(inherited, dict):
        raise WrongTurn("`inherited` is no object")
    if head is not None and not isinstance(head, str):
        raise WrongTurn("`head` is no name")
    if cache is not None and not isinstance(cache, bool):
        raise WrongTurn("`cache` is neither true nor false")
    if value.get("type") not in (None, "document"):
        raise WrongTurn(f"no type {value['type']!r}; there is document")
    if size is not None and (not isinstance(size, int) or isinstance(size, bool)):
        raise WrongTurn("`file_size` is no number")
    about: dict[str, Any] = {"inherited": inherited, "head": head, "type": value.get("type"), "file_size": size}
    for key in _DOCUMENT:
        if value.get(key) is not None and not isinstance(value[key], str):
            raise WrongTurn(f"`{key}` is no text")
        about[key] = value.get(key)
    if about["type"] == "document":
        said = replace(said, message=_titled(said.message, about["document_name"]))
    cached = bool(cache) or value.get("cache_control") in ("ephemeral", {"type": "ephemeral"})
    draft = replace(_draft(said, **about), cache=cached, continues=_continues(value.get("continues")))
    if isinstance(value.get("answer"), dict):
        try:
            draft = replace(draft, answer=msgspec.convert(value["answer"], Answer))
        except msgspec.ValidationError as error:
            raise WrongTurn(f"`answer`: {error}") from error
    id_ = value.get("id")
    return id_ if isinstance(id_, str) else None, draft, "continues" not in value


def _titled(message: Message, name: str | None) -> Message:
    """A document without a title is sent by the name of its turn."""
    blocks = (
        replace(block, name=name) if isinstance(block, Document) and block.name is None else block
        for block in message.blocks
    )
    return replace(message, blocks=tuple(blocks))


def _draft(said: Said, **about: Any) -> Draft:
    """The message as it is; who wrote it, if it says so."""
    written = any((said.api, said.provider, said.model))
    answer = Answer(api=said.api, provider=said.provider, model=said.model) if written else None
    return Draft(said.message, cache=said.cache, answer=answer, **about)


def _continues(value: Any) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise WrongTurn("`continues` is neither a name nor a list of names")
    return tuple(names)


def _plain(name: str) -> str:
    """An id in the one way that we write it."""
    return parse(name) or name
