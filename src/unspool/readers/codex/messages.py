"""The older stream of `codex exec --json`: the events of the program as they are, each in `{"id", "msg"}`."""

from collections.abc import Callable
from typing import Any

from unspool.model.action import PlanItem
from unspool.model.event import Compacted, Notification, Planned, Said, Thinking, ToolOutput, TurnEnd, User
from unspool.readers.codex.outbox import changes_in
from unspool.readers.codex.outputs import result_of
from unspool.readers.codex.thread import Thread
from unspool.readers.codex.transient import TRANSIENT
from unspool.sources.values import listing, mapping, string, text_of


class Messages:
    def __init__(self, thread: Thread) -> None:
        self._thread = thread
        self._log = thread.log
        self._outbox = thread.outbox
        self._handlers: dict[str | None, Callable[[dict[str, Any]], None]] = {
            "session_configured": self._configured,
            "user_message": lambda message: self._outbox.say(User(text_of(message.get("message")))),
            "agent_message": lambda message: self._outbox.say(Said(text_of(message.get("message")))),
            "agent_reasoning": lambda message: self._outbox.say(Thinking(text_of(message.get("text")))),
            "agent_reasoning_raw_content": lambda message: self._outbox.say(Thinking(text_of(message.get("text")))),
            "exec_command_begin": self._command,
            "exec_command_end": self._ended,
            "patch_apply_begin": self._patch,
            "patch_apply_end": self._patched,
            "mcp_tool_call_begin": self._asked,
            "mcp_tool_call_end": self._answered,
            "web_search_end": self._searched,
            "plan_update": self._planned,
            "token_count": self._tokens,
            "task_complete": lambda _message: self._outbox.say(TurnEnd("completed")),
            "turn_aborted": lambda _message: self._outbox.say(TurnEnd("interrupted")),
            "error": lambda message: self._notice(message, "error"),
            "stream_error": lambda message: self._notice(message, "warning"),
            "warning": lambda message: self._notice(message, "warning"),
            "view_image_tool_call": self._viewed,
            "context_compacted": lambda _message: self._outbox.say(Compacted()),
            "background_event": lambda message: self._notice(message, "info"),
        }

    def opening(self, line: dict[str, Any]) -> None:
        """The lines before the first event: the settings of the run, and the prompt."""
        if isinstance(prompt := line.get("prompt"), str):
            self._outbox.echo([User(prompt)], ())  # the next event tells whose it is
        elif "model" in line or "workdir" in line:
            self._log.facts.project = string(line.get("workdir"))
            self._thread.runs(line.get("model"))
        else:
            self._log.note("skipped", "an object that is no record")

    def read(self, message: dict[str, Any]) -> None:
        kind = string(message.get("type"))
        handler = self._handlers.get(kind)
        if handler is not None:
            handler(message)
        elif kind not in TRANSIENT and kind not in ("task_started", "turn_started"):
            self._log.note("unknown", f"event type {kind!r}")

    def _configured(self, message: dict[str, Any]) -> None:
        facts = self._log.sessions.pop(self._log.session, None)
        self._log.session = string(message.get("session_id")) or self._log.session
        if facts is not None:
            facts.id = self._log.session
            self._log.sessions[facts.id] = facts
        self._thread.runs(message.get("model"))

    def _notice(self, message: dict[str, Any], level: Any) -> None:
        self._outbox.say(Notification(text_of(message.get("message")), level))

    def _command(self, message: dict[str, Any]) -> None:
        arguments = {"command": message.get("command"), "workdir": message.get("cwd")}
        self._thread.called("shell", arguments, string(message.get("call_id")))

    def _ended(self, message: dict[str, Any]) -> None:
        output = message.get("aggregated_output")
        if not output:
            output = text_of(message.get("stdout")) + text_of(message.get("stderr"))
        self._return(message, text_of(output), message.get("exit_code") not in (0, None))

    def _patch(self, message: dict[str, Any]) -> None:
        call, changes = string(message.get("call_id")), message.get("changes")
        actions = changes_in({**message, "type": "FileChange", "status": "completed"})
        self._thread.called("apply_patch", {"changes": changes}, call, actions)

    def _patched(self, message: dict[str, Any]) -> None:
        text = text_of(message.get("stdout")) + text_of(message.get("stderr"))
        self._return(message, text, message.get("success") is not True)

    def _asked(self, message: dict[str, Any]) -> None:
        invocation = mapping(message.get("invocation")) or message
        name = f"mcp__{text_of(invocation.get('server'))}__{text_of(invocation.get('tool'))}"
        self._thread.called(name, invocation.get("arguments") or {}, string(message.get("call_id")))

    def _answered(self, message: dict[str, Any]) -> None:
        text, failed = result_of(message.get("result"))
        self._return(message, text, failed)

    def _return(self, message: dict[str, Any], text: str, is_error: bool) -> None:
        self._outbox.say(ToolOutput(string(message.get("call_id")), text, is_error))

    def _searched(self, message: dict[str, Any]) -> None:
        self._thread.called("web_search", {"query": message.get("query")}, string(message.get("call_id")))

    def _viewed(self, message: dict[str, Any]) -> None:
        self._thread.called("view_image", {"path": message.get("path")}, string(message.get("call_id")))

    def _planned(self, message: dict[str, Any]) -> None:
        steps = [
            PlanItem(text_of(step.get("step")), string(step.get("status")))
            for step in map(mapping, listing(message.get("plan")))
        ]
        self._outbox.say(Planned(tuple(steps), string(message.get("explanation"))))

    def _tokens(self, message: dict[str, Any]) -> None:
        """The total so far: in `info`, or in the oldest streams the message itself."""
        info = mapping(message.get("info")) if "info" in message else {"total_token_usage": message}
        usage = self._thread.tally.grown(info, self._thread.model)
        if usage is not None:
            self._outbox.say(usage)
        limits = message.get("rate_limits")
        if isinstance(limits, dict) and limits != self._thread.limits:
            self._thread.limited(limits)
