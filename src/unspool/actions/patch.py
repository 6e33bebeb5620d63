"""The apply_patch grammar, whole: from a patch's text to its files, and from its files to actions.

    *** Begin Patch
    *** Environment ID: x                   (optional)
    *** Add File: p                         then `+` lines
    *** Delete File: p
    *** Update File: p
    *** Move to: q                          (optional)
    @@ class A                              (optional before the first hunk; several may stack)
    @@ def f():
     kept
    -gone
    +come
    *** End of File                         (optional)
    *** End Patch

Codex refuses a patch for one bad line. We read what a model meant, so such a line is read as what it most likely was,
and the first reason to refuse the patch is kept in `fault`. Text without a single file header is no patch.
"""

import re
from posixpath import join
from typing import TypeAlias

from msgspec import Struct

from unspool.actions.lexer import joined
from unspool.model import Action
from unspool.model.action import FileDelete, FileEdit, FileMove, FileWrite, Hunk

BEGIN, _END, _EOF = "*** Begin Patch", "*** End Patch", "*** End of File"
_ENVIRONMENT, _MOVE = "*** Environment ID:", "*** Move to:"
_HEADER = re.compile(r"\s*\*\*\* (Add|Delete|Update) File: *(\S(?:.*\S)?)\s*")
_SIGNS = frozenset(" +-")
_HEREDOC = re.compile(r"(?:apply_?patch[ \t]+)?<<-?[ \t]*(['\"]?)(\w+)\1[ \t]*")


class Add(Struct, frozen=True, gc=False):
    path: str
    content: str


class Delete(Struct, frozen=True, gc=False):
    path: str


class Update(Struct, frozen=True, gc=False):
    path: str
    move_to: str | None
    hunks: tuple[Hunk, ...]


File: TypeAlias = Add | Delete | Update


class ParsedPatch(Struct, frozen=True, gc=False):
    files: tuple[File, ...]
    """In order; never empty."""
    raw: str
    """The text it was read from."""
    environment: str | None = None
    complete: bool = True
    """Its end was seen."""
    fault: str | None = None
    """Why Codex would refuse it."""


def parse(text: str) -> ParsedPatch:
    """Raises a ValueError for text that is no patch."""
    lines, complete = _unwrapped(text)
    begun = lines[:1] == [BEGIN]
    fault = None if begun else f"the first line is not {BEGIN!r}"
    at = 1 if begun else 0
    environment = None
    if at < len(lines) and lines[at].strip().startswith(_ENVIRONMENT):
        environment = lines[at].strip()[len(_ENVIRONMENT) :].strip()
        at += 1
    if not begun and not (lines and _HEADER.fullmatch(lines[0])):
        raise ValueError(f"no patch: {fault}")
    files: list[File] = []
    while at < len(lines):
        header = _HEADER.fullmatch(lines[at])
        at += 1
        file: File
        wrong = None
        match header.groups() if header else None:
            case ("Add", path):
                at, content, wrong = _content(lines, at)
                file = Add(path, content)
            case ("Update", path):
                at, file, wrong = _update(path, lines, at)
            case (_, path):
                file = Delete(path)
            case _:
                if lines[at - 1].strip():
                    fault = fault or f"line {at} is no file header: {lines[at - 1]!r}"
                continue
        files.append(file)
        fault = fault or wrong
    if not files:
        raise ValueError(fault or "a patch without files")
    if not complete:
        fault = fault or f"the last line is not {_END!r}"
    return ParsedPatch(tuple(files), text, environment, complete, fault)


def _unwrapped(text: str) -> tuple[list[str], bool]:
    """The lines of a patch up to its end marker, out of a heredoc if it stands in one; and whether it ended."""
    lines = _lines(text.strip())
    if heredoc := _HEREDOC.fullmatch(lines[0]):
        del lines[0]
        if lines and lines[-1].strip() == heredoc[2]:
            del lines[-1]
    while lines and not lines[-1].strip():
        del lines[-1]
    if lines and lines[0].strip() == BEGIN:
        lines[0] = BEGIN
    # A hunk may quote a patch behind a blank: there the marker ends nothing, unless it is the very last line.
    if lines and lines[-1].strip() == _END:
        lines[-1] = _END
        if text.count(_END) == 1:
            return lines[:-1], True
    for at, line in enumerate(lines):
        if line.startswith(_END) and line.rstrip() == _END:
            return lines[:at], True
    return lines, False


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [line.removesuffix("\r") for line in lines] if "\r" in text else lines


def _content(lines: list[str], at: int) -> tuple[int, str, str | None]:
    """What a new file holds: where it ends, its text, what is wrong with it."""
    content: list[str] = []
    fault = None
    while at < len(lines):
        line = lines[at]
        if line.startswith("+"):
            content.append(line[1:] + "\n")
        elif _HEADER.fullmatch(line):
            break
        else:
            fault = fault or f"line {at + 1} of a new file does not begin with '+': {line!r}"
            content.append(line + "\n")
        at += 1
    while fault and content and not content[-1].strip() and not lines[at - 1]:
        content.pop()  # blank lines before the next header
        at -= 1
    return at, "".join(content), fault


def _update(path: str, lines: list[str], at: int) -> tuple[int, Update, str | None]:
    move_to = None
    if at < len(lines) and lines[at].strip().startswith(_MOVE):
        move_to = lines[at].strip()[len(_MOVE) :].strip() or None
        at += 1
    hunks, fault, stop = _hunks(lines, at, _HEADER)
    if not hunks and move_to is None:
        fault = fault or f"nothing is changed in {path!r}"
    return stop, Update(path, move_to, hunks), fault


def _hunks(lines: list[str], at: int, end: re.Pattern[str] | None = None) -> tuple[tuple[Hunk, ...], str | None, int]:
    """Hunks from this line on, the first thing that is wrong with them, and where they end."""
    hunks: list[Hunk] = []
    context: list[str] = []
    body: list[str] = []
    fault, stop = None, len(lines)
    for number, line in enumerate(lines[at:] if at else lines, at):
        if not line:
            if body or context:
                body.append(" ")
        elif line[0] in _SIGNS:
            body.append(line)
        elif line.startswith("@@"):
            if body:
                hunks.append(Hunk(tuple(body), tuple(context)))
                body, context = [], []
            if said := line[2:].strip():
                context.append(said)
        elif end is not None and line.startswith("*** ") and end.fullmatch(line):
            stop = number
            break
        elif line.rstrip() == _EOF:
            if body:
                hunks.append(Hunk(tuple(body), tuple(context), at_end=True))
            body, context = [], []
        elif line[0] != "\\":  # git's «\ No newline at end of file»
            fault = fault or f"line {number + 1} of a hunk begins with neither ' ', '+' nor '-': {line!r}"
            body.append(" " + line)
    if body:
        hunks.append(Hunk(tuple(body), tuple(context)))
    elif context:
        fault = fault or f"a hunk without lines: {context[-1]!r}"
    return tuple(hunks), fault, stop


def hunks_of(diff: str) -> tuple[Hunk, ...]:
    """The hunks of one file's unified diff. Their context holds the line numbers: `-1,4 +1,5 @@ def f():`."""
    lines = _lines(diff.removesuffix("\n"))
    first = next((at for at, line in enumerate(lines) if line.startswith("@@")), 0)
    return _hunks(lines, first)[0]


def edit(path: str, hunks: tuple[Hunk, ...]) -> FileEdit:
    signs = [line[0] for hunk in hunks for line in hunk.lines]
    return FileEdit(path, "", "", False, hunks, signs.count("+"), signs.count("-"))


def actions_of(patch: ParsedPatch, directory: str = "") -> tuple[Action, ...]:
    """One for each file, in order; two for a file that is changed and moved. `directory` is where the patch applies."""
    found: list[Action] = []
    for file in patch.files:
        path = join(directory, file.path)
        match file:
            case Add():
                found.append(FileWrite(path, file.content))
            case Delete():
                found.append(FileDelete(path))
            case Update():
                if file.hunks or file.move_to is None:
                    found.append(edit(path, file.hunks))
                if file.move_to is not None:
                    found.append(FileMove(path, join(directory, file.move_to)))
    return tuple(found)


def action_of(patch: ParsedPatch) -> Action:
    """The first file that is added or updated stands for the patch, with the patch's text; else the first deleted."""
    for file in patch.files:
        match file:
            case Add():
                return FileWrite(file.path, patch.raw)
            case Update():
                return FileEdit(file.path, "", patch.raw, False)
    return FileDelete(patch.files[0].path)


# How patches stand in a shell command. `apply_patch` is a word of its own, before or behind what it is given.
_CALLED = re.compile(r"(?:^|[\s;&|('\"/])apply_?patch(?=[\s<\"')]|$)")
_OPENED = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1")
_CLOSED = re.compile(r"^(?:\*\*\* End Patch|[ \t]+\*\*\* End Patch(?=\s*(?:['\"]|\Z)))[ \t]*\r?", re.MULTILINE)
_MOVED = re.compile(r"(?:^|[\n;&(])[ \t]*cd\s+(?:--\s+)?(?:'([^']+)'|\"([^\"]+)\"|([^\s;&|'\"]+))\s*(?:&&|;|\n)")
_ALONE = re.compile(
    r"\s*(?:cd\s+(?:'[^']+'|\"[^\"]+\"|[^\s;&|'\"]+)(?:\s*(?:&&|;)|[^\S\n]*\n)\s*+)?apply_?patch"
    r"\s*+(?:<<-?\s*(?P<quote>['\"]?)(?P<tag>\w+)(?P=quote)\s*+(?P=tag)?|['\"]\s*['\"]|['\"]?)\s*+"
)
_ESCAPED = re.compile(r'\\([$`"\\])')


class Carried(Struct, frozen=True, gc=False):
    """The patches that a shell command applies."""

    patches: tuple[tuple[ParsedPatch, str], ...]
    """Each with the directory that it applies to, as far as the command tells; never empty."""
    alone: bool
    """The command does nothing else."""

    def action(self) -> Action:
        """As the first patch with a file that is added or updated says."""
        found = [action_of(patch) for patch, _ in self.patches]  # with the paths of its headers: see `actions`
        return next((action for action in found if not isinstance(action, FileDelete)), found[0])

    def actions(self) -> tuple[Action, ...]:
        return tuple(action for patch, directory in self.patches for action in actions_of(patch, directory))


def carried(script: str) -> Carried | None:
    """What `apply_patch <<'EOF' …`, `cd x && apply_patch "…"` or `cat <<EOF | apply_patch` carry."""
    if BEGIN not in script:
        return None
    patches: list[tuple[ParsedPatch, str]] = []
    directory, left, at = "", [], 0
    while (begin := script.find(BEGIN, at)) >= 0:
        before = script[at:begin]
        left.append(before)
        for moved in _MOVED.finditer(before):
            directory = join(directory, moved[1] or moved[2] or moved[3])
        opened = _OPENED.search(_line_above(before))
        closed = _CLOSED.search(script, begin)
        at = closed.end() if closed else len(script)
        text = script[begin:at].rstrip("\r")
        if not opened and before.rstrip().endswith('"'):
            text = _ESCAPED.sub(r"\1", text)
        elif not closed and opened and text.rstrip().endswith("\n" + opened[2]):
            text = text.rstrip().removesuffix(opened[2])
        try:
            patches.append((parse(text), directory))
        except ValueError:
            continue
    around = "".join([*left, script[at:]])
    bare = not around.strip()  # the tool was forgotten: Codex refuses that, but it was meant as a patch
    if not patches or not (bare or _CALLED.search(around)):
        return None
    return Carried(tuple(patches), bare or bool(_ALONE.fullmatch(around)))


def _line_above(text: str) -> str:
    """The last line that is not blank, if the text goes on below it."""
    lines = text.rstrip()
    return lines[lines.rfind("\n") + 1 :] if "\n" in text[len(lines) :] else ""


def applied(command: str | tuple[str, ...]) -> Carried | None:
    """The same of a command line or of the words of one: `["apply_patch", patch]` needs no shell."""
    if isinstance(command, str):
        return carried(command)
    if len(command) == 2 and command[0].rpartition("/")[2] in ("apply_patch", "applypatch"):
        try:
            return Carried(((parse(command[1]), ""),), alone=True)
        except ValueError:
            return None
    return carried(joined(list(command)))
