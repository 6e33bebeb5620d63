"""Responses tools, answers and usage → the model."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from unspool.model import CacheMiss, Message, Response, Stop, StopReason, Text, Thinking, Tool, Usage
from unspool.sources.values import count, listing, mapping, string, text_of
from unspool.wires.openai_responses.items import CLIENT_CALLS, decode, runs_at_provider
from unspool.wires.values import leftover, misfits

_INCOMPLETE: dict[str, StopReason] = {
    "max_output_tokens": "max_tokens",
    "max_messages": "max_tokens",
    "content_filter": "refusal",
    "steered": "pause",
}
_FAILED: dict[str, StopReason] = {"context_length_exceeded": "context_exceeded"}
_CLIENT_TOOLS = ("function", "custom", "local_shell", "shell", "apply_patch", "computer", "computer_use_preview")


def tools(value: Any) -> Iterator[Tool]:
    match mapping(value):
        case {"type": "namespace", "tools": list(inner), **rest}:
            for tool in inner:
                for found in tools(tool) if isinstance(tool, dict) else (Tool("", extra={"definition": tool}),):
                    yield replace(found, extra={**(found.extra or {}), "namespace": rest})
        case {"function": dict(function), **rest}:  # the shape of Chat Completions, which some hosts take too
            yield from tools({**rest, **function})
        case {"name": str(name), **rest}:
            extra = {**(leftover(rest, "description", "parameters") or {}), **misfits(rest, parameters=dict)}
            if rest.get("type") == "function":
                del extra["type"]
            yield Tool(
                name,
                text_of(rest.get("description")),
                mapping(rest.get("parameters")),
                _at_provider(rest),
                extra or None,
            )
        case {"type": str(kind), **rest}:
            name = string(rest.get("server_label")) or kind
            said = text_of(rest.get("server_description") or rest.get("description"))
            yield Tool(name, said, mapping(rest.get("parameters")), _at_provider(value), value)


def _at_provider(tool: dict[str, Any]) -> bool:
    if text_of(mapping(tool.get("environment")).get("type")).startswith("container"):
        return True
    return tool.get("type", "function") not in _CLIENT_TOOLS and tool.get("execution") != "client"


def answer(body: dict[str, Any]) -> Response:
    messages = tuple(decode("input", item) for item in listing(body.get("output")))
    return Response(
        _with_thoughts(messages, body.get("reasoning")),
        id=string(body.get("id")),
        model=string(body.get("model")),
        stop=_stop(body),
        usage=usage_of(body.get("usage")),
        cache_miss=_cache_miss(body.get("prompt_cache_diagnostics")),
        # The request's own settings and tools come back in the answer; they are the request's.
        extra={
            **(leftover(body, "output", "id", "model", "usage", "tools", "instructions") or {}),
            **misfits(body, output=list, usage=dict),
        }
        or None,
    )


def _with_thoughts(messages: tuple[Message, ...], thoughts: Any) -> tuple[Message, ...]:
    """Some hosts (mistral.rs) tell the thoughts beside the items, where others repeat how much was to be thought."""
    if not messages or not isinstance(thoughts, str) or not thoughts.strip():
        return messages
    if any(isinstance(block, Thinking) for message in messages for block in message.blocks):
        return messages
    first, *rest = messages
    return replace(first, blocks=(Thinking(thoughts, extra={"key": "reasoning"}), *first.blocks)), *rest


def _stop(body: dict[str, Any]) -> Stop | None:
    status = string(body.get("status"))
    match status:
        case "completed":
            return Stop(_completed([mapping(item) for item in listing(body.get("output"))]), status)
        case "incomplete":
            why = text_of(mapping(body.get("incomplete_details")).get("reason")) or status
            return Stop(_INCOMPLETE.get(why, "other"), why, body.get("incomplete_details"))
        case "failed" | "cancelled":
            code = text_of(mapping(body.get("error")).get("code"))
            return Stop(_FAILED.get(code, "error"), code or status, body.get("error"))
    return None


def _completed(output: list[dict[str, Any]]) -> StopReason:
    """The API says only that it is done: what it waits for is seen in its last items."""
    kinds = [text_of(item.get("type")) for item in output]
    answered = {text_of(item.get("call_id")) for item in output if text_of(item.get("type")).endswith("_output")} - {""}
    calls = [item for kind, item in zip(kinds, output, strict=True) if kind in CLIENT_CALLS]
    if any(not runs_at_provider(item) and text_of(item.get("call_id")) not in answered for item in calls):
        return "tool_use"
    if "mcp_approval_request" in kinds:
        return "pause"
    said = [block for item in output for block in decode("input", item).blocks if isinstance(block, Text)]
    return "refusal" if said and all(block.refusal for block in said) else "end_turn"


def _cache_miss(diagnostics: Any) -> CacheMiss | None:
    """Return OpenAI's reason for a cache miss, or that it has none to give; None for a hit."""
    told = mapping(diagnostics)
    kind = text_of(told.get("reason")) or text_of(told.get("type"))
    if not kind or told.get("type") == "cache_hit":
        return None
    return CacheMiss(kind, count(told.get("cache_missed_tokens")) or None)


def usage_of(raw: Any) -> Usage | None:
    """Input includes what the cache read and wrote."""
    if not isinstance(raw, dict):
        return None
    details = mapping(raw.get("input_tokens_details"))
    read = count(details.get("cached_tokens"))
    written = count(details.get("cache_write_tokens") or details.get("cache_creation_input_tokens"))  # Perplexity
    lasting = mapping(details.get("cache_write_tokens_details"))
    prompt, output = count(raw.get("input_tokens")), count(raw.get("output_tokens"))
    prompt = prompt or count(raw.get("prompt_tokens"))  # embeddings, whose requests look like those of this API
    reasoning = count(mapping(raw.get("output_tokens_details")).get("reasoning_tokens"))
    apart = reasoning if prompt + output + reasoning == count(raw.get("total_tokens")) else 0  # some hosts' excludes it
    return Usage(
        input=max(prompt - read - written, 0),
        cache_read=read,
        cache_write=written,
        output=output + apart,
        reasoning=reasoning,
        cache_write_1h=min(count(lasting.get("ttl_12h_tokens")), written),
        raw=raw,
    )
