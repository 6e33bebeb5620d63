"""Cohere Chat, version 2: messages much like those of Chat Completions, with a plan beside the calls.

Answers hold typed parts (text, thinking), citations and `tool_plan`; a stream's events are named `content-delta`, ….
Version 1 is read too: the text of a message is its `message`, calls have no ids, an answer is one `text`.
"""

import re
from typing import Any

from unspool.dialect import PATH, SHAPE, Signs, Wire
from unspool.sources.values import listing, mapping, text_of
from unspool.wires.cohere.decode import answer, decode, tools
from unspool.wires.cohere.fold import EVENTS, fold

_MARKS = re.compile(rb'"role"\s*:\s*"(?:USER|CHATBOT|TOOL)"\s*,\s*"(?:message|tool_results)"\s*:')
_OWN_KEYS = {"preamble", "citation_options"}
_FINISHED = ("COMPLETE", "STOP_SEQUENCE", "MAX_TOKENS", "TOOL_CALL")


def claims(signs: Signs) -> int:
    strength = 0
    if found := re.search(r"/v([12])/chat(\?|$)", signs.path):
        strength += PATH if found[1] == "2" else SHAPE  # others have version 1 of their own
    if not _OWN_KEYS.isdisjoint(signs.request):
        strength += SHAPE
    return strength


def answers(body: Any) -> int:
    response = mapping(body)
    finished = "message" in response and response.get("finish_reason") in _FINISHED
    return SHAPE if finished or text_of(response.get("type")) in EVENTS or "generation_id" in response else 0


def owns(item: Any) -> bool:
    """Whether a message makes or answers calls, or thinks in a part of its content; or a tool is a function."""
    if not isinstance(item, dict):
        return False
    thinks = any(isinstance(mapping(part).get("thinking"), str) for part in listing(item.get("content")))
    makes_or_answers = item.get("role") in ("tool", "TOOL") or bool(item.get("tool_calls"))
    return thinks or makes_or_answers or isinstance(item.get("function"), dict)


wire = Wire(
    name="cohere",
    claims=claims,
    answers=answers,
    tool_marks=(),
    marks=_MARKS,
    heads=("preamble",),
    items="messages",
    decode=decode,
    tools=tools,
    tool_keys=("tools",),
    answer=answer,
    fold=fold,
    owns=owns,
)
