"""iFlow CLI's tools: Gemini CLI's, from which it came, and those it has of its own."""

from unspool.actions import gemini_cli
from unspool.actions.files import Edits, ReadFile
from unspool.actions.servers import underscored
from unspool.actions.shapes import Apart, Delegate, Questions, SearchWeb, Todos, UseSkill
from unspool.actions.vocabulary import Call, Vocabulary

TOOLS: dict[str, type[Call]] = {
    **gemini_cli.TOOLS,
    "multi_edit": Edits,
    "image_read": ReadFile,
    "todo_write": Todos,
    "task": Delegate,
    "skill": UseSkill,
    "web_search": SearchWeb,
    "ask_user_question": Questions,
    **dict.fromkeys(("todo_read", "xml_escape"), Apart),
}

VOCABULARY = Vocabulary("iflow", TOOLS, underscored)
