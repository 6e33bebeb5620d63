"""Cline's log or Roo's? One grew out of the other, and both write the same files. Kilo, which grew out of Roo, too."""

from pathlib import Path
from typing import Any, Literal, TypeAlias

from unspool.dialect import Head
from unspool.sources.values import listing, mapping, number, text_of

Writer: TypeAlias = Literal["cline", "roo"]
Form: TypeAlias = Literal["history", "session", "screen"]
HISTORY, SCREEN, ITEM = "api_conversation_history.json", "ui_messages.json", "history_item.json"
OLDER = "claude_messages.json"
"""Of the first versions: to Cline the screen's messages, to Roo a history."""
HISTORIES = (HISTORY, OLDER)
_LOOK = 40
_MARKS = ("<environment_details>\n", "[TASK RESUMPTION]")
_OPENINGS = ("<task>\n", "<user_message>\n", '<user_input mode="')
_ROO = (
    "# Current Workspace Directory (",
    "# Current Cost\n",
    "<slug>",
    "<apply_diff>",
    "<switch_mode>",
    "<update_todo_list>",
    "`update_todo_list`",
    "<fetch_instructions>",
    "<codebase_search>",
    "[apply_diff for '",
)
_CLINE = (
    "# Current Working Directory (",
    "\nACT MODE",
    "\nPLAN MODE",
    "<replace_in_file>",
    "<plan_mode_respond>",
    "[replace_in_file for '",
    "task_progress",
    "<user_input",
)
_ROO_TOOLS = frozenset("apply_diff switch_mode update_todo_list fetch_instructions codebase_search".split())
_CLINE_TOOLS = frozenset(
    "replace_in_file plan_mode_respond act_mode_respond load_mcp_documentation use_subagents read_files run_commands "
    "editor".split()
)
_ROO_KEYS = frozenset("condenseId condenseParent truncationId truncationParent isSummary isTruncationMarker".split())
_CLINE_KEYS = frozenset(("modelInfo", "metrics"))
_ROO_SAYS = frozenset(
    "checkpoint_saved condense_context condense_context_error sliding_window_truncation subtask_result "
    "api_req_retry_delayed api_req_rate_limited api_req_deleted rooignore_error codebase_search_result "
    "user_edit_todos".split()
)
_CLINE_SAYS = frozenset(
    "task checkpoint_created task_progress deleted_api_reqs clineignore_error hook_status subagent_usage error_retry "
    "load_mcp_documentation".split()
)
_ROO_FOLDERS = ("roo-cline", "roo-code", "kilo-code", "kilocode", "zoo-code", ".vscode-mock")


def form_of(document: Any, path: str = "") -> Form | None:
    """What the document is. Messages of an API alone are nobody's, so they must carry a mark or the file's own name."""
    match document:
        case [dict(), *_]:
            first = [item for item in document[:5] if isinstance(item, dict)]
            if all(item.get("type") in ("ask", "say") and number(item.get("ts")) is not None for item in first):
                return "screen"
            if all(map(_is_message, first)) and (Path(path).name in HISTORIES or _marked(first)):
                return "history"
        case {"messages": [dict(), *_] as messages} if "source_message_count" not in document:
            first = [item for item in messages[:5] if isinstance(item, dict)]
            if not all(map(_is_message, first)):
                return None
            if document.keys() == {"version", "messages"} and document["version"] == 2:
                return "session"
            own = not document.keys().isdisjoint(("sessionId", "origin", "updated_at"))
            named = path.endswith(".messages.json")
            if (own and named) or ((own or named) and all("ts" in item for item in first)):
                return "session"
    return None


def writer_of(head: Head) -> Writer | None:
    """None for what neither wrote. What the messages hold decides; then the files beside; then the folder."""
    form = form_of(head.document, head.path)
    if form is None:
        return None
    document = head.document
    listed = document if isinstance(document, list) else document["messages"]
    items = [item for item in listed[:_LOOK] if isinstance(item, dict)]
    roo, cline = _said(items) if form == "screen" else _written(items)
    if form == "session" and isinstance(document, dict):
        roo, cline = (1, 0) if document.keys() == {"version", "messages"} else (0, 1)
    if roo != cline:
        return "roo" if roo > cline else "cline"
    place = Path(head.path)
    if place.with_name(ITEM).is_file() or any(name in part for part in place.parts for name in _ROO_FOLDERS):
        return "roo"
    from_roo = form == "history" and all(number(item.get("ts")) is not None for item in items)
    return "roo" if from_roo else "cline"


def _is_message(item: dict[str, Any]) -> bool:
    match item:
        case {"role": "user" | "assistant" | "tool" | "error", "content": str() | list()}:
            return item.keys().isdisjoint(("tool_calls", "tool_call_id"))
        case {"type": "reasoning"}:
            return "role" not in item
    return False


def _marked(items: list[dict[str, Any]]) -> bool:
    """Others have such tags too, but not as the beginning of a block."""
    return any(
        any(mark in text for mark in _MARKS) or (isinstance(item.get("content"), list) and text.startswith(_OPENINGS))
        for item in items
        for text in _texts(item)
    )


def _written(items: list[dict[str, Any]]) -> tuple[int, int]:
    """How much speaks for Roo, and how much for Cline."""
    roo: set[str] = set()
    cline: set[str] = set()
    for item in items:
        roo |= item.keys() & _ROO_KEYS
        cline |= item.keys() & _CLINE_KEYS
        for text in _texts(item):
            roo.update(mark for mark in _ROO if mark in text)
            cline.update(mark for mark in _CLINE if mark in text)
        names = {text_of(mapping(block).get("name")) for block in listing(item.get("content"))}
        roo |= names & _ROO_TOOLS
        cline |= names & _CLINE_TOOLS
    return len(roo), len(cline)


def _said(items: list[dict[str, Any]]) -> tuple[int, int]:
    says = {text_of(item.get("say")) for item in items}
    roo, cline = len(says & _ROO_SAYS), len(says & _CLINE_SAYS)
    roo += any('"apiProtocol"' in text_of(item.get("text")) for item in items)
    roo += bool(items) and items[0].get("say") == "text"
    return roo, cline


def _texts(item: dict[str, Any]) -> list[str]:
    content = item.get("content")
    if isinstance(content, str):
        return [content]
    found = (mapping(block).get("text") for block in listing(content))
    return [text for text in found if isinstance(text, str)]
