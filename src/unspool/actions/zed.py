"""The tools of Zed's own agent."""

from typing import Any

from unspool.actions.files import PATH, DeleteFile, Edits, MoveFile, ReadLines, Sketch, WriteFile
from unspool.actions.shapes import (
    Apart,
    Delegate,
    Fetch,
    Find,
    Glob,
    Look,
    PlanText,
    RunCommand,
    SearchWeb,
    Todos,
    UseSkill,
)
from unspool.actions.vocabulary import Call, Vocabulary, mcp_of
from unspool.model import Action


class EditFile(Call, frozen=True, gc=False):
    """Its changes, or the new content; older ones were told to another model, and only in words."""

    renamed = ("edits",)
    spelled = PATH
    file_path: str
    edits: tuple[dict[str, Any], ...] | None = None
    content: str | None = None

    def action(self) -> Action:
        if self.edits:
            return Edits(self.file_path, self.edits).action()
        if self.content is not None:
            return WriteFile(self.file_path, self.content).action()
        return Sketch(self.file_path).action()

    def actions(self) -> tuple[Action, ...]:
        return Edits(self.file_path, self.edits).actions() if self.edits else ()


class CodeSymbols(Look, frozen=True, gc=False):
    regex: str | None = None


TOOLS: dict[str, type[Call]] = {
    "read_file": ReadLines,
    "write_file": WriteFile,
    "create_file": WriteFile,
    "edit_file": EditFile,
    "streaming_edit_file": EditFile,
    "delete_path": DeleteFile,
    "move_path": MoveFile,
    "terminal": RunCommand,
    "bash": RunCommand,
    "grep": Find,
    "find_path": Glob,
    "path_search": Glob,
    "list_directory": Look,
    "diagnostics": Look,
    "code_symbols": CodeSymbols,
    "fetch": Fetch,
    "web_search": SearchWeb,
    "update_plan": Todos,
    "thinking": PlanText,
    "spawn_agent": Delegate,
    "subagent": Delegate,
    "create_thread": Delegate,
    "skill": UseSkill,
    **dict.fromkeys(
        ("copy_path", "create_directory", "now", "open", "restore_file_from_disk", "save_file", "update_title"), Apart
    ),
}

VOCABULARY = Vocabulary("zed", TOOLS, mcp_of)
