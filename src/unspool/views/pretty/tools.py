"""What a person wants to see of a tool call in a few labelled lines, and of a plan, item by item."""

from typing import Any

from msgspec import Struct

from unspool.model.action import PlanItem
from unspool.model.event import ToolCall
from unspool.sources.values import mapping, text_of
from unspool.views.diffs import changed_files


class Label(Struct, frozen=True, gc=False):
    """`🔧 Command: ls -la`"""

    emoji: str
    name: str
    value: str

    def __str__(self) -> str:
        return f"{self.emoji} {self.name}: {self.value}"


_SAID = {
    "execute": (
        ("🔧", "Command", "command"),
        ("📝", "Description", "description"),
        ("⏱ ", "Timeout", "timeout"),
        ("🌙", "Background", "run_in_background"),
    ),
    "file_read": (("📁", "File", "file_path"), ("📍", "Offset", "offset"), ("📊", "Limit", "limit")),
    "file_edit": (("📁", "File", "file_path"), ("📓", "Cell", "cell_id"), ("📌", "Mode", "edit_mode")),
    "file_write": (("📁", "File", "file_path"), ("📓", "Cell", "cell_id"), ("📌", "Mode", "edit_mode")),
    "file_delete": (("📁", "File", "file_path"),),
    "file_move": (("📁", "File", "file_path"), ("👉", "To", "to")),
    "search": (("🔍", "Pattern", "pattern"), ("🔍", "Query", "query"), ("📁", "Path", "path"), ("🔎", "Glob", "glob")),
    "web": (("🌐", "URL", "url"), ("🔍", "Query", "query"), ("📝", "Prompt", "prompt")),
    "agent": (("🤖", "Agent", "agent_type"), ("📝", "Description", "description")),
    "ask": (("❓", "Question", "question"), ("💬", "Options", "options")),
}
"""By the kind of a call: the fields that are shown."""


def labels(call: ToolCall) -> list[Label]:
    """The lines that say what the call is about, the one that matters first."""
    meaning = call.meaning
    files = changed_files(meaning)
    if len(files) > 1:
        return [Label("📁", "File", act.file_path) for act in files]
    arguments = mapping(meaning.arguments)
    match meaning.kind:
        case "mcp":
            return _plain(arguments.get("arguments"))
        case "generic":
            return [_as_file(label) for label in _plain(meaning.arguments)]
        case "plan":
            text = arguments.get("text")
            return [Label("📝", "Plan", text_of(text))] if text and not todos(call) else []
    told = _SAID.get(meaning.kind, ())
    found = [Label(mark, name, _value(arguments[key])) for mark, name, key in told if arguments.get(key)]
    if meaning.kind == "agent" and not any(label.name == "Description" for label in found) and arguments.get("prompt"):
        found.append(Label("📝", "Prompt", text_of(arguments["prompt"])))
    if not found and len(files) == 1:
        found = [Label("📁", "File", files[0].file_path)]
    return [label for label in found if label.value]


def _value(value: Any) -> str:
    if value is True:
        return "yes"
    return ", ".join(map(text_of, value)) if isinstance(value, list | tuple) else text_of(value)


def _plain(arguments: Any) -> list[Label]:
    """Arguments of a tool that we know nothing of, each by its own name."""
    if not isinstance(arguments, dict):
        return [Label("📥", "Arguments", text_of(arguments))] if arguments is not None else []
    return [Label("🔹", name, text_of(value)) for name, value in arguments.items() if value is not None]


def _as_file(label: Label) -> Label:
    """Label a file as other calls do: a call that lacks arguments is generic, whatever its tool."""
    return Label("📁", "File", label.value) if label.name in ("file_path", "filePath", "notebook_path") else label


def todos(call: ToolCall) -> tuple[PlanItem, ...]:
    """The list of tasks that the call writes, if it writes one."""
    if call.kind != "plan":
        return ()
    items, told_items = [], mapping(call.arguments).get("items")
    for item in told_items if isinstance(told_items, list | tuple) else ():
        told = item if isinstance(item, dict) else {"text": getattr(item, "text", item)}
        priority = told.get("priority")
        items.append(
            PlanItem(text_of(told.get("text")), text_of(told.get("status")) or None, text_of(priority) or None)
        )
    return tuple(items)


_MARKS = {"completed": "✅", "done": "✅", "in_progress": "🔄", "cancelled": "❌"}


def todo_line(item: PlanItem) -> str:
    """`✅ [HIGH] Implement feature X`"""
    priority = f"[{item.priority.upper()}] " if item.priority else ""
    return f"{_MARKS.get(item.status or '', '⬜')} {priority}{item.text}"
