"""OpenAI Chat Completions, and the many hosts that speak it: Azure, OpenRouter, Groq, Mistral, Together, DeepSeek, …

A tool result is a message of its own here (role `tool`); a call's arguments are JSON in a string. The oldest form
(`functions`, `function_call`, role `function`), legacy completions (`prompt`, `choices[].text`) and Ollama's own API
are read too.
"""

import re

from unspool.dialect import PATH, SHAPE, Signs, Wire
from unspool.sources.values import mapping, text_of
from unspool.wires.openai_chat import ollama
from unspool.wires.openai_chat.decode import answer, decode, tools
from unspool.wires.openai_chat.fold import fold

_MARKS = re.compile(rb'"tool_call(?:s|_id)"\s*:|"role"\s*:\s*"tool"')


def claims(signs: Signs) -> int:
    response = mapping(signs.response)
    strength = 0
    if "/completions" in signs.path or re.search(r"/api/(chat|generate)(\?|$)", signs.path):
        strength += PATH
    if (
        "choices" in response
        or ollama.speaks(response)
        or text_of(response.get("object")).startswith(("chat.completion", "text_completion"))
    ):
        strength += SHAPE
    return strength


wire = Wire(
    name="openai",
    claims=claims,
    tool_marks=(b'"function":',),
    marks=_MARKS,
    heads=("system", "prompt"),
    items="messages",
    decode=decode,
    tools=tools,
    tool_keys=("tools", "functions"),
    answer=answer,
    fold=fold,
)
