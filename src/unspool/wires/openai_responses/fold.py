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
    "response.shell_call_command": ("action", "command", "shell_call"),
    "response.apply_patch_call_operation_diff": ("operation", "diff", "apply_patch_call"),
}
_NUMBERED = {"summary": "summary_index", "action": "command_index"}


def fold(events: Iterable[Any]) -> Folded:
    body: dict[str, Any] = {}
    folded = Folded(body, complete=False)
    items = _Items()
    unknown: set[str] = set()
    for event in events:
        if isinstance(event, str):
            continue
        match mapping(event):
            case {"type": str(kind), "response": dict(response)}:
                body.update(response)
                folded.complete = folded.complete or kind in _ENDS
            case {"type": "response.output_item.added", "item": dict(item)}:
                items.begun(event).value = dict(item)
            case {"type": "response.output_item.done", "item": dict(item)}:
                items.ended(event, item).final = item
            case {"type": str(kind)} if (stem := kind.rpartition(".")[0]) in _GROWS:
                items.of(event).grow(_GROWS[stem], event)
            case {"type": "response.content_part.done", "part": dict(part)}:
                items.of(event).parts[count(event.get("content_index"))] = part
            case {"type": "response.output_text.annotation.added", "annotation": annotation}:
                items.of(event).annotations.append(annotation)
            case {"type": "error" | "response.error"}:
                folded.error = event
            case {"type": str(kind)} if kind.startswith(("response.", "keepalive", "codex.")):
                continue  # progress; what it announces comes whole in a later event
            case {"error": error} if error:
                folded.error = event
            case _:
                unknown.add(kind_of(event))
    if len(told := listing(body.get("output"))) <= len(items):
        whole = items.whole()
        body["output"] = (
            [max(pair, key=_says) for pair in zip(told, whole, strict=True)] if len(told) == len(whole) else whole
        )
    if body.get("error"):
        folded.error = folded.error or body["error"]
    folded.unknown = tuple(sorted(unknown))
    return folded


def _says(item: Any) -> int:
    """How many things an item says: at the end of a stream some hosts name its items, and no more."""
    return sum(value not in (None, "", []) for value in mapping(item).values())


class _Items:
    """The output items in their order. Some hosts leave their places out, or give all the same: then ids decide."""

    def __init__(self) -> None:
        self._all: list[tuple[int, _Item]] = []
        self._newest: dict[int, _Item] = {}
        """By the place that was given."""

    def __len__(self) -> int:
        return len(self._all)

    def whole(self) -> list[dict[str, Any]]:
        return [item.whole() for _, item in sorted(self._all, key=lambda placed: placed[0])]

    def begun(self, event: dict[str, Any]) -> "_Item":
        there = self._at(event)
        return there if there is not None and not there.value else self._new(event)

    def ended(self, event: dict[str, Any], item: dict[str, Any]) -> "_Item":
        there = self._at(event) or self._named(item.get("id") or item.get("call_id"))
        final = there.final if there is not None else None
        if final is not None and any(final.get(key) != item.get(key) for key in ("id", "type")):
            there = None
        if there is None and event.get("output_index") is None:
            there = self._open(item.get("type"))
        return there or self._new(event)

    def of(self, event: dict[str, Any]) -> "_Item":
        """The item that the event makes longer."""
        there = self._at(event) or self._named(event.get("item_id"))
        if there is None and self._all and event.get("output_index") is None and self._all[-1][1].final is None:
            return self._all[-1][1]
        return there or self._new(event)

    def _at(self, event: dict[str, Any]) -> "_Item | None":
        return self._newest.get(count(event["output_index"])) if event.get("output_index") is not None else None

    def _named(self, name: Any) -> "_Item | None":
        named = (item for _, item in self._all if name in (item.value.get("id"), item.value.get("call_id")))
        return next(named, None) if name else None

    def _open(self, kind: Any) -> "_Item | None":
        """The newest of the kind that has not ended; one that was never announced has no kind yet."""
        waiting = (item for _, item in reversed(self._all) if item.final is None)
        return next((item for item in waiting if item.value.get("type") in (None, kind)), None)

    def _new(self, event: dict[str, Any]) -> "_Item":
        last = max((place for place, _ in self._all), default=-1)
        place = count(event["output_index"]) if event.get("output_index") is not None else last + 1
        item = self._newest[place] = _Item()
        self._all.append((place, item))
        return item


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
        number = count(event.get(_NUMBERED.get(place or "", "content_index")))
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
            if place in (None, "action", "operation"):
                item.setdefault("type", part_type)
            if place is None:
                item[field] = text
            elif place == "operation":
                item[place] = {**mapping(item.get(place)), field: text}
            elif place == "action":
                begun = mapping(item.get(place))
                item[place] = {**begun, "commands": [*listing(begun.get("commands"))[:number], text]}
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
