"""Cohere Chat, version 2: messages much like those of Chat Completions, with a plan beside the calls.

Answers hold typed parts (text, thinking), citations and `tool_plan`; a stream's events are named `content-delta`, ….
Version 1 is read too: the text of a message is its `message`, calls have no ids, an answer is one `text`.
"""

import re

from unspool.dialect import PATH, SHAPE, Signs, Wire
from unspool.sources.values import mapping, text_of
from unspool.wires.cohere.decode import answer, decode, tools
from unspool.wires.cohere.fold import EVENTS, fold

_MARKS = re.compile(rb'"role"\s*:\s*"(?:USER|CHATBOT|TOOL)"\s*,\s*"(?:message|tool_results)"\s*:')
_OWN_KEYS = {"preamble", "citation_options"}
_FINISHED = ("COMPLETE", "STOP_SEQUENCE", "MAX_TOKENS", "TOOL_CALL")


def claims(signs: Signs) -> int:
    response = mapping(signs.response)
    strength = 0
    if found := re.search(r"/v([12])/chat(\?|$)", signs.path):
        strength += PATH if found[1] == "2" else SHAPE  # others have version 1 of their own
    finished = "message" in response and response.get("finish_reason") in _FINISHED
    if finished or text_of(response.get("type")) in EVENTS or "generation_id" in response:
        strength += SHAPE
    if not _OWN_KEYS.isdisjoint(signs.request):
        strength += SHAPE
    return strength


wire = Wire(
    name="cohere",
    claims=claims,
    tool_marks=(),
    marks=_MARKS,
    heads=("preamble",),
    items="messages",
    decode=decode,
    tools=tools,
    tool_keys=("tools",),
    answer=answer,
    fold=fold,
)
