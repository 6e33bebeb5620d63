"""What a model is given: the messages of a thread from its beginning, and the options that hold at its end."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from unspool.errors import TurnNotFound
from unspool.ingest.pairing import Pairing
from unspool.model import Context, Message, Said, ToolResult, ToolUse, Turn
from unspool.store.store import Store
from unspool.threads.options import inherited
from unspool.wires.normalised import write_blocks, write_writer


def turns_of(store: Store, headishes: Sequence[str]) -> list[Turn]:
    """The turns of these threads in the order in which they are told; without any name, of the newest turn's thread."""
    if not headishes:
        newest = store.newest()
        if newest is None:
            raise TurnNotFound(f"{store.folder}: no turn is stored yet")
        return store.lineage([newest])
    return store.lineage([store.find(name) for name in headishes])


def resolve(store: Store, headishes: Sequence[str]) -> Context:
    """Every message behind those that it continues, each once; options of nearer turns win."""
    return _resolved(store, headishes)[1]


def records(store: Store, headishes: Sequence[str]) -> list[dict[str, Any]]:
    """The turns of a context as scripts know them; the options of each are its own, not those that it inherits."""
    turns, context = _resolved(store, headishes)
    return [
        {
            "id": turn.id,
            "role": turn.role,
            "content": write_blocks(said.message.blocks),
            "options": turn.inherited,
            "cache": turn.cache,
            **write_writer(said),
        }
        for turn, said in zip(turns, context.messages, strict=True)
    ]


def _resolved(store: Store, headishes: Sequence[str]) -> tuple[list[Turn], Context]:
    with store.database.snapshot():
        turns = turns_of(store, headishes)
        messages = store.messages(turns)
    said = tuple(map(_said, turns, messages))
    return turns, completed(Context(said, inherited(turn.inherited for turn in turns)))


def completed(context: Context) -> Context:
    """Every call has an id, the same each time, and every result the id and the name of its call."""
    messages = Pairing({}).name(said.message for said in context.messages)
    names: dict[str | None, str] = {}
    said: list[Said] = []
    for old, message in zip(context.messages, messages, strict=True):
        names |= {block.id: block.name for block in message.blocks if isinstance(block, ToolUse)}
        new = _with_names(message, names)
        said.append(old if new is old.message else replace(old, message=new))
    return Context(tuple(said), context.options)


def _said(turn: Turn, message: Message) -> Said:
    answer = turn.answer
    if answer is None:
        return Said(message, turn.id, turn.cache)
    return Said(message, turn.id, turn.cache, answer.api, answer.provider, answer.model)


def _with_names(message: Message, names: dict[str | None, str]) -> Message:
    blocks = tuple(
        replace(block, name=names[block.call_id])
        if isinstance(block, ToolResult) and block.name is None and block.call_id in names
        else block
        for block in message.blocks
    )
    return message if all(map(_is, blocks, message.blocks)) else replace(message, blocks=blocks)


def _is(one: object, other: object) -> bool:
    return one is other
