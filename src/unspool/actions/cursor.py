"""Cursor's tools. They have three sets of names: in the editor (`read_file`, `run_terminal_cmd`), in the newer agent
(`Read`, `Shell`), and in the stream of its command line (`readToolCall`, or `read` when the suffix is taken off).
"""

from typing import Any

from msgspec import field

from unspool.actions import pi
from unspool.actions.files import (
    PATH,
    ApplyPatch,
    DeleteFile,
    EditFile,
    EditNotebook,
    Edits,
    ReadLines,
    Sketch,
    WriteFile,
)
from unspool.actions.servers import underscored
from unspool.actions.shapes import (
    PLACE,
    Apart,
    CallServer,
    Delegate,
    Fetch,
    Find,
    FindByQuery,
    Glob,
    ListResources,
    Look,
    OnShell,
    PlanText,
    Questions,
    ReadResource,
    RunCommand,
    SearchWeb,
    Todo,
    Todos,
    UseSkill,
    WriteShell,
)
from unspool.actions.vocabulary import Call, Vocabulary
from unspool.model import Action
from unspool.model.action import Agent, Plan


class Grep(Find, frozen=True, gc=False):
    """Called its pattern a query once."""

    spelled = PLACE | {"query": "pattern"}


class StreamEdit(Call, frozen=True, gc=False):
    """A change, a list of them, or only the new text."""

    renamed = ("strReplace", "multiStrReplace")
    spelled = PATH | dict.fromkeys(("streamContent", "code_edit"), "new_string")
    file_path: str
    new_string: str | None = None
    one: dict[str, Any] | None = field(default=None, name="strReplace")
    many: dict[str, tuple[dict[str, Any], ...]] | None = field(default=None, name="multiStrReplace")

    def action(self) -> Action:
        edits = self._edits()
        return edits.action() if edits else Sketch(self.file_path, self.new_string or "").action()

    def actions(self) -> tuple[Action, ...]:
        edits = self._edits()
        return edits.actions() if edits else ()

    def _edits(self) -> Edits | None:
        changes = (self.many or {}).get("edits") or ((self.one,) if self.one else ())
        return Edits(self.file_path, changes) if changes else None


class CreatePlan(Call, frozen=True, gc=False):
    renamed = ("plan",)
    plan: str | None = None
    todos: tuple[dict[str, Any], ...] | None = None

    def action(self) -> Action:
        return Plan(tuple(Todo.of(todo).item() for todo in self.todos or ()), self.plan)


class StreamTask(Delegate, frozen=True, gc=False):
    """The type of agent is the key of an object, or a name in it: `{"custom": {"name": "scout"}}`."""

    spelled = Delegate.spelled | {"agentId": "agentId"}  # which is whose agent it is, and not of what type
    agent_type: str | dict[str, Any] | None = None  # type: ignore[assignment]

    def action(self) -> Action:
        kind = self.agent_type
        if isinstance(kind, dict):
            key, told = next(iter(kind.items()), ("", None))
            named = told.get("name") if isinstance(told, dict) else None
            kind = named if isinstance(named, str) else key if key != "unspecified" else None
        return Agent(self.description, self.prompt, kind)


class Await(OnShell, frozen=True, gc=False):
    spelled = OnShell.spelled | {"taskId": "shell_id"}


class CallDynamic(CallServer, frozen=True, gc=False):
    """Tools that were not shown from the beginning: those of servers, and in the space `cursor` its own."""

    spelled = CallServer.spelled | {"namespace": "server"}

    def action(self) -> Action:
        tool = AGENT.get(self.tool) if self.server == "cursor" else None
        return tool.of(self.arguments).action() if tool and tool is not CallDynamic else super().action()


class StreamMcp(CallServer, frozen=True, gc=False):
    spelled = CallServer.spelled | {"providerIdentifier": "server"}


EDITOR: dict[str, type[Call]] = {
    "read_file": ReadLines,
    "read_file_v2": ReadLines,
    "edit_file": Sketch,
    "edit_file_v2": StreamEdit,
    "reapply": Sketch,
    "search_replace": EditFile,
    "write": WriteFile,
    "multi_edit": Edits,
    "edit_notebook": EditNotebook,
    "delete_file": DeleteFile,
    "apply_patch": ApplyPatch,
    "run_terminal_cmd": RunCommand,
    "run_terminal_command": RunCommand,
    "run_terminal_command_v2": RunCommand,
    "write_shell_stdin": WriteShell,
    "list_dir": Look,
    "list_dir_v2": Look,
    "grep": Grep,
    "grep_search": Grep,
    "ripgrep_search": Grep,
    "ripgrep_raw_search": Grep,
    "glob_file_search": Glob,
    "file_search": FindByQuery,
    "codebase_search": FindByQuery,
    "semantic_search_full": FindByQuery,
    "deep_search": FindByQuery,
    "search_symbols": FindByQuery,
    "read_lints": Look,
    "web_search": SearchWeb,
    "web_fetch": Fetch,
    "todo_write": Todos,
    "todo_read": PlanText,
    "create_plan": CreatePlan,
    "switch_mode": PlanText,
    "ask_question": Questions,
    "task": Delegate,
    "task_v2": Delegate,
    "await_task": Delegate,
    "call_mcp_tool": CallServer,
    "get_mcp_tools": Look,
    "list_mcp_resources": ListResources,
    "fetch_mcp_resource": ReadResource,
    "read_mcp_resource": ReadResource,
    **dict.fromkeys(
        (
            "computer_use",
            "create_diagram",
            "fetch_pull_request",
            "fetch_rules",
            "fix_lints",
            "generate_image",
            "go_to_definition",
            "knowledge_base",
            "update_memory",
        ),
        Apart,
    ),
}

AGENT: dict[str, type[Call]] = {
    "Read": ReadLines,
    "ReadFile": ReadLines,
    "Write": WriteFile,
    "StrReplace": EditFile,
    "MultiEdit": Edits,
    "EditNotebook": EditNotebook,
    "Delete": DeleteFile,
    "ApplyPatch": ApplyPatch,
    "Shell": RunCommand,
    "Await": Await,
    "AwaitShell": Await,
    "LS": Look,
    "Grep": Grep,
    "Glob": Glob,
    "SemanticSearch": FindByQuery,
    "ReadLints": Look,
    "WebSearch": SearchWeb,
    "WebFetch": Fetch,
    "TodoWrite": Todos,
    "CreatePlan": CreatePlan,
    "SwitchMode": PlanText,
    "AskQuestion": Questions,
    "Task": Delegate,
    "Subagent": Delegate,
    "Skill": UseSkill,
    "CallMcpTool": CallServer,
    "CallDynamicTool": CallDynamic,
    "GetMcpTools": Look,
    "GetDynamicTools": Look,
    "ListMcpResources": ListResources,
    "FetchMcpResource": ReadResource,
    "GenerateImage": Apart,
}

STREAM: dict[str, type[Call]] = {
    "read": ReadLines,
    "write": WriteFile,
    "edit": StreamEdit,
    "delete": DeleteFile,
    "shell": RunCommand,
    "writeShellStdin": WriteShell,
    "await": Await,
    "ls": Look,
    "grep": Grep,
    "glob": Glob,
    "semSearch": FindByQuery,
    "readLints": Look,
    "webSearch": SearchWeb,
    "webFetch": Fetch,
    "fetch": Fetch,
    "todo": Todos,
    "updateTodos": Todos,
    "readTodos": PlanText,
    "createPlan": CreatePlan,
    "switchMode": PlanText,
    "askQuestion": Questions,
    "createGoal": PlanText,
    "updateGoal": PlanText,
    "task": StreamTask,
    **dict.fromkeys(("createAgent", "getAgentStatus", "sendToAgent", "readAgentTranscript", "stopAgent"), Delegate),
    "mcp": StreamMcp,
    "getMcpTools": Look,
    "listMcpResources": ListResources,
    "readMcpResource": ReadResource,
    "searchConversations": FindByQuery,
    **{f"pi{name.title()}": pi.TOOLS[name] for name in ("read", "write", "edit", "bash", "grep", "find", "ls")},
    **dict.fromkeys(("generateImage", "computerUse", "recordScreen", "reflect"), Apart),
}

TOOLS: dict[str, type[Call]] = {
    **EDITOR,
    **AGENT,
    **STREAM,
    **{f"{name}ToolCall": tool for name, tool in STREAM.items()},
}

VOCABULARY = Vocabulary("cursor", TOOLS, underscored)
