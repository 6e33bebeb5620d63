"""GitHub Copilot CLI's tools. A tool on a server is called `server-tool`, and either part may hold a dash: only the
servers that come with the program are known by name.
"""

from typing import ClassVar

from unspool.actions.files import ApplyPatch, EditFile, ReadRange, TextEditor, WriteFile
from unspool.actions.shapes import (
    Apart,
    AskServer,
    Delegate,
    Fetch,
    Find,
    FindByQuery,
    Glob,
    KillShell,
    ListShells,
    Look,
    OnShell,
    PlanText,
    Question,
    RunCommand,
    RunScript,
    SearchWeb,
    Todos,
    UseSkill,
    WriteShell,
)
from unspool.actions.vocabulary import Call, Vocabulary, mcp_of

SERVERS = ("github-mcp-server", "playwright", "bluebird", "computer-use")


class Sql(RunScript, frozen=True, gc=False):
    """Its lists (of what is to do, of former sessions) are tables."""

    spelled: ClassVar = {"query": "command"}


class AskUser(Question, frozen=True, gc=False):
    """A question with choices; or a message above a form, whose fields only the call itself says."""

    spelled = Question.spelled | {"message": "question"}


def server(name: str) -> tuple[str, str] | None:
    for known in SERVERS:
        if name.startswith(known + "-") and len(name) > len(known) + 1:
            return known, name[len(known) + 1 :]
    return mcp_of(name)


TOOLS: dict[str, type[Call]] = {
    "view": ReadRange,
    "show_file": ReadRange,
    "create": WriteFile,
    "edit": EditFile,
    "apply_patch": ApplyPatch,
    "str_replace_editor": TextEditor,
    "bash": RunCommand,
    "shell": RunCommand,
    "local_shell": RunCommand,
    "powershell": RunScript,
    "sql": Sql,
    "session_store_sql": Sql,
    "grep": Find,
    "rg": Find,
    "glob": Glob,
    "lsp": AskServer,
    "get_errors": Look,
    "code_search": FindByQuery,
    "semantic_code_search": FindByQuery,
    "tool_search_tool_regex": Find,
    "tool_search_tool": FindByQuery,
    "web_fetch": Fetch,
    "fetch": Fetch,
    "web_search": SearchWeb,
    "update_todo": Todos,
    "report_intent": PlanText,
    "exit_plan_mode": PlanText,
    "ask_user": AskUser,
    "skill": UseSkill,
    **dict.fromkeys(("read_bash", "read_powershell"), OnShell),
    **dict.fromkeys(("write_bash", "write_powershell"), WriteShell),
    **dict.fromkeys(("stop_bash", "stop_powershell"), KillShell),
    **dict.fromkeys(("list_bash", "list_powershell"), ListShells),
    **dict.fromkeys(("task", "read_agent", "write_agent", "stop_agent", "list_agents", "send_inbox"), Delegate),
    **dict.fromkeys(
        (
            "fetch_copilot_cli_documentation",
            "store_memory",
            "vote_memory",
            "task_complete",
            "parallel_validation",
            "code_review",
            "codeql_checker",
            "extensions_manage",
            "extensions_reload",
            "context_board",
        ),
        Apart,
    ),
}

VOCABULARY = Vocabulary("copilot_cli", TOOLS, server)
