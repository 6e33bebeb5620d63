"""A stream of generateContent chunks, SSE or one JSON array → the whole response."""

from collections.abc import Iterable
from typing import Any

from unspool.dialect import Folded
from unspool.sources.values import count, listing, mapping, text_of
from unspool.wires.gemini.decode import CALL, SIGNATURE, either, unwrapped
from unspool.wires.values import kind_of

_KEYS = {"candidates", "createTime"} | {
    *("usageMetadata", "promptFeedback", "modelVersion", "responseId"),
    *("usage_metadata", "prompt_feedback", "model_version", "response_id"),
}


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
        elif mapping(either(last, CALL)).get("willContinue") and isinstance(more := either(mapping(part), CALL), dict):
            parts[-1] = last | {CALL[0]: _longer(either(last, CALL), more)}
        else:
            parts.append(part)
    candidate.update(chunk)
    if parts:
        candidate["content"] = {**content, "parts": parts}


def _longer(call: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """A call whose arguments come in pieces: {"partialArgs": [{"jsonPath": "$.city", "stringValue": "Os"}]}."""
    arguments = dict(mapping(call.get("args")))
    for piece in [*listing(call.get("partialArgs")), *listing(more.get("partialArgs"))]:
        match mapping(piece):
            case {"jsonPath": str(path), **rest}:
                name = path.removeprefix("$.")
                text = rest.get("stringValue")
                if isinstance(text, str):
                    arguments[name] = text_of(arguments.get(name)) + text
                else:
                    arguments[name] = next((value for key, value in rest.items() if key.endswith("Value")), None)
    return {**call, "partialArgs": None, "args": arguments, "willContinue": more.get("willContinue")}


def _goes_on(last: dict[str, Any], part: Any) -> bool:
    """Whether the part is more of the last one's text. What is signed is whole."""
    texts = (isinstance(mapping(each).get("text"), str) for each in (last, part))
    return all(texts) and bool(last.get("thought")) == bool(part.get("thought")) and either(last, SIGNATURE) is None
