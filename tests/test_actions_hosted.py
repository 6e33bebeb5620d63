"""The tools that the APIs themselves define: what calls of them mean in traffic of no agent that we know."""

import pytest

from meanings import ASKED, EDITED, PAGE, QUERY, SEARCHED, URL, Row, check, named
from unspool.actions import vocabulary_for
from unspool.model.action import Execute, FileDelete, FileEdit, FileMove, FileRead, FileWrite, Generic, Search, Web

DIFF = "@@ def f():\n-x\n+y\n"
CHANGE = {"command": "str_replace", "path": "a", "old_str": "x", "new_str": "y"}
ROWS: list[Row] = [
    ("bash bash_code_execution", {"command": "make"}, Execute("make")),
    ("bash", {"restart": True}, Execute("# restart")),
    ("code_execution code_interpreter", {"code": "print(1)"}, Execute("print(1)")),
    ("shell", {"commands": ["make", "ls a"], "timeout_ms": 9, "x": 5}, Execute("make\nls a", timeout=9)),
    (
        "local_shell",
        {"type": "exec", "command": ["bash", "-lc", "make all"], "working_directory": "/w", "env": {}},
        Execute("make all", workdir="/w"),
    ),
    ("apply_patch", {"type": "update_file", "path": "a", "diff": DIFF}, FileEdit("a", "", DIFF, False)),
    ("apply_patch", {"type": "create_file", "path": "a", "diff": "+x\n+\n"}, FileWrite("a", "x\n\n")),
    ("apply_patch", {"type": "delete_file", "path": "a"}, FileDelete("a")),
    ("str_replace_editor str_replace_based_edit_tool text_editor_code_execution memory", CHANGE, EDITED),
    ("memory", {"command": "view", "path": "/memories"}, FileRead("/memories")),
    ("memory", {"command": "delete", "path": "a"}, FileDelete("a")),
    ("memory", {"command": "rename", "old_path": "a", "new_path": "b"}, FileMove("a", "b")),
    ("web_search google_search google_search_web google_search_image", QUERY, SEARCHED),
    ("web_search", {"type": "open_page", "url": "https://a"}, PAGE),
    ("google_search", {"queries": ["a", "b"]}, Web(query="a")),
    ("web_fetch url_context", URL, PAGE),
    ("url_context", {"urls": ["https://a"]}, PAGE),
    ("tool_search tool_search_tool_bm25 tool_search_tool_regex file_search", QUERY, ASKED),
    ("file_search", {"queries": ["q", "r"]}, ASKED),
    ("file_search", {}, Search()),
    ("advisor computer computer_use_preview google_maps image_generation", {"a": 1}, Generic()),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_meaning(row: Row) -> None:
    check("somebody's own", row)


def test_every_tool_is_here() -> None:
    assert named(ROWS) == set(vocabulary_for("somebody's own").tools)


def test_lines_and_diffs_tell_more_in_actions() -> None:
    read = vocabulary_for("").read
    shell = read("shell", {"commands": ["cat a", "rg x p"]})
    assert [action.__struct_config__.tag for action in shell.actions] == ["file_read", "search"]
    assert shell.arguments == {"command": "cat a\nrg x p"}
    (changed,) = read("apply_patch", {"type": "update_file", "path": "a", "diff": DIFF}).actions
    assert isinstance(changed, FileEdit)
    assert (changed.added, changed.removed) == (1, 1)
    assert read("apply_patch", {"input": "*** Begin Patch\n*** Delete File: a\n*** End Patch"}).kind == "file_delete"


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("shell", {"timeout_ms": 5}),
        ("apply_patch", {"type": "update_file", "diff": DIFF}),
        ("apply_patch", {"type": "rename_file", "path": "a"}),
        ("memory", {"command": "rename", "old_path": "a"}),
        ("bash", {"command": 5.5, "x": []}),
        ("get_weather", {"city": "Oslo"}),
    ],
)  # fmt: skip
def test_what_does_not_fit_stays_as_it_was(name: str, given: dict[str, object]) -> None:
    meaning = vocabulary_for("").read(name, given)
    assert (meaning.kind, meaning.arguments) == ("generic", given)
