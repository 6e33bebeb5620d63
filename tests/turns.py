"""Turns to store, in few words."""

from typing import Any

from unspool.model import Draft, Message, Role, Text
from unspool.store.store import Store


def said(text: str, *continues: str, role: Role = "user", **about: Any) -> Draft:
    return Draft(Message(role, (Text(text),)), continues=continues, **about)


def texts(store: Store, *headishes: str) -> list[str]:
    """What is said in these threads, in order."""
    turns = store.lineage([store.find(name) for name in headishes])
    return [block.text for message in store.messages(turns) for block in message.blocks if isinstance(block, Text)]
