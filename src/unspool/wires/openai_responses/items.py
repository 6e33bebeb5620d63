"""Responses items → messages. Each item is a message of its own."""

from typing import Any

from unspool.model import (
    Block,
    Compaction,
    Document,
    Extra,
    Medium,
    Message,
    Other,
    Role,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from unspool.sources.jsontext import dumps
from unspool.sources.values import listing, mapping, string, text_of
from unspool.wires.values import arguments_of, content_of, from_url, leftover, medium_of, other

_ROLES: dict[str, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
# Kept raw on purpose: bookkeeping between client and provider, no part of what is said. And who writes it.
_KNOWN: dict[str, Role] = {
    "additional_tools": "system",
    "compaction_trigger": "user",
    "configuration_update": "system",
    "item_reference": "user",
    "mcp_approval_request": "assistant",
    "mcp_approval_response": "user",
    "mcp_list_tools": "assistant",
}
# Calls that the client answers. Other kinds carry their result with them: the provider ran them.
CLIENT_CALLS = frozenset(
    {"function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call"}
)
# What a call of the API's own tools was asked, and what it gave back.
_ASKED = ("action", "queries", "code", "arguments", "input", "operation", "prompt", "revised_prompt")
_GAVE = ("output", "outputs", "results", "result", "contents", "error")


def runs_at_provider(item: dict[str, Any]) -> bool:
    """Whether nobody has to answer this call, or has answered it for the client."""
    kind = text_of(item.get("type"))
    environment = text_of(mapping(item.get("environment")).get("type"))
    if kind.startswith("tool_search") and "execution" in item:
        return bool(item["execution"] != "client")
    if kind.startswith(("multi_agent", "program")) or environment.startswith("container"):
        return True
    if kind == "custom_tool_call" and text_of(item.get("call_id")).startswith("xs_call_"):
        return True  # xAI's own search, in the shape of a client's tool
    return kind.removesuffix("_output") not in CLIENT_CALLS and "call_id" not in item


def decode(slot: str, value: Any) -> Message:
    if slot == "instructions":
        return _said("system", value, None)
    if isinstance(value, str):
        return Message("user", (Text(value),), "string")
    match mapping(value):
        case {"type": "function_call", **rest}:
            arguments, text = arguments_of(rest.get("arguments"))
            extra = leftover(rest, "call_id", "name", "arguments")
            call = ToolUse(_call_id(rest), text_of(rest.get("name")), arguments, text, extra=extra)
            return Message("assistant", (call,))
        case {"type": "custom_tool_call", **rest}:
            extra = {"type": "custom_tool_call", **(leftover(rest, "call_id", "name", "input") or {})}
            name, written, at_provider = text_of(rest.get("name")), text_of(rest.get("input")), runs_at_provider(value)
            call = ToolUse(_call_id(rest), name, None, written, at_provider, extra=extra)
            return Message("assistant", (call,))
        case {"type": "reasoning", **rest}:
            return Message("assistant", (_reasoning(rest),))
        case {"type": "compaction" | "context_compaction", **rest}:
            encrypted = string(rest.pop("encrypted_content", None))
            return Message("assistant", (Compaction(text_of(rest.pop("summary", None)), encrypted, rest or None),))
        case {"type": "additional_tools" as kind, "id": name, **rest}:  # a new one in each session
            return Message("system", (Other(kind, {"type": kind, **rest}, known=True, extra={"id": name}),))
        case {"type": str(kind)} if kind in _KNOWN:
            return Message(_KNOWN[kind], (Other(kind, value, known=True),))
        case {"type": str(kind)} if kind.endswith("_output"):
            return Message("user", (_output(kind, value),))
        case {"type": str(kind)} if kind.endswith(("_call", "_results")) or kind == "program":  # results: Perplexity
            return Message("assistant", _own_call(kind, value))
        case {"role": str(role), **rest} if value.get("type", "message") == "message":
            extra = leftover(rest, "content", "type") or {}
            if role not in ("system", "user", "assistant"):
                extra["role"] = role
            return _said(_ROLES.get(role, "user"), rest.get("content"), extra or None)
        case {"type": "message", "content": content, **rest}:  # LM Studio's own API: who speaks goes without saying
            return _said("assistant", content, rest or None)
        case {"type": "agent_message", "content": content, **rest}:
            return _said("user", content, {"type": "agent_message", **rest})
        case {"id": str()} if value.get("type") is None:
            return Message("user", (Other("item_reference", value, known=True),))
    return Message("user", (other(value),))


def _call_id(value: dict[str, Any]) -> str | None:
    return string(value.get("call_id")) or string(value.get("id"))


def _said(role: Role, content: Any, extra: Extra) -> Message:
    blocks, form = content_of(content, part_of)
    return Message(role, blocks, form, extra)


def part_of(value: Any) -> Block:
    """One part of a message's content or of a tool's output."""
    if isinstance(value, str):
        return Text(value)
    match mapping(value):
        case {"type": "output_text", "text": str(text), **rest}:
            citations = rest.pop("annotations", None)
            if citations is not None and not isinstance(citations, list):
                rest["annotations"] = citations
            return Text(text, citations=tuple(listing(citations)), extra=rest or None)
        case {"type": "input_text" | "text" | "summary_text" | "reasoning_text", "text": str(text), **rest}:
            return Text(text, extra=rest or None)
        case {"type": "refusal", "refusal": str(text), **rest}:
            return Text(text, refusal=True, extra=rest or None)
        case {"type": "input_image" | "output_image" | "computer_screenshot", **rest}:
            return _file("image", rest)
        case {"type": "input_file", **rest}:
            return _file("document", rest)
        case {"type": "input_audio", "input_audio": dict(sound), **rest}:
            kind = string(sound.get("format"))
            return Document("audio", "base64", text_of(sound.get("data")), kind and f"audio/{kind}", extra=rest or None)
        case {"type": ("encrypted_content" | "computer_call_output") as kind}:
            return Other(kind, value, known=True)
        case {"stdout": str(out), "stderr": str(err), **rest}:  # what one command of a shell call printed
            return Text("\n".join(filter(None, (out, err))), extra={**rest, "stdout": out, "stderr": err})
        case {"role": _, "content": _}:  # instructions given as items
            said = decode("input", value).blocks
            return Text("\n".join(block.text for block in said if isinstance(block, Text)), extra=value)
    return other(value)


def _file(medium: Medium, value: dict[str, Any]) -> Document:
    """Of several ways to name the same file the first that is there; the others stay in `extra`."""
    name = string(value.get("filename"))
    for key in ("image_url", "file_url", "file_data", "file_id"):
        if isinstance(found := value.get(key), str):
            extra = leftover(value, key, "filename")
            if key == "file_id":
                return Document(medium, "file", found, None, name, extra=extra)
            at = from_url(medium, found, bare_is_data=key == "file_data")
            actual = medium_of(at.media_type) if medium == "document" else medium
            return Document(actual, at.source, at.data, at.media_type, name, extra=extra)
    return Document(medium, "none", "", None, name, extra=leftover(value, "filename"))


def _reasoning(value: dict[str, Any]) -> Thinking:
    """The text is the reasoning itself where the provider shows it, else its summary."""
    shown, summary = (
        told  # LM Studio's own API
        if isinstance(told := value.get(key), str)
        else "\n\n".join(text_of(mapping(part).get("text")) for part in listing(told))
        for key in ("content", "summary")
    )
    # The lists themselves are kept: joined text cannot be cut again.
    extra = leftover(value, "encrypted_content")
    return Thinking(shown or summary, encrypted=string(value.get("encrypted_content")), extra=extra)


def _output(kind: str, value: dict[str, Any]) -> ToolResult:
    key = next((key for key in ("output", "result", "tools") if key in value), "output")
    written, failed = value.get(key), True if value.get("status") == "failed" else None
    extra = leftover(value, "type", "call_id", "name", key) or {}
    blocks, form = content_of(written, part_of)
    if form == "string":
        extra["form"] = form
    elif key == "tools" and written:  # what a search for tools found
        blocks = (Other("tools", written, known=True),)
    elif isinstance(written, dict):  # a screenshot; or an object that a client did not make into text
        blocks = (part_of(written) if "type" in written else Text(dumps(written)),)
    if kind != "function_call_output":
        extra["type"] = kind
    name, server_side = string(value.get("name")), runs_at_provider(value)
    return ToolResult(_call_id(value), blocks, failed, name, server_side, extra=extra or None)


def _own_call(kind: str, value: dict[str, Any]) -> tuple[Block, ...]:
    """A call of a tool that the API itself defines; the provider's own carry their result with them."""
    name = text_of(value.get("name")) or kind.removesuffix("_call").removesuffix("_results")
    asked = {key: value[key] for key in _ASKED if value.get(key) is not None}
    if not asked and "call_id" in value:  # a kind of call that we do not know: all it says may be what was asked
        asked = leftover(value, "type", "id", "call_id", "status", "name", *_GAVE) or {}
    arguments: dict[str, Any] | None = asked
    text: str | None = None
    if len(asked) == 1:
        match next(iter(asked.items())):
            case _, dict(action):
                arguments = action
            case "arguments", written:
                arguments, text = arguments_of(written)
    server_side = runs_at_provider(value)
    call_id = _call_id(value)
    gave = {key: value[key] for key in _GAVE if value.get(key) not in (None, [])}
    named = "call_id" if "call_id" in value else "id"
    kept = leftover(value, *_ASKED, named, "name", "type", *(gave if server_side else ())) or {}
    call = ToolUse(call_id, name, arguments, text, server_side, extra={"type": kind, **kept})
    if not server_side or not gave:
        return (call,)
    content = next(iter(gave.values())) if len(gave) == 1 else gave
    shown: Block = Text(content) if isinstance(content, str) else Other(f"{kind}_result", content, known=True)
    if kind == "image_generation_call" and isinstance(picture := gave.get("result"), str):
        kind = text_of(value.get("output_format")) or "png"
        shown = Document("image", "base64", picture, f"image/{'svg+xml' if kind == 'svg' else kind}")
    failed = True if value.get("error") or value.get("status") == "failed" else None
    return call, ToolResult(call_id, (shown,), failed, name, server_side=True, extra={"keys": list(gave)})
