"""What Claude Code attaches to a conversation: files, reminders, hooks' words, prompts that waited in a queue."""

from typing import Any

from unspool.model import Content
from unspool.model.event import AgentMessage, Level, Notification, User
from unspool.readers.blocks import content_text
from unspool.readers.claude_code.tags import is_typed, said, sent
from unspool.sources.values import listing, mapping, string, text_of

_HOOKS: dict[str, Level] = {
    "hook_success": "info",
    "hook_system_message": "info",
    "hook_deferred_tool": "info",
    "hook_stopped_continuation": "warning",
    "hook_cancelled": "warning",
    "hook_permission_decision": "info",
    "hook_error_during_execution": "error",
    "hook_non_blocking_error": "error",
    "hook_blocking_error": "error",
    "async_hook_response": "info",
    "async_hook_response_batch": "info",
}
_CONTEXT = frozenset(
    # What the model is shown beside what was typed.
    "agent_listing_delta agent_mention auto_mode auto_mode_exit bagel_console command_permissions "
    "compact_file_reference compaction_reminder context_efficiency critical_system_reminder "
    "current_session_memory date_change deferred_tools_delta diagnostics directory dynamic_skill "
    "edited_image_file edited_text_file file hook_additional_context invoked_skills lsp_diagnostics "
    "max_turns_reached mcp_instructions_delta mcp_resource memory nested_memory opened_file_in_ide "
    "output_style output_token_usage pdf_reference plan_file_reference plan_mode plan_mode_exit "
    "plan_mode_reentry relevant_memories selected_lines_in_ide skill_discovery skill_listing "
    "structured_output task_reminder task_status team_context teammate_mailbox teammate_shutdown_batch todo "
    "todo_reminder token_usage ultramemory ultrathink_effort unified_tasks verify_plan_reminder budget_usd "
    "already_read_file companion_intro brief_mode_update bash_output_audience_note batching_reminder "
    "batching_reminder_sent context_sections cowork_memory_context credential_org date deferred_tools_record "
    "dir_sync_notice environment fork_briefing goal_status instructions language model output_style_instructions "
    "peer_mention permission_mode poll_events read_truncation_notice remote_session_change sandbox_instructions "
    "secondary_reminder session_context silent_turn_reminder thinking_stripped tool_host_result_lines "
    "tool_hosts_notice tool_search_usage_reminder total_tokens_reminder ultra_effort_enter ultra_effort_exit "
    "workflow_size_guideline_change account_memory_recall advisor_stripped advisor_tool artifact_opening_prefetch "
    "at_mention_reference attention_budget audio_transcript coordinator_context elapsed_time_reminder "
    "hook_plugin_listing inlined_image_paths mcp_dropped_tools_delta memory_update prefix_delta proactivity "
    "prompt_render_point repl_mcp_needs_auth secondary_reminder_sent selected_lines_in_diff session_cron_carry "
    "session_settings skill_mention thinking_drop thread_state tool_hosts_correction unknown_command_fallback "
    "withheld_memory workflow_keyword_request autocheckpointing background_task_status thinking_reminder "
    "pen_mode_enter pen_mode_exit ultrawork_request echo_activities fold_nudge context_tip task_progress".split()
)
_TEXTS = ("content", "snippet", "prompt", "text", "addedLines", "addedBlocks", "message", "stdout", "blockingError")


def attached(attachment: dict[str, Any]) -> tuple[list[Content], bool]:
    """What it is, and whether we know the kind of it."""
    kind = text_of(attachment.get("type"))
    if kind == "queued_command":
        return _queued(attachment), True
    if kind == "prompt_snapshot":
        return [Notification(content_text(attachment.get("systemPrompt")), "system")], True
    if kind in _HOOKS:
        return [Notification(_hook(attachment), _HOOKS[kind])], True
    return [Notification(f"{kind}: {_text(attachment)}".rstrip(": "), "context")], kind in _CONTEXT


def typed_in(attachment: dict[str, Any]) -> str | None:
    """The words of a prompt that waited, without what was put in beside them."""
    if attachment.get("type") != "queued_command":
        return None
    return words_in(attachment.get("prompt"))


def is_told(attachment: dict[str, Any], key: str, seen: set[str]) -> bool:
    """Whether a prompt that waited was told before: its id is that of the person's own record, if one is made."""
    source = attachment.get("source_uuid")
    if not isinstance(source, str) or source == key:
        return False
    told = source in seen
    seen.add(source)
    return told


def words_in(prompt: Any) -> str | None:
    """Of a text, or of blocks with images among them."""
    if not isinstance(prompt, list):
        return string(prompt)
    texts = [text_of(block.get("text")) for block in map(mapping, prompt) if block.get("type") == "text"]
    return next((text for text in texts if _holds_words(text)), texts[0] if texts else None)


def _holds_words(text: str) -> bool:
    """Whether it is not only what an editor put beside the words."""
    return any(not isinstance(content, Notification) for content in said(text))


def _queued(attachment: dict[str, Any]) -> list[Content]:
    """A prompt typed while the agent was busy, or the word of a task that ended meanwhile."""
    text = content_text(attachment.get("prompt"))
    origin = attachment.get("origin")
    if attachment.get("commandMode") == "task-notification":
        return [next((content for content in said(text) if isinstance(content, AgentMessage)), AgentMessage(text))]
    if attachment.get("isMeta") is True or not is_typed(origin):
        return list(sent(text, mapping(origin)))
    return list(said(text)) or [User(text)]


def _hook(attachment: dict[str, Any]) -> str:
    name = string(attachment.get("hookName")) or string(attachment.get("hookEvent")) or "hook"
    said = _text(attachment) or text_of(attachment.get("stderr")) or text_of(attachment.get("command"))
    return f"hook {name}: {said.strip()}".rstrip(": ")


def stop_hooks(infos: Any, errors: Any) -> Notification:
    """What ran when the agent was about to stop."""
    commands = [text_of(mapping(hook).get("command")) for hook in listing(infos)]
    told = [text_of(error) for error in listing(errors)]
    return Notification("stop hooks: " + "; ".join(commands + told), "error" if told else "info")


def _text(attachment: dict[str, Any]) -> str:
    """The words in it; of what has none, all that it says."""
    for key in _TEXTS:
        match attachment.get(key):
            case str() as text if text:
                return text
            case list() as lines if lines:
                return "\n".join(map(text_of, lines))
            case dict() as inner if inner:
                return string(inner.get("blockingError")) or text_of(inner)
    rest = {key: value for key, value in attachment.items() if key != "type"}
    return text_of(rest) if rest else ""
