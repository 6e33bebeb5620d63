"""Gemini Interactions: `input` of steps, and `steps` (at first `outputs`) back; the provider may hold what came before.

Each step is a message of its own: what the user said, what the model said, thought or called, and what a call gave.
"""

import re
from typing import Any

from unspool.dialect import PATH, SHAPE, Signs, Wire
from unspool.sources.values import mapping, text_of
from unspool.wires.interactions.decode import answer, decode, tools
from unspool.wires.interactions.fold import fold

_MARKS = re.compile(rb'"type"\s*:\s*"(?:user_input|model_output|function_result|thought)"')


def claims(signs: Signs) -> int:
    request = signs.request
    strength = 0
    if re.search(r"/interactions(\?|$)", signs.path):
        strength += PATH
    if "previous_interaction_id" in request or ("input" in request and "system_instruction" in request):
        strength += 2 * SHAPE
    return strength


def answers(body: Any) -> int:
    response = mapping(body)
    if response.get("object") == "interaction" or text_of(response.get("event_type")).startswith("interaction."):
        return 2 * SHAPE  # an `input` alone speaks for Responses
    return 0


wire = Wire(
    name="interactions",
    claims=claims,
    answers=answers,
    tool_marks=(),
    marks=_MARKS,
    heads=("system_instruction",),
    items="input",
    decode=decode,
    tools=tools,
    tool_keys=("tools",),
    answer=answer,
    fold=fold,
)
