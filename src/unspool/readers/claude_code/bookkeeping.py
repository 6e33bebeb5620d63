"""Records of Claude Code's transcripts that tell nothing of what was said or done, by their types."""

PASSED_OVER = frozenset(
    # The state of the program or its bookkeeping: nothing that was said or done.
    "file-history-snapshot file-history-delta last-prompt mode permission-mode agent-setting worktree-state "
    "bridge-session relocated atis-latch frame-link continued-in content-replacement speculation-accept "
    "marble-origami-commit marble-origami-snapshot marble-origami-reset task-summary tag agent-color "
    "isolation-latch ended ended-by-model attribution-snapshot cost-state artifact-comment-monitor "
    "artifact-autoreact-ledger history-suppression observer-ref dev-mods memory-mode api-request "
    "api-request-shape api-request-blob conversation_reset tools-used "
    # Of programs that write as it does.
    "workspace-directories runtime-config session_meta".split()
)
SILENT = frozenset(
    # System records that say how the program does.
    "api_metrics code_change_published file_snapshot hook_progress hook_started memory_saved post_turn_summary "
    "task_progress task_started task_updated thinking vcs_state_changed".split()
)
TICKS = frozenset(
    # That a call is still running; its result comes.
    "bash_progress mcp_progress query_update search_results_received waiting_for_task powershell_progress "
    "repl_tool_call skill_progress task_progress".split()
)
