"""What calls of Codex's tools mean."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.actions.codex import VOCABULARY, qualified
from unspool.model import Action, Kind
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
    Hunk,
    Mcp,
    Search,
    Web,
)

ADD = "*** Begin Patch\n*** Add File: docs/new.md\n+# Title\n*** End Patch"
UPDATE = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-1\n+2\n*** End Patch"
MANY = """*** Begin Patch
*** Delete File: old
*** Update File: a
*** Move to: b
@@
+x
*** Add File: c
+y
*** End Patch"""
EDITED = FileEdit("src/a.py", "", "", False, (Hunk(("-1", "+2")),), 1, 1)


def meant(name: str, arguments: Any) -> tuple[Kind, Any, tuple[Action, ...]]:
    meaning = VOCABULARY.read(name, arguments)
    msgspec.json.encode(meaning)  # whatever it is, it can be written
    return meaning.kind, meaning.arguments, meaning.actions


# Patches, in the ways they reach a log.


@pytest.mark.parametrize("arguments", [UPDATE, {"raw": UPDATE}, {"input": UPDATE}, {"patch": UPDATE}])
def test_a_patch_that_updates(arguments: Any) -> None:
    assert meant("apply_patch", arguments) == (
        "file_edit",
        {"file_path": "src/a.py", "old_string": "", "new_string": UPDATE, "replace_all": False},
        (EDITED,),
    )


def test_a_patch_that_adds() -> None:
    assert meant("apply_patch", {"raw": ADD}) == (
        "file_write",
        {"file_path": "docs/new.md", "content": ADD},
        (FileWrite("docs/new.md", "# Title\n"),),
    )


def test_a_patch_that_only_deletes() -> None:
    text = "*** Begin Patch\n*** Delete File: a\n*** Delete File: b\n*** End Patch"
    assert meant("apply_patch", text) == ("file_delete", {"file_path": "a"}, (FileDelete("a"), FileDelete("b")))


def test_a_patch_over_many_files() -> None:
    kind, arguments, actions = meant("apply_patch", {"input": MANY})
    assert (kind, arguments["file_path"], arguments["new_string"]) == ("file_edit", "a", MANY)
    assert actions == (
        FileDelete("old"),
        FileEdit("a", "", "", False, (Hunk(("+x",)),), 1, 0),
        FileMove("a", "b"),
        FileWrite("c", "y\n"),
    )


@pytest.mark.parametrize(
    "arguments", ["no patch", {"raw": "no patch"}, {"other": 1}, {}, None, 7, [UPDATE], {"raw": 1}]
)
def test_what_is_no_patch_stays_untouched(arguments: Any) -> None:
    assert meant("apply_patch", arguments) == ("generic", arguments, ())


@pytest.mark.parametrize(
    ("name", "arguments", "beside"),
    [
        ("shell", {"command": ["apply_patch", UPDATE]}, {}),
        (
            "shell",
            {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{UPDATE}\nEOF\n"], "workdir": "/r"},
            {"workdir": "/r"},
        ),
        ("container.exec", {"command": ["zsh", "-lc", f"apply_patch <<'EOF'\n{UPDATE}\nEOF"]}, {}),
        ("shell_command", {"command": f'apply_patch "{UPDATE}"', "timeout_ms": 5}, {"timeout": 5}),
        ("exec_command", {"cmd": f"apply_patch <<'P'\n{UPDATE}\nP", "yield_time_ms": 9}, {"yield_time_ms": 9}),
    ],
)
def test_a_patch_through_the_shell_is_the_same_patch(name: str, arguments: Any, beside: Any) -> None:
    edit = {"file_path": "src/a.py", "old_string": "", "new_string": UPDATE, "replace_all": False}
    assert meant(name, arguments) == ("file_edit", edit | beside, (EDITED,))


def test_a_patch_behind_cd_changes_files_there() -> None:
    kind, arguments, actions = meant("exec_command", {"cmd": f"cd lib && apply_patch <<'E'\n{ADD}\nE"})
    assert (kind, arguments["file_path"]) == ("file_write", "docs/new.md")
    assert actions == (FileWrite("lib/docs/new.md", "# Title\n"),)


def test_a_command_that_does_more_than_its_patch_keeps_the_rest_in_its_actions() -> None:
    line = f"apply_patch <<'EOF'\n{UPDATE}\nEOF\ncat src/a.py"
    kind, arguments, actions = meant("shell", {"command": ["bash", "-lc", line], "workdir": "/r"})
    assert (kind, arguments["new_string"]) == ("file_edit", UPDATE)
    assert actions == (EDITED, Execute(line, workdir="/r"), FileRead("src/a.py"))


# The shell.


@pytest.mark.parametrize(
    ("name", "arguments", "expected", "actions"),
    [
        (
            "shell",
            {"command": ["bash", "-lc", "rg -n 'a b' src"], "workdir": "/r", "timeout_ms": 1000, "justification": "j"},
            {"command": "rg -n 'a b' src", "workdir": "/r", "timeout": 1000, "justification": "j"},
            (Search("a b", path="src"),),
        ),
        ("shell", {"command": ["cat", "my file"]}, {"command": "cat 'my file'"}, (FileRead("my file"),)),
        ("shell", {"command": "make", "timeout": 5}, {"command": "make", "timeout": 5}, ()),
        (
            "shell_command",
            {"command": "ls src", "login": False},
            {"command": "ls src", "login": False},
            (Search(path="src"),),
        ),
        (
            "local_shell_call",
            {
                "type": "exec",
                "command": ["pwd"],
                "timeout_ms": None,
                "working_directory": "/r",
                "env": {},
                "user": None,
            },
            {"command": "pwd", "workdir": "/r", "type": "exec", "timeout": None, "env": {}, "user": None},
            (),
        ),
        (
            "exec_command",
            {"cmd": "sed -n '1,5p' a", "workdir": "/r", "max_output_tokens": 9, "shell": "zsh", "login": True},
            {"command": "sed -n '1,5p' a", "workdir": "/r", "max_output_tokens": 9, "shell": "zsh", "login": True},
            (FileRead("a", 1, 5),),
        ),
        (
            "unified_exec",
            {"input": ["cat", "a"], "timeout_ms": 3},
            {"command": "cat a", "timeout": 3},
            (FileRead("a"),),
        ),
        (
            "unified_exec",
            {"input": ["y\n"], "session_id": "4"},
            {"command": "# write 4", "input": ["y\n"], "session_id": "4"},
            (),
        ),
        (
            "write_stdin",
            {"session_id": 4, "chars": "y\n"},
            {"command": "# write 4", "session_id": 4, "chars": "y\n"},
            (),
        ),
        ("write_stdin", {"session_id": 4, "chars": ""}, {"command": "# read 4", "session_id": 4, "chars": ""}, ()),
        ("wait", {"cell_id": "7"}, {"command": "# read 7", "cell_id": "7"}, ()),
        ("js_repl", {"input": "1 + 1"}, {"command": "1 + 1"}, ()),
    ],
)
def test_the_shell(name: str, arguments: Any, expected: Any, actions: tuple[Action, ...]) -> None:
    assert meant(name, arguments) == ("execute", expected, actions)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("shell", {"command": ["ls", 7]}),
        ("shell", {"command": None}),
        ("shell", {"raw": '{"command": ["l'}),
        ("exec_command", {}),
        ("update_plan", {"plan": [{"status": "pending"}]}),
        ("view_image", {"path": 3}),
        ("web_search", {"raw": "{"}),
        ("request_user_input", {"questions": []}),
        ("spawn_agent", {"raw": "{"}),
        ("exec", {"input": None}),
        ("unheard_of", {"a": 1}),
        ("image_generation", {"prompt": "a cat"}),
    ],
)
def test_what_does_not_fit_stays_untouched(name: str, arguments: Any) -> None:
    assert meant(name, arguments) == ("generic", arguments, ())


# The other tools.


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "expected"),
    [
        ("view_image", {"path": "a.png", "detail": "high"}, "file_read", {"file_path": "a.png", "detail": "high"}),
        (
            "read_file",
            {"file_path": "a", "offset": 3, "limit": 9, "mode": "slice"},
            "file_read",
            {"file_path": "a", "offset": 3, "limit": 9, "mode": "slice"},
        ),
        ("read_file", {"path": "a"}, "file_read", {"file_path": "a"}),
        ("list_dir", {"dir_path": "/r", "depth": 2}, "search", {"path": "/r", "depth": 2}),
        (
            "grep_files",
            {"pattern": "x", "include": "*.py", "path": "src"},
            "search",
            {"pattern": "x", "path": "src", "include": "*.py"},
        ),
        ("tool_search", {"query": "mail", "limit": 5}, "search", {"query": "mail", "limit": 5}),
        ("web_search", {"type": "search", "query": "q"}, "web", {"query": "q", "type": "search"}),
        ("web_search", {"type": "open_page", "url": "https://x"}, "web", {"url": "https://x", "type": "open_page"}),
        (
            "web_search",
            {"type": "find_in_page", "url": "https://x", "pattern": "p"},
            "web",
            {"url": "https://x", "type": "find_in_page", "pattern": "p"},
        ),
        ("web_search", {}, "web", {}),
        (
            "update_plan",
            {"explanation": "why", "plan": [{"step": "a", "status": "completed"}, {"step": "b", "status": "pending"}]},
            "plan",
            {"items": ({"text": "a", "status": "completed"}, {"text": "b", "status": "pending"}), "text": "why"},
        ),
        ("create_goal", {"objective": "ship", "token_budget": 9}, "plan", {"text": "ship", "token_budget": 9}),
        ("request_permissions", {"reason": "net?", "permissions": {}}, "ask", {"question": "net?", "permissions": {}}),
        (
            "spawn_agent",
            {"message": "look", "agent_type": "explorer", "task_name": "t", "fork_turns": "all"},
            "agent",
            {"description": "t", "prompt": "look", "agent_type": "explorer", "fork_turns": "all"},
        ),
        (
            "spawn_agent",
            {"items": [{"type": "text", "text": "a"}, {"type": "image"}]},
            "agent",
            {"prompt": "a", "items": [{"type": "text", "text": "a"}, {"type": "image"}]},
        ),
        ("send_input", {"target": "x", "message": "m"}, "agent", {"prompt": "m", "target": "x"}),
        ("send_message", {"target": "x", "message": "m"}, "agent", {"prompt": "m", "target": "x"}),
        ("followup_task", {"target": "x", "message": "m"}, "agent", {"prompt": "m", "target": "x"}),
        ("wait_agent", {"targets": ["x"], "timeout_ms": 1}, "agent", {"targets": ["x"], "timeout_ms": 1}),
        ("wait", {"ids": ["x"]}, "agent", {"ids": ["x"]}),
        ("close_agent", {"target": "x"}, "agent", {"target": "x"}),
        ("interrupt_agent", {"target": "x"}, "agent", {"target": "x"}),
        ("resume_agent", {"id": "x"}, "agent", {"id": "x"}),
        (
            "read_mcp_resource",
            {"server": "s", "uri": "u://x"},
            "mcp",
            {"server": "s", "tool": "resources/read", "arguments": {"uri": "u://x"}},
        ),
        ("list_mcp_resources", {"server": "s"}, "mcp", {"server": "s", "tool": "resources/list"}),
        ("list_mcp_resource_templates", {}, "mcp", {"server": "", "tool": "resources/templates/list"}),
        ("mcp__s__t__u", {"a": 1}, "mcp", {"server": "s", "tool": "t__u", "arguments": {"a": 1}}),
    ],
)
def test_a_tool_means(name: str, arguments: Any, kind: Kind, expected: Any) -> None:
    meaning = VOCABULARY.read(name, arguments)
    assert (meaning.kind, meaning.arguments) == (kind, expected)


def test_several_questions_are_several_actions() -> None:
    questions = [
        {
            "id": "a",
            "header": "A",
            "question": "which?",
            "options": [{"label": "x", "description": "d"}, {"label": "y"}],
        },
        {"id": "b", "header": "B", "question": "when?"},
    ]
    kind, arguments, actions = meant("request_user_input", {"questions": questions})
    assert (kind, arguments["question"], arguments["options"]) == ("ask", "which?", ("x", "y"))
    assert actions == (Ask("which?", ("x", "y")), Ask("when?"))


def test_several_queries_are_several_actions() -> None:
    kind, arguments, actions = meant("web_search", {"type": "search", "query": None, "queries": ["a", "b"]})
    assert (kind, arguments["query"]) == ("web", "a")
    assert actions == (Web(query="a"), Web(query="b"))


def test_steps_on_the_web() -> None:
    _, _, actions = meant("web__run", {"search_query": [{"q": "a"}], "open": [{"ref_id": "https://x"}], "find": []})
    assert actions == (Web(query="a"), Web(url="https://x"))


@pytest.mark.parametrize(
    ("name", "namespace", "expected"),
    [
        ("shell", None, "shell"),
        ("echo", "mcp__s", "mcp__s__echo"),
        ("echo", "mcp__s__", "mcp__s__echo"),
        ("_fetch", "mcp__apps__mail", "mcp__apps__mail_fetch"),
        ("spawn_agent", "multi_agent_v1", "spawn_agent"),
        ("update", "my_app", "my_app__update"),
    ],
)
def test_a_namespace_is_part_of_the_name(name: str, namespace: str | None, expected: str) -> None:
    assert qualified(name, namespace) == expected


# Calls within calls.


def test_a_program_that_makes_one_call_means_that_call() -> None:
    program = "const r = await tools.exec_command({cmd: \"cat a\", workdir: '/r', yield_time_ms: ms}); text(r.output)"
    expected = ("execute", {"command": "cat a", "workdir": "/r"}, (FileRead("a"),))
    assert meant("exec", {"raw": program}) == meant("exec", {"input": program}) == meant("exec", program) == expected
    patch = meant("exec", {"raw": f"tools.apply_patch({msgspec.json.encode(UPDATE).decode()})"})
    assert patch == meant("apply_patch", UPDATE)


def test_a_program_that_makes_many_calls_is_a_program() -> None:
    program = (
        f"await tools.apply_patch(`{ADD}`); const q = 1;\n"
        "await tools.exec_command({cmd: 'rg x src'}); await tools.mcp__s__t({q});"
        "await tools.web__run({search_query: [{q: 'w'}]});"
        "await tools.multi_agent_v1__spawn_agent({message: 'm'}); await tools.unheard({a: [z]});"
    )
    assert meant("exec", {"raw": program}) == (
        "execute",
        {"command": program},
        (
            FileWrite("docs/new.md", "# Title\n"),
            Execute("rg x src"),
            Search("x", path="src"),
            Mcp("s", "t", {"q": 1}),
            Web(query="w"),
            Agent(prompt="m"),
            Generic({"name": "unheard", "arguments": {"a": ["${z}"]}}),
        ),
    )
    assert meant("exec", {"raw": "text(1)"}) == ("execute", {"command": "text(1)"}, ())


def test_calls_in_parallel() -> None:
    shell = {"recipient_name": "functions.shell", "parameters": {"command": ["cat", "a"], "workdir": "/r"}}
    image = {"recipient_name": "functions.view_image", "parameters": {"path": "b.png"}}
    both = {"tool_uses": [shell, image]}
    assert meant("multi_tool_use.parallel", both) == (
        "generic",
        both,
        (Execute("cat a", workdir="/r"), FileRead("a"), FileRead("b.png")),
    )
    assert meant("multi_tool_use.parallel", {"tool_uses": [shell]}) == meant("shell", shell["parameters"])


def test_changes_without_their_patch_mean_the_first_file() -> None:
    changes = {"gone": {"type": "delete"}, "new": {"type": "add", "content": "x"}}
    assert meant("apply_patch", {"changes": changes}) == (
        "file_write",
        {"file_path": "new", "content": "x"},
        (FileDelete("gone"), FileWrite("new", "x")),
    )


# Whatever there is.

KEYS = st.sampled_from(
    "raw input patch command cmd plan step questions question options tool_uses recipient_name parameters items "
    "message path file_path query queries url uri server session_id chars cell_id changes type kind tool text "
    "search_query open".split()
)
VALUES = st.sampled_from([None, True, 7, 0.5, UPDATE, MANY, "tools.shell({command: 'cat a'})", ["apply_patch", ADD]])
ODD = st.recursive(
    VALUES | st.text(max_size=8),
    lambda inner: st.dictionaries(KEYS, inner, max_size=4) | st.lists(inner, max_size=2),
    max_leaves=10,
)


@given(st.sampled_from(sorted(VOCABULARY.tools)), ODD)
def test_no_arguments_are_too_odd_for_any_tool(name: str, arguments: Any) -> None:
    meaning = VOCABULARY.read(name, arguments)
    if meaning.kind == "generic":
        assert meaning.arguments is arguments
