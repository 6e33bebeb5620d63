"""Calls to tools, as logs that are much alike write them."""

from typing import Any

from unspool.actions.vocabulary import Vocabulary
from unspool.model.event import ToolCall
from unspool.sources.jsontext import Unreadable, loads
from unspool.sources.values import string, text_of


def call_of(vocabulary: Vocabulary, name: Any, arguments: Any, call_id: Any) -> ToolCall:
    """The call with what it means; nothing in it need be of the type that it should be."""
    return ToolCall(text_of(name), string(call_id), arguments_of(arguments), vocabulary.read)


def arguments_of(value: Any) -> Any:
    """Arguments that came as JSON text are decoded; a text that is no object, a patch say, stays as `{"raw": text}`."""
    if not isinstance(value, str):
        return {} if value is None else value
    if value[:1] == "{" or value.lstrip()[:1] == "{":
        try:
            return loads(value)
        except Unreadable:
            pass
    return {"raw": value} if value else {}
