"""The instructions of a skill in a message of the user: Copilot CLI puts them there, around what was typed or instead.

A skill that was called by its name reads `The user explicitly invoked the "/name" skill. …`, then
`<skill-context name="name">…ARGUMENTS: what was typed behind it</skill-context>`.
"""

import re

from unspool.model.event import SlashCommand

_BEGIN, _END = '<skill-context name="', "</skill-context>"
_INVOKED = re.compile(r'The user explicitly invoked the "/?([^"\n]+)" skill\.')
_ARGUMENTS = "\nARGUMENTS:"


def skill_of(text: str) -> tuple[SlashCommand | None, str, str]:
    """The command that was typed, what else was typed, and what Copilot CLI put there."""
    begin, end = text.find(_BEGIN), text.rfind(_END)
    if begin < 0 or text[begin - 1 : begin] not in ("", "\n") or (end < begin and begin):
        return None, text, ""
    end = end + len(_END) if end > begin else len(text)
    block, rest = text[begin:end], text[end:].strip()
    before = text[:begin].strip()
    if invoked := _INVOKED.match(before):
        given = block.removesuffix(_END).rpartition(_ARGUMENTS)
        args = given[2].strip() if given[1] else ""
        return SlashCommand(f"/{invoked[1]}", args or None), rest, f"{before}\n\n{block}"
    return None, "\n\n".join(filter(None, (before, rest))), block
