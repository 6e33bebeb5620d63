"""A stream of Responses events → the response object. What a `done` event says wins over the deltas before it."""

from collections.abc import Iterable
from typing import Any

from unspool.dialect import Folded
from unspool.wires.values import count, kind_of, listing, mapping, text_of

_ENDS = ("response.completed", "response.failed", "response.incomplete", "response.done")

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
                    items.setdefault(index, _Item()).start(item)
                else:
                    items.setdefault(index, _Item()).final = item
            case {"type": str(kind)} if (stem := kind.rpartition(".")[0]) in _GROWS:
                items.setdefault(count(event.get("output_index")), _Item()).grow(_GROWS[stem], event)
            case {"type": "error"}:
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

    def start(self, item: dict[str, Any]) -> None:
        self.value = dict(item)

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
        if self.final is not None:
            return self.final
        item = dict(self.value)
        for (place, _, field, part_type), texts in sorted(self.texts.items(), key=lambda entry: entry[0][1]):
            text = "".join(texts)
            if place is None:
                item.setdefault("type", part_type)
                item[field] = text
            else:
                item.setdefault("type", "reasoning" if part_type in ("reasoning_text", "summary_text") else "message")
                item[place] = [*listing(item.get(place)), {"type": part_type, field: text}]
        if mapping(item).get("type") == "message":
            item.setdefault("role", "assistant")
        return item
