"""A context → a body, as gpt2099 makes it."""

from base64 import b64decode
from collections.abc import Iterator, Sequence
from typing import Any

from unspool.errors import UnspoolError, WrongContext
from unspool.model import Context, Document, Text, ToolResult, ToolUse
from unspool.sources.jsontext import dumps
from unspool.sources.values import listing, mapping, text_of
from unspool.wires.normalised import WRITERS, write_block

_TITLES = {"openai": "OpenAI", "cohere": "Cohere", "cerebras": "Cerebras"}
_MARKS = 4
_BETWEEN_SYSTEMS = "\n\n----\n\n"
_KEYS = frozenset({"type", "text", "source", "id", "name", "input", "tool_use_id", "content", "is_error"})
_REFUSED_BY_CEREBRAS = ("$schema", "format", "minimum", "nullable")
_SEARCH_AND_TOOLS = (
    "Gemini API does not support combining google_search with custom function declarations in the same request. "
    "This feature is currently only available via the Live API (WebSocket). "
    "Consider using either search OR custom tools, but not both together."
)


def prepare(provider: str, context: Any, tools: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """Raises UnspoolError with gpt2099's own words for what it refuses."""
    if not isinstance(context, dict) or not isinstance(context.get("messages"), list):
        raise WrongContext('a context is an object {"messages": […], "options": {…}}')
    messages = [
        {key: value for key, value in mapping(message).items() if key not in WRITERS} for message in context["messages"]
    ]
    search = bool(mapping(context.get("options")).get("search"))
    try:
        match provider:
            case "anthropic":
                return _anthropic(messages, tools, search)
            case "gemini":
                return _gemini(messages, tools, search)
        return _chat(provider, messages, tools, search)
    except (KeyError, TypeError, AttributeError) as error:
        raise WrongContext(f"gpt2099 cannot read this context: {error!r}") from error


def context_of(context: Context) -> dict[str, Any]:
    """A context of ours as gpt2099 would have it: marks on messages, no thinking, nothing that it has no key for."""
    messages: list[dict[str, Any]] = []
    for said in context.messages:
        blocks = [block for block in said.message.blocks if isinstance(block, Text | Document | ToolUse | ToolResult)]
        content = [_known(write_block(block)) for block in blocks]
        mark = {"cache": True} if said.cache or any("cache_control" in (block.extra or {}) for block in blocks) else {}
        messages.append({"role": said.message.role, "content": content, **mark})
    return {"messages": messages, "options": context.options}


def _known(block: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in block.items() if key in _KEYS}
    if isinstance(inner := kept.get("content"), list):
        kept["content"] = [_known(each) for each in inner]
    return kept


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [mapping(block) for block in listing(content)]


def _texts(message: dict[str, Any]) -> list[str]:
    return [block["text"] for block in _blocks(message) if block.get("type") == "text"]


def _decoded(source: dict[str, Any]) -> str:
    try:
        return b64decode(source["data"]).decode()
    except ValueError as error:
        raise WrongContext(f"a document of type {source.get('media_type')} is no text in base64: {error}") from error


def _is_text(media_type: str) -> bool:
    return media_type.startswith("text/") or media_type == "application/json"


# Anthropic


def _anthropic(messages: list[dict[str, Any]], tools: Sequence[dict[str, Any]], search: bool) -> dict[str, Any]:
    said = [message for message in messages if message.get("role") != "system"]
    marked = [number for number, message in enumerate(said) if message.get("cache") is True][-_MARKS:]
    body: dict[str, Any] = {
        "max_tokens": 8192,
        "stream": True,
        "messages": [_anthropic_message(message, number in marked) for number, message in enumerate(said)],
        "tools": [_renamed(tool, "input_schema") for tool in tools],
    }
    if search:
        body["tools"].append({"type": "web_search_20250305", "name": "web_search"})
    system = [block["text"] for message in messages if message.get("role") == "system" for block in _blocks(message)]
    if any(message.get("role") == "system" for message in messages):
        body["system"] = _BETWEEN_SYSTEMS.join(system)
    return body


def _anthropic_message(message: dict[str, Any], marked: bool) -> dict[str, Any]:
    content = [_anthropic_block(block) for block in _blocks(message)]
    if marked and content:
        content[-1] = {**content[-1], "cache_control": {"type": "ephemeral"}}
    return {**{key: value for key, value in message.items() if key != "cache"}, "content": content}


def _anthropic_block(block: dict[str, Any]) -> dict[str, Any]:
    match block.get("type"):
        case "tool_result":
            content = [{"type": part["type"], "text": part["text"]} for part in block["content"]]
            return {"type": "tool_result", "tool_use_id": block["tool_use_id"], "content": content}
        case "document":
            kind = text_of(block["source"].get("media_type"))
            if _is_text(kind):
                return {"type": "text", "text": _decoded(block["source"])}
            if kind.startswith("image/"):
                return {"type": "image", "source": block["source"]}
    return block


def _renamed(tool: dict[str, Any], schema: str) -> dict[str, Any]:
    kept = {key: value for key, value in tool.items() if key not in ("annotations", "outputSchema")}
    return {schema if key == "inputSchema" else key: value for key, value in kept.items()}


# OpenAI, Cerebras, Cohere


def _chat(
    provider: str, messages: list[dict[str, Any]], tools: Sequence[dict[str, Any]], search: bool
) -> dict[str, Any]:
    title = _TITLES[provider]
    if search:
        raise UnspoolError(f"{title} does not support built-in search capabilities")
    return {
        "stream": True,
        "messages": [written for message in messages for written in _chat_messages(provider, message)],
        "tools": [_function(tool, provider) for tool in tools],
    }


def _chat_messages(provider: str, message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    blocks = _blocks(message)
    results = [block for block in blocks if block.get("type") == "tool_result"]
    if calls := [block for block in blocks if block.get("type") == "tool_use"]:
        said: str | None = "".join(_texts(message))
        if not said and provider == "cohere":
            said = None
        yield {"role": "assistant", "content": said, "tool_calls": [_call(block) for block in calls]}
    elif results:
        for block in results:
            text = "".join(part["text"] for part in block["content"])
            yield {"role": "tool", "tool_call_id": block["tool_use_id"], "content": text}
    elif documents := [block for block in blocks if block.get("type") == "document"]:
        parts: list[dict[str, Any]] = [{"type": "text", "text": text} for text in _texts(message)]
        yield {"role": message["role"], "content": parts + [_file(provider, block["source"]) for block in documents]}
    else:
        yield {"role": message["role"], "content": "".join(_texts(message))}


def _call(block: dict[str, Any]) -> dict[str, Any]:
    function = {"name": block["name"], "arguments": dumps(block["input"])}
    return {"id": block["id"], "type": "function", "function": function}


def _file(provider: str, source: dict[str, Any]) -> dict[str, Any]:
    kind = text_of(source.get("media_type"))
    url = f"data:{kind};base64,{source['data']}"
    if kind.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    if kind == "application/pdf" and provider != "cohere":
        return {"type": "file", "file": {"filename": "document.pdf", "file_data": url}}
    raise UnspoolError(f"{_TITLES[provider]} does not support document type: {kind}")


def _function(tool: dict[str, Any], provider: str) -> dict[str, Any]:
    schema = _without_anywhere(tool["inputSchema"]) if provider == "cerebras" else tool["inputSchema"]
    about = {"name": tool["name"], "description": tool.get("description"), "parameters": schema}
    return {"type": "function", "function": about}


def _without_anywhere(value: Any) -> Any:
    """Properties that are so called go too: it looks at keys alone."""
    if isinstance(value, dict):
        return {key: _without_anywhere(inner) for key, inner in value.items() if key not in _REFUSED_BY_CEREBRAS}
    return [_without_anywhere(inner) for inner in value] if isinstance(value, list) else value


# Gemini


def _gemini(messages: list[dict[str, Any]], tools: Sequence[dict[str, Any]], search: bool) -> dict[str, Any]:
    if search and tools:
        raise UnspoolError(_SEARCH_AND_TOOLS)
    said = [message for message in messages if message.get("role") != "system"]
    system = [block for message in messages if message.get("role") == "system" for block in _blocks(message)]
    body: dict[str, Any] = {
        "contents": [
            {
                "role": "model" if message["role"] == "assistant" else message["role"],
                "parts": [_part(block) for block in _blocks(message)],
            }
            for message in said
        ]
    }
    if len(said) < len(messages):
        parts = [{key: value for key, value in block.items() if key != "type"} for block in system]
        body["systemInstruction"] = {"parts": parts}
    body["generationConfig"] = {"temperature": 1, "topP": 0.95, "maxOutputTokens": 81920}
    if tools:
        body["tools"] = [{"functionDeclarations": [_declaration(tool) for tool in tools]}]
    elif search:
        body["tools"] = [{"google_search": {}}]
    return body


def _part(block: dict[str, Any]) -> dict[str, Any]:
    match block.get("type"):
        case "text":
            return {"text": block["text"]}
        case "tool_use":
            return {"functionCall": {"name": block["name"], "args": block.get("input") or {}}}
        case "tool_result":
            return {"functionResponse": {"name": block["name"], "response": block["content"][0]}}
        case "document":
            kind = text_of(block["source"].get("media_type"))
            if _is_text(kind):
                return {"text": _decoded(block["source"])}
            if kind.startswith("image/") or kind == "application/pdf":
                return {"inline_data": {"mime_type": kind, "data": block["source"]["data"]}}
            return {"text": f"[Document: {kind} - content not directly supported by Gemini]"}
    raise WrongContext(f"gpt2099 knows no block of type {block.get('type')}")


def _declaration(tool: dict[str, Any]) -> dict[str, Any]:
    declared = _renamed(tool, "parameters")
    schema = declared["parameters"]
    kept = {key: value for key, value in schema.items() if key not in ("additionalProperties", "examples", "$schema")}
    kept["properties"] = {name: _property(inner) for name, inner in schema["properties"].items()}
    return {**declared, "parameters": kept}


def _property(schema: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in schema.items() if key != "format"}
    if isinstance(items := kept.get("items"), dict):
        kept["items"] = {key: value for key, value in items.items() if key != "additionalProperties"}
    return kept
