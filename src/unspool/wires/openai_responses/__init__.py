"""OpenAI Responses: `instructions`, `input` of items, `output` of items.

Each item is a message of its own. Calls and their outputs are items; what the provider runs itself (web search, code
interpreter, remote MCP) is one item that holds call and result.
"""

from typing import Any

from unspool.dialect import PATH, SHAPE, Signs, Wire
from unspool.sources.values import mapping, text_of
from unspool.wires.openai_responses.decode import answer, tools
from unspool.wires.openai_responses.fold import fold
from unspool.wires.openai_responses.items import decode


def claims(signs: Signs) -> int:
    request = signs.request
    strength = 0
    if "/responses" in signs.path:
        strength += PATH
    if ("input" in request and "messages" not in request) or "previous_response_id" in request:
        strength += SHAPE
    if "instructions" in request and "messages" not in request and "contents" not in request:
        strength += SHAPE
    return strength


def answers(body: Any) -> int:
    response = mapping(body)
    if (
        response.get("object") == "response"
        or isinstance(response.get("output"), list)
        or text_of(response.get("type")).startswith("response.")
    ):
        return SHAPE
    return 0


wire = Wire(
    name="responses",
    claims=claims,
    answers=answers,
    tool_marks=(),
    marks=None,
    heads=("instructions",),
    items="input",
    decode=decode,
    tools=tools,
    tool_keys=("tools",),
    answer=answer,
    fold=fold,
)
