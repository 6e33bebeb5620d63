"""What must stand in every text that a regular expression matches, told from the expression itself.

foo.*bar          foo and bar
(?:un)?read \\d+   read
passed|failed     passed, or else failed
"""

import re

_WORD = re.compile(r"\w", re.ASCII)
_TIMES = re.compile(r"\{\d*,?\d*\}")
_CODE = re.compile(r"\\(?:x..|[0-9]+|.)", re.DOTALL)
_CLASS = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*\]", re.DOTALL)
_GROUP = re.compile(r"\((?:\?(?::|>|P<\w+>))?(?!\?)")
_ASIDE = re.compile(r"\(\?(?:<?[=!])")
"""It looks ahead or back, and what it looks at need not stand there."""


class _Unclear(Exception):
    """The expression holds what is not understood here: flags, conditions, references by name."""


def alternatives(expression: str) -> list[list[str]] | None:
    """Runs of letters, digits and underscores: of one of the lists, all stand in whatever matches. None if unclear."""
    try:
        found, end = _alternatives(expression, 0)
    except (_Unclear, RecursionError):
        return None
    return found if end == len(expression) else None


def _alternatives(text: str, at: int) -> tuple[list[list[str]], int]:
    """Up to the bracket that closes the group, or to the end."""
    found: list[list[str]] = []
    while True:
        runs, at = _sequence(text, at)
        found.append(runs)
        if text[at : at + 1] != "|":
            return found, at
        at += 1


def _sequence(text: str, at: int) -> tuple[list[str], int]:
    runs, run = [], ""
    while at < len(text) and text[at] not in "|)":
        held, end = _piece(text, at)
        optional, behind = _quantifier(text, end)
        if held is None and behind == end:  # a letter that stands once
            run, at = run + text[at], end
            continue
        if held is None:
            held = [] if optional else [text[at]]
        runs += [run, *([] if optional else held)]
        run, at = "", behind
    return [each for each in [*runs, run] if each], at


def _piece(text: str, at: int) -> tuple[list[str] | None, int]:
    """The runs of what begins here, and where it ends; None for a letter."""
    if _WORD.match(text, at):
        return None, at + 1
    if text[at] == "\\":
        code = _CODE.match(text, at)
        return [], code.end() if code else len(text)
    if text[at] == "[":
        found = _CLASS.match(text, at)
        return [], found.end() if found else len(text)
    if text[at] != "(":
        return [], at + 1
    aside = _ASIDE.match(text, at)
    opened = aside or _GROUP.match(text, at)
    if opened is None:
        raise _Unclear
    inner, end = _alternatives(text, opened.end())
    if text[end : end + 1] != ")":
        raise _Unclear
    return [] if aside or len(inner) > 1 else inner[0], end + 1


def _quantifier(text: str, at: int) -> tuple[bool, int]:
    """Whether what stands before it may be missing, and where it ends, which is here if there is none."""
    optional, end = False, at
    while end < len(text):
        if text[end] in "*?+":
            optional, end = optional or (text[end] != "+"), end + 1
        elif times := _TIMES.match(text, end):
            optional, end = True, times.end()
        else:
            break
    return optional, end
