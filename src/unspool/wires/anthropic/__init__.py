"""Anthropic Messages: `system`, `messages` of typed blocks, `tools` with `input_schema`.

Also Claude on Bedrock and Vertex (`anthropic_version` in the body), Bedrock's Converse, whatever the model, and the API
before this one (`prompt`, `completion`).
"""

import re
from typing import Any

from unspool.dialect import HINT, PATH, SHAPE, Signs, Wire
from unspool.sources.values import mapping
from unspool.wires.anthropic.decode import answer, decode, tools
from unspool.wires.anthropic.fold import EVENTS, fold

_MARKS = re.compile(
    rb'"type"\s*:\s*"(?:(?:server_)?tool_use|tool_result|(?:redacted_)?thinking)"|"source"\s*:\s*\{\s*"type"'
)


_PATHS = re.compile(r"/messages(/|\?|$)|/model/[^/]+/converse|/model/([\w-]+\.)?anthropic\.|/v1/complete(\?|$)")
_OWN_KEYS = {"system", "anthropic_version", "thinking", "inferenceConfig", "schemaVersion", "max_tokens_to_sample"}


def claims(signs: Signs) -> int:
    request, response = signs.request, mapping(signs.response)
    strength = 0
    if _PATHS.search(signs.path):
        strength += PATH
    if response.get("type") in ("message", "completion", *EVENTS) or isinstance(response.get("content"), list):
        strength += SHAPE
    elif response.get("type") == "error":
        strength += HINT
    elif _is_converse(response):
        strength += SHAPE
    if not _OWN_KEYS.isdisjoint(request):
        strength += SHAPE
    if "messages" in request and str(request.get("model")).startswith("claude-"):
        strength += HINT
    return strength


def _is_converse(response: dict[str, Any]) -> bool:
    return "stopReason" in response or "messageStart" in response or "message" in mapping(response.get("output"))


wire = Wire(
    name="claude",
    claims=claims,
    tool_marks=(b'"input_schema"', b'"toolSpec"'),
    marks=_MARKS,
    heads=("system", "prompt"),
    items="messages",
    decode=decode,
    tools=tools,
    tool_keys=("tools",),
    answer=answer,
    fold=fold,
)
