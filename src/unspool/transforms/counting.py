"""How many tokens a record has, and how that is known.

    usage       what the provider counted for the call that wrote the last message: prompt, tools and answer
    tokenizer   counted with a `tokenizer.json`: the text, and 4 tokens a message for a template's marks
    estimate    the same text at 3.6 bytes of UTF-8 a token

Measured with a vocabulary of 100,000 byte pairs, on text that it was not made from, a token is 2.9 to 3.2 bytes of
JSON, 3.7 of Markdown, 4.0 to 4.3 of English prose and 4.2 of Python: so the estimate is off by a fifth at times, by
more on hashes and the like. Bytes, not characters, because alphabets that need more of them get more tokens. What came
after the last counted call is counted by the next best way, and the whole is called by the worse one of the two.

Usage is what the provider saw: hidden reasoning counts, and so does a system prompt that an agent's log leaves out.
"""

import importlib
from collections.abc import Iterable
from functools import lru_cache
from math import ceil
from typing import Any, Literal, Protocol, TypeAlias

import msgspec
from msgspec import Struct

from unspool.errors import UnspoolError
from unspool.model.record import TrainingRecord, TrainingTurn

BYTES_A_TOKEN = 3.6
_MARKS = 4
"""Tokens that a chat template puts around a message: its role, and where it begins and ends."""
_PICTURE = 1000
"""Tokens of an image or a file: nobody knows, so a record with one is never more than estimated."""

Source: TypeAlias = Literal["usage", "tokenizer", "estimate"]
_json = msgspec.json.Encoder().encode


class Count(Struct, frozen=True, gc=False):
    number: int
    source: Source


class Tokenizer(Protocol):
    """As much of `tokenizers.Tokenizer` as is needed."""

    def encode(self, sequence: str, *, add_special_tokens: bool) -> Any: ...


@lru_cache(maxsize=4)
def load_tokenizer(path: str) -> Tokenizer:
    """The tokenizer of a local `tokenizer.json`. Nothing is fetched."""
    try:
        package = importlib.import_module("tokenizers")
    except ImportError as error:
        raise UnspoolError("a tokenizer file needs the package tokenizers: pip install 'unspool[tokenizer]'") from error
    try:
        tokenizer: Tokenizer = package.Tokenizer.from_file(path)
    except Exception as error:  # the package raises nothing narrower
        raise UnspoolError(f"{path} is no tokenizer file: {error}") from error
    return tokenizer


def tokens_of(record: TrainingRecord, tokenizer: Tokenizer | None = None) -> Count:
    turns = record.turns
    last = next((place for place in reversed(range(len(turns))) if _is_counted(turns[place])), None)
    if last is None:
        return _count(turns, record.tools, tokenizer)
    tokens, rest = turns[last].tokens, last + 1
    while rest < len(turns) and turns[rest].generated:  # nothing was sent in between: it is the same call's
        rest += 1
    known = tokens.total if tokens else 0
    if rest == len(turns):
        return Count(known, "usage")
    more = _count(turns[rest:], (), tokenizer)
    return Count(known + more.number, more.source)


def _is_counted(turn: TrainingTurn) -> bool:
    """Some logs tell the output alone, which says nothing of the conversation."""
    return turn.tokens is not None and turn.tokens.total > turn.tokens.output


def _count(turns: Iterable[TrainingTurn], tools: Iterable[Any], tokenizer: Tokenizer | None) -> Count:
    texts: list[str] = []
    fixed = 0
    pictures = 0
    for turn in turns:
        texts.append(said(turn.message))
        fixed += _MARKS
        pictures += sum(1 for _ in other_parts(turn.message))
    texts += map(_as_json, tools)
    fixed += pictures * _PICTURE
    if tokenizer is None:
        return Count(fixed + ceil(sum(map(_size, texts)) / BYTES_A_TOKEN), "estimate")
    number = sum(len(tokenizer.encode(_clean(text), add_special_tokens=False).ids) for text in texts)
    return Count(fixed + number, "estimate" if pictures else "tokenizer")


def text_of(message: dict[str, Any]) -> str:
    """What a message says in words: its text parts joined, or a refusal."""
    match message.get("content"):
        case str(written):
            text = written
        case list(parts):
            text = "".join(_text(part) or "" for part in parts)
        case _:
            text = ""
    if not text and isinstance(refusal := message.get("refusal"), str):
        return refusal
    return text


def other_parts(message: dict[str, Any]) -> Iterable[Any]:
    """The parts of a message that are no text: images, files, sound."""
    content = message.get("content")
    return (part for part in content if _text(part) is None) if isinstance(content, list) else ()


def said(message: dict[str, Any]) -> str:
    """All that a message holds as text: thinking, words, the names and arguments of its calls."""
    pieces = [text_of(message)]
    if isinstance(thinking := message.get("reasoning_content"), str):
        pieces.append(thinking)
    for field in ("tool_calls", "function_call"):
        if calls := message.get(field):
            pieces += _strings(calls)
    return "\n".join(filter(None, pieces))


def _text(part: object) -> str | None:
    match part:
        case str(text) | {"text": str(text)} | {"refusal": str(text)}:
            return text
    return None


def _strings(calls: Any) -> Iterable[str]:
    """Names and arguments. Ids and types are the template's, or nobody's."""
    for call in calls if isinstance(calls, list) else (calls,):
        if isinstance(call, dict):
            inner = call.get("function") or call.get("custom") or call
            for field in ("name", "arguments", "input"):
                value = inner.get(field) if isinstance(inner, dict) else None
                if value:
                    yield value if isinstance(value, str) else _as_json(value)


def _as_json(value: Any) -> str:
    try:
        return _json(value).decode()
    except (UnicodeEncodeError, TypeError):  # a lone surrogate
        return repr(value)


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="replace"))


def _clean(text: str) -> str:
    """Without lone surrogates, which no tokenizer takes."""
    return text if text.isascii() else text.encode(errors="replace").decode()
