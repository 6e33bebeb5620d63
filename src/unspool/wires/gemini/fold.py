"""A stream of generateContent chunks, SSE or one JSON array → the whole response."""

import re
from collections.abc import Iterable
from typing import Any

from unspool.dialect import Folded
from unspool.sources.values import count, listing, mapping, text_of
from unspool.wires.gemini.decode import CALL, SIGNATURE, either, unwrapped
from unspool.wires.values import kind_of, leftover

_KEYS = {"candidates", "createTime"} | {
    *("usageMetadata", "promptFeedback", "modelVersion", "responseId"),
    *("usage_metadata", "prompt_feedback", "model_version", "response_id"),
}
_PARTIAL, _MORE, _PATH = ("partialArgs", "partial_args"), ("willContinue", "will_continue"), ("jsonPath", "json_path")
_STEP = re.compile(r"""\.?([^.\[\]]+)|\[(\d{1,9})\]|\[["'](.*?)["']\]""")
_DEEPEST = 100


def fold(events: Iterable[Any]) -> Folded:
    body: dict[str, Any] = {}
    folded = Folded(body, complete=False)
    candidates: dict[int, dict[str, Any]] = {}
    unknown: set[str] = set()
    for event in events:
        if isinstance(event, str):
            continue
        match unwrapped(mapping(event)):
            case {"error": error} if error:
                folded.error = event
            case chunks if not _KEYS.isdisjoint(chunks):
                body.update({key: value for key, value in chunks.items() if key != "candidates"})
                for chunk in listing(chunks.get("candidates")):
                    if isinstance(chunk, dict):
                        _add(candidates.setdefault(count(chunk.get("index")), {}), chunk)
            case _:
                unknown.add(kind_of(event))
    body["candidates"] = [candidates[index] for index in sorted(candidates)]
    ended = bool(candidates) and all(either(each, ("finishReason", "finish_reason")) for each in candidates.values())
    feedback = mapping(either(body, ("promptFeedback", "prompt_feedback")))
    folded.complete = ended or bool(either(feedback, ("blockReason", "block_reason")))
    folded.unknown = tuple(sorted(unknown))
    return folded


def _add(candidate: dict[str, Any], chunk: dict[str, Any]) -> None:
    content = mapping(chunk.get("content"))
    parts = listing(mapping(candidate.get("content")).get("parts"))
    for part in listing(content.get("parts")):
        last = mapping(parts[-1]) if parts else {}
        if _goes_on(last, part):
            parts[-1] = last | part | {"text": last["text"] + part["text"]}
        elif part == {"text": ""} and parts:
            continue  # the end of the stream, not something said
        elif not isinstance(more := either(mapping(part), CALL), dict):
            parts.append(part)
        elif either(mapping(either(last, CALL)), _MORE) and not more.get("name"):
            parts[-1] = {**last, **part, CALL[0]: _longer(either(last, CALL), more)}
        elif either(more, _PARTIAL):
            parts.append({**part, CALL[0]: _longer(more, leftover(more, *_PARTIAL) or {})})
        else:
            parts.append(part)
    candidate.update(chunk)
    if parts:
        candidate["content"] = {**content, "parts": parts}


def _longer(call: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """A call whose arguments come in pieces: {"partialArgs": [{"jsonPath": "$.city", "stringValue": "Os"}]}."""
    arguments: Any = {**mapping(call.get("args")), **mapping(more.get("args"))}
    for piece in [*listing(either(call, _PARTIAL)), *listing(either(more, _PARTIAL))]:
        arguments = _put(arguments, _steps(text_of(either(mapping(piece), _PATH))), mapping(piece))
    kept = leftover({**more, **call}, *_PARTIAL, *_MORE) or {}
    return {**kept, "args": arguments, **({_MORE[0]: True} if either(more, _MORE) else {})}


def _steps(path: str) -> list[str | int]:
    """`$.cake.layers[0]['dry flour']` → cake, layers, 0, dry flour."""
    found = _STEP.findall(path.removeprefix("$"))
    return [int(number) if number else quoted or name for name, number, quoted in found[:_DEEPEST]]


def _put(held: Any, steps: list[str | int], piece: dict[str, Any]) -> Any:
    """The value with the piece at its place; what is not there yet is made."""
    if not steps:
        text = either(piece, ("stringValue", "string_value"))
        if isinstance(text, str):
            return (held if isinstance(held, str) else "") + text
        name = next((key for key in piece if key.lower().endswith("value")), "")
        return None if name.lower().startswith("null") else piece.get(name)
    step, *rest = steps
    if isinstance(step, int):
        items = list(listing(held))
        if step >= len(items):  # pieces come in their order: what is further away than the next is no place
            step = len(items)
            items.append(None)
        items[step] = _put(items[step], rest, piece)
        return items
    fields = mapping(held)
    return {**fields, step: _put(fields.get(step), rest, piece)}


def _goes_on(last: dict[str, Any], part: Any) -> bool:
    """Whether the part is more of the last one's text. What is signed is whole."""
    texts = (isinstance(mapping(each).get("text"), str) for each in (last, part))
    return all(texts) and bool(last.get("thought")) == bool(part.get("thought")) and either(last, SIGNATURE) is None
