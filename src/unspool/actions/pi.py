"""Pi's tools, which those that are built on it have too."""

from typing import Any

from unspool.actions.files import CHANGE, PATH, EditFile, Edits, ReadFile, WriteFile
from unspool.actions.shapes import (
    CallServer,
    Delegate,
    Fetch,
    Find,
    FindByQuery,
    ListResources,
    Look,
    Question,
    ReadResource,
    RunCommand,
    RunScript,
    SearchWeb,
    Todos,
)
from unspool.actions.vocabulary import Call
from unspool.model import Action


class Edit(Call, frozen=True, gc=False):
    """One change, or since a while a list of them."""

    renamed = ("edits",)
    spelled = PATH | CHANGE
    file_path: str
    old_string: str | None = None
    new_string: str | None = None
    replace_all: bool | None = None
    edits: tuple[dict[str, Any], ...] | None = None

    def action(self) -> Action:
        if self.edits:
            return Edits(self.file_path, self.edits).action()
        if self.old_string is None or self.new_string is None:
            raise ValueError("no change")
        return EditFile(self.file_path, self.old_string, self.new_string, self.replace_all).action()

    def actions(self) -> tuple[Action, ...]:
        return Edits(self.file_path, self.edits).actions() if self.edits else ()


TOOLS: dict[str, type[Call]] = {
    "read": ReadFile,
    "write": WriteFile,
    "edit": Edit,
    "bash": RunCommand,
    "grep": Find,
    "find": Find,
    "ls": Look,
    "powershell": RunScript,
    "codemode": RunScript,
    "tool_search": FindByQuery,
    **dict.fromkeys(("list_mcp_resources", "list_mcp_resource_templates"), ListResources),
    "read_mcp_resource": ReadResource,
    # What the extensions that most people have bring along.
    "subagent": Delegate,
    "list_agents": Delegate,
    "todo": Todos,
    "question": Question,
    "web_search": SearchWeb,
    "web_fetch": Fetch,
    "mcp": CallServer,
}
