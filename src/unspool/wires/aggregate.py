"""The events of a provider's stream → its answer in the model."""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from unspool.model import Compaction, Message, Response, ToolUse
from unspool.sources.values import listing, mapping, text_of
from unspool.wires import WIRES
from unspool.wires.normalised import joined


class Aggregated(Struct):
    response: Response
    """One message, whatever the API; interrupted where the provider did not say that it was over."""
    error: Any = None
    """What the provider said went wrong, as it stood."""
    unknown: tuple[str, ...] = ()
    """Types of events that we do not know."""


def aggregate(api: str, events: Iterable[Any]) -> Aggregated:
    folded = WIRES[api].fold(events)
    response = replace(_answer(api, folded.body), stream=True, interrupted=not folded.complete)
    return Aggregated(response, folded.error, folded.unknown)


def aggregate_body(api: str, body: dict[str, Any]) -> Aggregated:
    """Of an answer that was not streamed."""
    response = _answer(api, body)
    return Aggregated(response, body.get("error"))


def _answer(api: str, body: dict[str, Any]) -> Response:
    response = WIRES[api].answer(body)
    if api == "responses":
        items = listing(body.get("output"))
        messages = zip(response.messages, items, strict=True)
        response = replace(response, messages=tuple(_with_item(message, item) for message, item in messages))
    return replace(response, messages=(joined(response),)) if response.messages else response


def _with_item(message: Message, item: Any) -> Message:
    """What the API ran itself goes back just as it came: so the item is kept."""
    first, *rest = message.blocks or (None,)
    match first:
        case ToolUse(server_side=True) | Compaction():
            return replace(message, blocks=(replace(first, extra={**(first.extra or {}), "raw": item}), *rest))
    return message


def error_text(error: Any) -> str:
    """What an error says, in words; whatever shape the provider gave it."""
    match error:
        case [first, *_]:
            return error_text(first)
        case {"response": {"error": dict(inner)}}:
            return error_text(inner)
        case {"error": inner} if inner:
            return error_text(inner)
        case {"message": str(message), **rest} if message:
            kind = rest.get("type") or rest.get("code") or rest.get("status")
            return f"{message} ({kind})" if isinstance(kind, str) and kind != "error" else message
        case {"detail": detail} if detail:
            return error_text(detail)
    return text_of(error if not isinstance(error, dict) else mapping(error))
