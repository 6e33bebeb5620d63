"""What the tools of the agents that live in editors mean."""

import pytest

from meanings import (
    ADDED,
    ASKED,
    BLOCKS,
    BOXED,
    BOXES,
    EDITED,
    EDITS,
    FOUND,
    GIVEN,
    HELD,
    LIST,
    LISTED,
    PAGE,
    PATCH,
    PATH,
    PATTERN,
    QUERY,
    QUESTIONS,
    READ,
    RESOURCE,
    SEARCHED,
    SKETCHED,
    TASK,
    TODOS,
    URL,
    WHICH,
    Row,
    check,
    named,
)
from unspool.actions import vocabulary_for
from unspool.model import Meaning
from unspool.model.action import (
    Agent,
    Ask,
    Execute,
    FileDelete,
    FileEdit,
    FileMove,
    FileRead,
    FileWrite,
    Generic,
    Mcp,
    Plan,
    PlanItem,
    Search,
    Web,
)

ROWS: dict[str, list[Row]] = {
    "cline": [
        ("read_file", {"path": "a", "start_line": "2", "end_line": "4"}, FileRead("a", 2, 3)),
        ("read_file read_files", {"files": [{"path": "a", "start_line": 2}, {"path": "b"}]}, FileRead("a", 2)),
        ("read_file", {"args": "<file><path>a</path></file>"}, FileRead("a")),
        ("write_to_file write_file new_file", {"path": "a", "content": "x"}, FileWrite("a", "x")),
        ("write_to_file", {"absolutePath": "a", "content": "x"}, FileWrite("a", "x")),
        ("replace_in_file apply_diff edit_file_roo", {"path": "a", "diff": BLOCKS}, FileEdit("a", "x\n", "y\n", False)),
        ("search_replace edit_file_grok edit", {"file_path": "a", "old_string": "x", "new_string": "y"}, EDITED),
        (
            "edit_file edit_file_gemini",
            {"file_path": "a", "old_string": "x", "new_string": "y", "expected_replacements": 2},
            FileEdit("a", "x", "y", True),
        ),
        ("search_and_replace edit_file_anthropic", EDITS, EDITED),
        ("insert_content", {"path": "a", "line": "1", "content": "y"}, SKETCHED),
        ("editor", {"path": "a", "old_text": "x", "new_text": "y"}, EDITED),
        ("editor", {"path": "a", "new_text": "y"}, FileWrite("a", "y")),
        ("apply_patch edit_file_codex", {"patch": PATCH}, ADDED),
        ("execute_command", {"command": "make", "cwd": "p"}, Execute("make", workdir="p")),
        ("run_commands", {"commands": ["make", "make test"]}, Execute("make")),
        ("run_commands", {"commands": [{"command": "git", "args": ["log", "a b"]}, "make"]}, Execute("git log 'a b'")),
        ("run_commands", {"commands": {"command": "make"}}, Execute("make")),
        ("run_commands", {"command": "make", "args": ["test"]}, Execute("make test")),
        ("run_commands", {"cmd": "make"}, Execute("make")),
        ("run_commands", ["make", "make test"], Execute("make")),
        ("run_commands", "make", Execute("make")),
        ("read_files", {"files": {"path": "a", "start_line": 2}}, FileRead("a", 2)),
        ("read_files", {"paths": [{"path": "a", "start_line": 2}, "b"]}, FileRead("a", 2)),
        ("read_files", {"file_paths": ["a", "b"]}, FileRead("a")),
        ("read_files", [{"path": "a"}, "b"], FileRead("a")),
        ("read_command_output", {"artifact_id": "c1"}, Execute("# read c1")),
        ("search_files", {"path": "p", "regex": "x", "file_pattern": None}, FOUND),
        ("list_files list_code_definition_names", {"path": "p", "recursive": "true"}, READ),
        ("codebase_search", {"query": "q"}, ASKED),
        ("search_codebase", {"queries": ["q", "r"]}, Search(pattern="q")),
        ("search_codebase", ["q", "r"], Search(pattern="q")),
        ("search_codebase", "q", Search(pattern="q")),
        ("browser_action", {"action": "launch", "url": "https://a"}, PAGE),
        ("browser_action", {"action": "click", "coordinate": "1,2"}, Web()),
        ("web_fetch inspect_site", URL, PAGE),
        ("delete_file", {"path": "a"}, FileDelete("a")),
        ("web_search", QUERY, SEARCHED),
        ("fetch_web_content", {"requests": [{"url": "https://a", "prompt": "p"}]}, PAGE),
        ("focus_chain", {"task_progress": BOXES}, BOXED),
        (
            "update_todo_list",
            {"todos": "[x] a\n[-] b"},
            Plan((PlanItem("a", "completed"), PlanItem("b", "in_progress"))),
        ),
        ("plan_mode_respond act_mode_respond", {"response": "First"}, Plan(text="First")),
        ("switch_mode", {"mode_slug": "code", "reason": "r"}, Plan(text="r")),
        ("ask_followup_question ask_question", {"question": "Which?", "options": '["A", "B"]'}, WHICH),
        (
            "ask_followup_question",
            {"question": "Which?", "follow_up": "<suggest>A</suggest><suggest>B</suggest>"},
            WHICH,
        ),
        ("ask_followup_question", {"question": "Which?", "follow_up": [{"text": "A"}, {"text": "B"}]}, WHICH),
        ("ask_followup_question", {"question": "Which?", "options": "A or B"}, Ask("Which?")),
        ("new_task", {"mode": "code", "message": "p"}, Agent(None, "p", "code")),
        ("new_task", {"context": "p"}, Agent(None, "p")),
        ("use_subagents", {"prompt_1": "p", "prompt_2": "q"}, Agent(prompt="p")),
        ("spawn_agent search_subagent", {"task": "p"}, Agent(prompt="p")),
        ("team_run_task", {"agentId": "t", "task": "p"}, Agent(prompt="p", agent_type="t")),
        ("team_spawn_teammate", {"agentId": "t", "rolePrompt": "p"}, Agent(prompt="p", agent_type="t")),
        ("team_send_message", {"toAgentId": "t", "subject": "d", "body": "p"}, Agent("d", "p", "t")),
        ("session_send_message", {"toSessionId": "t", "subject": "d", "body": "p"}, Agent("d", "p")),
        ("team_broadcast", {"subject": "d", "body": "p"}, Agent("d", "p")),
        (
            "team_attach_outcome_fragment team_await_runs team_cancel_run team_cleanup team_create_outcome "
            "team_finalize_outcome team_list_outcomes team_list_runs team_mission_log team_read_mailbox "
            "team_review_outcome_fragment team_shutdown_teammate team_status team_task session_list_peers "
            "session_read_inbox",
            {},
            Generic(),
        ),
        ("use_skill skill skills", {"skill_name": "n"}, Agent(agent_type="n")),
        ("run_slash_command", {"command": "n", "args": "p"}, Agent(None, "p", "n")),
        ("use_mcp_tool", {"server_name": "s", "tool_name": "t", "arguments": '{"x": 1}'}, Mcp("s", "t", {"x": 1})),
        ("access_mcp_resource", {"server_name": "s", "uri": "u"}, HELD),
        (
            "attempt_completion condense custom_tool fetch_instructions generate_explanation generate_image "
            "load_mcp_documentation new_rule report_bug submit_and_exit summarize_task",
            {"result": "r"},
            Generic(),
        ),
    ],
    "cursor": [
        ("read_file", {"target_file": "a", "offset": 2, "limit": 3}, FileRead("a", 2, 3)),
        (
            "read_file",
            {"target_file": "a", "start_line_one_indexed": 2, "end_line_one_indexed_inclusive": 4},
            FileRead("a", 2, 3),
        ),
        ("read_file_v2", {"targetFile": "a"}, FileRead("a")),
        ("Read ReadFile read readToolCall", {"path": "a", "offset": 2, "limit": 3}, FileRead("a", 2, 3)),
        ("edit_file reapply", {"target_file": "a", "code_edit": "y", "instructions": "i"}, SKETCHED),
        ("edit_file_v2 edit editToolCall", {"path": "a", "streamContent": "y"}, SKETCHED),
        ("edit editToolCall", {"path": "a", "strReplace": {"oldText": "x", "newText": "y"}}, EDITED),
        ("edit editToolCall", {"path": "a", "multiStrReplace": {"edits": [{"oldText": "x", "newText": "y"}]}}, EDITED),
        ("search_replace StrReplace", {"file_path": "a", "old_string": "x", "new_string": "y"}, EDITED),
        ("multi_edit MultiEdit", {"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}]}, EDITED),
        ("write Write writeToolCall", {"path": "a", "fileText": "x"}, FileWrite("a", "x")),
        (
            "edit_notebook EditNotebook",
            {"target_notebook": "a", "cell_idx": 0, "old_string": "x", "new_string": "y"},
            EDITED,
        ),
        ("delete_file Delete delete deleteToolCall", {"target_file": "a"}, FileDelete("a")),
        ("apply_patch ApplyPatch", PATCH, ADDED),
        (
            "run_terminal_cmd run_terminal_command run_terminal_command_v2",
            {"command": "make", "explanation": "d", "is_background": False},
            Execute("make", "d"),
        ),
        ("Shell shell shellToolCall", {"command": "make", "workingDirectory": "p"}, Execute("make", workdir="p")),
        (
            "write_shell_stdin writeShellStdin writeShellStdinToolCall",
            {"shell_id": 1, "chars": "y"},
            Execute("# write 1"),
        ),
        ("Await AwaitShell", {"task_id": "1"}, Execute("# read 1")),
        ("await awaitToolCall", {"taskId": "1", "blockUntilMs": 9}, Execute("# read 1")),
        ("piBash piBashToolCall", {"command": "make"}, Execute("make")),
        ("piRead piReadToolCall", {"path": "a", "offset": 2, "limit": 3}, FileRead("a", 2, 3)),
        ("piWrite piWriteToolCall", {"path": "a", "content": "x"}, FileWrite("a", "x")),
        ("piEdit piEditToolCall", {"path": "a", "oldText": "x", "newText": "y"}, EDITED),
        ("piGrep piGrepToolCall piFind piFindToolCall", PATTERN, FOUND),
        ("piLs piLsToolCall", {"path": "p"}, READ),
        ("getMcpTools getMcpToolsToolCall get_mcp_tools GetMcpTools GetDynamicTools", {}, Search()),
        ("searchConversations searchConversationsToolCall", QUERY, ASKED),
        ("list_dir list_dir_v2 LS ls lsToolCall", {"target_directory": "p"}, READ),
        ("read_lints ReadLints readLints readLintsToolCall", {"paths": ["p"]}, READ),
        ("grep_search ripgrep_search ripgrep_raw_search", {"query": "x", "include_pattern": "*"}, Search("x")),
        ("grep Grep grepToolCall", PATTERN, FOUND),
        ("glob_file_search Glob", {"glob_pattern": "x", "target_directory": "p"}, FOUND),
        ("glob globToolCall", {"globPattern": "x", "targetDirectory": "p"}, FOUND),
        ("codebase_search SemanticSearch", {"query": "q", "target_directories": ["p"]}, Search(query="q", path="p")),
        ("semSearch semSearchToolCall", {"query": "q", "targetDirectories": []}, ASKED),
        ("file_search semantic_search_full deep_search search_symbols", QUERY, ASKED),
        ("web_search WebSearch webSearch webSearchToolCall", {"search_term": "q"}, SEARCHED),
        ("web_fetch WebFetch webFetch webFetchToolCall fetch fetchToolCall", URL, PAGE),
        ("todo_write TodoWrite todo todoToolCall updateTodos updateTodosToolCall", TODOS | {"merge": True}, LISTED),
        ("todo_write", {"merge": True, "todos": [{"id": "1", "status": "done"}]}, Plan((PlanItem("1", "done"),))),
        (
            "updateTodos",
            {"todos": [{"content": "c", "status": "TODO_STATUS_IN_PROGRESS"}]},
            Plan((PlanItem("c", "in_progress"),)),
        ),
        ("createGoal createGoalToolCall updateGoal updateGoalToolCall", {}, Plan()),
        ("todo_read readTodos readTodosToolCall", {}, Plan()),
        ("create_plan CreatePlan createPlan createPlanToolCall", {"plan": "p", "name": "n"}, Plan(text="p")),
        ("create_plan", {"plan": "p", "todos": [{"id": "1", "content": "c"}]}, Plan((PlanItem("c"),), "p")),
        ("switch_mode SwitchMode switchMode switchModeToolCall", {"explanation": "e"}, Plan(text="e")),
        ("ask_question AskQuestion askQuestion askQuestionToolCall", QUESTIONS, WHICH),
        (
            "AskQuestion",
            {"questions": [{"id": "1", "prompt": "Which?", "options": [{"id": "a", "label": "A"}]}]},
            Ask("Which?", ("A",)),
        ),
        ("task task_v2 Task Subagent taskToolCall", TASK, GIVEN),
        ("task", TASK | {"subagent_type": "t", "agentId": "a-1"}, GIVEN),
        ("task", {"prompt": "p", "subagentType": {"custom": {"name": "t"}}, "agentId": "a-1"}, Agent(None, "p", "t")),
        ("task", {"prompt": "p", "subagentType": {"explore": {}}}, Agent(None, "p", "explore")),
        ("task", {"prompt": "p", "subagentType": {"unspecified": {}}, "agentId": "a-1"}, Agent(None, "p")),
        ("await_task", {"ids": []}, Agent()),
        (
            "createAgent getAgentStatus sendToAgent readAgentTranscript stopAgent createAgentToolCall "
            "getAgentStatusToolCall sendToAgentToolCall readAgentTranscriptToolCall stopAgentToolCall",
            {"prompt": "p"},
            Agent(prompt="p"),
        ),
        ("Skill", {"skill": "n"}, Agent(agent_type="n")),
        ("call_mcp_tool CallMcpTool", {"server": "s", "toolName": "t", "arguments": {"x": 1}}, Mcp("s", "t", {"x": 1})),
        (
            "CallDynamicTool",
            {"namespace": "s", "toolName": "t", "arguments": {"x": 1}},
            Mcp("s", "t", {"x": 1}),
        ),
        ("CallDynamicTool", {"namespace": "cursor", "toolName": "WebFetch", "arguments": URL}, PAGE),
        (
            "mcp mcpToolCall",
            {"name": "s-t", "providerIdentifier": "s", "toolName": "t", "args": {"x": 1}},
            Mcp("s", "t", {"x": 1}),
        ),
        (
            "list_mcp_resources ListMcpResources listMcpResources listMcpResourcesToolCall",
            {"server": "s"},
            LIST,
        ),
        (
            "fetch_mcp_resource read_mcp_resource FetchMcpResource readMcpResource readMcpResourceToolCall",
            RESOURCE,
            HELD,
        ),
        (
            "computer_use create_diagram fetch_pull_request fetch_rules fix_lints generate_image go_to_definition "
            "knowledge_base update_memory GenerateImage generateImage computerUse recordScreen generateImageToolCall "
            "computerUseToolCall recordScreenToolCall reflect reflectToolCall",
            {},
            Generic(),
        ),
    ],
    "zed": [
        ("read_file", {"path": "a", "start_line": 2, "end_line": 4}, FileRead("a", 2, 3)),
        ("write_file create_file", {"path": "a", "content": "x"}, FileWrite("a", "x")),
        ("edit_file streaming_edit_file", EDITS | {"display_description": "d", "mode": "edit"}, EDITED),
        ("edit_file", {"path": "a", "mode": "overwrite", "content": "x"}, FileWrite("a", "x")),
        ("edit_file", {"path": "a", "mode": "edit", "display_description": "d"}, FileEdit("a", "", "", False)),
        ("delete_path", {"path": "a"}, FileDelete("a")),
        ("move_path", {"source_path": "a", "destination_path": "b"}, FileMove("a", "b")),
        ("terminal bash", {"command": "make", "cd": "p", "timeout_ms": 9}, Execute("make", None, 9, "p")),
        ("edit_file", {"path": "a", "mode": "edit", "edits": '[{"old_text": "x", "new_text": "y"}]'}, EDITED),
        ("find_replace_file", {"path": "a", "find": "b", "replace": "c"}, FileEdit("a", "b", "c", False)),
        ("grep regex_search", {"regex": "x", "include_pattern": "**/*.rs"}, Search("x")),
        (
            "find_references go_to_definition get_code_actions",
            {"symbol": {"file_path": "a", "line": 3, "symbol_name": "x"}},
            Search("x", path="a"),
        ),
        ("ask_user", {"question": "Q?", "options": ["a", "b"]}, Ask("Q?", ("a", "b"))),
        ("find_path path_search", {"glob": "x"}, Search("x")),
        ("list_directory diagnostics code_symbols", PATH, READ),
        ("fetch", URL, PAGE),
        ("web_search search_web", QUERY, SEARCHED),
        ("update_plan", {"plan": [{"step": "c", "status": "pending"}]}, Plan((PlanItem("c", "pending"),))),
        ("thinking", {"content": "Hm"}, Plan(text="Hm")),
        ("spawn_agent subagent create_thread", {"label": "d", "message": "p"}, Agent("d", "p")),
        ("skill", {"name": "n"}, Agent(agent_type="n")),
        (
            "apply_code_action copy_path create_directory list_agents_and_models now open rename_symbol "
            "restore_file_from_disk save_file update_title",
            {},
            Generic(),
        ),
    ],
    "continue": [
        ("read_file Read", {"filepath": "a"}, FileRead("a")),
        ("read_file_range", {"filepath": "a", "startLine": 2, "endLine": 4}, FileRead("a", 2, 3)),
        ("create_new_file", {"filepath": "a", "contents": "x"}, FileWrite("a", "x")),
        ("Write", {"filepath": "a", "content": "x"}, FileWrite("a", "x")),
        ("edit_existing_file", {"filepath": "a", "changes": "y"}, SKETCHED),
        ("single_find_and_replace Edit", {"filepath": "a", "old_string": "x", "new_string": "y"}, EDITED),
        ("multi_edit MultiEdit", {"filepath": "a", "edits": [{"old_string": "x", "new_string": "y"}]}, EDITED),
        ("search_and_replace_in_file", {"filepath": "a", "diffs": [BLOCKS]}, FileEdit("a", "x\n", "y\n", False)),
        ("run_terminal_command Bash", {"command": "make"}, Execute("make")),
        ("grep_search exact_search", {"query": "x"}, Search("x")),
        ("Search", PATTERN, FOUND),
        ("file_glob_search", {"pattern": "x"}, Search("x")),
        ("ls List", {"dirPath": "p", "recursive": False}, READ),
        ("view_subdirectory", {"directory_path": "p"}, READ),
        ("view_repo_map", {}, Search()),
        ("codebase", QUERY, ASKED),
        ("search_web", QUERY, SEARCHED),
        ("fetch_url_content Fetch", URL, PAGE),
        ("read_skill Skills", {"skillName": "n"}, Agent(agent_type="n")),
        ("Checklist", {"checklist": BOXES}, BOXED),
        ("AskQuestion", {"question": "Which?", "options": ["A", "B"]}, WHICH),
        ("Subagent", {"subagent_name": "t", "description": "d", "prompt": "p"}, GIVEN),
        (
            "create_rule_block read_currently_open_file request_rule view_diff Diff Event Exit ReportFailure Status "
            "UploadArtifact",
            {},
            Generic(),
        ),
    ],
}
ROWS["roo"] = ROWS["cline"]
CASES = [(agent, row) for agent, rows in ROWS.items() for row in rows]


@pytest.mark.parametrize("agent", ROWS)
def test_the_tables_have_every_tool(agent: str) -> None:
    assert named(ROWS[agent]) == set(vocabulary_for(agent).tools)


@pytest.mark.parametrize(("agent", "row"), CASES, ids=[f"{agent} {row[0]}"[:60] for agent, row in CASES])
def test_a_tool_is_read_and_then_understood(agent: str, row: Row) -> None:
    check(agent, row)


def test_each_block_of_a_diff_is_an_edit() -> None:
    diff = (
        "------- SEARCH\n---\na: 1\n=======\n---\na: 2\n+++++++ REPLACE\n\n<<<<<<< SEARCH\nb\n=======\n>>>>>>> REPLACE"
    )
    edits = (FileEdit("a", "---\na: 1\n", "---\na: 2\n", False), FileEdit("a", "b\n", "", False))
    meaning = vocabulary_for("cline").read("replace_in_file", {"path": "a", "diff": diff})
    assert meaning.actions == edits
    assert "diff" not in meaning.arguments
    broken = {"path": "a", "diff": diff.replace("=======", "==")}
    assert vocabulary_for("cline").read("replace_in_file", broken) == Meaning("generic", broken)


def test_what_a_call_does_several_times_is_told_one_by_one() -> None:
    read = vocabulary_for("cline").read
    tagged = "<file><path>a</path></file>\n<file><path> b </path></file>"
    assert read("read_file", {"args": tagged}).actions == (FileRead("a"), FileRead("b"))
    assert read("run_commands", {"commands": ["a", "b"]}).actions == (Execute("a"), Execute("b"))
    assert read("run_commands", {"commands": ["cat a"]}).actions == (FileRead("a"),)
    assert read("use_subagents", {"prompt_1": "p", "prompt_2": "q"}).actions == (Agent(prompt="p"), Agent(prompt="q"))


def test_an_agent_of_the_users_own_is_a_tool_of_its_own() -> None:
    told = Meaning("agent", {"prompt": "p", "agent_type": "code_reviewer"})
    read = vocabulary_for("cline").read
    assert read("subagent_code_reviewer", {"prompt": "p"}) == told
    assert read("use_subagent_code_reviewer", {"prompt_1": "p"}) == told
    assert read("subagent_farm__count", {}).kind == "mcp"
    assert read("subagent_code_reviewer", {"prompt": 7, "x": 1}) == Meaning("generic", {"prompt": 7, "x": 1})


@pytest.mark.parametrize(
    ("agent", "name", "place"),
    [
        ("cline", "k3x0mcp0get_issue", ("k3x", "get_issue")),
        ("cline", "github__get_issue", ("github", "get_issue")),
        ("roo", "mcp--github--get_issue", ("github", "get_issue")),
        ("roo", "mcp_github_get_issue", ("github", "get_issue")),
        ("roo", "mcp--github", None),
        ("cursor", "mcp_github_get_issue", ("github", "get_issue")),
        ("zed", "get_issue", None),
    ],
)
def test_tools_on_servers_are_known_by_their_names(agent: str, name: str, place: tuple[str, str] | None) -> None:
    meaning = vocabulary_for(agent).read(name, {"id": 1})
    assert meaning.kind == ("mcp" if place else "generic")
    assert meaning.arguments == ({"server": place[0], "tool": place[1], "arguments": {"id": 1}} if place else {"id": 1})
