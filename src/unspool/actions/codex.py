"""Codex's tools, of every generation: `shell` and `container.exec`, `exec_command`, and `exec` with its JavaScript.

A call that carries a patch, in whichever way, means what its first file header that adds or updates says; all that it
does stands in its actions. What a log says of calls that have happened is read by `codex_changes`.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar

from msgspec import Struct

from unspool.actions import javascript
from unspool.actions.codex_extensions import EXTENSIONS
from unspool.actions.codex_shell import ApplyPatch, ExecCommand, Shell, UnifiedExec, WriteStdin
from unspool.actions.shapes import Apart, ListResources, Questions, ReadResource
from unspool.actions.vocabulary import Call, Vocabulary, each, mcp_of
from unspool.model import Action
from unspool.model.action import Agent, Ask, Execute, FileRead, Generic, Mcp, Plan, PlanItem, Search, Web

# Files and the tree.


class ViewImage(Call, frozen=True, gc=False):
    renamed = ("path",)
    path: str
    detail: str | None = None

    def action(self) -> Action:
        return FileRead(self.path)


class ReadFile(Call, frozen=True, gc=False):
    """`mode` is slice or indentation; the latter reads the block around a line."""

    spelled: ClassVar = {"path": "file_path"}
    file_path: str
    offset: int | None = None
    limit: int | None = None
    mode: str | None = None
    indentation: Any = None

    def action(self) -> Action:
        return FileRead(self.file_path, self.offset, self.limit)


class ListDir(Call, frozen=True, gc=False):
    spelled: ClassVar = {"dir_path": "path"}
    path: str
    offset: int | None = None
    limit: int | None = None
    depth: int | None = None

    def action(self) -> Action:
        return Search(path=self.path)


class GrepFiles(Call, frozen=True, gc=False):
    pattern: str
    include: str | None = None
    path: str | None = None
    limit: int | None = None

    def action(self) -> Action:
        return Search(self.pattern, path=self.path)


class ToolSearch(Call, frozen=True, gc=False):
    """Which tools there are, beyond those that the model was told of."""

    query: str
    limit: int | None = None

    def action(self) -> Action:
        return Search(query=self.query)


# The network.


class WebSearch(Call, frozen=True, gc=False):
    """The provider's own tool: `type` is search, open_page or find_in_page, and says which of these are there."""

    raw: str | None = None
    type: str | None = None
    query: str | None = None
    queries: tuple[str, ...] | None = None
    url: str | None = None
    pattern: str | None = None

    def action(self) -> Action:
        if self.raw is not None:
            raise ValueError("arguments that are no JSON")
        return Web(self.url, self.query or (self.queries or (None,))[0])

    def actions(self) -> tuple[Action, ...]:
        return each(Web(query=query) for query in self.queries or ())


class WebRun(Call, frozen=True, gc=False):
    """Several steps on the web in one call."""

    search_query: tuple[dict[str, Any], ...] = ()
    image_query: tuple[dict[str, Any], ...] = ()
    open: tuple[dict[str, Any], ...] = ()

    def steps(self) -> list[Action]:
        asked = [step.get("q") for step in (*self.search_query, *self.image_query)]
        opened = [step.get("ref_id") for step in self.open]
        found: list[Action] = [Web(query=query) for query in asked if isinstance(query, str)]
        return found + [Web(url=place) for place in opened if isinstance(place, str)]

    def action(self) -> Action:
        steps = self.steps()
        return steps[0] if steps else Web()

    def actions(self) -> tuple[Action, ...]:
        return each(self.steps())


# Plans and questions.


class Step(Struct, frozen=True, gc=False):
    step: str
    status: str | None = None


class UpdatePlan(Call, frozen=True, gc=False):
    renamed = ("plan", "explanation")
    plan: tuple[Step, ...]
    explanation: str | None = None

    def action(self) -> Action:
        return Plan(tuple(PlanItem(step.step, step.status) for step in self.plan), self.explanation)


class Goal(Call, frozen=True, gc=False):
    """What the thread is for, over many turns."""

    renamed = ("objective",)
    objective: str | None = None
    status: str | None = None

    def action(self) -> Action:
        return Plan(text=self.objective)


class QuestionsForLater(Questions, frozen=True, gc=False):
    """The model goes on; what the person answers comes as a message. A question is a title here."""

    def asked(self) -> tuple[dict[str, Any], ...]:
        return tuple({"question": one.get("title"), **one} for one in Questions.asked(self))


class RequestPermissions(Call, frozen=True, gc=False):
    renamed = ("reason",)
    permissions: Any
    reason: str | None = None

    def action(self) -> Action:
        return Ask(self.reason or "")


# Other agents. One that is spawned runs beside the caller, which may write to it, wait for it and end it.


class SpawnAgent(Call, frozen=True, gc=False):
    """A new agent and its first message, which is a text or a list of items."""

    renamed = ("message", "task_name")
    message: str | None = None
    items: tuple[dict[str, Any], ...] | None = None
    agent_type: str | None = None
    task_name: str | None = None

    def action(self) -> Action:
        if self.message is None and self.items is None:
            raise ValueError("no message")
        texts = [item["text"] for item in self.items or () if isinstance(item.get("text"), str)]
        prompt = self.message if self.message is not None else "\n".join(texts)
        return Agent(self.task_name, prompt or None, self.agent_type)


class SendInput(SpawnAgent, frozen=True, gc=False):
    """A message to an agent: `send_message` lets it go on, `followup_task` gives it a turn, `send_input` either."""


class AgentJobs(Call, frozen=True, gc=False):
    """An agent for each row of a table."""

    renamed = ("instruction",)
    instruction: str
    csv_path: str | None = None

    def action(self) -> Action:
        return Agent(prompt=self.instruction)


class OnAgents(Call, frozen=True, gc=False):
    """To wait for agents, to interrupt, close or resume one, to list them: which stands beside."""

    def action(self) -> Action:
        return Agent()


class Wait(Call, frozen=True, gc=False):
    """For a cell of `exec` that is still running; before there were cells, for agents."""

    cell_id: str | int | None = None

    def action(self) -> Action:
        return Agent() if self.cell_id is None else Execute(f"# read {self.cell_id}")


class ListTemplates(ListResources, frozen=True, gc=False):
    method = "resources/templates/list"


# Calls within calls.


class Inner(Struct, frozen=True):
    """A call within a call: what it would be alone."""

    action: Action
    actions: tuple[Action, ...]
    beside: Mapping[str, Any]

    def all(self) -> tuple[Action, ...]:
        if isinstance(self.action, Execute):
            return (self.action, *self.actions)
        return self.actions or (self.action,)


def _inner(name: str, *readings: Any) -> Inner:
    """A call by one of the ways to read its arguments: the first that fits."""
    name = name.removeprefix("functions.")
    if place := mcp_of(name):
        return Inner(Mcp(*place, readings[0]), (), {})
    tool = _TOOLS.get(name) or _TOOLS.get(name.rpartition("__")[2])
    if tool is not None and not issubclass(tool, Nested):
        for arguments in readings:
            try:
                call = tool.of(arguments)
                return Inner(call.action(), call.actions(), call.beside(tool.spell(arguments)))
            except ValueError:
                continue
    return Inner(Generic({"name": name, "arguments": readings[0]}), (), {})


@lru_cache(maxsize=2)  # the same program is asked for its action, its actions and what stands beside them
def _made(program: str) -> tuple[Inner, ...]:
    """The calls of a program. A number that is yet to be computed does not spoil the rest of a call."""
    return tuple(
        _inner(name, javascript.plain(given), javascript.plain(javascript.understood(given)))
        for name, given in javascript.calls(program)
    )


class Nested(Call, frozen=True, gc=False):
    """A call that makes others. One that makes a single one means what that means."""

    def inner(self) -> tuple[Inner, ...]:
        raise TypeError(f"{type(self).__name__} does not say which calls it makes")

    def itself(self) -> Action:
        raise TypeError(f"{type(self).__name__} does not say what it means")

    def single(self) -> Inner | None:
        inner = self.inner()
        return inner[0] if len(inner) == 1 and not isinstance(inner[0].action, Generic) else None

    def action(self) -> Action:
        single = self.single()
        return single.action if single else self.itself()

    def actions(self) -> tuple[Action, ...]:
        if single := self.single():
            return single.actions
        return tuple(action for inner in self.inner() for action in inner.all())

    def beside(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        single = self.single()
        return single.beside if single else Call.beside(self, given)


class Exec(Nested, frozen=True, gc=False):
    """A program in JavaScript that calls the other tools."""

    bare = "raw"
    renamed = ("raw",)
    spelled: ClassVar = {"input": "raw", "code": "raw"}
    raw: str

    def inner(self) -> tuple[Inner, ...]:
        return _made(self.raw)

    def itself(self) -> Action:
        return Execute(self.raw)


class ToolUse(Struct, frozen=True, gc=False):
    recipient_name: str
    parameters: Any = None


class Parallel(Nested, frozen=True, gc=False):
    tool_uses: tuple[ToolUse, ...]

    def inner(self) -> tuple[Inner, ...]:
        return tuple(_inner(use.recipient_name, use.parameters) for use in self.tool_uses)

    def itself(self) -> Action:
        return Generic()


class Repl(Call, frozen=True, gc=False):
    """A program in JavaScript that is run for its own sake."""

    bare = "raw"
    renamed = ("raw",)
    spelled: ClassVar = {"input": "raw", "code": "raw"}
    raw: str

    def action(self) -> Action:
        return Execute(self.raw)


_TOOLS: Mapping[str, type[Call]] = {
    **dict.fromkeys(("shell", "shell_command", "local_shell", "local_shell_call", "container.exec"), Shell),
    "exec_command": ExecCommand,
    "unified_exec": UnifiedExec,
    "write_stdin": WriteStdin,
    "apply_patch": ApplyPatch,
    "exec": Exec,
    "js_repl": Repl,
    "multi_tool_use.parallel": Parallel,
    "view_image": ViewImage,
    "read_file": ReadFile,
    "list_dir": ListDir,
    "grep_files": GrepFiles,
    "tool_search": ToolSearch,
    "web_search": WebSearch,
    **dict.fromkeys(("web__run", "web.run"), WebRun),
    "update_plan": UpdatePlan,
    **dict.fromkeys(("create_goal", "update_goal", "get_goal"), Goal),
    "request_user_input": Questions,
    **dict.fromkeys(("request_user_input_async", "send_user_message_async"), QuestionsForLater),
    "request_permissions": RequestPermissions,
    "spawn_agent": SpawnAgent,
    **dict.fromkeys(("send_input", "send_message", "followup_task", "assign_task"), SendInput),
    "spawn_agents_on_csv": AgentJobs,
    **dict.fromkeys(
        ("wait_agent", "close_agent", "interrupt_agent", "resume_agent", "list_agents", "report_agent_job_result"),
        OnAgents,
    ),
    "wait": Wait,
    "list_mcp_resources": ListResources,
    "list_mcp_resource_templates": ListTemplates,
    "read_mcp_resource": ReadResource,
    **dict.fromkeys(("image_generation", "image_gen__imagegen", "js_repl_reset", "sleep", "clock__sleep"), Apart),
    **dict.fromkeys(("clock__curr_time", "get_context_remaining", "new_context"), Apart),
    **dict.fromkeys(("tool_suggest", "request_plugin_install", "test_sync_tool"), Apart),
    **EXTENSIONS,
}
VOCABULARY = Vocabulary("codex", _TOOLS, mcp_of)
_NAMESPACES = ("functions", "tools", "collaboration", "agents", "multi_agent_v1")


def qualified(name: str, namespace: str | None) -> str:
    """The name to look a call up by, where the log keeps its namespace apart.

    `mcp__S` and `T` are the tool `mcp__S__T`. The namespace of a connector ends within the tool's name, whose rest then
    begins with an underscore. Codex's own namespaces (`multi_agent_v1`, …) only sort its tools. Some models write them
    before the name, with a dot.
    """
    if not namespace:
        before, _, own = name.rpartition(".")
        return own if before in _NAMESPACES and own in _TOOLS else name
    if namespace.startswith("mcp__"):
        return namespace + name if namespace.endswith("__") or name[:1] == "_" else f"{namespace}__{name}"
    whole = f"{namespace}__{name}"
    return name if name in _TOOLS and whole not in _TOOLS else whole
