"""The tools of Zed's own agent."""

from typing import Any

import msgspec

from unspool.actions.files import PATH, DeleteFile, Edits, MoveFile, ReadLines, Sketch, WriteFile
from unspool.actions.files import EditFile as Replace
from unspool.actions.shapes import (
    Apart,
    Delegate,
    Fetch,
    Find,
    Glob,
    Look,
    PlanText,
    Question,
    RunCommand,
    SearchWeb,
    Todos,
    UseSkill,
)
from unspool.actions.vocabulary import Call, Vocabulary, mcp_of
from unspool.model import Action
from unspool.model.action import Search


class EditFile(Call, frozen=True, gc=False):
    """Its changes, or the new content; older ones were told to another model, and only in words."""

    renamed = ("edits",)
    spelled = PATH
    file_path: str
    edits: str | tuple[dict[str, Any], ...] | None = None
    content: str | None = None

    def action(self) -> Action:
        if self.edits:
            return self._edits().action()
        if self.content is not None:
            return WriteFile(self.file_path, self.content).action()
        return Sketch(self.file_path).action()

    def actions(self) -> tuple[Action, ...]:
        return self._edits().actions() if self.edits else ()

    def _edits(self) -> Edits:
        edits = self.edits or ()
        if isinstance(edits, str):  # a model forgot that it is no text
            edits = msgspec.json.decode(edits, type=tuple[dict[str, Any], ...])
        return Edits(self.file_path, edits)


class FindReplace(Replace, frozen=True, gc=False):
    spelled = Replace.spelled | {"find": "old_string", "replace": "new_string"}


class Symbol(Call, frozen=True, gc=False):
    file_path: str
    symbol_name: str


class AskOfSymbol(Call, frozen=True, gc=False):
    """A language server is asked about a symbol, which is named by where it stands."""

    symbol: Symbol

    def action(self) -> Action:
        return Search(self.symbol.symbol_name, path=self.symbol.file_path)


class CodeSymbols(Look, frozen=True, gc=False):
    regex: str | None = None


TOOLS: dict[str, type[Call]] = {
    "read_file": ReadLines,
    "write_file": WriteFile,
    "create_file": WriteFile,
    "edit_file": EditFile,
    "streaming_edit_file": EditFile,
    "find_replace_file": FindReplace,
    "delete_path": DeleteFile,
    "move_path": MoveFile,
    "terminal": RunCommand,
    "bash": RunCommand,
    "grep": Find,
    "regex_search": Find,
    "find_references": AskOfSymbol,
    "go_to_definition": AskOfSymbol,
    "get_code_actions": AskOfSymbol,
    "find_path": Glob,
    "path_search": Glob,
    "list_directory": Look,
    "diagnostics": Look,
    "code_symbols": CodeSymbols,
    "fetch": Fetch,
    "web_search": SearchWeb,
    "search_web": SearchWeb,
    "update_plan": Todos,
    "thinking": PlanText,
    "spawn_agent": Delegate,
    "subagent": Delegate,
    "create_thread": Delegate,
    "skill": UseSkill,
    "ask_user": Question,
    **dict.fromkeys(
        (
            "apply_code_action",
            "copy_path",
            "create_directory",
            "list_agents_and_models",
            "now",
            "open",
            "rename_symbol",
            "restore_file_from_disk",
            "save_file",
            "update_title",
        ),
        Apart,
    ),
}

VOCABULARY = Vocabulary("zed", TOOLS, mcp_of)
