"""Codex's shell in all its generations, and its patches, which reach it as often through the shell as by themselves."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar

from unspool.actions.codex_changes import changes_of
from unspool.actions.lexer import joined
from unspool.actions.patch import BEGIN, Carried, action_of, actions_of, applied, parse
from unspool.actions.shell import intents
from unspool.actions.vocabulary import Call
from unspool.model import Action
from unspool.model.action import Execute, FileDelete

# The same call is asked for its action, its actions and what stands beside them.
_parsed = lru_cache(maxsize=2)(parse)
_applied = lru_cache(maxsize=2)(applied)


class Shell(Call, frozen=True, gc=False):
    """A command line, or the words of one."""

    spelled: ClassVar = {
        "cmd": "command",
        "timeout_ms": "timeout",
        "working_directory": "workdir",
        "cwd": "workdir",
    }
    command: str | tuple[str, ...]
    workdir: str | None = None
    timeout: int | float | None = None
    """Milliseconds."""
    with_escalated_permissions: Any = None
    sandbox_permissions: Any = None
    justification: Any = None
    """Why it must run outside of the sandbox."""
    prefix_rule: Any = None
    """Words with which commands may begin from then on without asking."""

    def line(self) -> str:
        return self.command if isinstance(self.command, str) else joined(list(self.command))

    def patch(self) -> Carried | None:
        command = self.command
        return _applied(command) if not isinstance(command, str) or BEGIN in command else None

    def action(self) -> Action:
        if patch := self.patch():
            return patch.action()
        return Execute(self.line(), None, self.timeout, self.workdir)

    def actions(self) -> tuple[Action, ...]:
        patch = self.patch()
        if patch and patch.alone:
            return patch.actions()
        line = self.line()
        if not patch:
            return intents(line)
        return (*patch.actions(), Execute(line, None, self.timeout, self.workdir), *intents(line))

    def beside(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        return {key: value for key, value in given.items() if key != "command"} if self.patch() else given


class ExecCommand(Shell, frozen=True, gc=False):
    """A command that may go on running after it was waited for."""

    shell: str | None = None
    login: bool | None = None
    tty: bool | None = None
    yield_time_ms: int | float | None = None
    max_output_tokens: int | float | None = None


class UnifiedExec(Call, frozen=True, gc=False):
    """What `exec_command` and `write_stdin` were before they were two."""

    renamed = ("input", "timeout_ms")
    input: tuple[str, ...]
    session_id: str | int | None = None
    timeout_ms: int | float | None = None

    def action(self) -> Action:
        if self.session_id is not None:
            return WriteStdin(self.session_id, "".join(self.input)).action()
        return Execute(joined(list(self.input)), timeout=self.timeout_ms)

    def actions(self) -> tuple[Action, ...]:
        return intents(joined(list(self.input))) if self.session_id is None else ()

    def beside(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        return given if self.session_id is not None else Call.beside(self, given)


class WriteStdin(Call, frozen=True, gc=False):
    """What is typed into a command that runs; nothing at all to see how it does."""

    session_id: int | str
    chars: str = ""
    yield_time_ms: int | float | None = None
    max_output_tokens: int | float | None = None

    def action(self) -> Action:
        return Execute(f"# {'write' if self.chars else 'read'} {self.session_id}")


class ApplyPatch(Call, frozen=True, gc=False):
    """A patch; or, where a log tells only of its application, what was changed."""

    bare = "raw"
    renamed = ("raw", "changes")
    spelled: ClassVar = {"input": "raw", "patch": "raw"}
    raw: str | None = None
    changes: Any = None

    def action(self) -> Action:
        if self.raw is not None:
            return action_of(_parsed(self.raw))
        found = self.actions()
        return next((action for action in found if not isinstance(action, FileDelete)), found[0])

    def actions(self) -> tuple[Action, ...]:
        if self.raw is not None:
            return actions_of(_parsed(self.raw))
        if not (found := changes_of({"type": "FileChange", "changes": self.changes})):
            raise ValueError("nothing is changed")
        return found
