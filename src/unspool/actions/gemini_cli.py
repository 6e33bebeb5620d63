"""Gemini CLI's tools, in all their generations: paths were absolute once, folders were paths, greps searched content.

The shapes are written out with all that the tools take, also where their meaning needs less.
"""

import re

from unspool.actions import files
from unspool.actions.files import ReadLines, ReadMany, WriteFile
from unspool.actions.servers import underscored
from unspool.actions.shapes import (
    PLACE,
    Apart,
    Browse,
    Delegate,
    Find,
    ListResources,
    ListShells,
    Look,
    OnShell,
    PlanText,
    Questions,
    ReadResource,
    RunCommand,
    SearchWeb,
    Todos,
    UseSkill,
)
from unspool.actions.vocabulary import Call, Vocabulary, each
from unspool.model import Action
from unspool.model.action import Agent, FileRead, Plan, PlanItem, Search, Web

_URL = re.compile(r"https?://[^\s<>\"'`\])}]*[^\s<>\"'`\])}.,;:!?]")


class ReadFile(ReadLines, frozen=True, gc=False):
    """Lines from `start_line` to `end_line`; before that, `limit` lines from `offset`."""


class Replace(files.Replace, frozen=True, gc=False):
    instruction: str | None = None


class RunShellCommand(RunCommand, frozen=True, gc=False):
    is_background: bool | None = None
    delay_ms: int | float | None = None


class Glob(Find, frozen=True, gc=False):
    case_sensitive: bool | None = None
    respect_git_ignore: bool | None = None
    respect_gemini_ignore: bool | None = None


class Grep(Find, frozen=True, gc=False):
    include: str | None = None
    include_pattern: str | None = None
    exclude_pattern: str | None = None
    names_only: bool | None = None
    case_sensitive: bool | None = None
    fixed_strings: bool | None = None
    context: int | None = None
    after: int | None = None
    before: int | None = None
    no_ignore: bool | None = None
    max_matches_per_file: int | None = None
    total_max_matches: int | None = None


class ListDirectory(Look, frozen=True, gc=False):
    spelled = PLACE
    ignore: tuple[str, ...] | None = None


class WebFetch(Call, frozen=True, gc=False):
    """Takes a prompt with addresses in it; since a while, it may be one address instead."""

    url: str | None = None
    prompt: str | None = None

    def action(self) -> Action:
        urls = self._urls()
        if not urls:
            raise ValueError("no address")
        return Web(url=urls[0])

    def actions(self) -> tuple[Action, ...]:
        return each(Web(url=url) for url in self._urls())

    def _urls(self) -> list[str]:
        return [self.url] if self.url else _URL.findall(self.prompt or "")


class InternalDocs(Call, frozen=True, gc=False):
    """A page of its own manual, or what pages there are."""

    renamed = ("path",)
    path: str | None = None

    def action(self) -> Action:
        return FileRead(self.path) if self.path else Search()


class AskAgent(Delegate, frozen=True, gc=False):
    """An agent that comes with the program, under the tool's own name."""

    spelled = Delegate.spelled | dict.fromkeys(("question", "request"), "prompt")


class CodebaseInvestigator(Delegate, frozen=True, gc=False):
    def action(self) -> Action:
        return Agent(self.description, self.prompt, self.agent_type or "codebase_investigator")


class Tracker(Call, frozen=True, gc=False):
    """The list of tasks that outlives a session: one call creates, changes, reads or joins them."""

    renamed = ("title",)
    title: str | None = None
    id: str | None = None
    status: str | None = None

    def action(self) -> Action:
        named = self.title or self.id
        return Plan((PlanItem(named, self.status),)) if named else Plan()


TOOLS: dict[str, type[Call]] = {
    "read_file": ReadFile,
    "read_many_files": ReadMany,
    "write_file": WriteFile,
    "replace": Replace,
    "edit": Replace,
    "run_shell_command": RunShellCommand,
    "run_command": RunShellCommand,
    "list_background_processes": ListShells,
    "read_background_output": OnShell,
    "glob": Glob,
    "grep_search": Grep,
    "search_file_content": Grep,
    "list_directory": ListDirectory,
    "google_web_search": SearchWeb,
    "web_fetch": WebFetch,
    "write_todos": Todos,
    "tracker_create_task": Tracker,
    "tracker_update_task": Tracker,
    "tracker_get_task": Tracker,
    "tracker_list_tasks": Tracker,
    "tracker_add_dependency": Tracker,
    "tracker_visualize": Tracker,
    "enter_plan_mode": PlanText,
    "exit_plan_mode": PlanText,
    "update_topic": PlanText,
    "ask_user": Questions,
    "codebase_investigator": CodebaseInvestigator,
    "cli_help": AskAgent,
    "generalist": AskAgent,
    "delegate_to_agent": AskAgent,
    "invoke_agent": Delegate,
    "invoke_subagent": Delegate,
    "browser_agent": Delegate,
    "browser_navigate": Browse,
    "activate_skill": UseSkill,
    "get_internal_docs": InternalDocs,
    "list_mcp_resources": ListResources,
    "read_mcp_resource": ReadResource,
    "save_memory": Apart,
    "complete_task": Apart,
}

VOCABULARY = Vocabulary("gemini_cli", TOOLS, underscored)
