"""Claude Code's tools: what each takes, and what it means."""

import json
from typing import Any

import pytest

from unspool.actions import claude_code as tools
from unspool.actions import files, shapes, vocabulary_for
from unspool.actions.vocabulary import Call
from unspool.model import Action
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

VOCABULARY = vocabulary_for("claude_code")
TODO = {"content": "Test", "status": "pending", "activeForm": "Testing"}
WHICH = {"question": "Which?", "header": "DB", "multiSelect": False, "options": [{"label": "A", "description": "a"}]}

Row = tuple[str, dict[str, Any], Call, Action]
ROWS: list[Row] = [
    ("Read", {"file_path": "/a", "offset": 2, "limit": 3}, tools.Read("/a", 2, 3), FileRead("/a", 2, 3)),
    ("Read", {"file_path": "/a.pdf", "pages": "1-2"}, tools.Read("/a.pdf", pages="1-2"), FileRead("/a.pdf")),
    ("Write", {"file_path": "/a", "content": "x"}, files.WriteFile("/a", "x"), FileWrite("/a", "x")),
    (
        "Edit",
        {"file_path": "/a", "old_string": "x", "new_string": "y", "replace_all": True},
        files.EditFile("/a", "x", "y", True),
        FileEdit("/a", "x", "y", True),
    ),
    (
        "MultiEdit",
        {"file_path": "/a", "edits": [{"old_string": "x", "new_string": "y"}]},
        files.Edits("/a", ({"old_string": "x", "new_string": "y"},)),
        FileEdit("/a", "x", "y", False),
    ),
    ("NotebookRead", {"notebook_path": "/n"}, tools.ReadNotebook("/n"), FileRead("/n")),
    (
        "NotebookEdit",
        {"notebook_path": "/n", "cell_id": "c", "new_source": "1", "edit_mode": "insert"},
        tools.NotebookEdit("/n", "1", None, "c", None, None, "insert"),
        FileEdit("/n", "", "1", False),
    ),
    (
        "Bash",
        {"command": "make", "description": "Build", "timeout": 9, "run_in_background": True},
        tools.Bash("make", "Build", 9, None, True),
        Execute("make", "Build", 9),
    ),
    ("bash", {"command": "make"}, tools.Bash("make"), Execute("make")),
    ("PowerShell", {"command": "dir", "timeout": 1}, tools.PowerShell("dir", None, 1), Execute("dir", None, 1)),
    ("REPL", {"code": "1+1", "description": "d"}, shapes.RunScript("1+1", "d"), Execute("1+1", "d")),
    (
        "Monitor",
        {"command": "tail -f log", "description": "d", "timeout_ms": 5, "persistent": False},
        tools.Monitor("tail -f log", "d", 5, False),
        Execute("tail -f log", "d", 5),
    ),
    (
        "Monitor",
        {"description": "d", "timeout_ms": 5, "ws": {"url": "wss://h", "protocols": ["p"]}},
        tools.Monitor(None, "d", 5, None, tools.Socket("wss://h")),
        Web(url="wss://h"),
    ),
    ("View", {"file_path": "/a"}, tools.Read("/a"), FileRead("/a")),
    ("Replace", {"file_path": "/a", "content": "x"}, files.WriteFile("/a", "x"), FileWrite("/a", "x")),
    ("GlobTool", {"pattern": "*.py"}, shapes.Find("*.py"), Search(pattern="*.py")),
    ("GrepTool", {"pattern": "x", "include": "*.py"}, tools.Grep("x"), Search(pattern="x")),
    ("ReadNotebook", {"notebook_path": "/n"}, tools.ReadNotebook("/n"), FileRead("/n")),
    (
        "NotebookEditCell",
        {"notebook_path": "/n", "cell_number": 1, "new_source": "1"},
        tools.NotebookEdit("/n", "1", None, None, 1),
        FileEdit("/n", "", "1", False),
    ),
    ("dispatch_agent", {"prompt": "p"}, tools.Task(prompt="p"), Agent(prompt="p")),
    *((name, {}, shapes.Delegate(), Agent()) for name in ("ListAgents", "ListPeers")),
    *(
        (name, {"query": "q"}, shapes.FindByQuery("q"), Search(query="q"))
        for name in ("MCPSearch", "tool_search_tool_regex", "tool_search_tool_bm25")
    ),
    ("BashOutput", {"bash_id": "b1", "filter": "x"}, tools.BashOutput("b1", "x"), Execute("# read b1")),
    ("BashOutputTool", {"bash_id": "b1"}, tools.BashOutput("b1"), Execute("# read b1")),
    ("KillShell", {"shell_id": "b1"}, shapes.KillShell("b1"), Execute("# kill b1")),
    ("KillBash", {"shell_id": "b1"}, shapes.KillShell("b1"), Execute("# kill b1")),
    ("Glob", {"pattern": "*.py", "path": "/p"}, shapes.Find("*.py", "/p"), Search("*.py", None, "/p")),
    ("Grep", {"pattern": "x", "-A": 2, "-n": True}, tools.Grep("x", after=2, line_numbers=True), Search("x")),
    ("LS", {"path": "/p", "ignore": ["a"]}, tools.LS("/p", ("a",)), Search(path="/p")),
    (
        "LSP",
        {"operation": "hover", "filePath": "/a", "line": 1, "character": 2},
        shapes.AskServer("hover", "/a"),
        Search(query="hover", path="/a"),
    ),
    ("ToolSearch", {"query": "slack", "max_results": 5}, shapes.FindByQuery("slack"), Search(query="slack")),
    ("WebFetch", {"url": "https://a", "prompt": "p"}, tools.WebFetch("https://a", "p"), Web("https://a")),
    ("WebSearch", {"query": "q", "allowed_domains": ["a"]}, tools.WebSearch("q", ("a",)), Web(query="q")),
    ("TodoWrite", {"todos": [TODO]}, shapes.Todos((TODO,)), Plan((PlanItem("Test", "pending"),))),
    ("TodoRead", {}, tools.TaskRead(), Plan()),
    ("TaskCreate", {"subject": "s", "description": "d"}, tools.TaskCreate("s", "d"), Plan((PlanItem("s", "pending"),))),
    (
        "TaskUpdate",
        {"taskId": "3", "status": "completed"},
        tools.TaskUpdate("3", None, "completed"),
        Plan((PlanItem("3", "completed"),)),
    ),
    ("TaskGet", {"taskId": "3"}, tools.TaskRead("3"), Plan()),
    ("TaskList", {}, tools.TaskRead(), Plan()),
    ("EnterPlanMode", {}, shapes.PlanText(), Plan()),
    ("ExitPlanMode", {"plan": "# Do"}, shapes.PlanText("# Do"), Plan(text="# Do")),
    ("exit_plan_mode", {"plan": "# Do"}, shapes.PlanText("# Do"), Plan(text="# Do")),
    ("AskUserQuestion", {"questions": [WHICH]}, shapes.Questions((WHICH,)), Ask("Which?", ("A",))),
    (
        "Task",
        {"description": "d", "prompt": "p", "subagent_type": "Explore", "model": "opus"},
        tools.Task("d", "p", "Explore", "opus"),
        Agent("d", "p", "Explore"),
    ),
    ("Agent", {"description": "d", "prompt": "p"}, tools.Task("d", "p"), Agent("d", "p")),
    ("TaskOutput", {"task_id": "a1", "block": True, "timeout": 5}, tools.TaskOutput("a1", None, True, 5), Agent()),
    ("AgentOutput", {"agentId": "a1"}, tools.TaskOutput(None, "a1"), Agent()),
    ("AgentOutputTool", {"agentId": "a1"}, tools.TaskOutput(None, "a1"), Agent()),
    ("TaskStop", {"task_id": "a1"}, tools.TaskStop("a1"), Agent()),
    ("TaskStop", {"shell_id": "b1"}, tools.TaskStop(None, "b1"), Execute("# kill b1")),
    (
        "SendMessage",
        {"to": "lead", "message": "done", "summary": "s"},
        tools.SendMessage("done", None, "s"),
        Agent("s", "done"),
    ),
    ("SubagentHandback", {"content": "done"}, tools.SendMessage(None, "done"), Agent(prompt="done")),
    ("TeamCreate", {"team_name": "t", "description": "d"}, shapes.Delegate("d"), Agent("d")),
    ("TeamDelete", {}, shapes.Delegate(), Agent()),
    ("Skill", {"skill": "pdf", "args": "a.pdf"}, shapes.UseSkill("pdf", "a.pdf"), Agent(None, "a.pdf", "pdf")),
    (
        "SlashCommand",
        {"command": "/fix all of it"},
        tools.SlashCommand("/fix all of it"),
        Agent(None, "all of it", "fix"),
    ),
    ("Workflow", {"script": "s", "name": "n"}, tools.Workflow("s", "n"), Agent(None, "s", "n")),
    ("CronCreate", {"cron": "0 9 * * *", "prompt": "p"}, tools.Later("p"), Agent(prompt="p")),
    ("CronDelete", {"id": "1"}, tools.Later(), Agent()),
    ("CronList", {}, tools.Later(), Agent()),
    ("ScheduleWakeup", {"delaySeconds": 9, "reason": "r", "prompt": "p"}, tools.Later("p", "r"), Agent("r", "p")),
    ("RemoteTrigger", {"action": "list"}, tools.Later(), Agent()),
    *(
        (name, {"server": "s", "uri": "u"}, shapes.ReadResource("s", "u"), Mcp("s", "resources/read", {"uri": "u"}))
        for name in ("ReadMcpResource", "ReadMcpResourceTool")
    ),
    *(
        (name, {"server": "s"}, shapes.ListResources("s"), Mcp("s", "resources/list"))
        for name in ("ListMcpResources", "ListMcpResourcesTool", "ReadMcpResourceDir", "ReadMcpResourceDirTool")
    ),
    ("web_search", {"query": "q"}, tools.WebSearch("q"), Web(query="q")),
    ("web_fetch", {"url": "https://a"}, tools.WebFetch("https://a"), Web("https://a")),
    ("code_execution", {"code": "1"}, shapes.RunScript("1"), Execute("1")),
    ("bash_code_execution", {"command": "make"}, tools.Bash("make"), Execute("make")),
    *(
        (name, {"command": "view", "path": "/a"}, files.TextEditor("view", "/a"), FileRead("/a"))
        for name in ("str_replace_editor", "str_replace_based_edit_tool", "text_editor_code_execution")
    ),
    ("SearchMcpRegistry", {"keywords": ["a", "b"]}, tools.SearchRegistry(("a", "b")), Search(query="a b")),
    *(
        (name, {"x": 1}, shapes.Apart(), Generic())
        for name in (
            "Artifact Brief ClaudeDesign Config DesignSync EndConversation EnterWorktree ExitWorktree "
            "ListConnectors OfferChromeSetup Projects ProposeGoal ProposeSkills PushNotification ReadNotifications "
            "RefreshMcpTools ReportFindings SendFeedback SendUserFile SendUserMessage ShareOnboardingGuide "
            "ShowOnboardingRolePicker Sleep StructuredOutput SuggestConnectors SuggestPluginInstall SuggestSkills "
            "WaitForMcpServers advisor"
        ).split()
    ),
]


def test_the_table_has_every_tool() -> None:
    assert {name for name, *_ in ROWS} == set(VOCABULARY.tools)


@pytest.mark.parametrize(("name", "arguments", "call", "action"), ROWS, ids=[row[0] for row in ROWS])
def test_a_tool_is_read_and_then_understood(name: str, arguments: Any, call: Call, action: Action) -> None:
    assert VOCABULARY.tools[name].of(arguments) == call
    assert call.action() == action
    meaning = VOCABULARY.read(name, arguments)
    assert meaning.kind == action.__struct_config__.tag
    if meaning.kind == "generic":
        assert meaning.arguments is arguments


def test_what_else_a_call_carries_stands_beside_its_fields() -> None:
    given = {"command": "ls /tmp", "description": "List", "timeout": "9000", "run_in_background": True}
    meaning = VOCABULARY.read("Bash", given)
    assert meaning.arguments == given | {"timeout": 9000}
    assert meaning.actions == (Search(path="/tmp"),)
    assert VOCABULARY.read("BashOutput", {"bash_id": "b1"}).arguments == {"command": "# read b1", "shell_id": "b1"}
    assert VOCABULARY.read("WebFetch", {"url": "u", "prompt": "p"}).arguments == {"url": "u", "prompt": "p"}


def test_a_key_with_another_name_is_not_told_twice() -> None:
    assert VOCABULARY.read("NotebookEdit", {"notebook_path": "/n", "new_source": "1", "cell_id": "c"}).arguments == {
        "file_path": "/n",
        "old_string": "",
        "new_string": "1",
        "replace_all": False,
        "cell_id": "c",
    }
    assert VOCABULARY.read("Task", {"prompt": "p", "subagent_type": "x", "model": "m"}).arguments == {
        "prompt": "p",
        "agent_type": "x",
        "model": "m",
    }
    assert VOCABULARY.read("Skill", {"skill": "pdf"}).arguments == {"agent_type": "pdf"}


def test_several_edits_are_told_one_by_one() -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d", "replace_all": True}]
    meaning = VOCABULARY.read("MultiEdit", {"file_path": "/a", "edits": edits})
    assert meaning.arguments == {"file_path": "/a", "old_string": "a", "new_string": "b", "replace_all": False}
    assert meaning.actions == (FileEdit("/a", "a", "b", False), FileEdit("/a", "c", "d", True))


def test_several_questions_are_told_one_by_one() -> None:
    other = {"question": "When?", "options": [{"label": "Now"}, {"label": "Later"}]}
    meaning = VOCABULARY.read("AskUserQuestion", {"questions": [WHICH, other]})
    assert (meaning.kind, meaning.arguments["question"]) == ("ask", "Which?")
    assert meaning.actions == (Ask("Which?", ("A",)), Ask("When?", ("Now", "Later")))


def test_questions_may_be_the_text_of_a_list() -> None:
    meaning = VOCABULARY.read("AskUserQuestion", {"questions": json.dumps([WHICH])})
    assert (meaning.kind, meaning.arguments["question"]) == ("ask", "Which?")
    assert VOCABULARY.read("AskUserQuestion", {"questions": "[{"}).kind == "generic"


def test_a_skill_may_be_given_an_object() -> None:
    meaning = VOCABULARY.read("Skill", {"skill": "pdf", "args": {"page": 1}})
    assert meaning.arguments == {"prompt": '{"page":1}', "agent_type": "pdf"}


def test_a_task_may_have_a_number() -> None:
    meaning = VOCABULARY.read("TaskUpdate", {"taskId": 7, "status": "completed"})
    assert meaning.arguments == {"items": ({"text": "7", "status": "completed"},), "taskId": 7}
    assert [VOCABULARY.read(name, {"task_id": 7}).kind for name in ("TaskOutput", "TaskStop")] == ["agent", "agent"]


def test_a_plan_keeps_what_an_item_has_no_place_for() -> None:
    meaning = VOCABULARY.read("TodoWrite", {"todos": [TODO]})
    assert meaning.arguments == {"items": ({"text": "Test", "status": "pending"},), "todos": [TODO]}
    written = {"todos": json.dumps([TODO])}
    assert VOCABULARY.read("TodoWrite", written).arguments == {"items": meaning.arguments["items"], **written}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Read", {}),
        ("Read", {"file_path": 7}),
        ("Read", {"file_path": "/a", "offset": "soon"}),
        ("Edit", {"file_path": "/a", "old_string": "x"}),
        ("MultiEdit", {"file_path": "/a", "edits": []}),
        ("MultiEdit", {"file_path": "/a", "edits": [{"old_string": "x"}]}),
        ("TodoWrite", {"todos": [{"status": "pending"}]}),
        ("TodoWrite", {"todos": '[{"content": "cut'}),
        ("AskUserQuestion", {"questions": []}),
        ("Monitor", {"description": "d"}),
        ("str_replace_editor", {"command": "fly", "path": "/a"}),
        ("Bash", None),
        ("Bash", "ls"),
        ("Bash", ["ls"]),
        ("FutureTool", {"file_path": "/a"}),
    ],
)
def test_what_does_not_fit_is_generic_and_untouched(name: str, arguments: Any) -> None:
    meaning = VOCABULARY.read(name, arguments)
    assert (meaning.kind, meaning.actions) == ("generic", ())
    assert meaning.arguments is arguments


def test_a_message_that_is_no_text_stays_beside() -> None:
    asked = {"to": "b", "message": {"type": "shutdown_request"}, "summary": "s"}
    assert VOCABULARY.read("SendMessage", asked).arguments == {
        "description": "s",
        "to": "b",
        "message": asked["message"],
    }
    assert VOCABULARY.read("SendMessage", {"to": "b", "message": "m"}).arguments == {"prompt": "m", "to": "b"}


def test_tools_on_servers_are_known_by_their_names() -> None:
    meaning = VOCABULARY.read("mcp__git_hub__get__issue", {"id": 1})
    assert (meaning.kind, meaning.arguments) == (
        "mcp",
        {"server": "git_hub", "tool": "get__issue", "arguments": {"id": 1}},
    )
    assert VOCABULARY.read("mcp__github", {}).kind == "generic"


@pytest.mark.parametrize(
    ("arguments", "action"),
    [
        ({"command": "view", "path": "/a", "view_range": [3, 5]}, FileRead("/a", 3, 3)),
        ({"command": "view", "path": "/a", "view_range": [3, -1]}, FileRead("/a", 3)),
        ({"command": "create", "path": "/a", "file_text": "x"}, FileWrite("/a", "x")),
        ({"command": "str_replace", "path": "/a", "old_str": "x", "new_str": "y"}, FileEdit("/a", "x", "y", False)),
        ({"command": "insert", "path": "/a", "insert_line": 1, "insert_text": "y"}, FileEdit("/a", "", "y", False)),
        ({"command": "undo_edit", "path": "/a"}, FileEdit("/a", "", "", False)),
    ],
)
def test_the_text_editor_means_what_its_command_says(arguments: Any, action: Action) -> None:
    assert files.TextEditor.of(arguments).action() == action
