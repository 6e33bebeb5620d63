"""Claude Code's tools: those of today, and those that older logs still hold (MultiEdit, LS, View, SlashCommand, …).

The shapes are written out with all that the tools take, also where their meaning needs less.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec import Struct, field

from unspool.actions.files import EditFile, EditNotebook, Edits, ReadFile, TextEditor, WriteFile
from unspool.actions.shapes import (
    Apart,
    AskServer,
    Delegate,
    Fetch,
    Find,
    FindByQuery,
    KillShell,
    ListResources,
    Look,
    OnShell,
    PlanText,
    Questions,
    ReadResource,
    RunCommand,
    RunScript,
    SearchWeb,
    Todos,
    UseSkill,
)
from unspool.actions.shell import intents
from unspool.actions.vocabulary import Call, Vocabulary, mcp_of
from unspool.model import Action
from unspool.model.action import Agent, Execute, Plan, PlanItem, Search, Web


class Read(ReadFile, frozen=True, gc=False):
    pages: str | None = None
    """Of a PDF."""


class Bash(RunCommand, frozen=True, gc=False):
    run_in_background: bool | None = None
    unsandboxed: bool | None = field(default=None, name="dangerouslyDisableSandbox")


class PowerShell(RunScript, frozen=True, gc=False):
    run_in_background: bool | None = None


class BashOutput(OnShell, frozen=True, gc=False):
    filter: str | None = None


class Grep(Find, frozen=True, gc=False):
    glob: str | None = None
    type: str | None = None
    output_mode: str | None = None
    before: int | None = field(default=None, name="-B")
    after: int | None = field(default=None, name="-A")
    around: int | None = field(default=None, name="-C")
    context: int | None = None
    line_numbers: bool | None = field(default=None, name="-n")
    ignore_case: bool | None = field(default=None, name="-i")
    multiline: bool | None = None
    head_limit: int | None = None
    offset: int | None = None


class LS(Look, frozen=True, gc=False):
    ignore: tuple[str, ...] | None = None


class ReadNotebook(ReadFile, frozen=True, gc=False):
    spelled: ClassVar = {"notebook_path": "file_path"}
    cell_id: str | None = None


class NotebookEdit(EditNotebook, frozen=True, gc=False):
    cell_id: str | None = None
    cell_number: int | None = None
    cell_type: str | None = None
    edit_mode: str | None = None


class WebFetch(Fetch, frozen=True, gc=False):
    prompt: str | None = None


class WebSearch(SearchWeb, frozen=True, gc=False):
    allowed_domains: tuple[str, ...] | None = None
    blocked_domains: tuple[str, ...] | None = None


class SearchRegistry(Call, frozen=True, gc=False):
    """Servers of tools that there are in the world."""

    keywords: tuple[str, ...]

    def action(self) -> Action:
        return Search(query=" ".join(self.keywords))


class TaskCreate(Call, frozen=True, gc=False):
    """A line is added to the list of tasks. No agent begins."""

    renamed = ("subject",)
    subject: str
    description: str | None = None
    active_form: str | None = field(default=None, name="activeForm")

    def action(self) -> Action:
        return Plan((PlanItem(self.subject, "pending"),))


class TaskUpdate(Call, frozen=True, gc=False):
    """Names the task by its number, unless it also gets a new subject."""

    renamed = ("subject", "status")
    task: str | int = field(name="taskId")
    subject: str | None = None
    status: str | None = None

    def action(self) -> Action:
        return Plan((PlanItem(self.subject or str(self.task), self.status),))


class TaskRead(Call, frozen=True, gc=False):
    """A look at the list, or at one task of it."""

    task: str | int | None = field(default=None, name="taskId")

    def action(self) -> Action:
        return Plan()


class Task(Delegate, frozen=True, gc=False):
    model: str | None = None
    run_in_background: bool | None = None
    resume: str | None = None
    name: str | None = None
    isolation: str | None = None


class TaskOutput(Call, frozen=True, gc=False):
    """Of an agent, mostly: a command in the background answers to it too, and its id does not say which it is."""

    task: str | int | None = field(default=None, name="task_id")
    agent: str | None = field(default=None, name="agentId")
    block: bool | None = None
    timeout: int | float | None = None

    def action(self) -> Action:
        return Agent()


class TaskStop(Call, frozen=True, gc=False):
    task: str | int | None = field(default=None, name="task_id")
    shell: str | None = field(default=None, name="shell_id")

    def action(self) -> Action:
        return Agent() if self.shell is None else Execute(f"# kill {self.shell}")


class SendMessage(Call, frozen=True, gc=False):
    """To another agent. What is not text is the protocol between them, and stays beside."""

    message: Any = None
    content: str | None = None
    summary: str | None = None

    def action(self) -> Action:
        return Agent(description=self.summary, prompt=self.message if self._is_text else self.content)

    def beside(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        told = ("summary", "message" if self._is_text else "content")
        return {key: value for key, value in given.items() if key not in told}

    @property
    def _is_text(self) -> bool:
        return isinstance(self.message, str)


class SlashCommand(Call, frozen=True, gc=False):
    """A skill of the days when they were called so: `/name and what it is given`."""

    renamed = ("command",)
    command: str

    def action(self) -> Action:
        name, _, given = self.command.removeprefix("/").partition(" ")
        return Agent(prompt=given or None, agent_type=name)


class Workflow(Call, frozen=True, gc=False):
    """A program that gives work to many agents."""

    renamed = ("script", "name", "description")
    script: str | None = None
    name: str | None = None
    description: str | None = None

    def action(self) -> Action:
        return Agent(self.description, self.script, self.name)


class Later(Call, frozen=True, gc=False):
    """A prompt for the agent itself, at another time."""

    renamed = ("prompt", "reason")
    prompt: str | None = None
    reason: str | None = None

    def action(self) -> Action:
        return Agent(description=self.reason, prompt=self.prompt)


class Socket(Struct, frozen=True, gc=False):
    url: str


class Monitor(Call, frozen=True, gc=False):
    """A command whose every line of output wakes the agent; or a socket, whose every message does."""

    spelled = RunCommand.spelled
    command: str | None = None
    description: str | None = None
    timeout: int | float | None = None
    persistent: bool | None = None
    ws: Socket | None = None

    def action(self) -> Action:
        if self.command is None:
            if self.ws is None:
                raise ValueError("nothing to watch")
            return Web(url=self.ws.url)
        return Execute(self.command, self.description, self.timeout)

    def actions(self) -> tuple[Action, ...]:
        return () if self.command is None else intents(self.command)


TOOLS: dict[str, type[Call]] = {
    "Read": Read,
    "View": Read,
    "Write": WriteFile,
    "Replace": WriteFile,
    "Edit": EditFile,
    "MultiEdit": Edits,
    "NotebookRead": ReadNotebook,
    "ReadNotebook": ReadNotebook,
    "NotebookEdit": NotebookEdit,
    "NotebookEditCell": NotebookEdit,
    "Bash": Bash,
    "bash": Bash,
    "PowerShell": PowerShell,
    "REPL": RunScript,
    "Monitor": Monitor,
    "BashOutput": BashOutput,
    "BashOutputTool": BashOutput,
    "KillShell": KillShell,
    "KillBash": KillShell,
    "Glob": Find,
    "GlobTool": Find,
    "Grep": Grep,
    "GrepTool": Grep,
    "LS": LS,
    "LSP": AskServer,
    "ToolSearch": FindByQuery,
    "MCPSearch": FindByQuery,
    "SearchMcpRegistry": SearchRegistry,
    "WebFetch": WebFetch,
    "WebSearch": WebSearch,
    "TodoWrite": Todos,
    "TodoRead": TaskRead,
    "TaskCreate": TaskCreate,
    "TaskUpdate": TaskUpdate,
    "TaskGet": TaskRead,
    "TaskList": TaskRead,
    "EnterPlanMode": PlanText,
    "ExitPlanMode": PlanText,
    "exit_plan_mode": PlanText,
    "AskUserQuestion": Questions,
    "Task": Task,
    "Agent": Task,
    "dispatch_agent": Task,
    "ListAgents": Delegate,
    "ListPeers": Delegate,
    "TaskOutput": TaskOutput,
    "AgentOutput": TaskOutput,
    "AgentOutputTool": TaskOutput,
    "TaskStop": TaskStop,
    "SendMessage": SendMessage,
    "SubagentHandback": SendMessage,
    "TeamCreate": Delegate,
    "TeamDelete": Delegate,
    "Skill": UseSkill,
    "SlashCommand": SlashCommand,
    "Workflow": Workflow,
    "CronCreate": Later,
    "CronDelete": Later,
    "CronList": Later,
    "ScheduleWakeup": Later,
    "RemoteTrigger": Later,
    "ReadMcpResource": ReadResource,
    "ReadMcpResourceTool": ReadResource,
    "ReadMcpResourceDir": ListResources,
    "ReadMcpResourceDirTool": ListResources,
    "ListMcpResources": ListResources,
    "ListMcpResourcesTool": ListResources,
    # Tools that the provider runs, and Anthropic's own editor.
    "tool_search_tool_regex": FindByQuery,
    "tool_search_tool_bm25": FindByQuery,
    "web_search": WebSearch,
    "web_fetch": WebFetch,
    "code_execution": RunScript,
    "bash_code_execution": Bash,
    "text_editor_code_execution": TextEditor,
    "str_replace_editor": TextEditor,
    "str_replace_based_edit_tool": TextEditor,
    **dict.fromkeys(
        (
            "Artifact",
            "Brief",
            "ClaudeDesign",
            "Config",
            "DesignSync",
            "EndConversation",
            "EnterWorktree",
            "ExitWorktree",
            "ListConnectors",
            "OfferChromeSetup",
            "Projects",
            "ProposeGoal",
            "ProposeSkills",
            "PushNotification",
            "ReadNotifications",
            "RefreshMcpTools",
            "ReportFindings",
            "SendFeedback",
            "SendUserFile",
            "SendUserMessage",
            "ShareOnboardingGuide",
            "ShowOnboardingRolePicker",
            "Sleep",
            "StructuredOutput",
            "SuggestConnectors",
            "SuggestPluginInstall",
            "SuggestSkills",
            "WaitForMcpServers",
            "advisor",
        ),
        Apart,
    ),
}

VOCABULARY = Vocabulary("claude_code", TOOLS, mcp_of)
