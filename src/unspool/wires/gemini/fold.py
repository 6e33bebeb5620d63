"""A stream of generateContent chunks, SSE or one JSON array → the whole response."""

from collections.abc import Iterable
from typing import Any

from unspool.dialect import Folded
from unspool.wires.gemini.decode import either
from unspool.wires.values import count, kind_of, listing, mapping

_KEYS = {"candidates", "usageMetadata", "promptFeedback", "modelVersion", "responseId", "createTime"}


def fold(events: Iterable[Any]) -> Folded:
    body: dict[str, Any] = {}
    folded = Folded(body, complete=False)
    candidates: dict[int, dict[str, Any]] = {}
    unknown: set[str] = set()
    for event in events:
        if isinstance(event, str):
            continue
        match mapping(event):
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
    folded.complete = ended or bool(either(body, ("promptFeedback", "prompt_feedback")))
    folded.unknown = tuple(sorted(unknown))
    return folded


def _add(candidate: dict[str, Any], chunk: dict[str, Any]) -> None:
    content = mapping(chunk.get("content"))
    parts = listing(mapping(candidate.get("content")).get("parts"))
    for part in listing(content.get("parts")):
        last = mapping(parts[-1]) if parts else {}
        if _is_text(part) and _is_text(last) and bool(part.get("thought")) == bool(last.get("thought")):
            parts[-1] = last | part | {"text": last["text"] + part["text"]}
        else:
            parts.append(part)
    candidate.update(chunk)
    if parts:
        candidate["content"] = {**content, "parts": parts}


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("text"), str)
