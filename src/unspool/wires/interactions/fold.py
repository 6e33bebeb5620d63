"""A stream of an interaction's events → the interaction. At first there was `content` and no step around it."""

from collections.abc import Iterable
from typing import Any

from unspool.dialect import Folded
from unspool.sources.values import count, listing, mapping, text_of
from unspool.wires.values import arguments_of, kind_of


def fold(events: Iterable[Any]) -> Folded:
    body: dict[str, Any] = {}
    folded = Folded(body, complete=False)
    steps: dict[int, dict[str, Any]] = {}
    unknown: set[str] = set()
    for each in events:
        if isinstance(each, str):
            continue
        event = mapping(each)
        kind, index = text_of(event.get("event_type")), count(event.get("index"))
        match kind:
            case _ if isinstance(event.get("interaction"), dict):
                body.update(event["interaction"])
                folded.complete = kind in ("interaction.completed", "interaction.complete")
            case "step.start" | "content.start":
                steps[index] = _begun(mapping(event.get("step") or event.get("content")))
            case "step.delta" | "content.delta":
                _grow(steps.setdefault(index, {}), mapping(event.get("delta")))
            case "interaction.status_update":
                body["status"] = event.get("status")
            case "step.stop" | "content.stop":
                continue
            case _ if event.get("error"):
                folded.error = each
            case _:
                unknown.add(kind or kind_of(each))
    if steps and len(listing(body.get("steps") or body.get("outputs"))) < len(steps):
        body["steps"] = [_whole(steps[index]) for index in sorted(steps)]
        body.pop("outputs", None)
    if body.get("error"):
        folded.error = folded.error or body["error"]
    folded.unknown = tuple(sorted(unknown))
    return folded


def _begun(step: dict[str, Any]) -> dict[str, Any]:
    """A copy that can grow: the event stays what it is."""
    parts = [dict(part) if isinstance(part, dict) else part for part in listing(step.get("content"))]
    return {**step, "content": parts} if parts else dict(step)


def _grow(step: dict[str, Any], delta: dict[str, Any]) -> None:
    match delta:
        case {"type": "text", "text": str(text)}:
            step.setdefault("type", "model_output")
            holder = _last_text(step)
            holder["text"] = text_of(holder.get("text")) + text
        case {"type": "text_annotation" | "text_annotation_delta", **rest}:
            holder = _last_text(step)
            holder["annotations"] = [*listing(holder.get("annotations")), *listing(rest.get("annotations"))]
        case {"type": "thought_summary", "content": content}:
            step.setdefault("type", "thought")
            _longer(step, "summary", mapping(content))
        case {"type": "thought_signature", "signature": signature}:
            step.setdefault("type", "thought")
            step["signature"] = signature
        case {"type": "arguments_delta", "arguments": text}:
            step.setdefault("type", "function_call")
            step["written"] = text_of(step.get("written")) + text_of(text)
        case {"type": "image" | "audio" | "video" | "document"} if step.get("type") == "model_output":
            step["content"] = [*listing(step.get("content")), delta]
        case _:
            step.update({key: value for key, value in delta.items() if key != "type" or not step.get(key)})


def _last_text(step: dict[str, Any]) -> dict[str, Any]:
    """Where the text goes on: in the step itself, or in the last piece of its content."""
    if step.get("type") == "text":
        return step
    content = step["content"] = listing(step.get("content"))
    if not content or mapping(content[-1]).get("type") != "text":
        content.append({"type": "text", "text": ""})
    last: dict[str, Any] = content[-1]
    return last


def _longer(step: dict[str, Any], key: str, part: dict[str, Any]) -> None:
    parts = step[key] = listing(step.get(key))
    if parts and mapping(parts[-1]).get("type") == part.get("type") == "text":
        parts[-1] = {**parts[-1], "text": text_of(parts[-1].get("text")) + text_of(part.get("text"))}
    else:
        parts.append(part)


def _whole(step: dict[str, Any]) -> dict[str, Any]:
    if "written" not in step:
        return step
    arguments, text = arguments_of(step["written"])
    rest = {key: value for key, value in step.items() if key != "written"}
    return {**rest, "arguments": text if arguments is None else arguments}
