"""Steps of interactions, their content, tools and usage → the model."""

from collections.abc import Iterator
from typing import Any

from unspool.model import (
    Block,
    Document,
    Extra,
    Medium,
    Message,
    Other,
    Response,
    Role,
    Stop,
    StopReason,
    Text,
    Thinking,
    Tool,
    ToolResult,
    ToolUse,
    Usage,
)
from unspool.sources.jsontext import dumps
from unspool.sources.values import count, listing, mapping, string, text_of
from unspool.wires.values import arguments_of, content_of, leftover, misfits, other

_STOPS: dict[str, StopReason] = {
    "completed": "end_turn",
    "requires_action": "tool_use",
    "requires_continuation": "pause",
    "budget_exceeded": "max_tokens",
    "incomplete": "other",
    "failed": "error",
    "cancelled": "error",
}
_MEDIA: dict[str, Medium] = {
    "image": "image",
    "audio": "audio",
    "video": "video",
    "document": "document",
    "file": "document",
}
_CLIENT_TOOLS = ("function", "computer_use")


def decode(slot: str, value: Any) -> Message:
    if slot == "system_instruction":
        return _said("system", value, None)
    if isinstance(value, str):
        return Message("user", (Text(value),), "string")
    match mapping(value):
        case {"type": "user_input", **rest}:
            return _said("user", rest.pop("content", None), rest or None)
        case {"type": "model_output", **rest}:
            return _said("assistant", rest.pop("content", None), rest or None)
        case {"role": role, "content": content, **rest} if "type" not in value:  # as it was at first
            extra = rest if role in ("user", "model") else {**rest, "role": role}
            return _said("assistant" if role == "model" else "user", content, extra or None)
        case {"type": "function_result"}:
            return Message("user", (part_of(value),))
        case {"type": str(kind)} if kind == "thought" or kind.endswith(("_call", "_result")):
            return Message("assistant", (part_of(value),))
    return Message("assistant" if slot == "steps" else "user", (part_of(value),))


def _said(role: Role, content: Any, extra: Extra) -> Message:
    blocks, form = content_of([content] if isinstance(content, dict) else content, part_of)
    return Message(role, blocks, form, extra)


def part_of(value: Any) -> Block:
    """A piece of content, or a step that says one thing."""
    if isinstance(value, str):
        return Text(value)
    match mapping(value):
        case {"type": "text", "text": str(text), **rest}:
            citations = listing(rest.get("annotations"))
            kept = {**(leftover(rest, "annotations") or {}), **misfits(rest, annotations=list)}
            return Text(text, citations=tuple(citations), extra=kept or None)
        case {"type": str(kind), **rest} if kind in _MEDIA:
            return _document(_MEDIA[kind], rest)
        case {"type": "thought", **rest}:
            summary = content_of(rest.get("summary"), part_of)[0]
            text = "\n\n".join(block.text for block in summary if isinstance(block, Text))
            return Thinking(text, string(rest.get("signature")), extra=leftover(rest, "signature"))
        case {"type": str(kind), **rest} if kind.endswith("_call"):
            return _call(kind, rest)
        case {"type": str(kind), **rest} if kind.endswith("_result"):
            return _result(kind, rest)
    return other(value)


def _document(medium: Medium, value: dict[str, Any]) -> Document:
    kind = string(value.get("mime_type"))
    if isinstance(data := value.get("data"), str):
        return Document(medium, "base64", data, kind, extra=leftover(value, "data", "mime_type"))
    if isinstance(uri := value.get("uri"), str):
        return Document(medium, "url", uri, kind, extra=leftover(value, "uri", "mime_type"))
    return Document(medium, "none", "", kind, extra=leftover(value, "mime_type"))


def _call(kind: str, value: dict[str, Any]) -> ToolUse:
    arguments, text = arguments_of(value.get("arguments"))
    at_provider = kind != "function_call"
    name = text_of(value.get("name")) or kind.removesuffix("_call")
    extra = {
        **({"type": kind} if at_provider else {}),
        **(leftover(value, "id", "name", "arguments", "signature") or {}),
    }
    signature = string(value.get("signature"))
    return ToolUse(string(value.get("id")), name, arguments, text, at_provider, signature, extra or None)


def _result(kind: str, value: dict[str, Any]) -> ToolResult:
    given, failed, at_provider = value.get("result"), value.get("is_error"), kind != "function_result"
    blocks: tuple[Block, ...]
    if at_provider and given is not None and not isinstance(given, str):
        blocks = (Other(kind, given, known=True),)
    elif isinstance(given, dict):
        blocks = (Text(dumps(given)),)
    else:
        blocks = content_of(given, part_of)[0]
    extra = {**({"type": kind} if at_provider else {}), **misfits(value, is_error=bool)}
    extra |= leftover(value, "call_id", "name", "result", "is_error", "signature") or {}
    name = string(value.get("name")) or (kind.removesuffix("_result") if at_provider else None)
    is_error, signature = failed if isinstance(failed, bool) else None, string(value.get("signature"))
    return ToolResult(string(value.get("call_id")), blocks, is_error, name, at_provider, signature, extra or None)


def tools(value: Any) -> Iterator[Tool]:
    match mapping(value):
        case {"type": str(kind), **rest}:
            name = text_of(rest.get("name")) or kind
            extra = {**(leftover(rest, "name", "description", "parameters") or {}), **misfits(rest, parameters=dict)}
            extra |= {} if kind == "function" else {"type": kind}
            about, schema = text_of(rest.get("description")), mapping(rest.get("parameters"))
            yield Tool(name, about, schema, kind not in _CLIENT_TOOLS, extra or None)


def answer(body: dict[str, Any]) -> Response:
    key = "steps" if "steps" in body else "outputs"
    steps = [step for step in listing(body.get(key)) if mapping(step).get("type") != "user_input"]
    return Response(
        tuple([decode("steps", step) for step in steps]),
        id=string(body.get("id")),
        model=string(body.get("model")),
        stop=_stop(body, steps),
        usage=usage_of(body.get("usage")),
        extra={**(leftover(body, key, "id", "model", "usage") or {}), **misfits(body, **{key: list}, usage=dict)}
        or None,
    )


def _stop(body: dict[str, Any], steps: list[Any]) -> Stop | None:
    status = string(body.get("status"))
    if status is None or status in ("in_progress", "queued"):
        return None
    if status == "completed" and any(mapping(step).get("type") == "function_call" for step in steps[-1:]):
        return Stop("tool_use", status)
    return Stop(_STOPS.get(status, "other"), status)


def usage_of(raw: Any) -> Usage | None:
    """Input includes what was cached; thoughts, and what tools read, are counted apart."""
    if not isinstance(raw, dict):
        return None
    prompt, read, output, thoughts, tool = (
        count(raw.get(f"total_{name}_tokens")) for name in ("input", "cached", "output", "thought", "tool_use")
    )
    apart = thoughts if prompt + tool + output != count(raw.get("total_tokens")) else 0
    given, output = max(prompt - read, 0) + tool, output + apart
    heard, again, cached, spoken = (_sound(raw, name) for name in ("input", "tool_use", "cached", "output"))
    heard, spoken = min(max(heard + again - cached, 0), given), min(spoken, output)
    return Usage(given, read, 0, output, thoughts, input_audio=heard, output_audio=spoken, raw=raw)


def _sound(raw: dict[str, Any], name: str) -> int:
    told = map(mapping, listing(raw.get(f"{name}_tokens_by_modality")))
    return sum(count(each.get("tokens")) for each in told if each.get("modality") == "audio")
