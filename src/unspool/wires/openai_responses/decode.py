"""Responses items, parts, tools, usage → the model."""

from collections.abc import Iterator
from typing import Any

from unspool.model import (
    Block,
    Compaction,
    Document,
    Extra,
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
from unspool.wires.values import (
    arguments_of,
    compact,
    count,
    from_url,
    leftover,
    listing,
    mapping,
    medium_of,
    other,
    string,
    text_of,
)

_ROLES: dict[str, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_INCOMPLETE: dict[str, StopReason] = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}
# Kept raw on purpose: bookkeeping between client and provider, no part of what is said.
_KNOWN = frozenset(
    [
        "mcp_list_tools",
        "mcp_approval_request",
        "mcp_approval_response",
        "item_reference",
        "additional_tools",
        "compaction_trigger",
        "tool_search_call",
        "tool_search_output",
    ]
)
# Tools that the client runs, by the type of their call; all other calls without a call_id run at the provider.
_CLIENT_CALLS = (
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    "computer_call",
    "function_call",
    "custom_tool_call",
)
_CLIENT_TOOLS = ("function", "custom", "local_shell", "shell", "apply_patch", "computer", "computer_use_preview")
# What a call of the provider's own tools was asked, and what it gave back.
_ASKED = ("action", "queries", "code", "arguments", "input", "operation", "prompt", "revised_prompt")
_GAVE = ("output", "outputs", "results", "result", "error")


def decode(slot: str, value: Any) -> Message:
    if slot == "instructions":
        return _said("system", value, None)
    if isinstance(value, str):
        return Message("user", (Text(value),), "string")
    match mapping(value):
        case {"type": "function_call", **rest}:
            arguments, text = arguments_of(rest.get("arguments"))
            extra = leftover(rest, "call_id", "name", "arguments")
            return Message(
                "assistant", (ToolUse(_call_id(rest), text_of(rest.get("name")), arguments, text, extra=extra),)
            )
        case {"type": "custom_tool_call", **rest}:
            extra = {"type": "custom_tool_call", **(leftover(rest, "call_id", "name", "input") or {})}
            call = ToolUse(_call_id(rest), text_of(rest.get("name")), None, text_of(rest.get("input")), extra=extra)
            return Message("assistant", (call,))
        case {"type": "reasoning", **rest}:
            return Message("assistant", (_reasoning(rest),))
        case {"type": "compaction" | "context_compaction", **rest}:
            encrypted = string(rest.pop("encrypted_content", None))
            return Message("assistant", (Compaction(text_of(rest.pop("summary", None)), encrypted, rest or None),))
        case {"type": str(kind)} if kind in _KNOWN:
            return Message("assistant", (Other(kind, value, known=True),))
        case {"type": str(kind), **rest} if kind.endswith("_output") and "call_id" in value:
            return Message("user", (_output(kind, rest),))
        case {"type": str(kind), **rest} if kind.endswith("_call"):
            return Message("assistant", _own_call(kind, rest))
        case {"role": str(role), **rest} if value.get("type", "message") == "message":
            extra = leftover(rest, "content", "type") or {}
            if role not in ("system", "user", "assistant"):
                extra["role"] = role
            return _said(_ROLES.get(role, "user"), rest.get("content"), extra or None)
    return Message("user", (other(value),))


def _call_id(value: dict[str, Any]) -> str | None:
    return string(value.get("call_id")) or string(value.get("id"))


def _said(role: Role, content: Any, extra: Extra) -> Message:
    match content:
        case str():
            return Message(role, (Text(content),), "string", extra)
        case list():
            return Message(role, tuple(map(part_of, content)), "blocks", extra)
        case None:
            return Message(role, (), "none", extra)
    return Message(role, (other(content),), "blocks", extra)


def part_of(value: Any) -> Block:
    """One part of a message's content or of a tool's output."""
    if isinstance(value, str):
        return Text(value)
    match mapping(value):
        case {"type": "output_text", "text": str(text), **rest}:
            return Text(text, citations=tuple(listing(rest.pop("annotations", None))), extra=rest or None)
        case {"type": "input_text" | "text" | "summary_text" | "reasoning_text", "text": str(text), **rest}:
            return Text(text, extra=rest or None)
        case {"type": "refusal", "refusal": str(text), **rest}:
            return Text(text, refusal=True, extra=rest or None)
        case {"type": "input_image" | "output_image" | "computer_screenshot", **rest}:
            return _file("image", rest, "image_url")
        case {"type": "input_file", **rest}:
            return _file("document", rest, "file_url")
        case {"type": "input_audio", "input_audio": {"data": str(data), **about}, **rest}:
            sound = string(about.get("format"))
            return Document("audio", "base64", data, sound and f"audio/{sound}", extra=rest or None)
        case {"role": _, "content": _}:  # instructions given as items
            return Text(
                "\n".join(block.text for block in decode("input", value).blocks if isinstance(block, Text)), extra=value
            )
    return other(value)


def _file(medium: Any, value: dict[str, Any], address: str) -> Document:
    name = string(value.get("filename"))
    extra = leftover(value, "file_id", "file_data", "filename", address)
    if isinstance(url := value.get(address) or value.get("file_data"), str):
        found = from_url(medium, url)
        if medium == "document":
            medium = medium_of(found.media_type)
        return Document(medium, found.source, found.data, found.media_type, name, extra=extra)
    return Document(medium, "file", text_of(value.get("file_id")), None, name, extra=extra)


def _reasoning(value: dict[str, Any]) -> Thinking:
    """The text is the reasoning itself where the provider shows it, else its summary."""
    shown, summary = (
        "\n\n".join(text_of(mapping(part).get("text")) for part in listing(value.get(key)))
        for key in ("content", "summary")
    )
    # The lists themselves are kept: joined text cannot be cut again.
    return Thinking(
        shown or summary, encrypted=string(value.get("encrypted_content")), extra=leftover(value, "encrypted_content")
    )


def _output(kind: str, value: dict[str, Any]) -> ToolResult:
    written = value.get("output")
    extra = leftover(value, "call_id", "output") or {}
    blocks: tuple[Block, ...]
    match written:
        case str():
            blocks, extra["form"] = (Text(written),), "string"
        case list():
            blocks = tuple(map(part_of, written))
        case None:
            blocks = ()
        case {"type": str()}:
            blocks = (part_of(written),)
        case _:
            blocks = (Text(compact(written)),)
    if kind != "function_call_output":
        extra["type"] = kind
    return ToolResult(string(value.get("call_id")), blocks, extra=extra or None)


def _own_call(kind: str, value: dict[str, Any]) -> tuple[Block, ...]:
    """A call of a tool that the API itself defines; the provider's own carry their result with them."""
    name = text_of(value.get("name")) or kind.removesuffix("_call")
    asked = {key: value[key] for key in _ASKED if value.get(key) is not None}
    if not asked and "call_id" in value:  # a kind of call that we do not know: all it says may be what was asked
        asked = leftover(value, "id", "call_id", "status", "name") or {}
    arguments, text = arguments_of(asked["arguments"]) if isinstance(asked.get("arguments"), str) else (asked, None)
    if len(asked) == 1 and isinstance(action := next(iter(asked.values())), dict):
        arguments, text = action, None
    server_side = kind not in _CLIENT_CALLS and "call_id" not in value
    call_id = string(value.get("id")) if server_side else _call_id(value)
    extra = {"type": kind, **(leftover(value, *_ASKED, *_GAVE, "call_id" if not server_side else "id", "name") or {})}
    call = ToolUse(call_id, name, arguments, text, server_side, extra=extra)
    gave = {key: value[key] for key in _GAVE if value.get(key) not in (None, [])}
    if not server_side or not gave:
        return (call,)
    content = next(iter(gave.values())) if len(gave) == 1 else gave
    shown: Block = Text(content) if isinstance(content, str) else Other(f"{kind}_result", content, known=True)
    if kind == "image_generation_call" and isinstance(content, str):
        shown = Document("image", "base64", content, f"image/{value.get('output_format', 'png')}")
    failed = True if value.get("error") or value.get("status") == "failed" else None
    return call, ToolResult(call_id, (shown,), failed, name, server_side=True, extra={"keys": list(gave)})


def tools(value: Any) -> Iterator[Tool]:
    match mapping(value):
        case {"type": str(kind), "name": str(name), **rest}:
            extra = leftover(rest, "description", "parameters") or {}
            if kind != "function":
                extra["type"] = kind
            server_side = kind not in _CLIENT_TOOLS
            yield Tool(
                name, text_of(rest.get("description")), mapping(rest.get("parameters")), server_side, extra or None
            )
        case {"type": str(kind), **rest}:
            name = string(rest.get("server_label")) or kind
            yield Tool(name, text_of(rest.get("server_description")), {}, kind not in _CLIENT_TOOLS, value)
        case {"name": str(name), **rest}:
            yield Tool(name, text_of(rest.get("description")), mapping(rest.get("parameters")), False)


def answer(body: dict[str, Any]) -> Response:
    return Response(
        tuple(decode("input", item) for item in listing(body.get("output"))),
        id=string(body.get("id")),
        model=string(body.get("model")),
        stop=_stop(body),
        usage=usage_of(body.get("usage")),
        # The request's own settings and tools come back in the answer; they are the request's.
        extra=leftover(body, "output", "id", "model", "usage", "tools", "instructions"),
    )


def _stop(body: dict[str, Any]) -> Stop | None:
    status = string(body.get("status"))
    match status:
        case "completed":
            kinds = [mapping(item).get("type") for item in listing(body.get("output"))]
            return Stop("tool_use" if any(kind in _CLIENT_CALLS for kind in kinds) else "end_turn", status)
        case "incomplete":
            why = text_of(mapping(body.get("incomplete_details")).get("reason")) or status
            return Stop(_INCOMPLETE.get(why, "other"), why, body.get("incomplete_details"))
        case "failed" | "cancelled":
            return Stop("error", status, body.get("error"))
    return None


def usage_of(raw: Any) -> Usage | None:
    """Input includes what the cache read and wrote."""
    if not isinstance(raw, dict):
        return None
    details = mapping(raw.get("input_tokens_details"))
    read, written = count(details.get("cached_tokens")), count(details.get("cache_write_tokens"))
    return Usage(
        input=max(count(raw.get("input_tokens")) - read - written, 0),
        cache_read=read,
        cache_write=written,
        output=count(raw.get("output_tokens")),
        reasoning=count(mapping(raw.get("output_tokens_details")).get("reasoning_tokens")),
        raw=raw,
    )
