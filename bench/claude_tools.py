"""Claude Code's tools: what they are given, what the model is told of it, and what the program keeps of it."""

import commands
from prose import Prose
from traffic import Json

TOOLS = {"Bash": 504, "Read": 290, "Edit": 260, "Grep": 114, "TodoWrite": 58, "Write": 58, "Glob": 24} | {
    "mcp__browser__navigate": 40,
    "AskUserQuestion": 17,
    "Task": 16,
    "WebFetch": 12,
}
INLINE = {"Bash": 4, "Read": 5, "Grep": 3}
"""The tools of sub-agents."""
PROGRESS = 7
"""Calls of a sub-agent that stand in its master's log."""
Kept = Json | list[Json] | str


def tool_use(prose: Prose, name: str) -> Json:
    return {"type": "tool_use", "id": prose.token("toolu_"), "name": name, "input": _input(prose, name)}


def _input(prose: Prose, name: str) -> Json:
    match name:
        case "Bash":
            return {"command": commands.command(prose), "description": prose.sentence(6)}
        case "Read":
            whole = {"file_path": f"/home/me/{prose.path()}"}
            return whole if prose.chance(0.6) else {**whole, "offset": prose.number(1, 900), "limit": 120}
        case "Edit":
            change = [prose.text(prose.spread(300, 750)) for _ in range(2)]
            return {"file_path": f"/home/me/{prose.path()}", "old_string": change[0], "new_string": change[1]}
        case "Write":
            return {"file_path": f"/home/me/{prose.path()}", "content": prose.text(prose.spread(1400, 5200))}
        case "Grep":
            return {"pattern": f"{prose.word()}\\({prose.word()}", "path": prose.path(), "output_mode": "content"}
        case "Glob":
            return {"pattern": f"**/{prose.word()}*.py"}
        case "TodoWrite":
            return {"todos": _todos(prose)}
        case "Task":
            return {"description": prose.sentence(4), "prompt": prose.text(450), "subagent_type": "Explore"}
        case "AskUserQuestion":
            options = [{"label": prose.sentence(3), "description": prose.sentence(20)} for _ in range(4)]
            return {"questions": [{"question": prose.sentence(12), "header": "Which", "options": options}] * 3}
    return {"url": f"https://docs.example/{prose.path()}", "prompt": prose.sentence(12)}


def _todos(prose: Prose) -> list[Json]:
    return [
        {"content": prose.sentence(6), "status": "pending", "activeForm": prose.sentence(6)}
        for _ in range(prose.number(3, 6))
    ]


def result(prose: Prose, call: Json, agent: str | None = None) -> tuple[Json, Kept]:
    """What the model was told, and what the program keeps of it."""
    given = call["input"]
    if prose.chance(0.06):
        error = prose.text(150)
        return {"content": error, "is_error": True}, f"Error: {error}"
    match call["name"]:
        case "Bash":
            output = prose.text(prose.spread(200, 1000))
            kept: Kept = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
            return {"content": output, "is_error": False}, kept
        case "Read":
            return _read(prose, given["file_path"])
        case "Edit":
            return _edited(prose, given)
        case "Write":
            kept = {"type": "create", "filePath": given["file_path"], "content": given["content"]}
            return {"content": f"File created at: {given['file_path']}"}, {**kept, "structuredPatch": []}
        case "Grep":
            found = prose.text(prose.spread(400, 1500))
            kept = {"mode": "content", "numFiles": 0, "filenames": [], "content": found, "numLines": 9}
            return {"content": found}, kept
        case "Glob":
            paths = [f"/home/me/{prose.path()}" for _ in range(prose.spread(3, 12))]
            kept = {"filenames": paths, "durationMs": 9, "numFiles": len(paths), "truncated": False}
            return {"content": "\n".join(paths)}, kept
        case "TodoWrite":
            told = "Todos have been modified successfully. Ensure that you continue to use the list to track progress."
            return {"content": told}, {"oldTodos": _todos(prose), "newTodos": given["todos"]}
        case "Task":
            said = [{"type": "text", "text": prose.text(prose.spread(1500, 3700))}]
            about = {"totalDurationMs": 90_000, "totalTokens": 40_000, "totalToolUseCount": PROGRESS}
            kept = {"status": "completed", "prompt": given["prompt"], "agentId": agent, "content": said}
            return {"content": said}, {**kept, **about, "usage": usage(prose)}
        case str() as name if name.startswith("mcp__"):
            parts = [{"type": "text", "text": prose.text(prose.spread(300, 500))}]
            return {"content": parts}, parts
    text = prose.text(prose.spread(1000, 2500))
    return {"content": text}, {"result": text, "durationMs": 900, **given}


def _read(prose: Prose, path: str) -> tuple[Json, Kept]:
    text = prose.text(prose.spread(2100, 6300))
    lines = text.split("\n")
    numbered = "\n".join(f"{number:>6}→{line}" for number, line in enumerate(lines, 1))
    about = {"numLines": len(lines), "startLine": 1, "totalLines": len(lines)}
    return {"content": numbered}, {"type": "text", "file": {"filePath": path, "content": text, **about}}


def _edited(prose: Prose, given: Json) -> tuple[Json, Kept]:
    """The program keeps the whole file, as it was before."""
    path, old, new = given["file_path"], given["old_string"], given["new_string"]
    told = f"The file {path} has been updated successfully."
    if prose.chance(0.3):
        told += f" Here is the result of `cat -n`:\n{prose.text(prose.spread(700, 1300))}"
    hunk = {"oldStart": 7, "oldLines": 9, "newStart": 7, "newLines": 9}
    lines = [*(f"-{line}" for line in old.split("\n")), *(f"+{line}" for line in new.split("\n"))]
    kept = {
        "filePath": path,
        "oldString": old,
        "newString": new,
        "originalFile": prose.text(prose.spread(9000, 16_000)),
    }
    return {"content": told}, {**kept, "structuredPatch": [{**hunk, "lines": lines}], "userModified": False}


def usage(prose: Prose) -> Json:
    """The tokens of a message, as they are told while it begins."""
    return {
        "input_tokens": prose.number(1, 12),
        "cache_creation_input_tokens": prose.number(100, 9000),
        "cache_read_input_tokens": prose.number(9000, 150_000),
        "cache_creation": {"ephemeral_5m_input_tokens": prose.number(100, 9000), "ephemeral_1h_input_tokens": 0},
        "output_tokens": prose.number(1, 9),
        "service_tier": "standard",
        "inference_geo": "not_available",
    }
