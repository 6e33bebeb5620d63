"""OpenAI Chat Completions, and the many hosts that speak it: Azure, OpenRouter, Groq, Mistral, Together, DeepSeek, …

A tool result is a message of its own here (role `tool`); a call's arguments are JSON in a string. The oldest form
(`functions`, `function_call`, role `function`), legacy completions (`prompt`, `choices[].text`) and Ollama's own API
are read too.
"""

import re
from typing import Any

from unspool.dialect import PATH, SHAPE, Signs, Wire
from unspool.sources.values import mapping, text_of
from unspool.wires.openai_chat import ollama
from unspool.wires.openai_chat.decode import answer, decode, tools
from unspool.wires.openai_chat.fold import fold

_MARKS = re.compile(rb'"tool_call(?:s|_id)"\s*:|"role"\s*:\s*"tool"')

_OLLAMA = re.compile(r"/api/(chat|generate)(\?|$)")


def claims(signs: Signs) -> int:
    return PATH if "/completions" in signs.path or _OLLAMA.search(signs.path) else 0


def answers(body: Any) -> int:
    response = mapping(body)
    if (
        "choices" in response
        or ollama.speaks(response)
        or text_of(response.get("object")).startswith(("chat.completion", "text_completion"))
    ):
        return SHAPE
    return 0


def owns(item: Any) -> bool:
    """Whether a message makes or answers calls beside its content, or a tool has its definition in `function`."""
    if not isinstance(item, dict):
        return False
    makes_or_answers = item.get("role") in ("tool", "function") or bool(item.get("tool_calls"))
    return makes_or_answers or isinstance(item.get("function"), dict)


wire = Wire(
    name="openai",
    claims=claims,
    answers=answers,
    tool_marks=(b'"function":',),
    marks=_MARKS,
    heads=("system", "prompt"),
    items="messages",
    decode=decode,
    tools=tools,
    tool_keys=("tools", "functions"),
    answer=answer,
    fold=fold,
    owns=owns,
)
