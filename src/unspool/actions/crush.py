"""Crush's tools."""

from unspool.actions.files import EditFile, Edits, ReadFile, WriteFile
from unspool.actions.servers import underscored
from unspool.actions.shapes import (
    Apart,
    Delegate,
    Fetch,
    Find,
    FindByQuery,
    KillShell,
    ListResources,
    Look,
    OnShell,
    Questions,
    ReadResource,
    RunCommand,
    SearchWeb,
    Todos,
)
from unspool.actions.vocabulary import Call, Vocabulary
from unspool.model import Action
from unspool.model.action import Web


class AgenticFetch(Call, frozen=True, gc=False):
    """An agent that reads a page, or searches for one."""

    prompt: str
    url: str | None = None

    def action(self) -> Action:
        return Web(url=self.url) if self.url else Web(query=self.prompt)


class References(Find, frozen=True, gc=False):
    spelled = Find.spelled | {"symbol": "pattern"}


TOOLS: dict[str, type[Call]] = {
    "view": ReadFile,
    "write": WriteFile,
    "edit": EditFile,
    "multiedit": Edits,
    "bash": RunCommand,
    "job_output": OnShell,
    "job_kill": KillShell,
    "ls": Look,
    "glob": Find,
    "grep": Find,
    "rg": Find,
    "diagnostics": Look,
    "lsp_diagnostics": Look,
    "references": References,
    "lsp_references": References,
    "sourcegraph": FindByQuery,
    "fetch": Fetch,
    "web_fetch": Fetch,
    "download": Fetch,
    "agentic_fetch": AgenticFetch,
    "web_search": SearchWeb,
    "todos": Todos,
    "agent": Delegate,
    "question": Questions,
    "list_mcp_resources": ListResources,
    "read_mcp_resource": ReadResource,
    **dict.fromkeys(("lsp_restart", "crush_info", "crush_logs"), Apart),
}

VOCABULARY = Vocabulary("crush", TOOLS, underscored)
