"""What the tools of Pi, of Oh My Pi and of OpenClaw mean."""

from typing import Any

import pytest

from meanings import (
    ADDED,
    ASKED,
    EDITED,
    FOUND,
    GIVEN,
    LISTED,
    PAGE,
    PATCH,
    PATH,
    PATTERN,
    QUERY,
    RAN,
    READ,
    RUN,
    SEARCHED,
    TODOS,
    URL,
    WHICH,
    Row,
    check,
    named,
)
from unspool.actions import pi, vocabulary_for
from unspool.actions.patch import edit, hunks_of
from unspool.model import Meaning
from unspool.model.action import (
    Agent,
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
    "pi": [
        ("read", {"path": "a", "offset": 2, "limit": 3}, FileRead("a", 2, 3)),
        ("write", {"path": "a", "content": "x"}, FileWrite("a", "x")),
        ("edit", {"path": "a", "oldText": "x", "newText": "y"}, EDITED),
        ("edit", {"path": "a", "edits": [{"oldText": "x", "newText": "y"}]}, EDITED),
        ("bash", RUN, RAN),
        ("grep find", PATTERN, FOUND),
        ("ls", PATH, READ),
        ("subagent", {"description": "d", "prompt": "p"}, Agent("d", "p")),
        ("list_agents", {}, Agent()),
        ("todo", TODOS, LISTED),
        ("question", {"question": "Which?", "options": ["A", "B"]}, WHICH),
        ("web_search", QUERY, SEARCHED),
        ("web_fetch", URL, PAGE),
        ("mcp", {"server": "s", "tool": "t", "args": '{"x": 1}'}, Mcp("s", "t", {"x": 1})),
        ("codemode", {"code": "make"}, Execute("make")),
        ("tool_search", QUERY, ASKED),
        ("list_mcp_resources list_mcp_resource_templates", {"server": "s"}, Mcp("s", "resources/list")),
        ("read_mcp_resource", {"server": "s", "uri": "u"}, Mcp("s", "resources/read", {"uri": "u"})),
        # Of Oh My Pi.
        ("read", {"path": "a:2-4"}, FileRead("a", 2, 3)),
        ("read", {"path": "a:2+3,9:raw"}, FileRead("a", 2, 3)),
        ("read", {"path": "a:2-"}, FileRead("a", 2)),
        ("read", {"path": "a:2"}, FileRead("a", 2, 1)),
        ("read", {"path": "a:raw"}, FileRead("a")),
        ("read", {"path": "https://a"}, PAGE),
        ("write", {"path": "xd://web_search", "content": '{"query": "q"}'}, Web(query="q")),
        ("write", {"path": "xd://novelty", "content": "{}"}, Generic()),
        ("edit", {"path": "a", "old_string": "x", "new_string": "y", "replace_all": False}, EDITED),
        ("edit", {"input": "[a#1f3c]\nPUT 3.=3:\n+y\n+z"}, FileEdit("a", "", "y\nz", replace_all=False)),
        ("edit", {"input": "[a#1f3c]\nREM"}, FileDelete("a")),
        ("edit", {"input": "[a#1f3c]\nMV b"}, FileMove("a", "b")),
        ("edit", {"input": PATCH}, ADDED),
        (
            "edit",
            {"path": "a", "edits": [{"op": "replace", "pos": "3#ab", "lines": ["y", "z"]}]},
            FileEdit("a", "", "y\nz", replace_all=False),
        ),
        ("edit", {"path": "a", "op": "create", "diff": "x"}, FileWrite("a", "x")),
        ("edit", {"path": "a", "edits": [{"op": "delete"}]}, FileDelete("a")),
        ("edit", {"path": "a", "edits": [{"op": "delete", "pos": "3#ab"}]}, FileEdit("a", "", "", replace_all=False)),
        ("edit", {"input": "[a#1f]\nREM", "edits": [{"op": []}]}, FileDelete("a")),
        (
            "edit",
            {"path": "a", "edits": [{"op": "update", "diff": "@@ -1 +1 @@\n-x\n+y"}]},
            edit("a", hunks_of("@@ -1 +1 @@\n-x\n+y")),
        ),
        ("search", PATTERN, FOUND),
        ("find", {"query": "q", "grep_keywords": []}, ASKED),
        ("write", {"path": "agent://n", "content": "p"}, Agent(None, "p")),
        ("ast_grep", {"pat": "x", "path": "p"}, FOUND),
        ("glob", {"path": "*.py"}, Search("*.py")),
        ("glob", PATTERN, FOUND),
        ("lsp", {"action": "hover", "file": "a"}, Search(query="hover", path="a")),
        ("powershell ssh", RUN, RAN),
        ("eval", {"language": "py", "code": "1 + 1", "title": "t"}, Execute("1 + 1", "t")),
        ("python", {"cells": [{"code": "a = 1"}, {"code": "a"}]}, Execute("a = 1\na")),
        ("job await wait", {}, Execute("# read")),
        ("fetch", URL, PAGE),
        ("x_search", QUERY, SEARCHED),
        ("todo", {"op": "init", "list": [{"phase": "p", "items": ["c"]}]}, Plan((PlanItem("c", "pending"),))),
        ("todo", {"op": "done", "task": "c"}, Plan((PlanItem("c", "completed"),))),
        ("todo_write", {"ops": [{"op": "start", "task": "c"}]}, Plan((PlanItem("c", "in_progress"),))),
        ("todo", {"op": "view"}, Plan()),
        ("goal exit_plan_mode", {}, Plan()),
        ("ask", {"questions": [{"id": "1", "question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]}, WHICH),
        ("task", {"agent": "t", "name": "d", "task": "p"}, Agent("d", "p", "t")),
        ("task", {"context": "c", "tasks": [{"agent": "t", "name": "d", "assignment": "p"}]}, Agent("d", "p", "t")),
        ("vibe_spawn", {"cli": "fast", "name": "d", "prompt": "p"}, Agent("d", "p")),
        ("vibe_send", {"session": "s", "message": "p"}, Agent(None, "p")),
        ("vibe_wait vibe_kill vibe_list", {}, Agent()),
        ("hub launch", {"op": "start", "name": "n", "application": "make", "args": ["a b"]}, Execute("make 'a b'")),
        ("hub irc", {"op": "send", "to": "t", "message": "p"}, Agent(None, "p")),
        (
            "ast_edit resolve checkpoint rewind context_notes new_context compact think yield memory_edit retain "
            "recall link related forget reflect learn manage_skill browser computer debug generate_image github "
            "inspect_image security_scan tts advise ida",
            {"x": 1},
            Generic(),
        ),
    ],
    "openclaw": [
        ("apply_patch", {"input": PATCH}, ADDED),
        ("exec", {"command": "make", "workdir": "p", "timeout": 9, "background": True}, Execute("make", None, 9, "p")),
        ("exec", {"code": "await read()"}, Execute("await read()")),
        ("wait", {"runId": "r"}, Execute("# read r")),
        ("tool_search_code", {"code": "make"}, Execute("make")),
        ("process terminal", {"action": "poll", "sessionId": "s1"}, Execute("# poll s1")),
        ("view_image", {"path": "a"}, FileRead("a")),
        ("view_image", {"paths": ["a", "b"]}, FileRead("a")),
        ("x_search", QUERY, SEARCHED),
        ("ask_user", {"questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]}, WHICH),
        ("sessions_search", QUERY, ASKED),
        ("browser", {"action": "open", "targetUrl": "https://a"}, PAGE),
        ("memory_search", QUERY, ASKED),
        ("memory_get", {"path": "a", "from": 2, "lines": 3}, FileRead("a", 2, 3)),
        ("update_plan", {"plan": [{"step": "c", "status": "pending"}]}, Plan((PlanItem("c", "pending"),))),
        ("skill", {"name": "n"}, Agent(agent_type="n")),
        ("sessions_spawn", {"task": "p", "label": "d", "agentId": "t"}, GIVEN),
        ("sessions_send", {"sessionKey": "k", "message": "p"}, Agent(prompt="p")),
        (
            "agents_list agents_wait session_status sessions_history sessions_list sessions_yield subagents",
            {"limit": 1},
            Agent(),
        ),
        (
            "canvas dashboard mobile_ui portal screen show_widget theme computer cron gateway nodes openclaw plugins "
            "secrets skill_workshop heartbeat_respond message conversations_list conversations_send "
            "conversations_turn transcripts create_goal get_goal update_goal progress_card suggest_task dismiss_task "
            "image image_generate music_generate video_generate pdf tts code_execution github_identity_status "
            "github_publish structured_output tool_describe tool_call",
            {"action": "x"},
            Generic(),
        ),
    ],
}
CASES = [(agent, row) for agent, rows in ROWS.items() for row in rows]


@pytest.mark.parametrize("agent", ROWS)
def test_the_tables_have_every_tool(agent: str) -> None:
    inherited = set(pi.TOOLS) if agent == "openclaw" else set()
    assert named(ROWS[agent]) == set(vocabulary_for(agent).tools) - inherited


@pytest.mark.parametrize(("agent", "row"), CASES, ids=[f"{agent} {row[0]}"[:60] for agent, row in CASES])
def test_a_tool_is_read_and_then_understood(agent: str, row: Row) -> None:
    check(agent, row)


@pytest.mark.parametrize("name", ["mcp__s_t", "mcp__s__t", "mcp_s_t", "s__t"])
def test_servers_of_pi_and_its_kin_are_known_by_any_of_their_names(name: str) -> None:
    assert vocabulary_for("pi").read(name, {"x": 1}) == Meaning(
        "mcp", {"server": "s", "tool": "t", "arguments": {"x": 1}}
    )


@pytest.mark.parametrize("arguments", [{}, {"path": "a"}, {"path": "a", "edits": []}, {"input": "x"}])
def test_an_edit_that_says_no_change_is_generic(arguments: Any) -> None:
    assert vocabulary_for("pi").read("edit", arguments) == Meaning("generic", arguments)


def test_only_what_an_edit_says_in_full_need_not_stand_beside_it() -> None:
    read = vocabulary_for("pi").read
    change = {"oldText": "x", "newText": "y"}
    for whole in ({"input": PATCH}, {"path": "a", "edits": [change]}, {"path": "a", "edits": [change, change]}):
        assert read("edit", whole).arguments.keys().isdisjoint(("input", "edits"))
    lines = {"path": "a", "edits": [{"op": "replace", "pos": "3#ab", "lines": ["y"]}]}
    assert read("edit", lines).arguments["edits"] == lines["edits"]
    sections = {"input": "[a#1f]\nPUT 3.=3:\n+y"}
    assert read("edit", sections).arguments["input"] == sections["input"]


def test_what_a_call_does_several_times_is_told_one_by_one() -> None:
    read = vocabulary_for("pi").read
    assert read("edit", {"input": "[a#1f]\nCUT 1\n[b#2e]\nPUT >$:\n+y"}).actions == (
        FileEdit("a", "", "", replace_all=False),
        FileEdit("b", "", "y", replace_all=False),
    )
    assert read("task", {"context": "c", "tasks": [{"task": "p"}, {"task": "q"}]}).actions == (
        Agent(None, "p"),
        Agent(None, "q"),
    )
