"""Calls to tools, as logs that are much alike write them."""

from typing import Any

from unspool.actions.vocabulary import Vocabulary
from unspool.model.event import ToolCall
from unspool.sources.jsontext import Unreadable, strict
from unspool.sources.values import string, text_of


def call_of(vocabulary: Vocabulary, name: Any, arguments: Any, call_id: Any) -> ToolCall:
    """The call with what it means; nothing in it need be of the type that it should be."""
    return ToolCall(text_of(name), string(call_id), arguments_of(arguments), vocabulary.read)


def arguments_of(value: Any) -> Any:
    """Arguments that came as JSON text are decoded; a text that is no object stays as `{"raw": text}`."""
    if not isinstance(value, str):
        return {} if value is None else value
    try:
        decoded = strict(value)
    except Unreadable:
        return {"raw": value}
    return decoded if isinstance(decoded, dict) else {"raw": value}
