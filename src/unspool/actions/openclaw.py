"""OpenClaw's tools: Pi's, on which it stands, and many more."""

from msgspec import field

from unspool.actions import pi
from unspool.actions.files import PATH, ApplyPatch, ReadFile, ReadMany
from unspool.actions.servers import doubled
from unspool.actions.shapes import (
    Apart,
    Browse,
    Delegate,
    FindByQuery,
    OnShell,
    Questions,
    RunCommand,
    RunScript,
    SearchWeb,
    Todos,
    UseSkill,
)
from unspool.actions.vocabulary import Call, Vocabulary
from unspool.model import Action
from unspool.model.action import Execute


class Process(Call, frozen=True, gc=False):
    """What is done to a command that runs already."""

    verb: str = field(name="action")
    session: str | None = field(default=None, name="sessionId")

    def action(self) -> Action:
        return Execute(f"# {self.verb}" if self.session is None else f"# {self.verb} {self.session}")


class Exec(RunCommand, frozen=True, gc=False):
    """A command; or, where the other tools are called by scripts, one of these."""

    renamed = ("code",)
    command: str = ""
    code: str | None = None

    def action(self) -> Action:
        if not (self.command or self.code):
            raise ValueError("nothing to run")
        return super().action() if self.code is None else RunScript(self.code).action()

    def actions(self) -> tuple[Action, ...]:
        return super().actions() if self.code is None else ()


class Wait(OnShell, frozen=True, gc=False):
    spelled = OnShell.spelled | {"runId": "shell_id"}


class ViewImage(ReadMany, frozen=True, gc=False):
    spelled = ReadMany.spelled | {"path": "paths"}


class MemoryGet(ReadFile, frozen=True, gc=False):
    spelled = PATH | {"from": "offset", "lines": "limit"}


TOOLS: dict[str, type[Call]] = {
    **pi.TOOLS,
    "apply_patch": ApplyPatch,
    "exec": Exec,
    "wait": Wait,
    "tool_search_code": RunScript,
    **dict.fromkeys(("process", "terminal"), Process),
    "view_image": ViewImage,
    "x_search": SearchWeb,
    "ask_user": Questions,
    "sessions_search": FindByQuery,
    "browser": Browse,
    "memory_search": FindByQuery,
    "memory_get": MemoryGet,
    "update_plan": Todos,
    "skill": UseSkill,
    **dict.fromkeys(
        (
            "agents_list",
            "agents_wait",
            "session_status",
            "sessions_history",
            "sessions_list",
            "sessions_send",
            "sessions_spawn",
            "sessions_yield",
            "subagents",
        ),
        Delegate,
    ),
    **dict.fromkeys(
        (
            *("canvas", "dashboard", "mobile_ui", "portal", "screen", "show_widget", "theme", "computer"),
            *("cron", "gateway", "nodes", "openclaw", "plugins", "secrets", "skill_workshop", "heartbeat_respond"),
            *("message", "conversations_list", "conversations_send", "conversations_turn", "transcripts"),
            *("create_goal", "get_goal", "update_goal", "progress_card", "suggest_task", "dismiss_task"),
            *("image", "image_generate", "music_generate", "video_generate", "pdf", "tts", "code_execution"),
            *("github_identity_status", "github_publish", "structured_output", "tool_describe", "tool_call"),
        ),
        Apart,
    ),
}

VOCABULARY = Vocabulary("openclaw", TOOLS, doubled)
