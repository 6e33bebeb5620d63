"""Anthropic Messages: `system`, `messages` of typed blocks, `tools` with `input_schema`.

Also Claude on Bedrock and Vertex (`anthropic_version` in the body), Bedrock's Converse, whatever the model, and the API
before this one (`prompt`, `completion`).
"""

import re
from typing import Any

from msgspec import Raw

from unspool.dialect import CERTAIN, HINT, PATH, SHAPE, Signs, Wire
from unspool.sources.jsontext import loads_or_text
from unspool.sources.values import listing, mapping
from unspool.wires.anthropic.decode import answer, decode, tools
from unspool.wires.anthropic.fold import EVENTS, fold

_MARKS = re.compile(
    rb'"type"\s*:\s*"(?:(?:server_)?tool_use|tool_result|(?:redacted_)?thinking)"|"source"\s*:\s*\{\s*"type"'
)


_PATHS = re.compile(r"/messages(/|\?|$)|/model/[^/]+/converse|/model/([\w-]+\.)?anthropic\.|/v1/complete(\?|$)")
_ANSWERS = ("message", "completion", *EVENTS)
_OWN_KEYS = {"system", "anthropic_version", "thinking", "inferenceConfig", "schemaVersion", "max_tokens_to_sample"}


def claims(signs: Signs) -> int:
    request = signs.request
    strength = 0
    if _PATHS.search(signs.path):
        strength += PATH
    if isinstance(request.get("system"), list):
        strength += CERTAIN
    if not _OWN_KEYS.isdisjoint(request):
        strength += SHAPE
    if _has_schema(next(iter(listing(request.get("tools"))), None)):
        strength += PATH
    if "messages" in request and str(request.get("model")).startswith("claude-"):
        strength += HINT
    return strength


def answers(body: Any) -> int:
    response = mapping(body)
    kind = response.get("type")
    if kind in _ANSWERS or isinstance(response.get("content"), list):
        return SHAPE
    if kind == "error":
        return HINT
    return SHAPE if _is_converse(response) else 0


def _has_schema(tool: Any) -> bool:
    """Whether a tool is described as Anthropic does it. Others may have such a key deeper inside."""
    if isinstance(tool, Raw):
        written = bytes(tool)
        tool = loads_or_text(written) if b'"input_schema"' in written else None
    return isinstance(tool, dict) and "input_schema" in tool


_KINDS = frozenset({"tool_use", "tool_result", "server_tool_use", "mcp_tool_use", "redacted_thinking"})


def owns(item: Any) -> bool:
    """Whether a message holds blocks, or a tool a key, that only this API has."""
    return isinstance(item, dict) and ("input_schema" in item or any(map(_is_own, listing(item.get("content")))))


def _is_own(block: Any) -> bool:
    match block:
        case {"type": "thinking", "thinking": str()}:  # Mistral's are lists
            return True
        case {"type": "image" | "document", "source": dict()}:
            return True
        case {"type": str(kind)}:
            return kind in _KINDS
    return False


def _is_converse(response: dict[str, Any]) -> bool:
    return "stopReason" in response or "messageStart" in response or "message" in mapping(response.get("output"))


wire = Wire(
    name="claude",
    claims=claims,
    answers=answers,
    tool_marks=(b'"input_schema"', b'"toolSpec"'),
    marks=_MARKS,
    heads=("system", "prompt"),
    items="messages",
    decode=decode,
    tools=tools,
    tool_keys=("tools",),
    answer=answer,
    fold=fold,
    owns=owns,
)
