"""Document 004: Codex's `apply_patch` from its log to an event, what other tools mean, and the documented commands."""

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Run, Write
from logs import Claude, Codex, Gemini


def patch(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"]) + "\n"


ADDED = patch("*** Add File: docs/rye.md", "+# Rye")
UPDATED = patch("*** Update File: mill.rs", "@@ fn grind()", "-    stone(1)", "+    stone(2)")
DELETED = patch("*** Delete File: old.rs")
MOVED = patch("*** Update File: mill.rs", "*** Move to: src/mill.rs", "@@", "-a", "+b")
SEVERAL = patch(
    *("*** Add File: docs/rye.md", "+# Rye"),
    *("*** Update File: mill.rs", "@@", "-a", "+b"),
    *("*** Delete File: old.rs",),
)


class Search:
    """The tool calls of a log, by the commands of document 004."""

    def __init__(self, unspool: Run, folder: Path) -> None:
        self._unspool, self._path = unspool, folder / "log.jsonl"

    def __call__(self, log: Codex | Claude | Gemini, pattern: str, *options: str) -> list[dict[str, Any]]:
        done = self._unspool("grep", pattern, log.save(self._path), *options)
        assert done.returncode == (0 if done.stdout else 1), done.stderr.decode()
        return [json.loads(line) for line in done.stdout.splitlines()]

    def call(self, log: Codex | Claude | Gemini) -> dict[str, Any]:
        """Return the content of the only call."""
        (event,) = self(log, '"type":"tool_call"', "--json")
        content: dict[str, Any] = event["content"]
        return content


@pytest.fixture
def grep(unspool: Run, tmp_path: Path) -> Search:
    return Search(unspool, tmp_path)


# The case study: the raw call and its meaning, side by side


def test_an_update_is_a_file_edit_beside_what_it_came_from(grep: Search) -> None:
    (event,) = grep(Codex().patches("c1", UPDATED), '"name":"apply_patch"', "--raw", "--limit", "5")
    assert event["type"] == "tool_call"
    assert {key: event["content"][key] for key in ("name", "kind", "arguments")} == {
        "name": "apply_patch",
        "kind": "file_edit",
        "arguments": {"file_path": "mill.rs", "old_string": "", "new_string": UPDATED, "replace_all": False},
    }
    payload = event["metadata"]["payload"]
    assert {key: payload[key] for key in ("type", "name", "input")} == {
        "type": "custom_tool_call",
        "name": "apply_patch",
        "input": UPDATED,
    }


def test_an_added_file_is_a_file_write(grep: Search) -> None:
    (event,) = grep(Codex().patches("c1", ADDED), "Add File:", "--raw", "--limit", "1")
    assert event["content"]["kind"] == "file_write"
    assert event["content"]["arguments"] == {"file_path": "docs/rye.md", "content": ADDED}


def test_the_checklist(grep: Search) -> None:
    log = Codex().patches("c1", UPDATED).patches("c2", ADDED)
    for event in grep(log, '"name":"apply_patch"', "--raw"):
        patch_text, arguments = event["metadata"]["payload"]["input"], event["content"]["arguments"]
        assert f" File: {arguments['file_path']}\n" in patch_text
        assert arguments.get("new_string", arguments.get("content")) == patch_text
        assert event["content"]["name"] == "apply_patch"


@pytest.mark.parametrize(
    ("pattern", "expected"), [("Update File:", ["c1"]), ("Add File:", ["c2"]), ("Delete File:", [])]
)
def test_patterns_of_the_document(pattern: str, expected: list[str], grep: Search) -> None:
    log = Codex().user("Go on.").patches("c1", UPDATED).patches("c2", ADDED)
    events = grep(log, pattern, "--raw", "--limit", "1")
    assert [event["content"]["provider_call_id"] for event in events] == expected


def test_json_shows_only_what_was_made_of_it(grep: Search) -> None:
    (event,) = grep(Codex().patches("c1", UPDATED), '"name":"apply_patch"', "--json", "--limit", "1")
    assert "payload" not in event["metadata"]
    (raw,) = grep(Codex().patches("c1", UPDATED), '"name":"apply_patch"', "--raw", "--limit", "1")
    assert {**event, "metadata": {**event["metadata"], "payload": raw["metadata"]["payload"]}} == raw


def test_a_limit(grep: Search) -> None:
    log = Codex()
    for number in range(7):
        log.patches(f"c{number}", UPDATED)
    assert len(grep(log, '"name":"apply_patch"', "--raw", "--limit", "5")) == 5


# Operations, and the ways a patch gets into a log

WRITE = {"kind": "file_write", "file_path": "docs/rye.md"}
EDIT = {"kind": "file_edit", "file_path": "mill.rs"}
DELETE = {"kind": "file_delete", "file_path": "old.rs"}
MOVE = {"kind": "file_move", "file_path": "mill.rs", "to": "src/mill.rs"}


def actions(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Return kind, path and target of each action; of a call with one alone, those of the call."""
    expected = content.get("actions") or [{"kind": content["kind"], **content["arguments"]}]
    return [{key: each[key] for key in ("kind", "file_path", "to") if key in each} for each in expected]


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        pytest.param(ADDED, "file_write", [WRITE], id="Add"),
        pytest.param(UPDATED, "file_edit", [EDIT], id="Update"),
        pytest.param(DELETED, "file_delete", [DELETE], id="Delete"),
        pytest.param(MOVED, "file_edit", [EDIT, MOVE], id="Move"),
        pytest.param(SEVERAL, "file_write", [WRITE, EDIT, DELETE], id="several files"),
    ],
)
def test_operations(text: str, kind: str, expected: list[dict[str, Any]], grep: Search) -> None:
    content = grep.call(Codex().patches("c1", text))
    assert content["kind"] == kind
    assert actions(content) == expected


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("apply_patch", {"raw": SEVERAL}),
        ("apply_patch", {"input": SEVERAL}),
        ("shell", {"command": ["apply_patch", SEVERAL]}),
        ("shell", {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{SEVERAL}EOF\n"]}),
        ("exec_command", {"cmd": f"apply_patch <<'EOF'\n{SEVERAL}EOF\n"}),
    ],
)
def test_forms_of_a_patch(name: str, arguments: dict[str, Any], grep: Search) -> None:
    content = grep.call(Codex().calls("c1", name, **arguments))
    assert (content["name"], content["kind"]) == (name, "file_write")
    assert actions(content) == [WRITE, EDIT, DELETE]


@pytest.mark.parametrize("text", ["no patch at all", "*** Begin Patch\n*** End Patch"])
def test_what_is_no_patch_is_generic_and_stays_as_it_is(text: str, grep: Search) -> None:
    content = grep.call(Codex().patches("c1", text))
    assert (content["name"], content["kind"], content["arguments"]) == ("apply_patch", "generic", {"raw": text})


# Vocabularies: one meaning for the tools of three agents

LISTED: dict[str, Any] = {"todos": [{"content": "Grind", "status": "pending", "activeForm": "Grinding"}]}


@pytest.mark.parametrize(
    ("tool", "arguments", "kind", "expected"),
    [
        ("Read", {"file_path": "/m/a.rs"}, "file_read", {"file_path": "/m/a.rs"}),
        (
            *("Edit", {"file_path": "/m/a.rs", "old_string": "a", "new_string": "b"}, "file_edit"),
            {"file_path": "/m/a.rs", "old_string": "a", "new_string": "b", "replace_all": False},
        ),
        (
            *("Write", {"file_path": "/m/a.rs", "content": "a"}, "file_write"),
            {"file_path": "/m/a.rs", "content": "a"},
        ),
        ("Bash", {"command": "grind", "description": "Grind"}, "execute", {"command": "grind", "description": "Grind"}),
        ("Glob", {"pattern": "*.rs"}, "search", {"pattern": "*.rs"}),
        ("Grep", {"pattern": "stone", "path": "/m"}, "search", {"pattern": "stone", "path": "/m"}),
        ("WebSearch", {"query": "rye"}, "web", {"query": "rye"}),
        ("TodoWrite", LISTED, "plan", {}),
        ("mcp__yard__look_at", {"place": "mill"}, "mcp", {"server": "yard", "tool": "look_at"}),
        ("Grindstone", {"speed": 3}, "generic", {"speed": 3}),
    ],
)
def test_tools_of_claude_code(
    tool: str, arguments: dict[str, Any], kind: str, expected: dict[str, Any], grep: Search
) -> None:
    content = grep.call(Claude().calls("t1", tool, **arguments))
    assert (content["name"], content["kind"]) == (tool, kind)
    assert {key: content["arguments"][key] for key in expected} == expected


@pytest.mark.parametrize(
    ("tool", "arguments", "kind", "expected"),
    [
        ("shell", {"command": ["grind", "--fine"]}, "execute", {"command": "grind --fine"}),
        ("shell_command", {"command": "grind", "timeout_ms": 900}, "execute", {"command": "grind"}),
        ("exec_command", {"cmd": "grind"}, "execute", {"command": "grind"}),
        ("update_plan", {"plan": [{"step": "Grind", "status": "pending"}]}, "plan", {}),
        ("view_image", {"path": "mill.png"}, "file_read", {"file_path": "mill.png"}),
        ("mcp__yard__look_at", {"place": "mill"}, "mcp", {"server": "yard", "tool": "look_at"}),
        ("grindstone", {"speed": 3}, "generic", {"speed": 3}),
    ],
)
def test_tools_of_codex(
    tool: str, arguments: dict[str, Any], kind: str, expected: dict[str, Any], grep: Search
) -> None:
    content = grep.call(Codex().calls("c1", tool, **arguments))
    assert (content["name"], content["kind"]) == (tool, kind)
    assert {key: content["arguments"][key] for key in expected} == expected


@pytest.mark.parametrize(
    ("tool", "arguments", "kind", "expected"),
    [
        ("read_file", {"file_path": "a.rs"}, "file_read", {"file_path": "a.rs"}),
        ("write_file", {"file_path": "a.rs", "content": "a"}, "file_write", {"file_path": "a.rs", "content": "a"}),
        (
            *("replace", {"file_path": "a.rs", "old_string": "a", "new_string": "b"}, "file_edit"),
            {"file_path": "a.rs", "old_string": "a", "new_string": "b", "replace_all": False},
        ),
        ("run_shell_command", {"command": "grind"}, "execute", {"command": "grind"}),
        ("glob", {"pattern": "*.rs"}, "search", {"pattern": "*.rs"}),
        ("search_file_content", {"pattern": "stone"}, "search", {"pattern": "stone"}),
        ("google_web_search", {"query": "rye"}, "web", {"query": "rye"}),
        ("write_todos", {"todos": [{"description": "Grind", "status": "pending"}]}, "plan", {}),
    ],
)
def test_tools_of_gemini_cli(
    tool: str, arguments: dict[str, Any], kind: str, expected: dict[str, Any], grep: Search
) -> None:
    log = Gemini()
    log.user("Grind.").says("I do.", log.called("g1", tool, "done", **arguments))
    content = grep.call(log)
    assert (content["name"], content["kind"]) == (tool, kind)
    assert {key: content["arguments"][key] for key in expected} == expected


# Searching by kind, and what shell commands do


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("file_write", ["c1"]),
        ("file_edit", ["c1", "c2"]),
        ("file_delete", ["c1"]),
        ("file_move", []),
        ("file_read", ["c3"]),
        ("search", ["c4"]),
        ("execute", ["c3", "c4"]),
    ],
)
def test_a_call_is_of_a_kind_if_it_or_an_action_of_it_is(kind: str, expected: list[str], grep: Search) -> None:
    log = Codex().patches("c1", SEVERAL).patches("c2", UPDATED)
    log.calls("c3", "exec_command", cmd="cat mill.rs").calls("c4", "exec_command", cmd="rg -n stone src")
    events = grep(log, '"type":"tool_call"', "--json", "--kind", kind)
    assert [event["content"]["provider_call_id"] for event in events] == expected


CHANGED = {"file_edit", "file_write"}


@pytest.mark.parametrize(
    ("command", "kinds", "path"),
    [
        ("sed -i 's/1/2/' mill.rs", CHANGED, "mill.rs"),
        ("echo rye > flour.txt", {"file_write"}, "flour.txt"),
        ("echo rye >> flour.txt", CHANGED, "flour.txt"),
        ("cat > flour.txt <<'EOF'\nrye\nEOF", {"file_write"}, "flour.txt"),
        ("grind | tee flour.txt", {"file_write"}, "flour.txt"),
        ("rm old.rs", {"file_delete"}, "old.rs"),
        ("mv old.rs new.rs", {"file_move"}, "old.rs"),
        ("cp old.rs new.rs", {"file_write"}, "new.rs"),
    ],
)
def test_shell_commands_that_change_files_have_actions(command: str, kinds: set[str], path: str, grep: Search) -> None:
    content = grep.call(Codex().calls("c1", "exec_command", cmd=command))
    assert content["kind"] == "execute"
    assert [each for each in actions(content) if each["kind"] in kinds and each.get("file_path") == path]


@pytest.mark.parametrize("program", ["git apply", "patch -p1"])
def test_patches_that_the_shell_applies_have_actions(program: str, grep: Search) -> None:
    diff = "--- a/mill.rs\n+++ b/mill.rs\n@@ -1 +1 @@\n-a\n+b\n"
    content = grep.call(Codex().calls("c1", "exec_command", cmd=f"{program} <<'EOF'\n{diff}EOF"))
    assert EDIT in actions(content)


# A failed command, whatever recorded it

OUTPUT = "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\ncat: mill.rs: No such file\n"


def test_a_failed_command_of_codex_failed_in_its_log_and_in_recorded_calls(
    grep: Search, unspool: Run, write: Write
) -> None:
    (logged,) = grep(
        Codex().calls("c1", "exec_command", cmd="cat mill.rs").result("c1", OUTPUT), "No such file", "--json"
    )
    assert logged["content"]["is_error"] is True
    call = {"type": "function_call", "call_id": "c1", "name": "exec_command", "arguments": '{"cmd": "cat mill.rs"}'}
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look."}]},
        call,
        {"type": "function_call_output", "call_id": "c1", "output": OUTPUT},
    ]
    request = {"model": "tin-1", "instructions": "You are Codex, a coding agent.", "input": items}
    path = write({"id": "r1", "request": request, "response": None})
    messages = json.loads(unspool("cook", path, "-q").stdout)["messages"]
    assert [message["is_error"] for message in messages if message["role"] == "tool_result"] == [True]
    assert b"exec_command - FAILED" in unspool("pretty", path, "--queue").stdout
