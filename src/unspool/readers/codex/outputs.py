"""What a tool gave back. Codex writes it in five forms, and a failure in as many.

"Exit code: 1\\nWall time: 0.1 seconds\\nOutput:\\n…"                          shell_command
"Chunk ID: 1da441\\n…Process exited with code 1\\n…Output:\\n…"                exec_command
"{\\"output\\": \\"…\\", \\"metadata\\": {\\"exit_code\\": 1}}"                      shell, apply_patch
[{"type": "input_text", "text": "Script completed\\n…"}, …]                   exec, tools with images
{"content": "…", "success": false}
"""

import re
from typing import Any

from unspool.readers.codex.texts import content_text
from unspool.sources.jsontext import Unreadable, strict
from unspool.sources.values import mapping, text_of

SPAWNING = ("spawn_agent", "create_agent")
STRUCTURED = frozenset(
    (
        *SPAWNING,
        *("wait_agent", "close_agent", "interrupt_agent", "resume_agent", "list_agents"),
        *("send_input", "send_message", "followup_task", "assign_task"),
        *("create_goal", "update_goal", "get_goal"),
        *("list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource"),
    )
)
"""Tools that return JSON, an id or nothing. If they return a sentence, it says why they failed."""
_BODY = "Output:\n"
_EXIT, _EXITED = "Exit code: ", "Process exited with code "
_FINE = ("Exit code: 0\n", "Script completed\n")
_CHUNK = "Chunk ID: "
"""How most outputs begin that are not fine for that alone."""
_HEADER = 400
"""Characters in which the header of an output ends."""
_STOPPED = (
    "aborted",
    "approval policy is ",
    "approval required by policy",
    "exec command rejected",
    "patch rejected",
    "rejected by user",
    "rejected by configuration",
    "user rejected MCP tool call",
    "user cancelled MCP tool call",
    "This action was rejected",
    "Command blocked by ",
    "Tool call blocked by ",
    "PermissionRequest hook denied",
    "request_user_input was cancelled",
)
"""How an output begins of a call that somebody stopped, or did not allow."""
_REFUSED = (
    "Script failed",
    "err: ",
    "error: ",
    "execution error",
    "failed in sandbox",
    "failed to parse function arguments",
    "failed to spawn",
    "collab spawn failed",
    "collab tool failed",
    "collab manager unavailable",
    "agent with id ",
    "Agent depth limit reached",
    "apply_patch verification failed",
    "exec_command failed",
    "write_stdin failed",
    "command timed out",
    "tool call error",
    "tool call failed",
    "unsupported call",
    "unsupported custom tool call",
    "unable to locate image",
    "unable to read image",
    "unable to process image",
    "image path `",
    "view_image is ",
    "view_image.detail only ",
    "update_plan is a TODO/checklist tool",
    "request_user_input is unavailable",
    "request_user_input can only ",
    "resources/list failed",
    "resources/templates/list failed",
    "resources/read failed",
    "login shell is disabled",
    "duration_ms must be ",
    "exec expects raw JavaScript",
    "questions must not be empty",
    'Network access to "',
)
"""How an output begins that says why nothing was run."""
_FORBIDDEN = "` rejected: "
"""Behind a command, which then begins the output."""
_ABORTED = re.compile(r"Wall time: \S+ seconds\naborted by user")
_RUNNING = re.compile(r"\s*Script running with cell ID (\w+)")


def output_of(output: Any) -> tuple[str, bool]:
    """The text, and whether it tells of a failure."""
    if output.__class__ is str:
        return _structured(output) if output[:1] == "{" else (output, is_failure(output))
    if isinstance(output, dict):
        return _object(output)
    text = content_text(output)
    return text, is_failure(text)


def outcome_of(output: Any, tool: str | None) -> tuple[str, bool]:
    """Return the text of a tool's output, and whether the tool failed."""
    text, failed = output_of(output)
    return text, failed or (tool in STRUCTURED and is_in_words(text))


def reports_failure(output: str, tool: str | None) -> bool:
    """Return whether a tool's output says that it failed."""
    return outcome_of(output, tool)[1]


def is_failure(text: str) -> bool:
    if text.startswith(_FINE):
        return False
    beginning = text[:_HEADER]
    if text.startswith(_CHUNK):
        codes = beginning.split(_EXITED)
        if len(codes) == 2 and codes[1][:2] == "0\n" and _EXIT not in beginning:  # nearly always
            return False
    header, found, body = beginning.partition(_BODY)
    if not found:
        if text.startswith((_EXIT, _EXITED)):
            return _is_nonzero(text)
        return text.startswith(_REFUSED) or was_stopped(text)
    if header.startswith("Script failed"):
        return True
    # What a command printed may hold such words too, so its output counts only where the header has no exit code.
    return _is_nonzero(header if header.startswith(_EXIT) or _EXITED in header else body)


def is_in_words(text: str) -> bool:
    """Whether it is neither JSON nor an id."""
    return text[:1] not in ("{", "[") and " " in text.removeprefix("agent_id: ")


def was_stopped(text: str) -> bool:
    """Of a call that failed: whether somebody stopped it or did not allow it."""
    return text.startswith(_STOPPED) or _is_forbidden(text) or _ABORTED.match(text) is not None


def _is_forbidden(text: str) -> bool:
    return text[:1] == "`" and _FORBIDDEN in text


def _is_nonzero(text: str) -> bool:
    """Whether the text is, or holds as the header of unified exec, an exit code other than 0."""
    if text.startswith(_EXIT):
        begin = len(_EXIT)
    elif text.startswith(_EXITED):
        begin = len(_EXITED)
    elif (at := text.find(f"\n{_EXITED}")) >= 0:
        begin = at + 1 + len(_EXITED)
    else:
        return False
    return text[begin:].partition("\n")[0].strip() != "0"


def running_cell(text: str) -> str | None:
    """The number of the script that still runs behind an answered call; `wait` asks for it again."""
    if "Script running" not in text[:_HEADER]:
        return None
    found = _RUNNING.match(text)
    return found[1] if found else None


def result_of(result: Any) -> tuple[str, bool]:
    """The result of a tool on a server: `{"Ok": {content, isError}}`, `{"Err": text}`, or without these words."""
    value = mapping(result)
    if "Err" in value:
        return text_of(value["Err"]), True
    value = mapping(value.get("Ok", value))
    content, structured = value.get("content"), value.get("structuredContent") or value.get("structured_content")
    text = content_text(content) if content else text_of(structured)
    return text, value.get("isError") is True or value.get("is_error") is True


def _structured(output: str) -> tuple[str, bool]:
    try:
        value = strict(output)
    except Unreadable:
        return output, False
    if not isinstance(value, dict):
        return output, False
    if "metadata" in value or "success" in value:
        return _object(value)
    return output, isinstance(code := value.get("exit_code"), int) and code != 0


def _object(value: dict[str, Any]) -> tuple[str, bool]:
    failed = value.get("success") is False
    code = mapping(value.get("metadata")).get("exit_code", value.get("exit_code"))
    for key in ("output", "content", "text", "body"):
        if value.get(key) is not None:
            text = content_text(value[key])
            return text, failed or (code != 0 if isinstance(code, int) else is_failure(text))
    return text_of(value), failed
