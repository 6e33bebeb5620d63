"""Cline's tools and Roo's, which grew out of them. Older calls were tags in a text, where every value is a string."""

from typing import Any, ClassVar

import msgspec

from unspool.actions.files import (
    CHANGE,
    PATH,
    ApplyPatch,
    Blocks,
    DeleteFile,
    EditFile,
    Edits,
    ReadLines,
    Replace,
    Sketch,
    WriteFile,
)
from unspool.actions.lexer import joined
from unspool.actions.servers import underscored
from unspool.actions.shapes import (
    PLACE,
    Apart,
    Browse,
    CallServer,
    Delegate,
    Fetch,
    Find,
    FindByQuery,
    Look,
    OnShell,
    PlanText,
    Question,
    ReadResource,
    RunCommand,
    SearchWeb,
    Todos,
    UseSkill,
)
from unspool.actions.shell import intents
from unspool.actions.vocabulary import Call, Vocabulary, each, several
from unspool.model import Action
from unspool.model.action import Agent, Ask, Execute, FileEdit, FileRead, FileWrite, Plan, Web


def tagged(tag: str, text: str) -> list[str]:
    """What stands between such tags, wherever they are."""
    parts = [part.partition(">")[2] for part in text.split(f"<{tag}")[1:]]
    return [part.partition(f"</{tag}>")[0].strip() for part in parts if f"</{tag}>" in part]


class ReadFiles(Call, frozen=True, gc=False):
    """A file, or several: as a list, or in tags inside `args`."""

    renamed = ("path",)
    spelled = dict.fromkeys(("file_path", "paths", "file_paths"), "path")
    bare = "files"
    path: str | dict[str, Any] | tuple[str | dict[str, Any], ...] | None = None
    files: str | dict[str, Any] | tuple[str | dict[str, Any], ...] | None = None
    args: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    offset: int | None = None
    limit: int | None = None

    def action(self) -> Action:
        return self._reads()[0]

    def actions(self) -> tuple[Action, ...]:
        return each(self._reads())

    def _reads(self) -> list[Action]:
        if isinstance(self.path, str) and self.path and not self.files:
            return [ReadLines(self.path, self.offset, self.limit, self.start_line, self.end_line).action()]
        given = self.files or self.path or tuple(tagged("path", self.args or ""))
        if not given:
            raise ValueError("none given")
        entries = given if isinstance(given, tuple) else (given,)
        return [FileRead(one) if isinstance(one, str) else ReadLines.of(one).action() for one in entries]


class Editor(Call, frozen=True, gc=False):
    """Makes a file, replaces a text in it, or puts one at a line of it."""

    renamed = ("old_string", "new_string")
    spelled = PATH | CHANGE
    file_path: str
    new_string: str
    old_string: str | None = None
    replace_all: bool | None = None
    insert_line: int | None = None

    def action(self) -> Action:
        if self.old_string is None and self.insert_line is None:
            return FileWrite(self.file_path, self.new_string)
        return FileEdit(self.file_path, self.old_string or "", self.new_string, bool(self.replace_all))


class FindInCode(Find, frozen=True, gc=False):
    renamed = ("pattern",)
    spelled = PLACE | {"query": "pattern", "queries": "pattern"}
    bare = "pattern"


class Program(Call, frozen=True, gc=False):
    """A program and what it is given, which no shell reads."""

    command: str
    args: tuple[str, ...] | None = None

    def line(self) -> str:
        return joined([self.command, *self.args]) if self.args else self.command


class RunCommands(Call, frozen=True, gc=False):
    spelled: ClassVar = {"command": "commands", "cmd": "commands"}
    bare = "commands"
    commands: str | Program | tuple[str | Program, ...]
    args: tuple[str, ...] | None = None

    def action(self) -> Action:
        return Execute(self._lines()[0])

    def actions(self) -> tuple[Action, ...]:
        lines = self._lines()
        return each(Execute(line) for line in lines) or intents(lines[0])

    def _lines(self) -> tuple[str, ...]:
        given = Program(self.commands, self.args) if isinstance(self.commands, str) else self.commands
        entries = given if isinstance(given, tuple) else (given,)
        return several(tuple(one if isinstance(one, str) else one.line() for one in entries if one))


class ReadOutput(OnShell, frozen=True, gc=False):
    spelled: ClassVar = {"artifact_id": "shell_id"}


class FetchPages(Call, frozen=True, gc=False):
    requests: tuple[dict[str, Any], ...]

    def action(self) -> Action:
        if not self.requests:
            raise ValueError("no request")
        return Fetch.of(self.requests[0]).action()

    def actions(self) -> tuple[Action, ...]:
        return each(Web(url=one.get("url")) for one in self.requests)


class AskFollowUp(Call, frozen=True, gc=False):
    """The answers to choose from are a list, the text of one, or tags."""

    spelled: ClassVar = {"follow_up": "options"}
    question: str
    options: str | tuple[str | dict[str, Any], ...] | None = None

    def action(self) -> Action:
        if not isinstance(self.options, str):
            return Question(self.question, self.options).action()
        try:
            return Ask(self.question, msgspec.json.decode(self.options, type=tuple[str, ...]))
        except msgspec.DecodeError:
            return Ask(self.question, tuple(tagged("suggest", self.options)))


class NewTask(Delegate, frozen=True, gc=False):
    """Cline hands over a summary of the work, Roo a message to another mode."""

    spelled: ClassVar = {"message": "prompt", "context": "prompt", "mode": "agent_type"}


class UseSubagents(Call, frozen=True, gc=False):
    """Up to five agents, each with a prompt of its own."""

    prompt_1: str
    prompt_2: str | None = None
    prompt_3: str | None = None
    prompt_4: str | None = None
    prompt_5: str | None = None

    def action(self) -> Action:
        return Agent(prompt=self.prompt_1)

    def actions(self) -> tuple[Action, ...]:
        prompts = (self.prompt_1, self.prompt_2, self.prompt_3, self.prompt_4, self.prompt_5)
        return each(Agent(prompt=prompt) for prompt in prompts if prompt)


class NamedAgent(Delegate, frozen=True, gc=False):
    """One of the agents that the user described, each of which is a tool."""

    spelled: ClassVar = {"prompt_1": "prompt"}


class Teammate(Delegate, frozen=True, gc=False):
    """Another of the team: what it is for, what it shall do, or a letter to it."""

    spelled: ClassVar = Delegate.spelled | {
        "rolePrompt": "prompt",
        "body": "prompt",
        "subject": "description",
        "toAgentId": "agent_type",
    }


class SlashCommand(UseSkill, frozen=True, gc=False):
    spelled: ClassVar = {"command": "skill"}


class SwitchMode(Call, frozen=True, gc=False):
    renamed = ("reason",)
    mode_slug: str
    reason: str | None = None

    def action(self) -> Action:
        return Plan(text=self.reason)


TOOLS: dict[str, type[Call]] = {
    "read_file": ReadFiles,
    "read_files": ReadFiles,
    "write_to_file": WriteFile,
    "write_file": WriteFile,
    "new_file": WriteFile,
    "replace_in_file": Blocks,
    "apply_diff": Blocks,
    "edit_file_roo": Blocks,
    "search_replace": EditFile,
    "edit_file_grok": EditFile,
    "edit": EditFile,
    "edit_file": Replace,
    "edit_file_gemini": Replace,
    "search_and_replace": Edits,
    "edit_file_anthropic": Edits,
    "insert_content": Sketch,
    "delete_file": DeleteFile,
    "editor": Editor,
    "apply_patch": ApplyPatch,
    "edit_file_codex": ApplyPatch,
    "execute_command": RunCommand,
    "run_commands": RunCommands,
    "read_command_output": ReadOutput,
    "search_files": Find,
    "list_files": Look,
    "list_code_definition_names": Look,
    "codebase_search": FindByQuery,
    "search_codebase": FindInCode,
    "search_subagent": Delegate,
    "browser_action": Browse,
    "inspect_site": Fetch,
    "web_fetch": Fetch,
    "web_search": SearchWeb,
    "fetch_web_content": FetchPages,
    "focus_chain": Todos,
    "update_todo_list": Todos,
    "plan_mode_respond": PlanText,
    "act_mode_respond": PlanText,
    "switch_mode": SwitchMode,
    "ask_followup_question": AskFollowUp,
    "ask_question": AskFollowUp,
    "new_task": NewTask,
    "use_subagents": UseSubagents,
    "spawn_agent": Delegate,
    **dict.fromkeys(("team_spawn_teammate", "team_run_task", "team_send_message", "team_broadcast"), Teammate),
    "session_send_message": Teammate,
    "use_skill": UseSkill,
    "skill": UseSkill,
    "skills": UseSkill,
    "run_slash_command": SlashCommand,
    "use_mcp_tool": CallServer,
    "access_mcp_resource": ReadResource,
    **dict.fromkeys(
        (
            "attempt_completion",
            "condense",
            "custom_tool",
            "fetch_instructions",
            "generate_explanation",
            "generate_image",
            "load_mcp_documentation",
            "new_rule",
            "report_bug",
            "session_list_peers",
            "session_read_inbox",
            "submit_and_exit",
            "summarize_task",
            "team_attach_outcome_fragment",
            "team_await_runs",
            "team_cancel_run",
            "team_cleanup",
            "team_create_outcome",
            "team_finalize_outcome",
            "team_list_outcomes",
            "team_list_runs",
            "team_mission_log",
            "team_read_mailbox",
            "team_review_outcome_fragment",
            "team_shutdown_teammate",
            "team_status",
            "team_task",
        ),
        Apart,
    ),
}


def server(name: str) -> tuple[str, str] | None:
    """`mcp--S--T` of Roo, `mcp_S_T` before it, `S0mcp0T` of Cline, and now `S__T`."""
    if name.startswith("mcp--"):
        place, _, tool = name[5:].partition("--")
    elif "0mcp0" in name:
        place, _, tool = name.partition("0mcp0")
    else:
        return underscored(name)
    return (place, tool) if place and tool else None


AGENTS: dict[str, type[Call]] = {"subagent_": NamedAgent, "use_subagent_": NamedAgent}

VOCABULARY = Vocabulary("cline", TOOLS, server, AGENTS)
