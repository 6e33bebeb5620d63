"""Turns as they are given on a command line: a text with its options, or JSON."""

from collections.abc import Iterator
from typing import Any

from unspool.errors import WrongTurn
from unspool.model import Note
from unspool.sources.files import DASH, stdin_text
from unspool.sources.jsontext import Unreadable, loads
from unspool.sources.records import read_records


def read_turns(path: str) -> Iterator[tuple[str, Any]]:
    """Each value of a file of JSON lines, of one array, or of one object, and where it stood."""
    empty = True
    for record in read_records(path):
        empty = False
        if isinstance(record, Note):
            raise WrongTurn(f"{record.origin}: {record.reason}")
        try:
            yield str(record.origin), loads(record.data)
        except Unreadable as error:
            raise WrongTurn(f"{record.origin}: no JSON: {error}") from error
    if empty:
        raise WrongTurn(f"{'standard input' if path == DASH else path}: no turn in it")


def text_turn(text: str | None, role: str, options: str | None, cache: bool) -> tuple[str, Any]:
    """One turn; without a text, what standard input holds."""
    text = stdin_text() if text is None else text
    if not text.strip():
        raise WrongTurn("an empty text is no turn")
    turn: dict[str, Any] = {"role": role, "content": text, "cache": cache}
    if options is not None:
        try:
            turn["inherited"] = loads(options)
        except Unreadable as error:
            raise WrongTurn(f"--options is no JSON: {error}") from error
    return "the turn", turn
