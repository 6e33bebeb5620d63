"""What Codex says that its calls did."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.actions.codex_changes import changes_of
from unspool.model import Action
from unspool.model.action import Execute, FileDelete, FileEdit, FileMove, FileRead, FileWrite, Hunk, Mcp, Search, Web

UPDATE = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-1\n+2\n*** End Patch"
EDITED = FileEdit("src/a.py", "", "", False, (Hunk(("-1", "+2")),), 1, 1)


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (
            {"type": "CommandExecution", "command": ["/bin/zsh", "-lc", "rg x src"], "cwd": "/r", "exit_code": 0},
            (Execute("rg x src", workdir="/r"), Search("x", path="src")),
        ),
        (
            {"type": "command_execution", "command": "/bin/bash -lc 'cat a; ls'"},
            (Execute("/bin/bash -lc 'cat a; ls'"), FileRead("a"), Search()),
        ),
        (
            {"type": "exec_command_end", "command": ["apply_patch", UPDATE], "cwd": "/r"},
            (Execute(f"apply_patch '{UPDATE}'", workdir="/r"), EDITED),
        ),
        (
            {"type": "FileChange", "changes": {
                "n": {"type": "add", "content": "x\n"},
                "u": {"type": "update", "unified_diff": "@@ -1 +1,2 @@\n-a\n+b\n+c\n", "move_path": None},
                "m": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n", "move_path": "m2"},
                "r": {"type": "update", "unified_diff": "", "move_path": "r2"},
                "d": {"type": "delete", "content": "gone"},
                "?": {"type": "other"},
            }},
            (
                FileWrite("n", "x\n"),
                FileEdit("u", "", "", False, (Hunk(("-a", "+b", "+c"), ("-1 +1,2 @@",)),), 2, 1),
                FileEdit("m", "", "", False, (Hunk(("-a", "+b"), ("-1 +1 @@",)),), 1, 1),
                FileMove("m", "m2"),
                FileMove("r", "r2"),
                FileDelete("d"),
            ),
        ),
        (
            {"type": "patch_apply_end", "changes": {
                "n": {"add": {"content": "x"}},
                "u": {"update": {"unified_diff": "@@ -1 +0,0 @@\n-a\n", "move_path": None}},
                "d": {"delete": {}},
            }},
            (
                FileWrite("n", "x"),
                FileEdit("u", "", "", False, (Hunk(("-a",), ("-1 +0,0 @@",)),), 0, 1),
                FileDelete("d"),
            ),
        ),
        (
            {"type": "file_change", "changes": [
                {"path": "n", "kind": "add"},
                {"path": "u", "kind": "update"},
                {"path": "v", "kind": {"type": "update", "move_path": "w"}, "diff": "@@ -1 +1 @@\n-a\n+b\n"},
                {"path": "d", "kind": "delete"},
                {"kind": "add"},
                7,
            ]},
            (
                FileWrite("n", ""),
                FileEdit("u", "", "", False),
                FileEdit("v", "", "", False, (Hunk(("-a", "+b"), ("-1 +1 @@",)),), 1, 1),
                FileMove("v", "w"),
                FileDelete("d"),
            ),
        ),
        ({"type": "McpToolCall", "server": "s", "tool": "t", "arguments": {"a": 1}}, (Mcp("s", "t", {"a": 1}),)),
        ({"type": "mcp_tool_call_end", "invocation": {"server": "s", "tool": "t"}}, (Mcp("s", "t"),)),
        ({"type": "ImageView", "path": "/a.png"}, (FileRead("/a.png"),)),
        ({"type": "WebSearch", "query": "q", "action": {"type": "search", "query": "q"}}, (Web(query="q"),)),
        ({"type": "Extension", "kind": "web", "action": {"type": "openPage", "url": "https://x"}}, (Web(url="https://x"),)),
        ({"type": "Extension", "action": {"queries": ["a", "b"]}}, (Web(query="a"), Web(query="b"))),
        ({"type": "web_search_end", "query": "q"}, (Web(query="q"),)),
        ({"type": "item_completed", "item": {"type": "ImageView", "path": "a"}}, (FileRead("a"),)),
        ({"type": "AgentMessage", "content": []}, ()),
        ({"type": "CommandExecution", "command": [1]}, ()),
        ({}, ()),
        (None, ()),
    ],
)  # fmt: skip
def test_what_has_happened(item: Any, expected: tuple[Action, ...]) -> None:
    assert changes_of(item) == expected


KEYS = st.sampled_from(
    "path query queries url server tool command cwd changes type kind content diff unified_diff move_path action "
    "invocation add update delete item arguments".split()
)
LEAVES = st.none() | st.integers() | st.text(max_size=8) | st.sampled_from([UPDATE, "add", "update", "@@ -1 +1 @@\n-a"])
ODD = st.recursive(
    LEAVES,
    lambda inner: st.dictionaries(KEYS, inner, max_size=4) | st.lists(inner, max_size=2),
    max_leaves=10,
)
KINDS = st.sampled_from(["CommandExecution", "FileChange", "McpToolCall", "ImageView", "WebSearch", "patch_apply_end"])


@given(KINDS, st.dictionaries(KEYS, ODD, max_size=4))
def test_nothing_that_has_happened_is_too_odd(kind: str, fields: dict[str, Any]) -> None:
    msgspec.json.encode(changes_of(fields | {"type": kind}))
