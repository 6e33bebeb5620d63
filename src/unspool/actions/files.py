"""Tools that touch files: the shapes that agents share. They differ in how they spell the fields, which is data.

A shape names only what its meaning needs: what else a call carries is kept beside.
"""

import re
from typing import Any, ClassVar

from unspool.actions.patch import action_of, actions_of, edit, hunks_of, parse
from unspool.actions.vocabulary import Call, each, several
from unspool.model import Action
from unspool.model.action import FileDelete, FileEdit, FileMove, FileRead, FileWrite

PATH = dict.fromkeys(
    (
        "path",
        "filePath",
        "filepath",
        "absolute_path",
        "absolutePath",
        "target_file",
        "targetFile",
        "relative_workspace_path",
        "file",
    ),
    "file_path",
)
CONTENT = dict.fromkeys(("contents", "file_text", "fileText"), "content")
CHANGE = (
    dict.fromkeys(("oldString", "old_str", "oldStr", "oldText", "old_text", "before"), "old_string")
    | dict.fromkeys(("newString", "new_str", "newStr", "newText", "new_text", "after"), "new_string")
    | dict.fromkeys(("replaceAll", "allow_multiple", "change_all"), "replace_all")
)

# Cline writes dashes and pluses; Roo says above a block where it begins, then draws a line.
_MARK = re.compile(
    r"^(?:(?P<search>(?:<{5,}|-{5,}) ?SEARCH>?[ \t\r]*\n(?:(?::\w+_line:[^\n]*\n)+-{3,}[ \t\r]*\n)?)"
    r"|(?P<middle>={7}[ \t\r]*\n)|(?P<replace>(?:>{5,}|\+{5,}) ?REPLACE))",
    re.MULTILINE,
)


class ReadFile(Call, frozen=True, gc=False):
    spelled = PATH
    file_path: str
    offset: int | None = None
    limit: int | None = None

    def action(self) -> Action:
        return FileRead(self.file_path, self.offset, self.limit)


class ReadLines(ReadFile, frozen=True, gc=False):
    """From a line to a line, both counted: or, as most tools have it too, some lines from an offset."""

    spelled = (
        PATH
        | dict.fromkeys(("startLine", "start_line_one_indexed"), "start_line")
        | dict.fromkeys(("endLine", "end_line_one_indexed_inclusive"), "end_line")
    )
    start_line: int | None = None
    end_line: int | None = None

    def action(self) -> Action:
        if self.start_line is None and self.end_line is None:
            return FileRead(self.file_path, self.offset, self.limit)
        return span(self.file_path, self.start_line, self.end_line)


class ReadRange(ReadFile, frozen=True, gc=False):
    """The lines as a pair; an end of -1 is the end of the file."""

    spelled = PATH | {"read_range": "view_range"}
    view_range: tuple[int, ...] | None = None

    def action(self) -> Action:
        if not self.view_range:
            return FileRead(self.file_path, self.offset, self.limit)
        start, *end = self.view_range
        return span(self.file_path, start, end[0] if end else None)


def span(path: str, start: int | None, end: int | None) -> FileRead:
    """Lines from `start` to `end`. What makes no sense as a number of lines is not said as one."""
    lines = None if end is None else end - (start or 1) + 1
    return FileRead(path, start, lines if lines is not None and lines > 0 else None)


class ReadMany(Call, frozen=True, gc=False):
    """Patterns that are to be included are paths like the others; today there are only these."""

    renamed = ("paths", "include")
    spelled = dict.fromkeys(("file_paths", "filePaths"), "paths")
    paths: str | tuple[str, ...] = ()
    include: str | tuple[str, ...] = ()

    def places(self) -> tuple[str, ...]:
        return several(tuple(place for given in (self.paths, self.include) if given for place in several(given)))

    def action(self) -> Action:
        return FileRead(self.places()[0])

    def actions(self) -> tuple[Action, ...]:
        return each(map(FileRead, self.places()))


class WriteFile(Call, frozen=True, gc=False):
    spelled = PATH | CONTENT
    file_path: str
    content: str

    def action(self) -> Action:
        return FileWrite(self.file_path, self.content)


class EditFile(Call, frozen=True, gc=False):
    spelled = PATH | CHANGE
    file_path: str
    old_string: str
    new_string: str
    replace_all: bool | None = None

    def action(self) -> Action:
        return FileEdit(self.file_path, self.old_string, self.new_string, bool(self.replace_all))


class Replace(EditFile, frozen=True, gc=False):
    """Every place is replaced if several are allowed, or were expected."""

    expected_replacements: int | None = None

    def action(self) -> Action:
        everywhere = bool(self.replace_all) or (self.expected_replacements or 1) > 1
        return FileEdit(self.file_path, self.old_string, self.new_string, everywhere)


class Change(Call, frozen=True, gc=False):
    """One of several edits: no call, but spelled in as many ways."""

    spelled = CHANGE
    old_string: str
    new_string: str
    replace_all: bool | None = None


class Edits(Call, frozen=True, gc=False):
    """Several edits of one file, in their order."""

    renamed = ("edits",)
    spelled = PATH | {"changes": "edits"}
    file_path: str
    edits: tuple[dict[str, Any], ...]

    def action(self) -> Action:
        return self._edits()[0]

    def actions(self) -> tuple[Action, ...]:
        return each(self._edits())

    def _edits(self) -> list[FileEdit]:
        changes = [Change.of(edit) for edit in self.edits]
        if not changes:
            raise ValueError("no edits")
        return [FileEdit(self.file_path, one.old_string, one.new_string, bool(one.replace_all)) for one in changes]


class Sketch(Call, frozen=True, gc=False):
    """An edit that another model works out: what the new text should be, without the old."""

    spelled = PATH | dict.fromkeys(("code_edit", "changes", "new_source", "diff", "content"), "new_string")
    file_path: str
    new_string: str = ""

    def action(self) -> Action:
        return FileEdit(self.file_path, "", self.new_string, replace_all=False)


class Blocks(Call, frozen=True, gc=False):
    """Edits of one file as text: `<<<<<<< SEARCH` … `=======` … `>>>>>>> REPLACE`, as often as needed; or, as a
    screen shows what came of them, hunks of a diff."""

    renamed = ("diff",)
    spelled = PATH | {"diffs": "diff"}
    file_path: str
    diff: str | tuple[str, ...]

    def action(self) -> Action:
        return self._edits()[0]

    def actions(self) -> tuple[Action, ...]:
        return each(self._edits())

    def _edits(self) -> list[FileEdit]:
        pairs = [pair for text in several(self.diff) for pair in searches(text)]
        diffs = [] if pairs else [text for text in several(self.diff) if text.startswith("@@") or "\n@@" in text]
        if hunks := tuple(hunk for text in diffs for hunk in hunks_of(text)):
            return [edit(self.file_path, hunks)]
        if not pairs:
            raise ValueError("no block in the diff")
        return [FileEdit(self.file_path, old, new, replace_all=False) for old, new in pairs]


def searches(text: str) -> list[tuple[str, str]]:
    """What is looked for and what replaces it, block by block. A mark where none is due is text."""
    pairs: list[tuple[str, str]] = []
    due, old, begin = "search", "", 0
    for mark in _MARK.finditer(text):
        if mark.lastgroup != due:
            continue
        if due == "search":
            due = "middle"
        elif due == "middle":
            due, old = "replace", text[begin : mark.start()]
        else:
            due = "search"
            pairs.append((old, text[begin : mark.start()]))
        begin = mark.end()
    return pairs


class ApplyPatch(Call, frozen=True, gc=False):
    """A patch of as many files as it likes, as Codex writes them. Readers call a text without a key `raw`."""

    bare = "patch"
    renamed: ClassVar[tuple[str, ...]] = ("patch",)
    spelled = dict.fromkeys(("patchText", "patch_text", "input", "raw"), "patch")
    patch: str

    def action(self) -> Action:
        return action_of(parse(self.patch))

    def actions(self) -> tuple[Action, ...]:
        return actions_of(parse(self.patch))


class EditNotebook(Call, frozen=True, gc=False):
    """A cell gets another source. What stood there is not said, unless the tool asks for it."""

    renamed = ("notebook_path", "new_source", "old_source")
    spelled = dict.fromkeys(("target_notebook", "file_path"), "notebook_path") | {
        "new_string": "new_source",
        "old_string": "old_source",
    }
    notebook_path: str
    new_source: str = ""
    old_source: str | None = None

    def action(self) -> Action:
        return FileEdit(self.notebook_path, self.old_source or "", self.new_source, replace_all=False)


class TextEditor(Call, frozen=True, gc=False):
    """One tool for all that is done to a text: Anthropic's, which others took over. Its command says what."""

    renamed: ClassVar[tuple[str, ...]] = ("path", "file_text", "old_str", "new_str", "insert_text", "diff")
    command: str
    path: str
    file_text: str | None = None
    old_str: str | None = None
    new_str: str | None = None
    insert_text: str | None = None
    diff: str | None = None
    view_range: tuple[int, ...] | None = None

    def action(self) -> Action:
        match self:
            case TextEditor(command="view" | "read"):
                return ReadRange(self.path, view_range=self.view_range).action()
            case TextEditor(command="create" | "write", file_text=str(content)):
                return FileWrite(self.path, content)
            case TextEditor(command="str_replace" | "edit_file", diff=str(diff)):
                return FileEdit(self.path, "", diff, replace_all=False)
            case TextEditor(command="str_replace" | "edit_file", old_str=str(old)):
                return FileEdit(self.path, old, self.new_str or "", replace_all=False)
            case TextEditor(command="insert"):
                return FileEdit(self.path, "", self.insert_text or self.new_str or "", replace_all=False)
            case TextEditor(command="undo_edit"):
                return FileEdit(self.path, "", "", replace_all=False)
        raise ValueError(f"the text editor has no command {self.command!r}")

    def actions(self) -> tuple[Action, ...]:
        return () if self.diff is None else (edit(self.path, hunks_of(self.diff)),)


class DeleteFile(Call, frozen=True, gc=False):
    spelled = PATH
    file_path: str

    def action(self) -> Action:
        return FileDelete(self.file_path)


class MoveFile(Call, frozen=True, gc=False):
    spelled: ClassVar = {"source_path": "file_path", "destination_path": "to"}
    file_path: str
    to: str

    def action(self) -> Action:
        return FileMove(self.file_path, self.to)
