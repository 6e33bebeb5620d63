"""Anthropic Messages: `system`, `messages` of typed blocks, `tools` with `input_schema`.

Also Claude on Bedrock and Vertex (`anthropic_version` in the body), and Bedrock's untyped `{"text": …}` blocks.
"""

import re

from unspool.dialect import HINT, PATH, SHAPE, Signs, Wire
from unspool.sources.values import mapping
from unspool.wires.anthropic.decode import answer, decode, tools
from unspool.wires.anthropic.fold import EVENTS, fold

_MARKS = re.compile(
    rb'"type"\s*:\s*"(?:(?:server_)?tool_use|tool_result|(?:redacted_)?thinking)"|"source"\s*:\s*\{\s*"type"'
)


def claims(signs: Signs) -> int:
    request, response = signs.request, mapping(signs.response)
    strength = 0
    if re.search(r"/messages(/|\?|$)", signs.path) or "/model/anthropic." in signs.path:
        strength += PATH
    if response.get("type") in ("message", *EVENTS) or isinstance(response.get("content"), list):
        strength += SHAPE
    elif response.get("type") == "error":
        strength += HINT
    if not {"system", "anthropic_version", "thinking"}.isdisjoint(request):
        strength += SHAPE
    if "messages" in request and str(request.get("model")).startswith("claude-"):
        strength += HINT
    return strength


wire = Wire(
    name="claude",
    claims=claims,
    tool_marks=(b'"input_schema"',),
    marks=_MARKS,
    heads=("system",),
    items="messages",
    decode=decode,
    tools=tools,
    tool_keys=("tools",),
    answer=answer,
    fold=fold,
)
