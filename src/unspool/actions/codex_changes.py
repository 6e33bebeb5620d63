"""What Codex says that its calls really did: items that were completed, and the events that came before items.

    CommandExecution, exec_command_end     a command that ran
    FileChange, patch_apply_end            path → {type: add | update | delete, content | unified_diff, move_path}
    McpToolCall, mcp_tool_call_end         server, tool, arguments
    ImageView, view_image_tool_call        path
    WebSearch, Extension, web_search_end   query, action

Also as `codex exec --json` and the app server spell them. Any value may be given; what we do not know has no actions.
"""

from collections.abc import Iterator
from typing import Any

from unspool.actions.lexer import joined
from unspool.actions.patch import applied, edit, hunks_of
from unspool.actions.shell import intents
from unspool.model import Action
from unspool.model.action import Execute, FileDelete, FileEdit, FileMove, FileRead, FileWrite, Mcp, Web


def changes_of(item: Any) -> tuple[Action, ...]:
    """The actions of a completed item, or of the record around it. Never raises."""
    match item:
        case {"item": dict(inner)}:
            return changes_of(inner)
        case {"type": str(kind)}:
            found = _SORTS.get(kind.replace("_", "").lower())
            return tuple(found(item)) if found else ()
    return ()


def _command(item: dict[str, Any]) -> Iterator[Action]:
    match item.get("command"):
        case str(line) if line:
            command: str | tuple[str, ...] = line
        case [*words] if words and all(isinstance(word, str) for word in words):
            command, line = tuple(words), joined(words)
        case _:
            return
    where = item.get("cwd")
    yield Execute(line, workdir=where if isinstance(where, str) else None)
    yield from intents(line)
    if patch := applied(command):
        yield from patch.actions()


def _files(item: dict[str, Any]) -> Iterator[Action]:
    match item.get("changes"):
        case dict(changes):
            for path, change in changes.items():
                yield from _file(path, change)
        case list(changes):
            for change in changes:
                if isinstance(change, dict) and isinstance(path := change.get("path"), str):
                    yield from _file(path, change)


def _file(path: str, change: Any) -> Iterator[Action]:
    """A change's kind is a word, an object with a type, or, at first, the one key of the change."""
    match change:
        case {"add": dict(said)}:
            kind = "add"
        case {"update": dict(said)}:
            kind = "update"
        case {"delete": dict(said)}:
            kind = "delete"
        case {"kind": {"type": str(kind)}}:
            said = change | change["kind"]
        case {"type": str(kind)} | {"kind": str(kind)}:
            said = change
        case _:
            return
    match kind:
        case "add":
            # A log may name a new file without what is in it: then that is not known, and written as nothing.
            yield FileWrite(path, _text(said, "content", "diff") or "")
        case "delete":
            yield FileDelete(path)
        case "update":
            diff, target = _text(said, "unified_diff", "diff"), _text(said, "move_path", "movePath")
            if diff:
                yield edit(path, hunks_of(diff))
            elif not target:
                yield FileEdit(path, "", "", False)
            if target:
                yield FileMove(path, target)


def _text(value: dict[str, Any], *names: str) -> str | None:
    return next((found for name in names if isinstance(found := value.get(name), str)), None)


def _mcp(item: dict[str, Any]) -> Iterator[Action]:
    call = item["invocation"] if isinstance(item.get("invocation"), dict) else item
    match call:
        case {"server": str(server), "tool": str(tool)}:
            yield Mcp(server, tool, call.get("arguments"))


def _image(item: dict[str, Any]) -> Iterator[Action]:
    if path := _text(item, "path"):
        yield FileRead(path)


def _web(item: dict[str, Any]) -> Iterator[Action]:
    """An extension is one of the web if it has an action of the web."""
    action = item["action"] if isinstance(item.get("action"), dict) else {}
    queries = action.get("queries")
    if url := _text(action, "url"):
        yield Web(url)
    elif isinstance(queries, list) and queries:
        yield from (Web(query=query) for query in queries if isinstance(query, str))
    elif query := _text(action, "query") or _text(item, "query"):
        yield Web(query=query)


_SORTS = {
    **dict.fromkeys(("commandexecution", "execcommandend", "execcommandbegin"), _command),
    **dict.fromkeys(("filechange", "patchapplyend", "patchapplybegin"), _files),
    **dict.fromkeys(("mcptoolcall", "mcptoolcallend", "mcptoolcallbegin"), _mcp),
    **dict.fromkeys(("imageview", "viewimagetoolcall"), _image),
    **dict.fromkeys(("websearch", "websearchend", "extension"), _web),
}
