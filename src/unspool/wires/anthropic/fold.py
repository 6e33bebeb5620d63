"""A stream of Anthropic events → the message object that the same call would have given without streaming."""

from collections.abc import Iterable
from typing import Any

from unspool.dialect import Folded
from unspool.sources.values import count, listing, mapping, text_of
from unspool.wires.anthropic.converse import event_of, longer
from unspool.wires.values import arguments_of, kind_of

EVENTS = (
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
)

# To which type of block each kind of delta belongs, and which field it makes longer.
_GROWS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("thinking", "signature"),
    "input_json_delta": ("tool_use", "partial_json"),
    "compaction_delta": ("compaction", "content"),
    "redacted_delta": ("redacted_thinking", "data"),
}

_PROMPT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def fold(events: Iterable[Any]) -> Folded:
    body: dict[str, Any] = {}
    folded = Folded(body, complete=False)
    blocks: dict[int, dict[str, Any]] = {}
    growing: dict[tuple[int, str], list[str]] = {}
    unknown: set[str] = set()
    for event in events:
        if isinstance(event, str):
            continue
        match event_of(mapping(event)):
            case {"type": "message_start", "message": dict(start)}:
                body.update(start)
                blocks.clear()  # a gateway that asked once more begins anew
                growing.clear()
                blocks.update(enumerate(mapping(block) for block in listing(start.get("content"))))
            case {"type": "content_block_start", "content_block": dict(block), **rest}:
                blocks[_index(rest, len(blocks))] = dict(block)
                if block.get("type") == "fallback" and isinstance(to := mapping(block.get("to")).get("model"), str):
                    body["model"] = to  # another model goes on from here
            case {"type": "content_block_delta", "delta": dict(delta), **rest}:
                _grow(blocks, growing, _index(rest, max(blocks, default=0)), delta, unknown)
            case {"type": "completion", "completion": text, **rest}:  # from before the Messages API
                body.update({key: inner for key, inner in rest.items() if inner is not None})
                _grow(blocks, growing, 0, {"type": "text_delta", "text": text}, unknown)
                folded.complete = body.get("stop_reason") is not None
            case {"type": "message_delta", **rest}:
                body.update(
                    {key: inner for key, inner in mapping(rest.pop("delta", None)).items() if inner is not None}
                )
                counted = mapping(body.get("usage"))
                later = mapping(rest.pop("usage", None))
                if later:
                    body["usage"] = {**counted, **_recounted(counted, later)}
                body.update({key: inner for key, inner in rest.items() if inner is not None and key != "type"})
            case {"type": "message_stop", **rest}:
                folded.complete = True
                body.update({key: inner for key, inner in rest.items() if key.startswith("amazon-bedrock")})
                body.update(mapping(rest.get("metadata")))
            case {"type": "error"} | {"error": _}:
                folded.error = event
            case {"type": "content_block_stop" | "ping"}:
                continue
            case _:
                unknown.add(kind_of(event))
    _finish(blocks, growing)
    body["content"] = [blocks[index] for index in sorted(blocks)]
    if not blocks and not folded.complete:
        del body["content"]  # nothing had arrived: not the same as an empty answer
    folded.unknown = tuple(sorted(unknown))
    return folded


def _recounted(counted: dict[str, Any], later: dict[str, Any]) -> dict[str, Any]:
    """What the end of a stream says of tokens. A 0 behind a number is a gateway's that does not count.

    But what the beginning says of the output is a guess; and who tells each step (`iterations`), or the whole prompt
    once more, does count.
    """
    told, before = (sum(count(each.get(key)) for key in _PROMPT) for each in (later, counted))
    counts = "iterations" in later or told >= before
    return {
        key: inner
        for key, inner in later.items()
        if inner or (inner == 0 and (counts or key == "output_tokens" or not counted.get(key)))
    }


def _index(event: dict[str, Any], default: int) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else default


def _grow(
    blocks: dict[int, dict[str, Any]],
    growing: dict[tuple[int, str], list[str]],
    index: int,
    delta: dict[str, Any],
    unknown: set[str],
) -> None:
    kind = text_of(delta.get("type"))
    if kind == "citations_delta":
        block = blocks.setdefault(index, {"type": "text", "text": ""})
        block["citations"] = [*listing(block.get("citations")), delta.get("citation")]
    elif kind in _GROWS:
        block_type, field = _GROWS[kind]
        blocks.setdefault(index, {"type": block_type})
        growing.setdefault((index, field), []).append(text_of(delta.get(field)))
        if kind == "compaction_delta" and "encrypted_content" in delta:
            blocks[index]["encrypted_content"] = delta["encrypted_content"]
    elif longer(block := blocks.get(index, {}), delta):
        blocks[index] = block
    else:
        unknown.add(kind or "delta")


def _finish(blocks: dict[int, dict[str, Any]], growing: dict[tuple[int, str], list[str]]) -> None:
    for (index, field), pieces in growing.items():
        text = "".join(pieces)
        if field != "partial_json":
            blocks[index][field] = text_of(blocks[index].get(field)) + text
        elif text.strip():
            arguments, raw = arguments_of(text)
            blocks[index]["input"] = raw if arguments is None else arguments
