"""Qwen Code's tools: Gemini CLI's, from which it came, and those it has of its own."""

from typing import Any

from unspool.actions import claude_code, gemini_cli
from unspool.actions.files import EditNotebook, ReadFile
from unspool.actions.servers import underscored
from unspool.actions.shapes import (
    Apart,
    AskServer,
    Delegate,
    FindByQuery,
    Question,
    Questions,
    RunCommand,
    RunScript,
    SearchWeb,
    Todos,
    UseSkill,
)
from unspool.actions.vocabulary import Call, Vocabulary
from unspool.model import Action
from unspool.model.action import Mcp


class RunSource(RunScript, frozen=True, gc=False):
    """JavaScript, which may call the other tools."""

    spelled = RunScript.spelled | {"source": "command"}


class OfThread(Delegate, frozen=True, gc=False):
    """A workspace's agents share threads: work is split off for another, a word is left, a conclusion handed back."""

    spelled = Delegate.spelled | dict.fromkeys(("body", "text", "summary"), "prompt") | {"assignee": "agent_type"}


class CallTool(Call, frozen=True, gc=False):
    """A tool that was not shown from the beginning, called by its name: it means what that tool means."""

    renamed = ("name", "arguments")
    name: str
    arguments: Any = None

    def action(self) -> Action:
        return self._called().action() if self.name in TOOLS else self._on_server()

    def actions(self) -> tuple[Action, ...]:
        return self._called().actions() if self.name in TOOLS else ()

    def _called(self) -> Call:
        tool = TOOLS[self.name]
        if issubclass(tool, CallTool):
            raise ValueError("a call of a call")
        return tool.of(self.arguments)

    def _on_server(self) -> Action:
        place = underscored(self.name)
        if place is None:
            raise ValueError(f"no tool {self.name!r} is known")
        return Mcp(*place, self.arguments)


_OMNI = (
    *("downsample_image", "clip_image", "convert_image", "caption_image", "ocr_image"),
    *("downsample_audio", "clip_audio", "extract_audio", "transcribe_audio", "caption_audio"),
    *("downscale_video", "clip_video", "extract_keyframes", "understand_video_segments", "recall_media_memory"),
)
"""What is done to pictures, sounds and films for models that take none as they are."""

TOOLS: dict[str, type[Call]] = {
    **gemini_cli.TOOLS,
    "todo_write": Todos,
    "task_create": claude_code.TaskCreate,
    "task_update": claude_code.TaskUpdate,
    "task_get": claude_code.TaskRead,
    "task_list": claude_code.TaskRead,
    "task_stop": claude_code.TaskStop,
    "task_output": claude_code.TaskOutput,
    "agent": Delegate,
    "task": Delegate,
    "workflow": claude_code.Workflow,
    **dict.fromkeys(("create_sub_session", "create_thread", "send_message_to_thread"), Delegate),
    **dict.fromkeys(("team_create", "team_delete", "team_plan_approval", "request_shutdown"), Delegate),
    "send_message": claude_code.SendMessage,
    "skill": UseSkill,
    "web_search": SearchWeb,
    "tool_search": FindByQuery,
    "lsp": AskServer,
    "monitor": RunCommand,
    "ask_user_question": Questions,
    "cron_create": claude_code.Later,
    "cron_list": claude_code.Later,
    "cron_delete": claude_code.Later,
    "loop_wakeup": claude_code.Later,
    **dict.fromkeys(("list_agents", "list_threads", "read_thread", "wait_threads"), Delegate),
    **dict.fromkeys(("thread_create", "thread_post", "thread_read", "thread_review", "thread_wait"), OfThread),
    "thread_block": Question,
    "notebook_edit": EditNotebook,
    "zoom_image": ReadFile,
    "search_memory": FindByQuery,
    "exec": RunSource,
    **dict.fromkeys(("tool_call", "deferred_tool_call"), CallTool),
    **dict.fromkeys(
        (
            "structured_output",
            "enter_worktree",
            "exit_worktree",
            "display_image",
            "image_gen",
            "advisor",
            "manage_memory",
            "artifact",
            "record_artifact",
            "record_source",
            "report_findings",
            "get_goal",
            "update_goal",
            "propose_goal",
            "computer_use_setup",
            *(f"omni_{how}" for how in _OMNI),
        ),
        Apart,
    ),
}

VOCABULARY = Vocabulary("qwen_code", TOOLS, underscored)
