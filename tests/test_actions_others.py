"""What the tools of every other agent mean, and what holds for the tools of all."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meanings import (
    ADDED,
    ASKED,
    BOXED,
    BOXES,
    EDITED,
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
    RAN,
    READ,
    RESOURCE,
    RUN,
    SEARCHED,
    TASK,
    TODOS,
    URL,
    WHICH,
    Row,
    check,
    named,
)
from unspool.actions import _MODULES, vocabulary_for
from unspool.model import Action, Meaning
from unspool.model.action import (
    Agent,
    Ask,
    Execute,
    FileDelete,
    FileEdit,
    FileRead,
    FileWrite,
    Generic,
    Plan,
    PlanItem,
    Search,
    Web,
)

ROWS: dict[str, list[Row]] = {
    "opencode": [
        ("read", {"filePath": "a", "offset": 2, "limit": 3}, FileRead("a", 2, 3)),
        ("write", {"filePath": "a", "content": "x"}, FileWrite("a", "x")),
        (
            "edit",
            {"filePath": "a", "oldString": "x", "newString": "y", "replaceAll": True},
            FileEdit("a", "x", "y", True),
        ),
        ("multiedit", {"filePath": "a", "edits": [{"oldString": "x", "newString": "y"}]}, EDITED),
        ("apply_patch patch", {"patchText": PATCH}, ADDED),
        ("monitor", RUN, RAN),
        ("bash shell", {"command": "make", "workdir": "p", "timeout": 9}, Execute("make", None, 9, "p")),
        ("glob grep", PATTERN, FOUND),
        ("list ls", PATH, READ),
        ("lsp", {"operation": "hover", "filePath": "a"}, Search(query="hover", path="a")),
        ("lsp", {"action": "hover", "path": "a"}, Search(query="hover", path="a")),
        ("lsp_diagnostics lsp_hover", {"path": "p"}, READ),
        ("codesearch", QUERY, ASKED),
        ("webfetch", URL, PAGE),
        ("websearch", QUERY, SEARCHED),
        ("todowrite", TODOS, LISTED),
        ("todoread plan_enter plan_exit", {}, Plan()),
        ("task", TASK, GIVEN),
        ("subagent", {"agent": "explore", "description": "d", "prompt": "p"}, Agent("d", "p", "explore")),
        ("execute", {"code": "await boil()"}, Execute("await boil()")),
        ("skill", {"name": "n"}, Agent(agent_type="n")),
        ("skill", {"id": "n"}, Agent(agent_type="n")),
        ("question", QUESTIONS, WHICH),
        ("batch", {"tool_calls": [{"tool": "read", "parameters": {"filePath": "a"}}]}, Generic()),
        ("invalid models StructuredOutput", {"tool": "x", "error": "e"}, Generic()),
    ],
    "copilot_cli": [
        ("view show_file", {"path": "a", "view_range": [2, 4]}, FileRead("a", 2, 3)),
        ("view", {"path": "a", "view_range": [2, -1]}, FileRead("a", 2)),
        ("create", {"path": "a", "file_text": "x"}, FileWrite("a", "x")),
        ("edit", {"path": "a", "old_str": "x", "new_str": "y"}, EDITED),
        ("apply_patch", PATCH, ADDED),
        ("apply_patch", {"raw": PATCH}, ADDED),
        ("str_replace_editor", {"command": "create", "path": "a", "file_text": "x"}, FileWrite("a", "x")),
        ("bash shell local_shell powershell", {"command": "make", "description": "d"}, Execute("make", "d")),
        ("sql session_store_sql", {"query": "select 1", "description": "d"}, Execute("select 1", "d")),
        ("grep rg", {"pattern": "x", "paths": ["p"], "-n": True}, FOUND),
        ("glob", {"pattern": "x", "paths": "p"}, FOUND),
        ("tool_search_tool_regex", {"pattern": "x"}, Search("x")),
        ("lsp", {"operation": "hover", "file": "a"}, Search(query="hover")),
        ("get_errors", PATH, READ),
        ("code_search semantic_code_search tool_search_tool", QUERY, ASKED),
        ("web_fetch fetch", URL, PAGE),
        ("web_search", QUERY, SEARCHED),
        ("update_todo", {"todos": BOXES}, BOXED),
        ("report_intent", {"intent": "Look"}, Plan(text="Look")),
        ("exit_plan_mode", {"summary": "s", "actions": []}, Plan(text="s")),
        ("ask_user", {"question": "Which?", "choices": ["A", "B"]}, WHICH),
        ("ask_user", {"message": "Which?", "requestedSchema": {"properties": {}}}, Ask("Which?")),
        ("skill", {"skill": "n"}, Agent(agent_type="n")),
        ("read_bash read_powershell", {"shellId": "s", "delay": 5}, Execute("# read s")),
        ("write_bash write_powershell", {"shellId": "s", "input": "y"}, Execute("# write s")),
        ("stop_bash stop_powershell", {"shellId": "s"}, Execute("# kill s")),
        ("list_bash list_powershell", {}, Execute("# list")),
        ("task", {"agent_type": "t", "description": "d", "prompt": "p"}, GIVEN),
        ("read_agent stop_agent list_agents", {"agent_id": "1"}, Agent()),
        ("write_agent send_inbox", {"agent_id": "1", "message": "p"}, Agent(prompt="p")),
        (
            "fetch_copilot_cli_documentation store_memory vote_memory task_complete parallel_validation code_review "
            "codeql_checker extensions_manage extensions_reload context_board",
            {},
            Generic(),
        ),
    ],
    "goose": [
        ("developer__shell shell", {"command": "make", "timeout_secs": 9}, RAN),
        ("developer__text_editor text_editor", {"command": "view", "path": "a"}, FileRead("a")),
        (
            "developer__text_editor",
            {"command": "str_replace", "path": "a", "diff": "@@ -1 +1 @@\n-x\n+y\n"},
            FileEdit("a", "", "@@ -1 +1 @@\n-x\n+y\n", False),
        ),
        ("developer__read read developer__read_image read_image", {"source": "a"}, FileRead("a")),
        ("developer__image_processor image_processor computercontroller__pdf_tool", {"path": "a"}, FileRead("a")),
        ("developer__write write", {"path": "a", "content": "x"}, FileWrite("a", "x")),
        ("developer__edit edit", {"path": "a", "before": "x", "after": "y"}, EDITED),
        ("developer__tree tree developer__analyze analyze analyze__analyze", PATH, READ),
        ("computercontroller__web_scrape developer__web_fetch web_fetch", URL, PAGE),
        ("computercontroller__web_search", QUERY, SEARCHED),
        ("computercontroller__automation_script computercontroller__computer_control", {"script": "s"}, Execute("s")),
        ("code_execution__execute code_execution__execute_code execute execute_code", {"code": "s"}, Execute("s")),
        ("code_execution__execute_typescript execute_typescript", {"code": "s"}, Execute("s")),
        ("code_execution__execute_bash execute_bash", {"command": "make"}, Execute("make")),
        ("todo__todo_write todo__write todo_write", {"content": BOXES}, BOXED),
        ("todo__todo_write", {"content": "First this."}, Plan(text="First this.")),
        ("todo__todo_read todo__read todo_read", {}, Plan()),
        ("skills__loadSkill skills__load_skill loadSkill load_skill", {"name": "n"}, Agent(agent_type="n")),
        ("summon__delegate delegate subagent", {"instructions": "p", "source": "t"}, Agent(None, "p", "t")),
        ("summon__load load", {"source": "t"}, Agent(agent_type="t")),
        ("subagent__execute_task", {"task_ids": ["1"]}, Agent()),
        ("dynamic_task__create_task", {"task_parameters": [{"instructions": "p"}]}, Agent(prompt="p")),
        ("chatrecall__chatrecall", QUERY, ASKED),
        (
            "developer__screen_capture developer__list_windows screen_capture list_windows "
            "computercontroller__docx_tool computercontroller__xlsx_tool computercontroller__cache "
            "extensionmanager__search_available_extensions "
            "extensionmanager__manage_extensions extensionmanager__list_resources extensionmanager__read_resource "
            "memory__remember_memory memory__retrieve_memories memory__remove_memory_category "
            "memory__remove_specific_memory platform__manage_schedule platform__search_available_extensions "
            "platform__manage_extensions platform__list_resources platform__read_resource recipe__final_output "
            "code_execution__list_functions list_functions code_execution__get_function_details get_function_details "
            "scheduler__manage_schedule final_output",
            {},
            Generic(),
        ),
    ],
    "amp": [
        ("Read read_file", {"path": "a", "read_range": [2, 4]}, FileRead("a", 2, 3)),
        ("look_at view_media", {"path": "a", "objective": "o"}, FileRead("a")),
        ("create_file", {"path": "a", "content": "x"}, FileWrite("a", "x")),
        ("edit_file", {"path": "a", "old_str": "x", "new_str": "y"}, EDITED),
        ("undo_edit format_file", {"path": "a"}, FileEdit("a", "", "", False)),
        ("delete_file", {"path": "a"}, FileDelete("a")),
        ("apply_patch", {"patchText": PATCH}, ADDED),
        ("Bash shell_command", {"cmd": "make", "cwd": "p"}, Execute("make", workdir="p")),
        ("Grep", PATTERN, FOUND),
        ("glob Glob", {"filePattern": "x"}, Search("x")),
        ("list_directory get_diagnostics", PATH, READ),
        ("finder codebase_search_agent find_thread", QUERY, ASKED),
        ("read_thread", {"threadID": "T-1", "goal": "q"}, ASKED),
        ("web_search", {"objective": "q", "search_queries": ["a", "b"]}, SEARCHED),
        ("read_web_page", URL, PAGE),
        ("todo_write", TODOS, LISTED),
        ("todo_read", {}, Plan()),
        ("task_list", {"action": "create", "title": "c", "status": "open"}, Plan((PlanItem("c", "open"),))),
        ("Task", {"prompt": "p", "description": "d"}, Agent("d", "p")),
        ("oracle", {"task": "p", "files": ["a"]}, Agent(None, "p", "oracle")),
        ("librarian", {"query": "p"}, Agent(None, "p", "librarian")),
        ("handoff", {"goal": "p"}, Agent(None, "p")),
        ("skill", {"name": "n"}, Agent(agent_type="n")),
        ("read_mcp_resource", RESOURCE, HELD),
        ("code_review code_tour mermaid painter walkthrough walkthrough_diagram", {"code": "x"}, Generic()),
    ],
    "droid": [
        ("Read", {"file_path": "a", "offset": 2, "limit": 3}, FileRead("a", 2, 3)),
        ("Create Write", {"file_path": "a", "content": "x"}, FileWrite("a", "x")),
        ("Edit", {"file_path": "a", "old_str": "x", "new_str": "y", "change_all": True}, FileEdit("a", "x", "y", True)),
        ("MultiEdit", {"file_path": "a", "changes": [{"old_str": "x", "new_str": "y"}]}, EDITED),
        ("ApplyPatch", {"input": PATCH}, ADDED),
        ("Execute Shell Bash", {"command": "make", "timeout": 9, "riskLevel": "low"}, RAN),
        ("TaskOutput", {"task_id": "1"}, Execute("# read 1")),
        ("TaskStop KillProcess", {"task_id": "1"}, Execute("# kill 1")),
        ("PipeProcessInput", {"process_id": 1, "input": "y"}, Execute("# write 1")),
        ("LS", {"directory_path": "p"}, READ),
        ("Glob", {"folder": "p", "patterns": ["x"]}, FOUND),
        ("Grep", {"pattern": "x", "path": "p", "glob_pattern": "*.py"}, FOUND),
        ("WebSearch", QUERY, SEARCHED),
        ("FetchUrl", URL, PAGE),
        ("TodoWrite", TODOS, LISTED),
        ("TodoWrite", {"todos": BOXES}, BOXED),
        ("ExitSpecMode ProposeMission", {"plan": "p"}, Plan(text="p")),
        ("AskUser", {"questionnaire": "1. [question] Which?\n[topic] DB\n[option] A\n[option] B\n"}, WHICH),
        ("AskUser", {"questionnaire": "Which?"}, Ask("Which?")),
        ("Task", TASK, GIVEN),
        ("Skill", {"skill": "n"}, Agent(agent_type="n")),
        ("GenerateDroid StoreAgentReadinessReport slack_post_message EndFeatureRun", {}, Generic()),
        ("ConnectorSearch Loop ToolSearch slack_post_file", {}, Generic()),
        ("CronCreate", {"expression": "0 9 * * 1", "job": {"type": "prompt", "prompt": "p"}}, Agent(prompt="p")),
        ("CreateAutomation EditAutomation", {"name": "n", "description": "d", "prompt": "p"}, Agent("d", "p")),
        (
            "CronDelete CronList DeleteAutomation DismissHandoffItems GenerateImage ListAutomations "
            "ListAutomationTemplates ReadAutomation StageSettingsChanges StartMissionRun UpgradeSessionModel",
            {},
            Generic(),
        ),
    ],
    "crush": [
        ("view", {"file_path": "a", "offset": 2, "limit": 3}, FileRead("a", 2, 3)),
        ("write", {"file_path": "a", "content": "x"}, FileWrite("a", "x")),
        ("edit", {"file_path": "a", "old_string": "x", "new_string": "y"}, EDITED),
        ("multiedit", {"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}]}, EDITED),
        ("bash", {"command": "make", "timeout": 9, "working_dir": "p"}, Execute("make", None, 9, "p")),
        ("job_output", {"shell_id": "1"}, Execute("# read 1")),
        ("job_kill", {"shell_id": "1"}, Execute("# kill 1")),
        ("ls", PATH, READ),
        ("glob grep rg", PATTERN, FOUND),
        ("diagnostics lsp_diagnostics", {"file_path": "p"}, READ),
        ("references lsp_references", {"symbol": "x", "path": "p"}, FOUND),
        ("sourcegraph", QUERY, ASKED),
        ("fetch web_fetch", URL | {"format": "text"}, PAGE),
        ("download", URL | {"file_path": "a"}, PAGE),
        ("agentic_fetch", URL | {"prompt": "p"}, PAGE),
        ("agentic_fetch", {"prompt": "q"}, SEARCHED),
        ("web_search", QUERY, SEARCHED),
        ("todos", TODOS, LISTED),
        ("agent", {"prompt": "p"}, Agent(prompt="p")),
        ("question", QUESTIONS, WHICH),
        ("list_mcp_resources", {"mcp_name": "s"}, LIST),
        ("read_mcp_resource", {"mcp_name": "s", "uri": "u"}, HELD),
        ("lsp_restart crush_info crush_logs", {}, Generic()),
    ],
}

CASES = [(agent, row) for agent, rows in ROWS.items() for row in rows]


@pytest.mark.parametrize("agent", ROWS)
def test_the_tables_have_every_tool(agent: str) -> None:
    assert named(ROWS[agent]) == set(vocabulary_for(agent).tools)


@pytest.mark.parametrize(("agent", "row"), CASES, ids=[f"{agent} {row[0]}"[:60] for agent, row in CASES])
def test_a_tool_is_read_and_then_understood(agent: str, row: Row) -> None:
    check(agent, row)


def actions(agent: str, name: str, arguments: Any) -> tuple[Action, ...]:
    return vocabulary_for(agent).read(name, arguments).actions


def test_what_a_call_does_beside_is_told_too() -> None:
    assert actions("opencode", "bash", {"command": "cat a b"}) == (FileRead("a"), FileRead("b"))
    assert actions("opencode", "apply_patch", {"patchText": PATCH}) == (FileWrite("a", "x\n"),)
    assert actions("copilot_cli", "rg", {"pattern": "x", "paths": ["p", "q"]}) == (
        Search("x", None, "p"),
        Search("x", None, "q"),
    )
    assert actions("copilot_cli", "powershell", {"command": "cat a b"}) == ()
    assert actions("droid", "Glob", {"patterns": ["x", "y"]}) == (Search("x"), Search("y"))
    assert actions("amp", "web_search", {"objective": "o", "search_queries": ["a", "b"]}) == (
        Web(query="a"),
        Web(query="b"),
    )
    batch = {"tool_calls": [{"tool": "read", "parameters": {"filePath": "a"}}, {"tool": "x"}, {"tool": "bash"}]}
    assert vocabulary_for("opencode").read("batch", batch) == Meaning("generic", batch)
    batch["tool_calls"].pop()
    assert vocabulary_for("opencode").read("batch", batch) == Meaning("generic", batch, (FileRead("a"),))
    edit = {"command": "str_replace", "path": "a", "diff": "@@ -1 +1 @@\n-x\n+y\n"}
    (hunk,) = actions("goose", "developer__text_editor", edit)
    assert isinstance(hunk, FileEdit)
    assert (hunk.added, hunk.removed) == (1, 1)


@pytest.mark.parametrize(
    ("agent", "name", "place"),
    [
        ("goose", "github__get_issue", ("github", "get_issue")),
        ("goose", "get_weather", None),
        ("droid", "linear___list_issues", ("linear", "list_issues")),
        ("crush", "mcp_github_get_issue", ("github", "get_issue")),
        ("copilot_cli", "github-mcp-server-get_issue", ("github-mcp-server", "get_issue")),
        ("copilot_cli", "github-mcp-server-", None),
        ("opencode", "context7_resolve", None),
        ("nobody", "mcp__github__get_issue", ("github", "get_issue")),
        ("nobody", "Read", None),
    ],
)
def test_tools_on_servers_are_known_by_their_names(agent: str, name: str, place: tuple[str, str] | None) -> None:
    meaning = vocabulary_for(agent).read(name, {"id": 1})
    assert meaning.kind == ("mcp" if place else "generic")
    assert meaning.arguments == ({"server": place[0], "tool": place[1], "arguments": {"id": 1}} if place else {"id": 1})


NAMES = sorted({(agent, name) for agent in _MODULES for name in vocabulary_for(agent).tools})
KEYS = sorted(
    {key for _, row in CASES if isinstance(row[1], dict) for key in row[1]} | {"command", "patch", "diff", "raw"}
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=9,
)


@given(st.sampled_from(NAMES), JSON)
def test_no_arguments_make_a_vocabulary_raise(name: tuple[str, str], arguments: Any) -> None:
    meaning = vocabulary_for(name[0]).read(name[1], arguments)
    if meaning.kind == "generic":
        assert meaning.arguments is arguments
    msgspec.json.encode(meaning)


@given(
    st.sampled_from(NAMES), st.dictionaries(st.sampled_from(KEYS), st.text(max_size=9) | st.integers(0, 9), max_size=6)
)
def test_nothing_that_a_call_carried_is_lost(name: tuple[str, str], arguments: dict[str, Any]) -> None:
    """Every value stands under its key, under another, or in an action; unless the action has the key for its own."""
    meaning = vocabulary_for(name[0]).read(name[1], arguments)
    told = msgspec.json.encode((meaning.arguments, meaning.actions)).decode()
    for key, value in arguments.items():
        assert key in meaning.arguments or msgspec.json.encode(value).decode().strip('"') in told


def test_each_agent_has_its_own_words() -> None:
    assert [vocabulary_for(agent).agent for agent in _MODULES] == list(_MODULES)
