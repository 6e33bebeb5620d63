"""Tools that touch no file: the shapes that agents share. As with files, a shape names only what its meaning needs."""

from collections.abc import Iterable
from typing import Any, ClassVar

import msgspec

from unspool.actions.checklist import items_of
from unspool.actions.shell import intents
from unspool.actions.vocabulary import Call, each, several
from unspool.model import Action
from unspool.model.action import Agent, Ask, Execute, Generic, Mcp, Plan, PlanItem, Search, Web

WORKDIR = dict.fromkeys(
    ("cwd", "directory", "dir_path", "working_directory", "working_dir", "workingDirectory", "cd"),
    "workdir",
)
PLACE = dict.fromkeys(
    (
        "paths",
        "dir_path",
        "dirPath",
        "dirpath",
        "directory",
        "directory_path",
        "target_directory",
        "targetDirectory",
        "target_directories",
        "targetDirectories",
        "relative_workspace_path",
        "folder",
        "file_path",
        "filePath",
    ),
    "path",
)


class Apart(Call, frozen=True, gc=False):
    """A tool that we know and that none of our kinds fits: a note to itself, a picture, a clock. Generic on purpose."""

    def action(self) -> Action:
        return Generic()


# The shell.


class RunScript(Call, frozen=True, gc=False):
    """Something is run that is no line of a POSIX shell: PowerShell, SQL, a program."""

    spelled = WORKDIR | {"cmd": "command", "script": "command", "code": "command", "timeout_ms": "timeout"}
    command: str
    description: str | None = None
    timeout: int | float | None = None
    workdir: str | None = None

    def action(self) -> Action:
        return Execute(self.command, self.description, self.timeout, self.workdir)


class RunCommand(RunScript, frozen=True, gc=False):
    spelled = WORKDIR | {"cmd": "command", "explanation": "description", "timeout_ms": "timeout"}

    def actions(self) -> tuple[Action, ...]:
        return intents(self.command)


class OnShell(Call, frozen=True, gc=False):
    """What is done to a command that runs already. No command says it, so the verb stands there as a comment would."""

    verb: ClassVar[str] = "read"
    spelled = dict.fromkeys(
        ("bash_id", "shellId", "sessionId", "process_id", "terminal_id", "task_id", "pid"), "shell_id"
    )
    shell_id: str | int | None = None

    def action(self) -> Action:
        return Execute(f"# {self.verb}" if self.shell_id is None else f"# {self.verb} {self.shell_id}")


class KillShell(OnShell, frozen=True, gc=False):
    verb = "kill"


class WriteShell(OnShell, frozen=True, gc=False):
    verb = "write"


class ListShells(OnShell, frozen=True, gc=False):
    verb = "list"


# The tree.


class Find(Call, frozen=True, gc=False):
    """What lies in files, or which files there are: a pattern, and where."""

    spelled = PLACE | {"regex": "pattern", "searchPattern": "pattern"}
    pattern: str | tuple[str, ...]
    path: str | tuple[str, ...] | None = None

    def action(self) -> Action:
        return self._searches()[0]

    def actions(self) -> tuple[Action, ...]:
        return each(self._searches())

    def _searches(self) -> list[Search]:
        places: Iterable[str | None] = several(self.path) if self.path else (None,)
        return [self._search(pattern, place) for pattern in several(self.pattern) for place in places]

    def _search(self, pattern: str, place: str | None) -> Search:
        return Search(pattern=pattern, path=place)


class Glob(Find, frozen=True, gc=False):
    spelled = PLACE | dict.fromkeys(("patterns", "filePattern", "glob_pattern", "globPattern", "glob"), "pattern")


class FindByQuery(Find, frozen=True, gc=False):
    """A search by meaning, or by name: words, and where."""

    renamed = ("pattern",)
    spelled = PLACE | {"query": "pattern", "queries": "pattern"}

    def _search(self, pattern: str, place: str | None) -> Search:
        return Search(query=pattern, path=place)


class Look(Call, frozen=True, gc=False):
    """What lies in a folder, or what is wrong in a file: a place, and nothing to look for."""

    spelled = PLACE | {"filepath": "path"}
    path: str | tuple[str, ...] | None = None

    def action(self) -> Action:
        return Search(path=several(self.path)[0]) if self.path else Search()

    def actions(self) -> tuple[Action, ...]:
        return each(Search(path=place) for place in several(self.path)) if self.path else ()


class AskServer(Call, frozen=True, gc=False):
    """A language server is asked where something is, or what it is."""

    renamed = ("operation",)
    spelled = PLACE | dict.fromkeys(("action", "method"), "operation")
    operation: str
    path: str | None = None

    def action(self) -> Action:
        return Search(query=self.operation, path=self.path)


# The network.


class Fetch(Call, frozen=True, gc=False):
    spelled: ClassVar = {"urls": "url"}
    url: str | tuple[str, ...]

    def action(self) -> Action:
        return Web(url=several(self.url)[0])

    def actions(self) -> tuple[Action, ...]:
        return each(Web(url=url) for url in several(self.url))


class SearchWeb(Call, frozen=True, gc=False):
    spelled: ClassVar = {"search_term": "query", "searchTerm": "query", "objective": "query"}
    query: str

    def action(self) -> Action:
        return Web(query=self.query)


class Browse(Call, frozen=True, gc=False):
    """One step in a browser; only some of them go to a page."""

    spelled: ClassVar = {"targetUrl": "url"}
    url: str | None = None

    def action(self) -> Action:
        return Web(url=self.url)


# Plans.


class Todo(Call, frozen=True, gc=False):
    """One of a list: no call, but spelled in as many ways. An update may name it by its id alone."""

    spelled = dict.fromkeys(("description", "task", "title", "subject", "step", "text"), "content")
    content: str | None = None
    id: str | int | None = None
    status: str | None = None
    priority: str | int | None = None

    def item(self) -> PlanItem:
        text = self.content or self.id
        if text is None:
            raise ValueError("a todo without a text")
        status = self.status
        if status and status.startswith("TODO_STATUS_"):  # Cursor's stream spells them out
            status = status.removeprefix("TODO_STATUS_").lower()
        return PlanItem(str(text), status, None if self.priority is None else str(self.priority))


class Todos(Call, frozen=True, gc=False):
    """The list as it is to be, of objects or as a text with boxes. Beside it stays what an item has no place for."""

    spelled = dict.fromkeys(("checklist", "task_progress", "plan"), "todos")
    todos: str | tuple[str | dict[str, Any], ...]

    def action(self) -> Action:
        todos = self.todos
        if isinstance(todos, str):
            if not todos.startswith("[{"):
                items = items_of(todos)
                return Plan(items, None if items else todos)
            todos = msgspec.json.decode(todos, type=tuple[dict[str, Any], ...])  # a model forgot that it is no text
        return Plan(tuple(PlanItem(one) if isinstance(one, str) else Todo.of(one).item() for one in todos))


class PlanText(Call, frozen=True, gc=False):
    """A plan in words, or that it is time to make one."""

    spelled = dict.fromkeys(("plan", "intent", "reason", "summary", "explanation", "response", "content"), "text")
    text: str | None = None

    def action(self) -> Action:
        return Plan(text=self.text)


# Agents.


class Delegate(Call, frozen=True, gc=False):
    """Work for another agent; or, without a prompt, a look at how it does."""

    spelled = (
        dict.fromkeys(("task", "message", "instructions", "input", "goal", "objective"), "prompt")
        | dict.fromkeys(("subagent_type", "subagentType", "agent_name", "subagent_name", "agentId"), "agent_type")
        | dict.fromkeys(("label", "title"), "description")
    )
    description: str | None = None
    prompt: str | None = None
    agent_type: str | None = None

    def action(self) -> Action:
        return Agent(self.description, self.prompt, self.agent_type)


class UseSkill(Call, frozen=True, gc=False):
    """Instructions under a name take the work over, as an agent of that type would, with or without a head of its own.

    So they are told as one: the name is its type, what they are given is its prompt.
    """

    renamed = ("skill", "args")
    spelled = dict.fromkeys(("name", "skill_name", "skillName", "command"), "skill") | {"arguments": "args"}
    skill: str
    args: Any = None

    def action(self) -> Action:
        given = self.args
        text = given if given is None or isinstance(given, str) else msgspec.json.encode(given).decode()
        return Agent(prompt=text, agent_type=self.skill)


# The person.


class Option(Call, frozen=True, gc=False):
    spelled = dict.fromkeys(("text", "value", "title"), "label")
    label: str


class Question(Call, frozen=True, gc=False):
    spelled = dict.fromkeys(("prompt", "text"), "question") | dict.fromkeys(("choices", "follow_up"), "options")
    question: str
    options: tuple[str | dict[str, Any], ...] | None = None

    def action(self) -> Action:
        options = [one if isinstance(one, str) else Option.of(one).label for one in self.options or ()]
        return Ask(self.question, tuple(options))


class Questions(Call, frozen=True, gc=False):
    questions: str | tuple[dict[str, Any], ...]

    def action(self) -> Action:
        if not (asked := self.asked()):
            raise ValueError("no question")
        return Question.of(asked[0]).action()

    def actions(self) -> tuple[Action, ...]:
        return each(Question.of(question).action() for question in self.asked())

    def asked(self) -> tuple[dict[str, Any], ...]:
        if isinstance(self.questions, str):  # a model forgot that it is no text
            return msgspec.json.decode(self.questions, type=tuple[dict[str, Any], ...])
        return self.questions


# Servers.


class CallServer(Call, frozen=True, gc=False):
    """A tool of an MCP server, through one tool for all of them. Its arguments may be an object or the text of one."""

    renamed = ("tool", "arguments")
    spelled: ClassVar = {"server_name": "server", "tool_name": "tool", "toolName": "tool", "args": "arguments"}
    server: str
    tool: str
    arguments: Any = None

    def action(self) -> Action:
        given = self.arguments
        if isinstance(given, str) and given:
            given = msgspec.json.decode(given)
        return Mcp(self.server, self.tool, given)


class ReadResource(Call, frozen=True, gc=False):
    """Something that a server holds, told as the protocol's own call for it."""

    method: ClassVar[str] = "resources/read"
    renamed = ("uri",)
    spelled = dict.fromkeys(("server_name", "serverName", "mcp_name"), "server")
    server: str = ""
    uri: str | None = None

    def action(self) -> Action:
        return Mcp(self.server, self.method, {"uri": self.uri} if self.uri is not None else None)


class ListResources(ReadResource, frozen=True, gc=False):
    method = "resources/list"
