"""OpenClaw's tools: Pi's, on which it stands, and many more."""

from msgspec import field

from unspool.actions import pi
from unspool.actions.files import PATH, ApplyPatch, ReadFile
from unspool.actions.servers import doubled
from unspool.actions.shapes import Apart, Browse, Delegate, FindByQuery, RunCommand, Todos, UseSkill
from unspool.actions.vocabulary import Call, Vocabulary
from unspool.model import Action
from unspool.model.action import Execute


class Process(Call, frozen=True, gc=False):
    """What is done to a command that runs already."""

    verb: str = field(name="action")
    session: str | None = field(default=None, name="sessionId")

    def action(self) -> Action:
        return Execute(f"# {self.verb}" if self.session is None else f"# {self.verb} {self.session}")


class MemoryGet(ReadFile, frozen=True, gc=False):
    spelled = PATH | {"from": "offset", "lines": "limit"}


TOOLS: dict[str, type[Call]] = {
    **pi.TOOLS,
    "apply_patch": ApplyPatch,
    "exec": RunCommand,
    "process": Process,
    "browser": Browse,
    "memory_search": FindByQuery,
    "memory_get": MemoryGet,
    "update_plan": Todos,
    "skill": UseSkill,
    **dict.fromkeys(
        (
            "agents_list",
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
            "canvas",
            "cron",
            "gateway",
            "image",
            "image_generate",
            "message",
            "music_generate",
            "nodes",
            "pdf",
            "tts",
            "video_generate",
        ),
        Apart,
    ),
}

VOCABULARY = Vocabulary("openclaw", TOOLS, doubled)
