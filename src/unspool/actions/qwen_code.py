"""Qwen Code's tools: Gemini CLI's, from which it came, and those it has of its own."""

from unspool.actions import claude_code, gemini_cli
from unspool.actions.servers import underscored
from unspool.actions.shapes import (
    Apart,
    AskServer,
    Delegate,
    FindByQuery,
    Questions,
    RunCommand,
    SearchWeb,
    Todos,
    UseSkill,
)
from unspool.actions.vocabulary import Call, Vocabulary

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
    "create_sub_session": Delegate,
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
    **dict.fromkeys(("structured_output", "enter_worktree", "exit_worktree", "display_image", "advisor"), Apart),
}

VOCABULARY = Vocabulary("qwen_code", TOOLS, underscored)
