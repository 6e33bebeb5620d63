"""Tools of Pi and of Oh My Pi, whose logs are alike: Oh My Pi has more of them, and gives Pi's more to do."""

import re
import shlex
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import field

from unspool.actions import pi
from unspool.actions.files import CHANGE, PATH, ApplyPatch, Blocks, EditFile, ReadFile, Sketch, WriteFile, span
from unspool.actions.servers import underscored
from unspool.actions.shapes import (
    Apart,
    AskServer,
    Delegate,
    Fetch,
    Find,
    FindByQuery,
    OnShell,
    PlanText,
    Questions,
    RunScript,
    SearchWeb,
    Todos,
)
from unspool.actions.vocabulary import Call, Vocabulary, each
from unspool.model import Action
from unspool.model.action import Execute, FileDelete, FileMove, FileRead, FileWrite, Generic, Plan, PlanItem, Search

_SELECTED = re.compile(r"(.+?)(?::L?(\d+)(?:([-+])L?(\d+)?)?(?:,[\d,+-]*)?)?(?::(?:raw|conflicts))?")
_SECTION = re.compile(r"^(?:\[(?P<path>.+)#\w+\]|¶(?P<older>.+)#\w+)[ \t\r]*$", re.MULTILINE)
_STATUS = {"done": "completed", "start": "in_progress", "drop": "cancelled", "rm": "cancelled", "block": "blocked"}


class Read(ReadFile, frozen=True, gc=False):
    """The path may say which lines (`a.py:5-9`, `a.py:5+10`), and may be that of a page."""

    def action(self) -> Action:
        if self.file_path.startswith(("https://", "http://")):
            return Fetch(self.file_path).action()
        found = _SELECTED.fullmatch(self.file_path)
        if not found or self.offset is not None or self.limit is not None:
            return super().action()
        path, start, sign, end = found.groups()
        if start is None:
            return FileRead(path)
        if sign == "+":
            return FileRead(path, int(start), int(end) if end else None)
        return span(path, int(start), int(end or start) if end or not sign else None)


class Write(WriteFile, frozen=True, gc=False):
    """What is written to `xd://tool` is a call of that tool, and to `agent://name` a message."""

    def action(self) -> Action:
        if self.file_path.startswith("agent://"):
            return Delegate(prompt=self.content).action()
        if not self.file_path.startswith("xd://"):
            return super().action()
        tool = TOOLS.get(self.file_path[5:])
        return tool.of(msgspec.json.decode(self.content)).action() if tool and tool is not Write else Generic()


class Edit(Call, frozen=True, gc=False):
    """A change, a list of them, or a patch. Lines that are named by number or hash leave the old text unsaid."""

    spelled = PATH | CHANGE
    file_path: str | None = None
    old_string: str | None = None
    new_string: str | None = None
    replace_all: bool | None = None
    edits: tuple[dict[str, Any], ...] | None = None
    input: str | None = None
    op: str | None = None
    diff: str | None = None
    pos: Any = None
    lines: str | tuple[str, ...] | None = None

    def action(self) -> Action:
        if self._is_patch():
            return ApplyPatch(self.input or "").action()
        if not (made := self._made()):
            raise ValueError("no change")
        return made[0]

    def actions(self) -> tuple[Action, ...]:
        return ApplyPatch(self.input or "").actions() if self._is_patch() else each(self._made())

    def beside(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Where lines are named, only the call itself says which."""
        said = {"diff", "input"} if self._is_patch() else {"diff"}
        if self.input is None and all(Edit.of(change).old_string is not None for change in self.edits or ()):
            said.add("edits")
        return {key: value for key, value in given.items() if key not in said}

    def _is_patch(self) -> bool:
        """As Codex writes them."""
        return self.input is not None and not _SECTION.search(self.input)

    def _made(self) -> list[Action]:
        if self.input is not None:
            return _sections(self.input)
        if self.file_path is None:
            return []
        if self.edits:
            return [action for change in self.edits for action in Edit.of({"path": self.file_path, **change})._made()]
        return [self._one(self.file_path)]

    def _one(self, path: str) -> Action:
        named = self.pos is not None or self.lines is not None
        if self.op == "delete" and not named:
            return FileDelete(path)
        if self.diff is not None:
            return FileWrite(path, self.diff) if self.op == "create" else Blocks(path, self.diff).action()
        if self.old_string is not None and self.new_string is not None:
            return EditFile(path, self.old_string, self.new_string, self.replace_all).action()
        if not named and self.new_string is None:
            raise ValueError("no change")
        lines = self.lines or self.new_string or ""
        return Sketch(path, lines if isinstance(lines, str) else "\n".join(lines)).action()


class Evaluate(RunScript, frozen=True, gc=False):
    """Code for a kernel that stays; once several cells at a time."""

    spelled = RunScript.spelled | {"title": "description"}
    command: str = ""
    cells: tuple[dict[str, Any], ...] = ()

    def action(self) -> Action:
        cells = [Evaluate.of(cell).command for cell in self.cells]
        return Execute("\n".join(cells) or self.command, self.description, self.timeout, self.workdir)


class Match(Find, frozen=True, gc=False):
    spelled = Find.spelled | {"pat": "pattern"}


class Seek(Find, frozen=True, gc=False):
    """Once by a pattern, now by meaning."""

    pattern: str | tuple[str, ...] = ()
    query: str = ""

    def _searches(self) -> list[Search]:
        return FindByQuery(self.query, self.path)._searches() if self.query else super()._searches()


class Glob(Find, frozen=True, gc=False):
    """The path is the pattern, unless there is one."""

    renamed = ("path",)
    pattern: str | tuple[str, ...] = ()

    def _searches(self) -> list[Search]:
        return super()._searches() if self.pattern else Find(self.path or ".")._searches()


class Ask(AskServer, frozen=True, gc=False):
    spelled = AskServer.spelled | {"file": "path"}


class Task(Delegate, frozen=True, gc=False):
    """One, or several at once."""

    spelled = Delegate.spelled | {"assignment": "prompt", "agent": "agent_type", "name": "description"}
    tasks: tuple[dict[str, Any], ...] = ()

    def action(self) -> Action:
        return Task.of(self.tasks[0]).action() if self.tasks else super().action()

    def actions(self) -> tuple[Action, ...]:
        return each(Task.of(task).action() for task in self.tasks)


class Hub(Delegate, frozen=True, gc=False):
    """Messages to other agents; and programs that stay."""

    application: str | None = None
    args: tuple[str, ...] = ()

    def action(self) -> Action:
        return Execute(shlex.join((self.application, *self.args))) if self.application else super().action()


class Tasks(Call, frozen=True, gc=False):
    """What is to be done with the list: `init` it, in phases or not, or say of a task how it stands."""

    renamed = ("items", "task")
    op: str | None = None
    task: str | None = None
    items: tuple[str, ...] = ()
    phases: tuple[dict[str, Any], ...] = field(default=(), name="list")
    ops: tuple[dict[str, Any], ...] = ()
    todos: str | tuple[str | dict[str, Any], ...] | None = None

    def action(self) -> Action:
        return Todos(self.todos).action() if self.todos is not None else Plan(self._told())

    def _told(self) -> tuple[PlanItem, ...]:
        texts = [*self.items, *(text for phase in self.phases for text in Tasks.of(phase).items)]
        told = [PlanItem(text, "pending") for text in texts]
        if self.task is not None:
            told.append(PlanItem(self.task, _STATUS.get(self.op or "", "pending")))
        return (*told, *(item for op in self.ops for item in Tasks.of(op)._told()))


def _sections(text: str) -> list[Action]:
    """Each begins with `[path#tag]`; new lines have a plus before them."""
    heads = list(_SECTION.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    return [_section(head[1] or head[2], text[head.end() : end]) for head, end in zip(heads, ends, strict=True)]


def _section(path: str, text: str) -> Action:
    lines = text.splitlines()
    new = [line[1:] for line in lines if line.startswith("+")]
    if not new and "REM" in lines:
        return FileDelete(path)
    to = next((line[3:].strip() for line in lines if line.startswith("MV ")), None)
    return FileMove(path, to) if to and not new else Sketch(path, "\n".join(new)).action()


def _on_server(name: str) -> tuple[str, str] | None:
    """`mcp__S_T`, and the ways of others."""
    if name.startswith("mcp__") and "__" not in name[5:]:
        server, _, tool = name[5:].partition("_")
        return (server, tool) if server and tool else None
    return underscored(name)


TOOLS: dict[str, type[Call]] = {
    **pi.TOOLS,
    "read": Read,
    "write": Write,
    "edit": Edit,
    "find": Seek,
    "search": Match,
    "ast_grep": Match,
    "glob": Glob,
    "lsp": Ask,
    "ssh": RunScript,
    **dict.fromkeys(("eval", "python"), Evaluate),
    **dict.fromkeys(("job", "await", "wait"), OnShell),
    "fetch": Fetch,
    "x_search": SearchWeb,
    **dict.fromkeys(("todo", "todo_write"), Tasks),
    **dict.fromkeys(("goal", "exit_plan_mode"), PlanText),
    "ask": Questions,
    "task": Task,
    **dict.fromkeys(("vibe_spawn", "vibe_send", "vibe_wait", "vibe_kill", "vibe_list"), Task),
    **dict.fromkeys(("hub", "irc", "launch"), Hub),
    **dict.fromkeys(
        (
            *(
                "ast_edit",
                "resolve",
                "checkpoint",
                "rewind",
                "context_notes",
                "new_context",
                "compact",
                "think",
                "yield",
            ),
            *("memory_edit", "retain", "recall", "link", "related", "forget", "reflect", "learn", "manage_skill"),
            *("browser", "computer", "debug", "generate_image", "github", "inspect_image", "security_scan", "tts"),
            *("advise", "ida"),
        ),
        Apart,
    ),
}

VOCABULARY = Vocabulary("pi", TOOLS, _on_server)
