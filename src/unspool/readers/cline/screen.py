"""`ui_messages.json`, where it is all that is left of a task: what was said and asked on the screen."""

from typing import Any

from unspool.actions.vocabulary import Vocabulary
from unspool.model import Origin
from unspool.model.event import Compacted, Level, Notification, Planned, Said, Thinking, ToolOutput, User
from unspool.readers.blocks import image_text
from unspool.readers.calls import call_of
from unspool.readers.cline.requests import requests_of
from unspool.readers.cline.tags import object_in
from unspool.readers.log import Log
from unspool.sources.values import count, listing, mapping, string, text_of

_PASSED_OVER = frozenset(
    # Requests are read for themselves; the rest is bookkeeping, or a question whose answer is the next entry.
    "api_req_started api_req_finished api_req_retried api_req_deleted deleted_api_reqs subagent_usage "
    "checkpoint_created checkpoint_saved resume_task resume_completed_task browser_session_status new_task image "
    "mcp_server_request_started hook_status hook_output_stream conditional_rules_applied condense summarize_task "
    "report_bug auto_approval_max_req_reached load_mcp_documentation generate_explanation".split()
)
_LEVELS: dict[str, Level] = {
    "error": "error",
    "diff_error": "error",
    "api_req_failed": "error",
    "condense_context_error": "error",
    "clineignore_error": "error",
    "rooignore_error": "error",
    "command_permission_denied": "warning",
    "error_retry": "warning",
    "api_req_retry_delayed": "warning",
    "api_req_rate_limited": "warning",
    "mistake_limit_reached": "warning",
    "shell_integration_warning": "warning",
    "shell_integration_warning_with_suggestion": "warning",
    "sliding_window_truncation": "info",
    "info": "info",
    "mcp_notification": "info",
    "subtask_result": "info",
    "user_edit_todos": "info",
    "user_feedback_diff": "context",
}
_SHOWN = {
    "readFile": "read_file",
    "newFileCreated": "write_to_file",
    "editedExistingFile": "replace_in_file",
    "appliedDiff": "apply_diff",
    "insertContent": "insert_content",
    "searchAndReplace": "apply_diff",
    "fileDeleted": "delete_file",
    "deleteFile": "delete_file",
    "listFilesTopLevel": "list_files",
    "listFilesRecursive": "list_files",
    "listCodeDefinitionNames": "list_code_definition_names",
    "searchFiles": "search_files",
    "codebaseSearch": "codebase_search",
    "webFetch": "web_fetch",
    "webSearch": "web_search",
    "updateTodoList": "update_todo_list",
    "switchMode": "switch_mode",
    "newTask": "new_task",
    "finishTask": "attempt_completion",
    "fetchInstructions": "fetch_instructions",
    "generateImage": "generate_image",
    "imageGenerated": "generate_image",
    "readCommandOutput": "read_command_output",
    "runSlashCommand": "run_slash_command",
    "summarizeTask": "summarize_task",
    "useSkill": "use_skill",
}
"""What the screen calls a tool, and what the model does."""
_FIELDS = {
    "read_file": {"batchFiles": "files"},
    "replace_in_file": {"content": "diff"},
    "web_fetch": {"path": "url"},
    "web_search": {"path": "query"},
    "use_skill": {"path": "skill"},
    "switch_mode": {"mode": "mode_slug"},
    "new_task": {"content": "message"},
}
"""Of such tools, what the screen calls a field, and what the model does, unless that is there too."""
_FINDERS = frozenset(("list_files", "list_code_definition_names", "search_files"))
"""Tools whose entry holds what they found."""
_OUTPUTS = frozenset(
    ("command_output", "mcp_server_response", "browser_action_result", "codebase_search_result", "subagent")
)
_APPROVAL, _CHANGES = "REQ_APP", "HAS_CHANGES"
"""Behind a command that the model itself would ask about first, and behind an answer that came with changes of files:
signs for the screen, which nobody said."""


class Screen:
    def __init__(self, log: Log, vocabulary: Vocabulary) -> None:
        self._log = log
        self._vocabulary = vocabulary
        self._call: str | None = None
        """The id of the call whose output comes: its key, for the screen knows no ids."""
        self._output: list[str] = []
        self._spoken = False

    def read(self, items: list[Any], path: str, writer: str) -> None:
        log = self._log
        requests = {request.origin.line: request for request in requests_of(items, path, writer)}
        keys: set[str] = set()
        passed = _written_again(items)
        for number, item in enumerate(items, 1):
            if number in passed:
                continue
            log.origin = Origin(path, number, 0, 0)
            if not isinstance(item, dict):
                log.note("skipped", "no object")
                continue
            log.at(item.get("ts"))
            key = text_of(item.get("ts")) or f"#{number}"
            key = f"{key}:{number}" if key in keys else key
            keys.add(key)
            if (request := requests.get(number)) is not None:
                if request.failure:
                    log.emit(Notification(request.failure, "error"), f"{key}:failure")
                if request.usage is not None:
                    log.emit(request.usage, request.key)
            self._item(item, key)
        self._settle()

    def _item(self, item: dict[str, Any], key: str) -> None:
        log = self._log
        name = text_of(item.get("say") if item.get("type") == "say" else item.get("ask"))
        text = text_of(item.get("text"))
        images = [image_text(text_of(given)) for given in listing(item.get("images"))]
        if name in _OUTPUTS:
            self._output += _output(name, text), *images
            return
        self._settle()
        match name:
            case "task" | "user_feedback":
                self._typed(text, images, key)
            case "text" if not self._spoken:  # Roo has no other word for the task
                self._typed(text, images, key)
            case "text" | "completion_result" if said := text.removesuffix(_CHANGES):
                log.emit(Said(said), key)
            case "reasoning" if text or item.get("reasoning"):
                log.emit(Thinking(text or text_of(item.get("reasoning"))), key)
            case "plan_mode_respond" | "act_mode_respond" if told := object_in(text).get("response") or text:
                log.emit(Said(text_of(told)), key)
            case "tool" | "command" | "followup" | "use_mcp_server" | "use_subagents":
                self._called(name, text, key)
            case "browser_action_launch" | "browser_action":
                self._called(name, text, key)
            case "condense_context":
                told = mapping(item.get("contextCondense"))
                before = count(told.get("prevContextTokens")) or None
                log.emit(Compacted(text_of(told.get("summary")), None, before), key)
            case "task_progress":
                log.emit(Planned((), text), key)
            case _ if name in _LEVELS:
                if text:
                    log.emit(Notification(text, _LEVELS[name]), key)
            case "text" | "completion_result" | "reasoning" | "plan_mode_respond" | "act_mode_respond":
                pass  # the same once more, without its text: a question whether that is all
            case _ if name not in _PASSED_OVER:
                log.note("unknown", f"entry {name!r}")

    def _typed(self, text: str, images: list[str], key: str) -> None:
        self._spoken = True
        if typed := "\n".join(filter(None, (text, *images))):
            self._log.emit(User(typed), key)

    def _called(self, name: str, text: str, key: str) -> None:
        told = object_in(text)
        match name:
            case "tool":
                name = text_of(told.pop("tool", None))
                name = _SHOWN.get(name, name)
                fields = {shown: field for shown, field in _FIELDS.get(name, {}).items() if field not in told}
                given = {fields.get(field, field): value for field, value in told.items()}
            case "command":
                name, given = "execute_command", {"command": text.removesuffix(_APPROVAL)}
            case "use_subagents":
                given = {f"prompt_{at}": prompt for at, prompt in enumerate(listing(told.get("prompts")), 1)}
            case "followup":
                name, given = "ask_followup_question", told or {"question": text}
            case "use_mcp_server":
                name = text_of(told.get("type") or "use_mcp_tool")
                spelled = {"serverName": "server_name", "toolName": "tool_name"}
                given = {spelled.get(field, field): value for field, value in told.items() if field != "type"}
            case _:
                name, given = "browser_action", told or {"action": "launch", "url": text}
        found = given.pop("content", None) if name in _FINDERS else None
        self._log.emit(call_of(self._vocabulary, name, given, key), key)
        self._call = key
        if found is not None:
            self._output = [text_of(found)]

    def _settle(self) -> None:
        """What a call gave is whole when something else comes."""
        if self._output:
            key = f"{self._call or self._log.origin.line}:result"
            self._log.emit(ToolOutput(self._call, "\n".join(filter(None, self._output)), False), key)
            self._output = []
            self._call = None


def _written_again(items: list[Any]) -> set[int]:
    """Outputs that were written while their command still ran, and come again with what it wrote since."""
    found: set[int] = set()
    running, so_far = 0, ""
    for number, item in enumerate(items, 1):
        match item:
            case {"say": "command_output", "text": str(text)}:
                if running and text.startswith(so_far):
                    found.add(running)
                running, so_far = (number, text) if item.get("partial") is True else (0, "")
            case {"ask": "command"} | {"say": "command"}:
                running = 0
    return found


def _output(name: str, text: str) -> str:
    if name not in ("browser_action_result", "subagent"):
        return text
    told = object_in(text)
    if name == "subagent":
        agents = map(mapping, listing(told.get("items")))
        return "\n\n".join(filter(None, (text_of(one.get("result") or one.get("error")) for one in agents)))
    shot = string(told.get("screenshot"))
    return "\n".join(
        filter(None, (string(told.get("currentUrl")), string(told.get("logs")), image_text(shot) if shot else None))
    )
