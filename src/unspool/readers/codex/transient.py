"""Events of Codex that say nothing of the conversation, or only in part what another event says whole."""

_PARTS = (
    "agent_message_delta",
    "agent_message_content_delta",
    "agent_reasoning_delta",
    "agent_reasoning_raw_content_delta",
    "agent_reasoning_section_break",
    "reasoning_content_delta",
    "reasoning_raw_content_delta",
    "plan_delta",
    "exec_command_output_delta",
    "mcp_tool_call_progress",
    "patch_apply_updated",
    "terminal_interaction",
    "turn_diff",
    "item_started",
    "raw_response_item",
    "raw_response_completed",
)
_BEGINNINGS = (
    "web_search_begin",
    "image_generation_begin",
    "collab_agent_spawn_begin",
    "collab_agent_interaction_begin",
    "collab_waiting_begin",
    "collab_close_begin",
    "collab_resume_begin",
    "hook_started",
    "undo_started",
)
_QUESTIONS = (
    "exec_approval_request",
    "apply_patch_approval_request",
    "request_permissions",
    "request_user_input",
    "elicitation_request",
)
"""To the person at the screen. What came of them, the output of the call tells."""
_AFFAIRS = (
    "auth_recovery_started",
    "auth_recovery_completed",
    "conversation_path",
    "environment_connected",
    "environment_disconnected",
    "get_history_entry_response",
    "list_custom_prompts_response",
    "list_skills_response",
    "mcp_list_tools_response",
    "mcp_startup_update",
    "mcp_startup_complete",
    "model_verification",
    "realtime_conversation_started",
    "realtime_conversation_sdp",
    "realtime_conversation_realtime",
    "realtime_conversation_closed",
    "realtime_conversation_list_voices_response",
    "safety_buffering",
    "shutdown_complete",
    "skills_update_available",
    "thread_queue_changed",
    "turn_moderation_metadata",
)
TRANSIENT = frozenset((*_PARTS, *_BEGINNINGS, *_QUESTIONS, *_AFFAIRS))
