"""Gemini CLI's tools and Qwen Code's: what each takes, and what it means."""

from typing import Any

import pytest

from unspool.actions import claude_code, files, qwen_code, shapes, vocabulary_for
from unspool.actions import gemini_cli as tools
from unspool.actions.vocabulary import Call
from unspool.model import Action, Meaning
from unspool.model.action import (
    Agent,
    Ask,
    Execute,
    FileEdit,
    FileRead,
    FileWrite,
    Generic,
    Mcp,
    Plan,
    PlanItem,
    Search,
    Web,
)

GEMINI = vocabulary_for("gemini_cli")
QWEN = vocabulary_for("qwen_code")
EDIT = {"file_path": "/a", "old_string": "x", "new_string": "y"}
TODO = {"description": "Test", "status": "in_progress"}
ASKED = {"question": "Which?", "header": "DB", "type": "choice", "options": [{"label": "A", "description": "a"}]}

Row = tuple[str, dict[str, Any], Call, Action]
SHARED: list[Row] = [
    ("read_file", {"file_path": "/a"}, tools.ReadFile("/a"), FileRead("/a")),
    ("read_file", {"absolute_path": "/a", "offset": 4, "limit": 2}, tools.ReadFile("/a", 4, 2), FileRead("/a", 4, 2)),
    (
        "read_file",
        {"path": "/a", "start_line": 4, "end_line": 6},
        tools.ReadFile("/a", None, None, 4, 6),
        FileRead("/a", 4, 3),
    ),
    ("read_many_files", {"include": ["a.py", "b.py"]}, files.ReadMany((), ("a.py", "b.py")), FileRead("a.py")),
    ("write_file", {"file_path": "/a", "content": "x"}, files.WriteFile("/a", "x"), FileWrite("/a", "x")),
    (
        "replace",
        EDIT | {"instruction": "i"},
        tools.Replace("/a", "x", "y", instruction="i"),
        FileEdit("/a", "x", "y", False),
    ),
    ("replace", EDIT | {"allow_multiple": True}, tools.Replace("/a", "x", "y", True), FileEdit("/a", "x", "y", True)),
    (
        "replace",
        EDIT | {"expected_replacements": 2},
        tools.Replace("/a", "x", "y", None, 2),
        FileEdit("/a", "x", "y", True),
    ),
    (
        "replace",
        EDIT | {"expected_replacements": 1},
        tools.Replace("/a", "x", "y", None, 1),
        FileEdit("/a", "x", "y", False),
    ),
    ("edit", EDIT | {"replace_all": True}, tools.Replace("/a", "x", "y", True), FileEdit("/a", "x", "y", True)),
    (
        "run_shell_command",
        {"command": "make", "description": "Build", "dir_path": "/p", "is_background": False},
        tools.RunShellCommand("make", "Build", None, "/p", False),
        Execute("make", "Build", None, "/p"),
    ),
    (
        "run_shell_command",
        {"command": "make", "directory": "p"},
        tools.RunShellCommand("make", workdir="p"),
        Execute("make", workdir="p"),
    ),
    ("run_command", {"command": "make"}, tools.RunShellCommand("make"), Execute("make")),
    ("list_background_processes", {}, shapes.ListShells(), Execute("# list")),
    ("read_background_output", {"pid": 7}, shapes.OnShell(7), Execute("# read 7")),
    (
        "glob",
        {"pattern": "*", "dir_path": "/p", "case_sensitive": True},
        tools.Glob("*", "/p", True),
        Search("*", None, "/p"),
    ),
    ("glob", {"pattern": "*", "path": "/p"}, tools.Glob("*", "/p"), Search("*", None, "/p")),
    (
        "grep_search",
        {"pattern": "x", "dir_path": "/p", "context": 2},
        tools.Grep("x", "/p", context=2),
        Search("x", None, "/p"),
    ),
    (
        "search_file_content",
        {"pattern": "x", "path": "/p", "include": "*.py"},
        tools.Grep("x", "/p", "*.py"),
        Search("x", None, "/p"),
    ),
    ("list_directory", {"dir_path": "/p", "ignore": ["a"]}, tools.ListDirectory("/p", ("a",)), Search(path="/p")),
    ("list_directory", {"path": "/p"}, tools.ListDirectory("/p"), Search(path="/p")),
    ("google_web_search", {"query": "q"}, shapes.SearchWeb("q"), Web(query="q")),
    (
        "web_fetch",
        {"prompt": "Sum up https://a.dev/b."},
        tools.WebFetch(None, "Sum up https://a.dev/b."),
        Web("https://a.dev/b"),
    ),
    ("web_fetch", {"url": "https://a.dev", "prompt": "p"}, tools.WebFetch("https://a.dev", "p"), Web("https://a.dev")),
    ("write_todos", {"todos": [TODO]}, shapes.Todos((TODO,)), Plan((PlanItem("Test", "in_progress"),))),
    ("tracker_create_task", {"title": "t", "type": "bug"}, tools.Tracker("t"), Plan((PlanItem("t"),))),
    (
        "tracker_update_task",
        {"id": "1", "status": "closed"},
        tools.Tracker(None, "1", "closed"),
        Plan((PlanItem("1", "closed"),)),
    ),
    ("tracker_get_task", {"id": "1"}, tools.Tracker(None, "1"), Plan((PlanItem("1"),))),
    ("tracker_list_tasks", {}, tools.Tracker(), Plan()),
    ("tracker_add_dependency", {"taskId": "1"}, tools.Tracker(), Plan()),
    ("tracker_visualize", {}, tools.Tracker(), Plan()),
    ("enter_plan_mode", {"reason": "big"}, shapes.PlanText("big"), Plan(text="big")),
    ("update_topic", {"title": "t", "summary": "s"}, shapes.PlanText("s"), Plan(text="s")),
    ("ask_user", {"questions": [ASKED]}, shapes.Questions((ASKED,)), Ask("Which?", ("A",))),
    (
        "codebase_investigator",
        {"objective": "o"},
        tools.CodebaseInvestigator(None, "o"),
        Agent(None, "o", "codebase_investigator"),
    ),
    (
        "delegate_to_agent",
        {"agent_name": "n", "objective": "o"},
        tools.AskAgent(None, "o", "n"),
        Agent(None, "o", "n"),
    ),
    ("invoke_agent", {"agent_name": "n", "prompt": "p"}, shapes.Delegate(None, "p", "n"), Agent(None, "p", "n")),
    ("invoke_subagent", {"agent_name": "n", "prompt": "p"}, shapes.Delegate(None, "p", "n"), Agent(None, "p", "n")),
    ("cli_help", {"question": "q"}, tools.AskAgent(prompt="q"), Agent(prompt="q")),
    ("generalist", {"request": "r"}, tools.AskAgent(prompt="r"), Agent(prompt="r")),
    ("browser_agent", {"task": "t"}, shapes.Delegate(None, "t"), Agent(None, "t")),
    ("browser_navigate", {"url": "https://a"}, shapes.Browse("https://a"), Web("https://a")),
    ("activate_skill", {"name": "pdf"}, shapes.UseSkill("pdf"), Agent(agent_type="pdf")),
    ("get_internal_docs", {"path": "a.md"}, tools.InternalDocs("a.md"), FileRead("a.md")),
    ("get_internal_docs", {}, tools.InternalDocs(), Search()),
    ("list_mcp_resources", {"serverName": "s"}, shapes.ListResources("s"), Mcp("s", "resources/list")),
    ("read_mcp_resource", {"uri": "u"}, shapes.ReadResource("", "u"), Mcp("", "resources/read", {"uri": "u"})),
    ("save_memory", {"fact": "f"}, shapes.Apart(), Generic()),
    ("complete_task", {"result": "r"}, shapes.Apart(), Generic()),
    ("exit_plan_mode", {"plan": "p"}, shapes.PlanText("p"), Plan(text="p")),
]
TODO_WRITE = {"id": "1", "content": "Test", "status": "pending"}
OWN: list[Row] = [
    ("todo_write", {"todos": [TODO_WRITE]}, shapes.Todos((TODO_WRITE,)), Plan((PlanItem("Test", "pending"),))),
    ("task_create", {"subject": "s"}, claude_code.TaskCreate("s"), Plan((PlanItem("s", "pending"),))),
    ("task_update", {"taskId": "1", "subject": "s"}, claude_code.TaskUpdate("1", "s"), Plan((PlanItem("s"),))),
    ("task_get", {"taskId": "1"}, claude_code.TaskRead("1"), Plan()),
    ("task_list", {}, claude_code.TaskRead(), Plan()),
    ("task_stop", {"task_id": "1"}, claude_code.TaskStop("1"), Agent()),
    ("task_output", {"task_id": "1"}, claude_code.TaskOutput("1"), Agent()),
    *(
        (
            name,
            {"description": "d", "prompt": "p", "subagent_type": "t"},
            shapes.Delegate("d", "p", "t"),
            Agent("d", "p", "t"),
        )
        for name in ("agent", "task", "create_sub_session")
    ),
    ("send_message", {"task_id": "1", "message": "m"}, claude_code.SendMessage("m"), Agent(prompt="m")),
    ("skill", {"skill": "pdf"}, shapes.UseSkill("pdf"), Agent(agent_type="pdf")),
    ("web_search", {"query": "q"}, shapes.SearchWeb("q"), Web(query="q")),
    ("tool_search", {"query": "q"}, shapes.FindByQuery("q"), Search(query="q")),
    (
        "lsp",
        {"operation": "hover", "filePath": "/a"},
        shapes.AskServer("hover", "/a"),
        Search(query="hover", path="/a"),
    ),
    (
        "monitor",
        {"command": "make", "directory": "p"},
        shapes.RunCommand("make", workdir="p"),
        Execute("make", workdir="p"),
    ),
    ("ask_user_question", {"questions": [ASKED]}, shapes.Questions((ASKED,)), Ask("Which?", ("A",))),
    *(
        (name, {"prompt": "p"}, claude_code.Later("p"), Agent(prompt="p"))
        for name in ("cron_create", "cron_list", "cron_delete", "loop_wakeup")
    ),
    *(
        (name, {"message": "p"}, shapes.Delegate(prompt="p"), Agent(prompt="p"))
        for name in ("create_thread", "send_message_to_thread", "team_create", "request_shutdown")
    ),
    *(
        (name, {}, shapes.Delegate(), Agent())
        for name in (
            "list_agents",
            "list_threads",
            "read_thread",
            "wait_threads",
            "team_delete",
            "team_plan_approval",
        )
    ),
    (
        "thread_create",
        {"title": "t", "body": "p", "assignee": "owl"},
        qwen_code.OfThread("t", "p", "owl"),
        Agent("t", "p", "owl"),
    ),
    ("thread_post", {"text": "p"}, qwen_code.OfThread(prompt="p"), Agent(prompt="p")),
    ("thread_review", {"summary": "p"}, qwen_code.OfThread(prompt="p"), Agent(prompt="p")),
    *((name, {}, qwen_code.OfThread(), Agent()) for name in ("thread_read", "thread_wait")),
    ("thread_block", {"question": "q"}, shapes.Question("q"), Ask("q")),
    ("workflow", {"script": "agent()"}, claude_code.Workflow("agent()"), Agent(prompt="agent()")),
    (
        "notebook_edit",
        {"notebook_path": "/a.ipynb", "cell_id": "1", "new_source": "x"},
        files.EditNotebook("/a.ipynb", "x"),
        FileEdit("/a.ipynb", "", "x", replace_all=False),
    ),
    ("zoom_image", {"file_path": "/a.png", "x1": 0}, files.ReadFile("/a.png"), FileRead("/a.png")),
    ("search_memory", {"query": "q"}, shapes.FindByQuery("q"), Search(query="q")),
    ("exec", {"source": "tools.glob()"}, qwen_code.RunSource("tools.glob()"), Execute("tools.glob()")),
    *(
        (
            name,
            {"name": "web_search", "arguments": {"query": "q"}},
            qwen_code.CallTool("web_search", {"query": "q"}),
            Web(query="q"),
        )
        for name in ("tool_call", "deferred_tool_call")
    ),
    *(
        (name, {"x": 1}, shapes.Apart(), Generic())
        for name in (
            "structured_output",
            "enter_worktree",
            "exit_worktree",
            "display_image",
            "image_gen",
            "advisor",
            "manage_memory",
            "artifact",
            "record_artifact",
            "record_source",
            "report_findings",
            "get_goal",
            "update_goal",
            "propose_goal",
            "computer_use_setup",
            *(f"omni_{how}" for how in qwen_code._OMNI),
        )
    ),
]


def test_the_tables_have_every_tool() -> None:
    assert {name for name, *_ in SHARED} == set(GEMINI.tools)
    assert {name for name, *_ in SHARED + OWN} == set(QWEN.tools)


@pytest.mark.parametrize(("name", "arguments", "call", "action"), SHARED + OWN)
def test_a_tool_is_read_and_then_understood(name: str, arguments: Any, call: Call, action: Action) -> None:
    assert QWEN.tools[name].of(arguments) == call
    assert call.action() == action
    for vocabulary in (GEMINI, QWEN):
        if name in vocabulary.tools:
            assert vocabulary.read(name, arguments).kind == action.__struct_config__.tag


def test_a_tool_that_is_called_by_its_name_means_what_it_means() -> None:
    on_server = QWEN.read("tool_call", {"name": "mcp__shop__pay", "arguments": {"sum": 3}})
    assert (on_server.kind, on_server.arguments) == ("mcp", {"server": "shop", "tool": "pay", "arguments": {"sum": 3}})
    several = QWEN.read("tool_call", {"name": "read_many_files", "arguments": {"include": ["/a", "/b"]}})
    assert several.actions == (FileRead("/a"), FileRead("/b"))
    for odd in ({"name": "nobody", "arguments": {}}, {"name": "tool_call", "arguments": {}}, {"name": "read_file"}):
        assert QWEN.read("tool_call", odd) == Meaning("generic", odd)


def test_an_edit_keeps_its_instruction() -> None:
    assert GEMINI.read("replace", EDIT | {"instruction": "Rename it", "allow_multiple": True}).arguments == {
        **EDIT,
        "replace_all": True,
        "instruction": "Rename it",
    }


@pytest.mark.parametrize(
    ("name", "arguments", "action"),
    [
        ("read_file", {"absolute_path": "/a"}, FileRead("/a")),
        ("image_read", {"absolute_path": "/a.png"}, FileRead("/a.png")),
        (
            "multi_edit",
            {"file_path": "/a", "edits": [{"old_string": "x", "new_string": "y"}]},
            FileEdit("/a", "x", "y", False),
        ),
        ("todo_write", {"todos": [{"task": "Test", "status": "pending"}]}, Plan((PlanItem("Test", "pending"),))),
        ("task", {"description": "d", "prompt": "p", "subagent_type": "plan"}, Agent("d", "p", "plan")),
        ("web_search", {"query": "q"}, Web(query="q")),
        ("ask_user_question", {"questions": [ASKED]}, Ask("Which?", ("A",))),
    ],
)
def test_iflow_has_tools_of_its_own(name: str, arguments: Any, action: Action) -> None:
    assert vocabulary_for("iflow").tools[name].of(arguments).action() == action


def test_many_files_are_told_one_by_one() -> None:
    meaning = GEMINI.read("read_many_files", {"include": ["a.py", "src/**"], "recursive": True})
    assert meaning.arguments == {"file_path": "a.py", "recursive": True}
    assert meaning.actions == (FileRead("a.py"), FileRead("src/**"))
    older = GEMINI.read("read_many_files", {"paths": ["a.py"], "include": ["b.py", "c.py"]})
    assert older.actions == (FileRead("a.py"), FileRead("b.py"), FileRead("c.py"))


def test_a_prompt_may_name_several_pages() -> None:
    meaning = GEMINI.read("web_fetch", {"prompt": "Compare https://a.dev/x (old) with <https://b.dev/y?z=1>!"})
    assert meaning.actions == (Web("https://a.dev/x"), Web("https://b.dev/y?z=1"))


def test_a_key_whose_field_is_taken_stays_beside() -> None:
    assert GEMINI.read("read_file", {"file_path": "/a", "path": "/b"}).arguments == {"file_path": "/a", "path": "/b"}
    assert GEMINI.read("read_file", {"path": "/b", "absolute_path": "/a"}).arguments == {
        "file_path": "/b",
        "absolute_path": "/a",
    }


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("mcp_github_get_issue", ("github", "get_issue")),
        ("mcp__github__get_issue", ("github", "get_issue")),
        ("github__get_issue", ("github", "get_issue")),
        ("mcp_github", None),
        ("mcp__github", None),
        ("get_issue", None),
    ],
)
def test_tools_on_servers_are_known_by_their_names(name: str, place: tuple[str, str] | None) -> None:
    meaning = GEMINI.read(name, {"id": 1})
    assert meaning.kind == ("mcp" if place else "generic")
    assert meaning.arguments == ({"server": place[0], "tool": place[1], "arguments": {"id": 1}} if place else {"id": 1})


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read_file", {"offset": 1}),
        ("read_many_files", {"include": []}),
        ("write_file", {"file_path": "/a"}),
        ("replace", {"file_path": "/a", "old_string": "x"}),
        ("replace", EDIT | {"expected_replacements": "several"}),
        ("web_fetch", {"prompt": "no address"}),
        ("write_todos", {"todos": 3}),
        ("ask_user", {"questions": [{"options": []}]}),
        ("glob", "*.py"),
    ],
)
def test_what_does_not_fit_is_generic_and_untouched(name: str, arguments: Any) -> None:
    meaning = GEMINI.read(name, arguments)
    assert (meaning.kind, meaning.actions) == ("generic", ())
    assert meaning.arguments is arguments
