"""Tools that the APIs themselves define, whether the provider runs them or the client.

They serve recorded traffic of which no agent is recognised: somebody's own program, which offers a model these.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from unspool.actions import codex, codex_shell, files
from unspool.actions.patch import Carried, edit, hunks_of
from unspool.actions.shapes import Apart, Fetch, FindByQuery, RunCommand, RunScript
from unspool.actions.vocabulary import Call, Vocabulary, each, mcp_of
from unspool.model import Action
from unspool.model.action import FileDelete, FileEdit, FileMove, FileWrite, Search


class Bash(RunCommand, frozen=True, gc=False):
    """Anthropic's. A call may do no more than start the shell anew, which stands there as a comment would."""

    command: str = "# restart"


class Shell(codex_shell.Shell, frozen=True, gc=False):
    """OpenAI's: the words of one command, or lines that are run one after another."""

    command: str | tuple[str, ...] = ()
    commands: tuple[str, ...] = ()

    def line(self) -> str:
        if not self.command and not self.commands:
            raise ValueError("no command")
        return super().line() if self.command else "\n".join(self.commands)

    def patch(self) -> Carried | None:
        return super().patch() if self.command else None

    def beside(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        return {key: value for key, value in super().beside(given).items() if key != "commands"}


class ApplyPatch(files.ApplyPatch, frozen=True, gc=False):
    """OpenAI's: one file a call, its diff without a header. Or a function of that name, with a whole patch."""

    renamed = (*files.ApplyPatch.renamed, "type", "path", "diff")
    patch: str = ""
    type: str | None = None
    path: str = ""
    diff: str = ""

    def action(self) -> Action:
        if self.type is not None and not self.path:
            raise ValueError("no path")
        match self.type:
            case "create_file":
                lines = self.diff.splitlines()
                return FileWrite(self.path, "".join(f"{line[1:]}\n" for line in lines if line.startswith("+")))
            case "update_file":
                return FileEdit(self.path, "", self.diff, replace_all=False)
            case "delete_file":
                return FileDelete(self.path)
        return super().action()

    def actions(self) -> tuple[Action, ...]:
        if self.type is None:
            return super().actions()
        return (edit(self.path, hunks_of(self.diff)),) if self.type == "update_file" else ()


class Code(RunScript, frozen=True, gc=False):
    language: str | None = None


class SearchFiles(Call, frozen=True, gc=False):
    """In what was uploaded. Google does not say what for."""

    renamed = ("queries",)
    query: str | None = None
    queries: tuple[str, ...] = ()

    def action(self) -> Action:
        return Search(query=self.query or (self.queries or (None,))[0])

    def actions(self) -> tuple[Action, ...]:
        return each(Search(query=query) for query in self.queries)


class Memory(files.TextEditor, frozen=True, gc=False):
    """Anthropic's: notes in files, under the editor's commands and two more."""

    renamed = (*files.TextEditor.renamed, "to")
    spelled: ClassVar = {"old_path": "path", "new_path": "to"}
    to: str | None = None

    def action(self) -> Action:
        if self.command == "delete":
            return FileDelete(self.path)
        if self.command == "rename" and self.to is not None:
            return FileMove(self.path, self.to)
        return super().action()


TOOLS: dict[str, type[Call]] = {
    "bash": Bash,
    "bash_code_execution": RunCommand,
    "code_execution": Code,
    "code_interpreter": Code,
    "shell": Shell,
    "local_shell": Shell,
    "apply_patch": ApplyPatch,
    "str_replace_editor": files.TextEditor,
    "str_replace_based_edit_tool": files.TextEditor,
    "text_editor_code_execution": files.TextEditor,
    "memory": Memory,
    "web_search": codex.WebSearch,
    **dict.fromkeys(("google_search", "google_search_web", "google_search_image"), codex.WebSearch),
    "web_fetch": Fetch,
    "url_context": Fetch,
    "file_search": SearchFiles,
    "tool_search": FindByQuery,
    "tool_search_tool_bm25": FindByQuery,
    "tool_search_tool_regex": FindByQuery,
    **dict.fromkeys(("advisor", "computer", "computer_use_preview", "google_maps", "image_generation"), Apart),
}

VOCABULARY = Vocabulary("", TOOLS, mcp_of)
