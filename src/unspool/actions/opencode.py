"""OpenCode's tools, which Kilo and MiMoCode share.

Those on MCP servers are called `server_tool`, as a plugin's tools may be: such a call stays generic.
"""

from typing import Any

from unspool.actions.files import ApplyPatch, EditFile, Edits, ReadFile, WriteFile
from unspool.actions.shapes import (
    Apart,
    AskServer,
    Delegate,
    Fetch,
    Find,
    FindByQuery,
    Look,
    PlanText,
    Questions,
    RunCommand,
    RunScript,
    SearchWeb,
    Todos,
    UseSkill,
)
from unspool.actions.vocabulary import Call, Vocabulary, mcp_of
from unspool.model import Action
from unspool.model.action import Generic


class Subagent(Delegate, frozen=True, gc=False):
    spelled = Delegate.spelled | {"agent": "agent_type"}


class Skill(UseSkill, frozen=True, gc=False):
    spelled = UseSkill.spelled | {"id": "skill"}


class Batch(Call, frozen=True, gc=False):
    """Several calls in one: it means what they mean, each for itself."""

    calls: tuple[dict[str, Any], ...]
    spelled = dict.fromkeys(("tool_calls", "invocations"), "calls")

    def action(self) -> Action:
        return Generic()

    def actions(self) -> tuple[Action, ...]:
        found: list[Action] = []
        for call in self.calls:
            tool = TOOLS.get(str(call.get("tool")))
            if tool and tool is not Batch:
                one = tool.of(call.get("parameters"))
                found += one.actions() or (one.action(),)
        return tuple(found)


TOOLS: dict[str, type[Call]] = {
    "read": ReadFile,
    "write": WriteFile,
    "edit": EditFile,
    "multiedit": Edits,
    "patch": ApplyPatch,
    "apply_patch": ApplyPatch,
    "bash": RunCommand,
    "shell": RunCommand,
    "glob": Find,
    "grep": Find,
    "list": Look,
    "ls": Look,
    "lsp": AskServer,
    "lsp_diagnostics": Look,
    "lsp_hover": Look,
    "codesearch": FindByQuery,
    "webfetch": Fetch,
    "websearch": SearchWeb,
    "todowrite": Todos,
    "todoread": PlanText,
    "plan_enter": PlanText,
    "plan_exit": PlanText,
    "task": Delegate,
    "subagent": Subagent,
    "execute": RunScript,
    "monitor": RunCommand,
    "skill": Skill,
    "question": Questions,
    "batch": Batch,
    **dict.fromkeys(("invalid", "models", "StructuredOutput"), Apart),
}

VOCABULARY = Vocabulary("opencode", TOOLS, mcp_of)
