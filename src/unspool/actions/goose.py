"""Goose's tools. All live in extensions and are called `extension__tool`; those of the built-in extensions lately go by
their bare names too. What no built-in extension has is a tool on a server.
"""

from typing import Any, ClassVar

from unspool.actions.files import EditFile, ReadFile, ReadLines, TextEditor, WriteFile
from unspool.actions.servers import doubled
from unspool.actions.shapes import (
    Apart,
    Delegate,
    Fetch,
    FindByQuery,
    Look,
    PlanText,
    RunCommand,
    RunScript,
    SearchWeb,
    Todos,
    UseSkill,
)
from unspool.actions.vocabulary import Call, Vocabulary, each
from unspool.model import Action
from unspool.model.action import Agent


class Shell(RunCommand, frozen=True, gc=False):
    spelled: ClassVar = {"timeout_secs": "timeout", "cwd": "workdir"}


class ReadSource(ReadLines, frozen=True, gc=False):
    """A file, or whatever else has an address."""

    spelled = ReadLines.spelled | {"source": "file_path", "line": "offset"}


class Load(Call, frozen=True, gc=False):
    """A skill or an agent by its name; without one, what there is."""

    renamed = ("source",)
    source: str | None = None

    def action(self) -> Action:
        return Agent(agent_type=self.source)


class DelegateTo(Delegate, frozen=True, gc=False):
    spelled = Delegate.spelled | {"source": "agent_type"}


class CreateTasks(Call, frozen=True, gc=False):
    """Work for several agents at once."""

    spelled: ClassVar = {"tasks": "task_parameters"}
    task_parameters: tuple[dict[str, Any], ...]

    def action(self) -> Action:
        if not self.task_parameters:
            raise ValueError("no task")
        return Delegate.of(self.task_parameters[0]).action()

    def actions(self) -> tuple[Action, ...]:
        return each(Delegate.of(task).action() for task in self.task_parameters)


class TodoText(Todos, frozen=True, gc=False):
    """The list is one text, which replaces the one before."""

    spelled: ClassVar = {"content": "todos"}


EXTENSIONS: dict[str, dict[str, type[Call]]] = {
    "developer": {
        "shell": Shell,
        "text_editor": TextEditor,
        "read": ReadSource,
        "write": WriteFile,
        "edit": EditFile,
        "tree": Look,
        "analyze": Look,
        "read_image": ReadSource,
        "image_processor": ReadFile,
        "web_fetch": Fetch,
        "screen_capture": Apart,
        "list_windows": Apart,
    },
    "computercontroller": {
        "web_scrape": Fetch,
        "web_search": SearchWeb,
        "automation_script": RunScript,
        "computer_control": RunScript,
        "pdf_tool": ReadFile,
        "docx_tool": Apart,
        "xlsx_tool": Apart,
        "cache": Apart,
    },
    "analyze": {"analyze": Look},
    "todo": {"todo_write": TodoText, "todo_read": PlanText, "write": TodoText, "read": PlanText},
    "skills": {"loadSkill": UseSkill, "load_skill": UseSkill},
    "summon": {"delegate": DelegateTo, "load": Load},
    "subagent": {"execute_task": Delegate},
    "dynamic_task": {"create_task": CreateTasks},
    "chatrecall": {"chatrecall": FindByQuery},
    "code_execution": {
        "execute": RunScript,
        "execute_code": RunScript,
        "execute_typescript": RunScript,
        "execute_bash": Shell,
        **dict.fromkeys(("list_functions", "get_function_details"), Apart),
    },
    "extensionmanager": dict.fromkeys(
        ("search_available_extensions", "manage_extensions", "list_resources", "read_resource"), Apart
    ),
    "memory": dict.fromkeys(
        ("remember_memory", "retrieve_memories", "remove_memory_category", "remove_specific_memory"), Apart
    ),
    "platform": dict.fromkeys(
        ("manage_schedule", "search_available_extensions", "manage_extensions", "list_resources", "read_resource"),
        Apart,
    ),
    "recipe": {"final_output": Apart},
    "scheduler": {"manage_schedule": Apart},
}

TOOLS: dict[str, type[Call]] = {
    **{f"{extension}__{name}": tool for extension, tools in EXTENSIONS.items() for name, tool in tools.items()},
    **EXTENSIONS["developer"],
    **EXTENSIONS["summon"],
    **EXTENSIONS["skills"],
    **EXTENSIONS["code_execution"],
    "todo_write": TodoText,
    "todo_read": PlanText,
    "subagent": DelegateTo,
    "final_output": Apart,
}

VOCABULARY = Vocabulary("goose", TOOLS, doubled)
