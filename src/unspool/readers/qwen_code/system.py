"""System records of Qwen Code: what happened beside the conversation."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from unspool.model import Content
from unspool.model.event import Compacted, ModelChange, Notification, SlashCommand, TokenUsage, TurnEnd
from unspool.readers.genai import first_kept, part_text, parts_of, typed, usage_of
from unspool.readers.log import Log
from unspool.sources.values import count, listing, mapping, string, text_of

_PASSED_OVER = frozenset(
    # States to resume from, and copies of what stands elsewhere in the log.
    "attribution_snapshot file_history_snapshot session_notes session_source session_execution_engine "
    "session_approval_mode session_artifact_event session_artifact_snapshot session_sources_snapshot "
    "branch_checkpoint user_text_elements goal_state goal_turn_end omni_recall agent_bootstrap agent_launch_prompt "
    "agent_retry agent_session_ready turn_attempt".split()
)
_ENDS = {"completed": "completed", "cancelled": "interrupted", "error": "failed"}


class System:
    def __init__(self, log: Log) -> None:
        self._log = log
        self._calls: list[TokenUsage] = []
        """What the telemetry reported since the last answer."""
        self._command: str | None = None
        self._told: tuple[SlashCommand, bool] | None = None
        """The last command since the last answer, and whether a message in the person's name told of it."""

    def is_echo(self, command: SlashCommand, typed: bool) -> bool:
        """Whether it was told already: some are written twice, as a system record and as what was typed."""
        before, self._told = self._told, (command, typed)
        if before != (command, not typed):
            return False
        self._told = None
        return True

    def reported(self, usage: TokenUsage | None, model: str | None) -> TokenUsage | None:
        """The tokens of an answer, with its id where the telemetry has it; its numbers only if the answer has none."""
        calls, self._calls, self._told = self._calls, [], None
        if usage is None:
            return replace(calls[-1], model=model or calls[-1].model) if calls else None
        same = (call for call in calls if _numbers(call) == _numbers(usage))
        return replace(usage, response_id=next(same, usage).response_id)

    def read(self, value: dict[str, Any]) -> Iterator[Content]:
        subtype, facts = value.get("subtype"), self._log.facts
        payload = mapping(value.get("systemPayload"))
        match subtype:
            case "ui_telemetry":
                yield from self._telemetry(mapping(payload.get("uiEvent")))
            case "slash_command":
                yield from self._slash(payload)
            case "at_command":
                files = ", ".join(map(text_of, listing(payload.get("filesRead"))))
                text = string(payload.get("message")) or f"read {files}"
                yield Notification(text, "error" if payload.get("status") == "error" else "context")
            case "chat_compression":
                before = count(mapping(payload.get("info")).get("originalTokenCount")) or None
                history = listing(payload.get("compressedHistory"))
                kept = (parts_of(mapping(content).get("parts")) for content in history[1:])
                yield Compacted(_summary(history), None, before, first_kept(self._log, kept))
            case "custom_title":
                facts.title = string(payload.get("customTitle")) or facts.title
            case "parent_session":
                facts.parent = string(payload.get("parentSessionId")) or facts.parent
            case "session_model":
                model, before_it = string(payload.get("modelId")), facts.model
                if model and model != before_it:
                    facts.model = model
                    if before_it:
                        yield ModelChange(model, before_it)
            case "rewind":
                target, dropped = payload.get("targetUuid"), payload.get("truncatedCount")
                yield Notification(f"rewound to {target}" if target else f"rewound by {text_of(dropped)}", "info")
            case "background_task_completed":
                yield Notification(text_of(payload.get("displayText")), "info")
            case "turn_result":
                yield _end(payload)
            case str() if subtype in _PASSED_OVER:
                pass
            case _:
                self._log.note("unknown", f"system record {subtype!r}")

    def _telemetry(self, event: dict[str, Any]) -> Iterator[Content]:
        match text_of(event.get("event.name")).rpartition(".")[2]:
            case "api_response":
                keys = ("input_token_count", "cached_content_token_count", "output_token_count", "thoughts_token_count")
                asked, cached, output, thoughts = (event.get(key) for key in keys)
                counts = (
                    asked,
                    cached,
                    output,
                    thoughts,
                    event.get("tool_token_count"),
                    event.get("total_token_count"),
                )
                usage = usage_of(string(event.get("model")), counts, string(event.get("response_id")))
                if usage is not None:
                    self._calls.append(usage)
            case "api_error":
                reason = event.get("error_message") or event.get("error") or event.get("error_type")
                yield Notification(text_of(reason), "error")

    def _slash(self, payload: dict[str, Any]) -> Iterator[Content]:
        """A command comes when it is given, and again with what it showed."""
        raw = text_of(payload.get("rawCommand"))
        if payload.get("phase") != "result" or raw != self._command:
            command = typed(raw)
            command = command if isinstance(command, SlashCommand) else SlashCommand(raw)
            if not self.is_echo(command, typed=False):
                yield command
        self._command = raw if payload.get("phase") == "invocation" else None
        for item in map(mapping, listing(payload.get("outputHistoryItems"))):
            if isinstance(text := item.get("text"), str) and text and item.get("type") != "user":
                kind = item.get("type")
                yield Notification(text, kind if kind in ("warning", "error") else "info")


def _numbers(usage: TokenUsage) -> tuple[int, int, int]:
    return usage.input, usage.cache_read, usage.output


def _summary(history: list[Any]) -> str:
    """The first message of a compressed history stands for all that came before."""
    for content in history:
        text = "\n".join(map(part_text, parts_of(mapping(content).get("parts"))))
        if text:
            return text
    return ""


def _end(payload: dict[str, Any]) -> TurnEnd:
    began, ended = payload.get("startedAt"), payload.get("endedAt")
    duration = ended - began if isinstance(began, int | float) and isinstance(ended, int | float) else None
    state = text_of(payload.get("state"))
    return TurnEnd(_ENDS.get(state, state), duration, string(mapping(payload.get("error")).get("message")))
