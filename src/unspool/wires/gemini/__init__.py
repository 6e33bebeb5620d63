"""Gemini generateContent, on the Gemini API and on Vertex: `contents` of `parts`, camelCase or snake_case.

The model stands in the URL, a thought is a text part with a flag, any part may carry a signature, and calls often have
no id. A stream is SSE, or one JSON array of the same chunks.
"""

import re
from typing import Any

from unspool.dialect import PATH, SHAPE, Signs, Wire
from unspool.sources.values import mapping
from unspool.wires.gemini.decode import ANSWERS, answer, decode, tools, unwrapped
from unspool.wires.gemini.fold import fold

_OWN_KEYS = (
    "contents",
    "systemInstruction",
    "system_instruction",
    "generationConfig",
    "cachedContent",
    "safetySettings",
)

_TOOLS = (
    *(b'"functionDeclarations":', b'"function_declarations":', b'"googleSearch":', b'"google_search":'),
    *(b'"codeExecution":', b'"urlContext":', b'"url_context":'),
)


def claims(signs: Signs) -> int:
    strength = 0
    if re.search(r":(stream)?generateContent", signs.path, re.IGNORECASE):
        strength += PATH
    if any(key in signs.request for key in _OWN_KEYS):
        strength += SHAPE
    return strength


def answers(body: Any) -> int:
    response = body[0] if isinstance(body, list) and body else body
    return 0 if ANSWERS.isdisjoint(unwrapped(mapping(response))) else SHAPE


wire = Wire(
    name="gemini",
    claims=claims,
    answers=answers,
    tool_marks=_TOOLS,
    marks=None,
    heads=("systemInstruction", "system_instruction"),
    items="contents",
    decode=decode,
    tools=tools,
    tool_keys=("tools",),
    answer=answer,
    fold=fold,
)
