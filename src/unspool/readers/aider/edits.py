"""Edits in what a model said. Aider's models call no tools: they write down what a file should become.

src/main.py                    src/main.py                  --- src/main.py
<<<<<<< SEARCH                 ```                          +++ src/main.py
before                         all of the file              @@ … @@
=======                        ```                          -before
after                                                       +after
>>>>>>> REPLACE
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from unspool.model import Action
from unspool.model.action import FileEdit, FileWrite, Hunk

_SEARCH = re.compile(r"<{5,9} (?:SEARCH|ORIGINAL)>?\s*")
_DIVIDER = re.compile(r"={5,9}\s*")
_REPLACE = re.compile(r">{5,9} (?:REPLACE|UPDATED)\s*")
_FENCE = re.compile(r"(`{3,}|~{3,}|</?(?:source|code|pre|codeblock|sourcecode)>)")
_DECORATION = " \t#*`:"


class Edit(Struct, frozen=True):
    path: str
    action: Action


def edits_in(text: str) -> list[Edit]:
    lines = text.split("\n")
    found = list(_blocks(lines))
    found += _patches(lines)
    return found


def whole_file(text: str, path: str) -> Edit | None:
    """The file that stands below its own name, between fences. Any code does, so the name must be known."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if line.strip(_DECORATION) == path and at + 1 < len(lines) and (fence := _FENCE.match(lines[at + 1])):
            body: list[str] = []
            for inside in lines[at + 2 :]:
                if inside.rstrip() in (fence[1], fence[1].replace("<", "</")):
                    break
                body.append(inside)
            return Edit(path, FileWrite(path, "".join(f"{kept}\n" for kept in body)))
    return None


def _blocks(lines: list[str]) -> Iterator[Edit]:
    at, path = 0, ""
    while at < len(lines):
        if not _SEARCH.fullmatch(lines[at]):
            at += 1
            continue
        path = _named(lines, at) or path
        middle = _next(lines, at + 1, _DIVIDER)
        end = _next(lines, middle + 1, _REPLACE)
        if end >= len(lines):
            return
        before, after = lines[at + 1 : middle], lines[middle + 1 : end]
        action = FileEdit(path, "".join(f"{line}\n" for line in before), "".join(f"{line}\n" for line in after), False)
        yield Edit(path, action)
        at = end + 1


def _named(lines: list[str], at: int) -> str | None:
    """The name of the file: above the block, or above the fence that it stands in."""
    for line in reversed(lines[max(0, at - 3) : at]):
        if _FENCE.match(line):
            continue
        name = line.strip(_DECORATION)
        return name if name and not _REPLACE.fullmatch(line) else None
    return None


def _next(lines: list[str], at: int, mark: re.Pattern[str]) -> int:
    while at < len(lines) and not mark.fullmatch(lines[at]):
        at += 1
    return at


def _patches(lines: list[str]) -> Iterator[Edit]:
    at = 0
    while at + 1 < len(lines):
        if not (lines[at].startswith("--- ") and lines[at + 1].startswith("+++ ")):
            at += 1
            continue
        path = lines[at + 1][4:].strip()
        path = lines[at][4:].strip() if path == "/dev/null" else path
        hunks: list[Hunk] = []
        body: list[str] = []
        at += 2
        while at < len(lines) and lines[at][:1] in ("@", " ", "-", "+", "") and not lines[at].startswith("--- "):
            if lines[at].startswith("@@"):
                hunks += [Hunk(tuple(body))] if body else []
                body = []
            else:
                body.append(lines[at] or " ")
            at += 1
        hunks += [Hunk(tuple(body))] if body else []
        changed = [line[:1] for hunk in hunks for line in hunk.lines]
        action = FileEdit(path, "", "", False, tuple(hunks), changed.count("+"), changed.count("-"))
        yield Edit(path, action)
