"""Amp's tools. Its sub-agents (oracle, librarian, finder) are tools of their own."""

from typing import ClassVar

from unspool.actions.files import (
    ApplyPatch,
    DeleteFile,
    EditFile,
    ReadFile,
    ReadRange,
    Sketch,
    WriteFile,
)
from unspool.actions.shapes import (
    Apart,
    Delegate,
    Fetch,
    Find,
    FindByQuery,
    Glob,
    Look,
    PlanText,
    ReadResource,
    RunCommand,
    Todos,
    UseSkill,
)
from unspool.actions.vocabulary import Call, Vocabulary, mcp_of
from unspool.model import Action
from unspool.model.action import Agent, Plan, PlanItem, Web


class Oracle(Delegate, frozen=True, gc=False):
    """The strong model, asked for advice."""

    spelled: ClassVar = {"task": "prompt"}

    def action(self) -> Action:
        return Agent(self.description, self.prompt, "oracle")


class Librarian(Delegate, frozen=True, gc=False):
    """Reads other people's repositories."""

    spelled: ClassVar = {"query": "prompt"}

    def action(self) -> Action:
        return Agent(self.description, self.prompt, "librarian")


class WebSearch(Call, frozen=True, gc=False):
    """One aim, and as many searches as it takes."""

    spelled: ClassVar = {"objective": "query"}
    query: str
    search_queries: tuple[str, ...] | None = None

    def action(self) -> Action:
        return Web(query=self.query)

    def actions(self) -> tuple[Action, ...]:
        return tuple(Web(query=query) for query in self.search_queries or ())


class TaskList(Call, frozen=True, gc=False):
    """One call creates, changes or reads a task."""

    renamed = ("title",)
    title: str | None = None
    status: str | None = None

    def action(self) -> Action:
        return Plan((PlanItem(self.title, self.status),)) if self.title else Plan()


class ReadThread(FindByQuery, frozen=True, gc=False):
    """What another conversation says to a question."""

    spelled: ClassVar = {"goal": "pattern"}


TOOLS: dict[str, type[Call]] = {
    "Read": ReadRange,
    "read_file": ReadRange,
    "look_at": ReadFile,
    "view_media": ReadFile,
    "create_file": WriteFile,
    "edit_file": EditFile,
    "undo_edit": Sketch,
    "format_file": Sketch,
    "delete_file": DeleteFile,
    "apply_patch": ApplyPatch,
    "Bash": RunCommand,
    "shell_command": RunCommand,
    "Grep": Find,
    "glob": Glob,
    "Glob": Glob,
    "list_directory": Look,
    "get_diagnostics": Look,
    "finder": FindByQuery,
    "codebase_search_agent": FindByQuery,
    "find_thread": FindByQuery,
    "read_thread": ReadThread,
    "web_search": WebSearch,
    "read_web_page": Fetch,
    "todo_write": Todos,
    "todo_read": PlanText,
    "task_list": TaskList,
    "Task": Delegate,
    "oracle": Oracle,
    "librarian": Librarian,
    "handoff": Delegate,
    "skill": UseSkill,
    "read_mcp_resource": ReadResource,
    **dict.fromkeys(("code_review", "code_tour", "mermaid", "painter", "walkthrough", "walkthrough_diagram"), Apart),
}

VOCABULARY = Vocabulary("amp", TOOLS, mcp_of)
