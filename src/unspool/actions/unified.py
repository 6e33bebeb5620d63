"""Unified diffs, as `git diff` and `diff -u` write them: from their text to actions on files.

diff --git a/old.py b/new.py
rename from old.py
rename to new.py
--- a/old.py
+++ b/new.py
@@ -1,2 +1,2 @@ def f():
 kept
-gone
+come
"""

import re

from msgspec import Struct

from unspool.actions.patch import edit, hunks_of
from unspool.model import Action
from unspool.model.action import FileDelete, FileMove, FileWrite

_HUNK = re.compile(r"@@ -\d+(?:,(\d{1,9}))? \+\d+(?:,(\d{1,9}))? @@")
_NO_FILE = "/dev/null"
_NO_NEWLINE = "\\"


class _File(Struct):
    """What a diff says of one file."""

    old: str = ""
    new: str = ""
    is_moved: bool = False
    lines: list[str] = []
    """The hunks, with their headers."""


def changes_of(diff: str, strip: int | None) -> list[Action]:
    """Return what a diff does to files, in order; nothing for a text that is not a unified diff.

    `strip` is how many folders are taken from the beginning of each path; None leaves only the name of the file.
    """
    return [action for file in _files(diff.split("\n")) for action in _actions(file, strip)]


def _files(lines: list[str]) -> list[_File]:
    files: list[_File] = []
    index = 0
    while index < len(lines):
        line = lines[index].removesuffix("\r")
        index += 1
        if line.startswith("diff --git "):
            files.append(_File())
        elif line.startswith(("rename from ", "rename to ")) and files:
            # These paths have no `a/` and `b/`, which are taken from all others.
            _, side, path = line.split(" ", 2)
            files[-1].is_moved = True
            setattr(files[-1], "old" if side == "from" else "new", f"{'a' if side == 'from' else 'b'}/{path}")
        elif line.startswith("--- ") and index < len(lines) and lines[index].startswith("+++ "):
            if not files or files[-1].lines or (files[-1].new and not files[-1].is_moved):
                files.append(_File())
            files[-1].old, files[-1].new = _path(line), _path(lines[index])
            index += 1
        elif files and files[-1].new and (header := _HUNK.match(line)):
            stop = _end(lines, index, int(header[1] or 1), int(header[2] or 1))
            files[-1].lines += [line, *lines[index:stop]]
            index = stop
    return files


def _end(lines: list[str], index: int, old: int, new: int) -> int:
    """Return where a hunk ends that has so many lines of the old file and of the new one."""
    while index < len(lines) and (old > 0 or new > 0 or lines[index][:1] == _NO_NEWLINE):
        sign = lines[index][:1]
        if sign not in ("+", "-", " ", "", _NO_NEWLINE, "\r"):
            break
        old -= sign not in ("+", _NO_NEWLINE)
        new -= sign not in ("-", _NO_NEWLINE)
        index += 1
    return index


def _path(line: str) -> str:
    """Return the path in a line `--- a/x.py<tab>time`."""
    return line[4:].partition("\t")[0].strip().strip('"')


def _actions(file: _File, strip: int | None) -> list[Action]:
    old, new = _stripped(file.old, strip), _stripped(file.new, strip)
    if file.new == _NO_FILE:
        return [FileDelete(old)] if old else []
    if not new:
        return []
    if file.old == _NO_FILE:
        return [FileWrite(new, _content(file.lines))]
    found: list[Action] = []
    if file.lines:
        found.append(edit(old if file.is_moved and old else new, hunks_of("\n".join(file.lines))))
    if file.is_moved and old:
        found.append(FileMove(old, new))
    return found


def _stripped(path: str, strip: int | None) -> str:
    folders = path.split("/")
    return folders[-1] if strip is None else "/".join(folders[min(strip, len(folders) - 1) :])


def _content(lines: list[str]) -> str:
    """Return the text of a new file."""
    text = "".join(f"{line[1:]}\n" for line in lines if line[:1] == "+")
    return text[:-1] if lines and lines[-1][:1] == _NO_NEWLINE else text
