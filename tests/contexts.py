"""What tests of providers share: contexts, the environment of a model server, bodies."""

import json
from collections.abc import Sequence
from typing import Any

from unspool.dialect import Asking
from unspool.model import Context, Tool
from unspool.providers.config import Config, target_of
from unspool.wires import speaker_for
from unspool.wires.normalised import read_context

POINT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""A picture of one point."""
PROVIDERS = ("anthropic", "openai", "openai-responses", "gemini", "cohere")
LOOK = Tool(
    "yard___look",
    "Look at a place",
    {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
)


def says(role: str, *content: Any, **rest: Any) -> dict[str, Any]:
    blocks = [{"type": "text", "text": block} if isinstance(block, str) else block for block in content]
    return {"role": role, "content": blocks, **rest}


def called(id_: str | None, name: str = "yard___look", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": given, **({"id": id_} if id_ else {})}


def result(id_: str | None, *content: Any, **rest: Any) -> dict[str, Any]:
    blocks = [{"type": "text", "text": block} if isinstance(block, str) else block for block in content]
    return {"type": "tool_result", "content": blocks, **({"tool_use_id": id_} if id_ else {}), **rest}


def paper(media_type: str, data: str = POINT, **rest: Any) -> dict[str, Any]:
    return {"type": "document", "source": {"type": "base64", "media_type": media_type, "data": data}, **rest}


def context(*messages: dict[str, Any], **options: Any) -> Context:
    return read_context({"messages": list(messages), "options": options})


def prepared(
    provider: str, given: Context, tools: Sequence[Tool] = (), model: str | None = "tin-1", lenient: bool = False
) -> tuple[dict[str, Any], list[str]]:
    """The body, and the warnings."""
    name = f"{provider}/{model}" if model else provider
    asking: Asking = target_of(name, Config(), model_needed=False).asking(lenient)
    return speaker_for(asking.api).prepare(given, tools, asking), asking.warnings


def body(provider: str, given: Context, tools: Sequence[Tool] = (), **rest: Any) -> dict[str, Any]:
    return prepared(provider, given, tools, **rest)[0]


def key(provider: str) -> str:
    """What a test has in place of a key."""
    return "-".join(("not", "a", provider, "key"))


def environment(url: str) -> dict[str, str]:
    """Every provider is at this address, and has a key."""
    return {
        "ANTHROPIC_BASE_URL": url,
        "OPENAI_BASE_URL": f"{url}/v1",
        "GOOGLE_GEMINI_BASE_URL": url,
        "CO_API_URL": url,
        "ANTHROPIC_API_KEY": key("anthropic"),
        "OPENAI_API_KEY": key("openai"),
        "GEMINI_API_KEY": key("gemini"),
        "CO_API_KEY": key("cohere"),
    }


def flat(value: Any) -> str:
    """JSON in which words stand as they are."""
    return json.dumps(value, ensure_ascii=False)
