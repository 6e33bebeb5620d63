"""Thoughts in what a model said: between tags, or between headings as Aider prints them.

<think> … </think>        <thinking-content-7bbe…> … </thinking-content-7bbe…>

--------------
► **THINKING**
…
--------------
► **ANSWER**
"""

import re
from bisect import bisect_left

_MARK = re.compile(r"<(/?)(think(?:ing(?:-content-[0-9a-f]++)?)?)>|► \*\*(THINKING|ANSWER)\*\*")
_THINKING, _ANSWER = "THINKING", "ANSWER"


def parted(text: str) -> tuple[str, list[str]]:
    """What was said, and what was thought. What nobody closed is no thought."""
    marks = list(_MARK.finditer(text))
    closings: dict[str, list[int]] = {}
    """Which of the marks close what."""
    for at, mark in enumerate(marks):
        if mark[1]:
            closings.setdefault(mark[2], []).append(at)
        elif mark[3] == _ANSWER:
            closings.setdefault(_THINKING, []).append(at)
    said: list[str] = []
    thoughts: list[str] = []
    at = behind = 0
    while at < len(marks):
        opening = marks[at]
        ends = closings.get(opening[2] or _THINKING, []) if not opening[1] and opening[3] != _ANSWER else []
        next_end = bisect_left(ends, at)
        if next_end == len(ends):
            at += 1
            continue
        at = ends[next_end]
        begin, end = opening.start(), marks[at].start()
        said.append(text[behind : _ruled(text, begin) if opening[3] else begin])
        thoughts.append(text[opening.end() : _ruled(text, end) if opening[3] else end].strip())
        behind = _rest(text, marks[at].end())
        at += 1
    return "".join([*said, text[behind:]]), thoughts


def _rest(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _ruled(text: str, at: int) -> int:
    """Where a heading begins together with the line of dashes above it."""
    if not text.endswith("\n", 0, at):
        return at
    end = at - 1
    while end and text[end - 1] == "-":
        end -= 1
    return end if end < at - 1 else at
