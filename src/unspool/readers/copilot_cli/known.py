"""Types of events that say nothing of the conversation: what an end tells again in full, displays, permissions."""

SILENT = frozenset(
    """
    agent.interrupted
    assistant.fusion_phase_activity assistant.fusion_phase_completed assistant.fusion_phase_started assistant.idle
    assistant.intent
    assistant.message_delta assistant.message_start assistant.reasoning_delta assistant.server_tool_progress
    assistant.streaming_delta assistant.tool_call_delta assistant.turn_end assistant.turn_start
    auto_mode_switch.completed auto_mode_switch.requested capabilities.changed command.completed command.queued
    commands.changed custom_notification elicitation.completed elicitation.requested
    exit_plan_mode.completed exit_plan_mode.requested external_tool.completed external_tool.requested
    factory.run_settled factory.run_started factory.run_updated hook.progress hook.start
    mcp.headers_refresh_completed mcp.headers_refresh_required mcp.oauth_completed mcp.oauth_required
    mcp.prompts.list_changed mcp.prompts_list_changed mcp.resources.list_changed mcp.resources_list_changed
    mcp.tools.list_changed mcp.tools_list_changed
    mcp_app.tool_call_complete model.call_finished model.call_start pending_messages.modified
    permission.completed permission.requested prompt_cache_break sampling.completed sampling.requested
    sandbox.decision
    session.auto_mode_resolved session.auto_tier_recommendation session.auto_tier_switch_failed
    session.autopilot_objective_changed session.background_tasks_changed session.binary_asset
    session.canvas.closed session.canvas.opened session.canvas.recorded session.canvas.registry_changed
    session.canvas.removed session.canvas.unavailable session.compaction_start session.completion_receipt
    session.custom_agents_updated
    session.custom_notification session.extensions.attachments_pushed session.extensions_loaded session.fusion_completed
    session.fusion_resolved session.fusion_route_started session.idle session.managed_settings_enforced
    session.managed_settings_resolved session.mcp_server_needs_reconnect session.mcp_server_removed
    session.mcp_server_status_changed session.mcp_servers_loaded
    session.permissions_changed session.plan_changed session.remote_steerable_changed session.schedule_cancelled
    session.schedule_created session.schedule_rearmed session.session_limits_changed session.skills_loaded
    session.snapshot_rewind session.todos_changed session.tools_updated session.usage_checkpoint session.usage_info
    session.workspace_file_changed
    session_limits_exhausted.completed session_limits_exhausted.requested
    subagent.configured subagent.deselected subagent.selected tool.execution_partial_result tool.execution_progress
    tool_search.activated ui.ephemeral_query user_input.completed user_input.requested
    """.split()
)
