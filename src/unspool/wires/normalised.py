"""The normalised form: a context, a message or an answer as plain JSON that scripts can make and read.

    {"messages": [{"role", "content": [block, …]}, …], "options": {…}}

    {"type": "text", "text"}
    {"type": "document", "source": {"type": "base64", "media_type", "data"}, "title"}
    {"type": "tool_use", "id", "name", "input"}
    {"type": "tool_result", "name", "tool_use_id", "content": [block, …], "is_error"}
    {"type": "thinking", "thinking", "signature"}

What the model holds beside these stands beside them too: `citations`, `signature`, `cache_control`, and under `extra`
what only one provider knows. A message says by `api`, `provider` and `model` who wrote it, where that is known:
thinking and signatures go back to nobody else. Reading is tolerant: content may be one string, an image may be a block
of type `image`, and what is of no known type is kept as it is.
"""

from typing import Any, cast, get_args

from unspool.errors import WrongContext
from unspool.model import (
    Block,
    Compaction,
    Context,
    Document,
    Extra,
    Medium,
    Message,
    Other,
    Response,
    Role,
    Said,
    Text,
    Thinking,
    Tool,
    ToolResult,
    ToolUse,
    Usage,
)
from unspool.sources.values import listing, mapping, string, text_of
from unspool.wires.values import arguments_of, leftover, medium_of, misfits, other

_ROLES: dict[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "user",
    "model": "assistant",
}
_SOURCES = {"base64": "data", "url": "url", "file": "file_id", "text": "data"}
"""The types of sources, and the key that each keeps its data under."""

WRITERS = ("api", "provider", "model")
"""The keys of a message that say who wrote it."""
_SCHEMAS = ("inputSchema", "input_schema", "parameters")


def read_context(value: Any) -> Context:
    """Raises WrongContext, which says where, for what is no context at all."""
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        raise WrongContext('a context is an object {"messages": […], "options": {…}}')
    options = value.get("options")
    if options is None:
        options = {}
    if not isinstance(options, dict):
        raise WrongContext("`options` is no object")
    return Context(tuple(read_message(item, number) for number, item in enumerate(value["messages"], 1)), options)


def read_message(value: Any, number: int = 1) -> Said:
    if not isinstance(value, dict):
        raise WrongContext(f"message {number} is no object")
    role = value.get("role", "user")
    if not isinstance(role, str) or role not in _ROLES:
        raise WrongContext(f"message {number}: no role {role!r}; there are user, assistant, system")
    content = value.get("content")
    if not isinstance(content, str | list):
        raise WrongContext(f"message {number}: `content` is neither a list of blocks nor a text")
    return Said(
        Message(_ROLES[role], read_blocks(content), "string" if isinstance(content, str) else "blocks"),
        turn=string(value.get("turn")),
        cache=value.get("cache") is True,
        api=string(value.get("api")),
        provider=string(value.get("provider")),
        model=string(value.get("model")),
    )


def read_blocks(content: Any) -> tuple[Block, ...]:
    if isinstance(content, str):
        return (Text(content),)
    return tuple(read_block(value) for value in listing(content))


def read_block(value: Any) -> Block:
    if isinstance(value, str):
        return Text(value)
    match mapping(value):
        case {"type": "text", "text": str(text), **rest}:
            return Text(
                text,
                refusal=rest.get("refusal") is True,
                citations=tuple(listing(rest.get("citations"))),
                signature=string(rest.get("signature")),
                extra=_extra(rest, "refusal", "citations", "signature"),
            )
        case {"type": "thinking", **rest}:
            return Thinking(
                text_of(rest.get("thinking") or rest.get("text")),
                signature=string(rest.get("signature")) or None,
                encrypted=string(rest.get("encrypted")),
                redacted=rest.get("redacted") is True,
                extra=_extra(rest, "thinking", "text", "signature", "encrypted", "redacted"),
            )
        case {"type": "redacted_thinking", "data": str(data), **rest}:
            return Thinking("", encrypted=data, redacted=True, extra=_extra(rest))
        case {"type": "document" | "image", "source": dict(source), **rest}:
            return _document(value["type"], source, rest)
        case {"type": ("tool_use" | "server_tool_use") as kind, "name": str(name), **rest}:
            return _call(kind, name, rest)
        case {"type": ("tool_result" | "server_tool_result") as kind, **rest}:
            return _result(kind, rest)
        case {"type": "compaction", **rest}:
            text = text_of(rest.get("text") or rest.get("content"))
            return Compaction(text, string(rest.get("encrypted")), _extra(rest, "text", "content", "encrypted"))
        case {"type": "other", "kind": str(kind), "value": inner, **rest}:
            return Other(kind, inner, known=rest.get("known") is True, extra=_extra(rest, "known"))
    return other(value)


def _extra(rest: dict[str, Any], *known: str) -> Extra:
    """What a block says beside its fields: unknown keys, and what was kept under `extra`."""
    return {**(leftover(rest, "extra", *known) or {}), **mapping(rest.get("extra"))} or None


def _document(kind: str, source: dict[str, Any], rest: dict[str, Any]) -> Document:
    media_type = string(source.get("media_type"))
    named = string(rest.get("medium"))
    medium: Medium = cast(Medium, named) if named in get_args(Medium) else medium_of(media_type)
    if kind == "image":
        medium = "image"
    origin = string(source.get("type"))
    data = source.get(_SOURCES[origin]) if origin in _SOURCES else None
    extra = _extra(rest, "title", "name", "medium", "signature")
    name, signature = string(rest.get("title")) or string(rest.get("name")), string(rest.get("signature"))
    if not isinstance(data, str):
        return Document(medium, "none", "", media_type, name, signature, {**(extra or {}), "source": source})
    return Document(medium, cast(Any, origin), data, media_type, name, signature, extra)


def _call(kind: str, name: str, rest: dict[str, Any]) -> ToolUse:
    arguments, text = arguments_of(rest.get("input"))
    if isinstance(written := rest.get("input_text"), str):
        arguments, text = arguments_of(written)
    extra = _extra(rest, "id", "input", "input_text", "signature")
    signature = string(rest.get("signature"))
    return ToolUse(string(rest.get("id")), name, arguments, text, kind != "tool_use", signature, extra)


def _result(kind: str, rest: dict[str, Any]) -> ToolResult:
    failed = rest.get("is_error")
    extra = _extra(rest, "name", "tool_use_id", "content", "is_error", "signature") or {}
    return ToolResult(
        string(rest.get("tool_use_id")),
        read_blocks(rest.get("content")),
        failed if isinstance(failed, bool) else None,
        string(rest.get("name")),
        kind != "tool_result",
        string(rest.get("signature")),
        {**extra, **misfits(rest, is_error=bool)} or None,
    )


def read_tools(value: Any) -> list[Tool]:
    """Definitions as MCP has them: a list, or what `tools/list` answers."""
    listed = value.get("tools") if isinstance(value, dict) else value
    if not isinstance(listed, list):
        raise WrongContext('tools are a list of definitions, or {"tools": […]}')
    found = []
    for number, each in enumerate(listed, 1):
        match mapping(each):
            case {"name": str(name), **rest}:
                schema: Any = next((rest[key] for key in _SCHEMAS if key in rest), {})
                if not isinstance(schema, dict):
                    raise WrongContext(f"tool {number} ({name}): its schema is no object")
                kept = leftover(rest, "description", *_SCHEMAS)
                found.append(Tool(name, text_of(rest.get("description")), schema, extra=kept))
            case _:
                raise WrongContext(f"tool {number} has no name")
    return found


def write_tool(tool: Tool) -> dict[str, Any]:
    """A definition as MCP has it."""
    written = {"name": tool.name, "description": tool.description, "inputSchema": tool.parameters}
    return {**written, **(tool.extra or {})}


def write_context(context: Context) -> dict[str, Any]:
    return {"messages": [write_message(said) for said in context.messages], "options": context.options}


def write_message(said: Said) -> dict[str, Any]:
    content = write_blocks(said.message.blocks)
    if said.cache and content:
        content[-1].setdefault("cache_control", {"type": "ephemeral"})
    return {"role": said.message.role, "content": content, **write_writer(said)}


def write_writer(said: Said) -> dict[str, str]:
    """Who wrote it, as far as anybody knows."""
    about = zip(WRITERS, (said.api, said.provider, said.model), strict=True)
    return {key: value for key, value in about if value is not None}


def write_blocks(blocks: tuple[Block, ...]) -> list[dict[str, Any]]:
    return [write_block(block) for block in blocks]


def write_block(block: Block) -> dict[str, Any]:
    extra = dict(block.extra or {})
    beside = {"cache_control": extra.pop("cache_control")} if "cache_control" in extra else {}
    if extra:
        beside["extra"] = extra
    written = _fields(block)
    return {**{key: value for key, value in written.items() if value is not None}, **beside}


def _fields(block: Block) -> dict[str, Any]:
    """The block's own keys; None for what it does not say."""
    match block:
        case Text():
            cited, signature = list(block.citations) or None, block.signature
            said = {"type": "text", "text": block.text, "refusal": block.refusal or None}
            return {**said, "citations": cited, "signature": signature}
        case Thinking():
            thought = {"type": "thinking", "thinking": block.text, "signature": block.signature}
            return {**thought, "encrypted": block.encrypted, "redacted": block.redacted or None}
        case Document():
            return _written_document(block)
        case ToolUse():
            kind = "server_tool_use" if block.server_side else "tool_use"
            call = {"type": kind, "id": block.id, "name": block.name, "input": block.arguments or {}}
            return {**call, "input_text": block.text, "signature": block.signature}
        case ToolResult():
            return {
                "type": "server_tool_result" if block.server_side else "tool_result",
                "name": block.name,
                "tool_use_id": block.call_id,
                "content": write_blocks(block.content),
                "is_error": block.is_error,
                "signature": block.signature,
            }
        case Compaction():
            return {"type": "compaction", "text": block.text, "encrypted": block.encrypted}
        case Other():
            return {"type": "other", "kind": block.kind, "value": block.value, "known": block.known or None}


def _written_document(block: Document) -> dict[str, Any]:
    source: dict[str, Any] = {"type": block.source}
    if block.media_type is not None:
        source["media_type"] = block.media_type
    if block.source in _SOURCES:
        source[_SOURCES[block.source]] = block.data
    told = block.medium if block.medium != medium_of(block.media_type) else None
    return {"type": "document", "source": source, "title": block.name, "medium": told, "signature": block.signature}


def write_usage(usage: Usage) -> dict[str, Any]:
    """Input without what the cache read or wrote, as Anthropic counts; what the provider sent stands beside it."""
    written: dict[str, Any] = {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
    }
    if usage.cache_write_1h:
        written["cache_creation"] = {
            "ephemeral_5m_input_tokens": usage.cache_write - usage.cache_write_1h,
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
        }
    if usage.reasoning:
        written["reasoning_tokens"] = usage.reasoning
    return written


def joined(response: Response) -> Message:
    """The answer as one message. Where it was several items, each block remembers what its item said of itself."""
    if len(response.messages) == 1:
        return response.messages[0]
    blocks: list[Block] = []
    for message in response.messages:
        blocks += [_in_item(block, message.extra) for block in message.blocks]
    return Message("assistant", tuple(blocks))


def _in_item(block: Block, item: Extra) -> Block:
    from msgspec.structs import replace

    return replace(block, extra={**(block.extra or {}), "item": item}) if item else block


def write_response(response: Response, api: str) -> dict[str, Any]:
    """An answer: `{"message": {…}}`, the same keys whoever gave it."""
    stop, usage = response.stop, response.usage
    message: dict[str, Any] = {
        "role": "assistant",
        "content": write_blocks(joined(response).blocks),
        "model": response.model,
        "stop_reason": stop.reason if stop else None,
        "usage": write_usage(usage or Usage()),
        "id": response.id,
        "api": api,
        "raw_stop_reason": stop.raw if stop else None,
        "raw_usage": usage.raw if usage else None,
        "interrupted": response.interrupted,
    }
    if response.extra:
        message["extra"] = response.extra
    return {"message": message}
