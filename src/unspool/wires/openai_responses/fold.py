"""A stream of Responses events → the response object. What a `done` event says wins over the deltas before it."""

from collections.abc import Iterable
from typing import Any

from unspool.dialect import Folded
from unspool.sources.values import count, listing, mapping, text_of
from unspool.wires.values import kind_of

_ENDS = tuple(f"response.{end}" for end in ("completed", "failed", "incomplete", "cancelled", "done"))

# The deltas that make an item longer: where in the item the text belongs, and the type of the part it belongs to.
_GROWS = {
    "response.output_text": ("content", "text", "output_text"),
    "response.refusal": ("content", "refusal", "refusal"),
    "response.reasoning_text": ("content", "text", "reasoning_text"),
    "response.reasoning_summary_text": ("summary", "text", "summary_text"),
    "response.function_call_arguments": (None, "arguments", "function_call"),
    "response.custom_tool_call_input": (None, "input", "custom_tool_call"),
    "response.mcp_call_arguments": (None, "arguments", "mcp_call"),
    "response.code_interpreter_call_code": (None, "code", "code_interpreter_call"),
}


def fold(events: Iterable[Any]) -> Folded:
    body: dict[str, Any] = {}
    folded = Folded(body, complete=False)
    items: dict[int, _Item] = {}
    unknown: set[str] = set()
    for event in events:
        if isinstance(event, str):
            continue
        match mapping(event):
            case {"type": str(kind), "response": dict(response)}:
                body.update(response)
                folded.complete = folded.complete or kind in _ENDS
            case {"type": "response.output_item.added" | "response.output_item.done", "item": dict(item)}:
                index = count(event["output_index"]) if "output_index" in event else len(items)
                if event["type"].endswith("added"):
                    items.setdefault(index, _Item()).value = dict(item)
                else:
                    items.setdefault(index, _Item()).final = item
            case {"type": str(kind)} if (stem := kind.rpartition(".")[0]) in _GROWS:
                items.setdefault(count(event.get("output_index")), _Item()).grow(_GROWS[stem], event)
            case {"type": "response.content_part.done", "part": dict(part)}:
                items.setdefault(count(event.get("output_index")), _Item()).parts[count(event.get("content_index"))] = (
                    part
                )
            case {"type": "response.output_text.annotation.added", "annotation": annotation}:
                items.setdefault(count(event.get("output_index")), _Item()).annotations.append(annotation)
            case {"type": "error" | "response.error"}:
                folded.error = event
            case {"type": str(kind)} if kind.startswith(("response.", "keepalive", "codex.")):
                continue  # progress; what it announces comes whole in a later event
            case {"error": error} if error:
                folded.error = event
            case _:
                unknown.add(kind_of(event))
    if items and len(listing(body.get("output"))) < len(items):
        body["output"] = [items[index].whole() for index in sorted(items)]
    if body.get("error"):
        folded.error = folded.error or body["error"]
    folded.unknown = tuple(sorted(unknown))
    return folded


class _Item:
    """One output item as it grows."""

    def __init__(self) -> None:
        self.value: dict[str, Any] = {}
        self.final: dict[str, Any] | None = None
        self.texts: dict[tuple[str | None, int, str, str], list[str]] = {}
        self.parts: dict[int, dict[str, Any]] = {}
        self.annotations: list[Any] = []

    def grow(self, where: tuple[str | None, str, str], event: dict[str, Any]) -> None:
        """`x.delta` adds to a text, `x.done` replaces it."""
        place, field, part_type = where
        number = count(event.get("summary_index" if place == "summary" else "content_index"))
        texts = self.texts.setdefault((place, number, field, part_type), [])
        if "delta" in event:
            texts.append(text_of(event["delta"]))
        elif isinstance(whole := event.get(field), str):
            texts[:] = [whole]

    def whole(self) -> dict[str, Any]:
        """As the provider closed it; else as far as it came."""
        if self.final is not None:
            return self.final
        item = dict(self.value)
        listed: dict[str, dict[int, Any]] = {"content": {}, "summary": {}}
        for (place, number, field, part_type), texts in self.texts.items():
            text = "".join(texts)
            if place is None:
                item.setdefault("type", part_type)
                item[field] = text
            else:
                item.setdefault("type", "reasoning" if part_type in ("reasoning_text", "summary_text") else "message")
                listed[place][number] = {"type": part_type, field: text}
                if part_type == "output_text" and self.annotations:
                    listed[place][number]["annotations"] = self.annotations
        listed["content"].update(self.parts)
        for place, parts in listed.items():
            if parts:
                item[place] = [parts[number] for number in sorted(parts)]
        if item.get("type") == "message":
            item.setdefault("role", "assistant")
        return item
