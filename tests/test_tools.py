"""`unspool tools`: which tools were called, with what, and how well we understand them."""

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Run, Write
from logs import Claude, Codex, Gemini, Machine
from unspool.jobs.show import find
from unspool.jobs.tools import tools as count_tools


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    machine.claude(
        Claude()
        .user("x")
        .calls("t1", "Bash", command="make")
        .calls("t2", "Bash", command="make", timeout=9000)
        .calls("t3", "Read", file_path="/a", zoom=2.5, leaves=["1"], deep={"a": 1}, fast=True, none=None)
        .calls("t4", "Read", limit=3)
        .calls("t5", "Teleport", where="Mars")
        .calls("t6", "mcp__kitchen__boil", water=1)
    )
    machine.codex(Codex().user("x").calls("c1", "exec_command", cmd="ls"))
    gemini = Gemini()
    machine.gemini(gemini.user("x").says("y", gemini.called("g1", "read_file", "z", absolute_path="/a")))
    return machine


def tools(run: Run, machine: Machine, *arguments: str | Path) -> dict[tuple[str, str], dict[str, Any]]:
    done = run("tools", *arguments, "--json", **machine.environment)
    assert (done.returncode, done.stderr) == (0, b"")
    seen = [json.loads(line) for line in done.stdout.splitlines()]
    return {(tool["agent"], tool["name"]): tool for tool in seen}


def test_every_tool_of_every_agent_by_its_own_name(unspool: Run, machine: Machine) -> None:
    assert list(tools(unspool, machine)) == [
        ("claude_code", "Bash"),
        ("claude_code", "Read"),
        ("claude_code", "Teleport"),
        ("claude_code", "mcp__kitchen__boil"),
        ("codex", "exec_command"),
        ("gemini_cli", "read_file"),
    ]


def test_a_file_that_is_given_twice_counts_once(unspool: Run, machine: Machine, tmp_path: Path) -> None:
    log = next(tmp_path.rglob("rollout-*.jsonl"))
    again = log.parent / "." / ".." / log.parent.name / log.name
    assert tools(unspool, machine, log, log.parent, again)["codex", "exec_command"]["calls"] == 1


def test_what_is_told_of_a_tool(unspool: Run, machine: Machine) -> None:
    assert tools(unspool, machine)["claude_code", "Bash"] == {
        "agent": "claude_code",
        "name": "Bash",
        "calls": 2,
        "kinds": {"execute": 2},
        "generic": 0.0,
        "arguments": {
            "command": {"calls": 2, "types": {"string": 2}},
            "timeout": {"calls": 1, "types": {"integer": 1}},
        },
        "known": True,
        "differences": [],
    }


def test_the_types_of_arguments_are_those_of_json(unspool: Run, machine: Machine) -> None:
    arguments = tools(unspool, machine)["claude_code", "Read"]["arguments"]
    assert {name: list(seen["types"]) for name, seen in arguments.items()} == {
        "file_path": ["string"],
        "zoom": ["number"],
        "leaves": ["array"],
        "deep": ["object"],
        "fast": ["boolean"],
        "none": ["null"],
        "limit": ["integer"],
    }


def test_the_share_that_was_not_understood(unspool: Run, machine: Machine) -> None:
    seen = tools(unspool, machine)
    assert seen["claude_code", "Read"]["generic"] == 0.5
    assert seen["claude_code", "Teleport"]["generic"] == 1.0
    assert seen["claude_code", "mcp__kitchen__boil"]["kinds"] == {"mcp": 1}


def test_differences_from_what_we_expect(unspool: Run, machine: Machine) -> None:
    seen = tools(unspool, machine, "--diff")
    assert list(seen) == [("claude_code", "Read"), ("claude_code", "Teleport")]
    assert seen["claude_code", "Teleport"]["differences"] == ["not in the vocabulary"]
    read = seen["claude_code", "Read"]["differences"]
    assert "argument 'zoom' is not expected (1 × number)" in read
    assert "argument 'file_path' is missing in 1 call" in read
    assert "1 call does not fit" in read
    assert not any("limit" in difference for difference in read)


def test_a_tool_that_is_generic_on_purpose_takes_anything(unspool: Run, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.codex(Codex().user("x").calls("c1", "image_generation", prompt="a kettle"))
    assert tools(unspool, machine)["codex", "image_generation"]["generic"] == 1.0
    assert tools(unspool, machine, "--diff") == {}


def test_differences_are_said_under_their_tool(unspool: Run, machine: Machine) -> None:
    lines = unspool("tools", "--diff", **machine.environment).stdout.decode().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("Teleport"))
    assert lines[at + 1] == "  not in the vocabulary"


def test_no_difference_is_said(unspool: Run, machine: Machine) -> None:
    done = unspool("tools", "--diff", "--agent", "codex", **machine.environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"no difference\n")


def test_a_table_for_people(unspool: Run, machine: Machine) -> None:
    lines = unspool("tools", "--agent", "claude", **machine.environment).stdout.decode().splitlines()
    assert lines[0].split() == ["claude_code", "calls", "generic", "kind", "arguments"]
    assert lines[1].split() == ["Bash", "2", "0%", "execute", "command:", "string,", "timeout:", "integer"]


def test_a_machine_without_logs(unspool: Run, tmp_path: Path) -> None:
    done = unspool("tools", **Machine(tmp_path).environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"no tool was called\n")


def test_two_processes_count_what_one_counts(unspool: Run, machine: Machine) -> None:
    one = unspool("tools", "--json", "--jobs", "1", **machine.environment)
    two = unspool("tools", "--json", "--jobs", "2", **machine.environment)
    assert one.stdout == two.stdout
    assert len(one.stdout.splitlines()) == 6


def test_each_file_is_told_when_it_was_read(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """So a line on the terminal can move."""
    monkeypatch.setenv("UNSPOOL_CACHE", str(machine.home / "cache"))
    logs, seen, shown = [str(path) for path in machine.home.rglob("*.json*")], list[str](), list[str]()
    count_tools(logs, seen=seen.append)
    find(str(machine.home), shown.append)
    assert seen == logs
    assert set(logs) <= set(shown)


def test_a_path_that_is_not_there(unspool: Run, machine: Machine) -> None:
    done = unspool("tools", machine.home / "nope", **machine.environment)
    assert done.returncode == 2
    assert b"nope: No such file or directory" in done.stderr


def test_one_file_that_cannot_be_read_costs_nothing_else(unspool: Run, machine: Machine) -> None:
    log = next(machine.home.rglob("rollout-*.jsonl"))
    log.with_name("rollout-2026-03-01T10-00-00-broken.jsonl").symlink_to("/proc/self/mem")  # reading it fails
    done = unspool("tools", "--json", **machine.environment)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 6), done.stderr


def test_names_are_made_harmless(unspool: Run, machine: Machine) -> None:
    arguments: dict[str, Any] = {"pot\x1b]0;t\x07": 1}
    log = Claude().user("x").calls("t1", "Tea\x1b]0;t\x07", **arguments)
    shown = unspool("tools", log.save(machine.home / "evil.jsonl"), **machine.environment).stdout
    assert b"Tea" in shown
    assert b"\x1b" not in shown


# Recorded API traffic: whose is it?


def exchange(
    name: str, arguments: str, *, system: str = "", tools: tuple[str, ...] = (), **more: Any
) -> dict[str, Any]:
    use = {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [use]}
    offered = [{"type": "function", "function": {"name": tool, "parameters": {}}} for tool in tools]
    asked = [*([{"role": "system", "content": system}] if system else []), {"role": "user", "content": "Go"}]
    return {
        "request": {"model": "m", "messages": asked, "tools": offered},
        "response": {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]},
        **more,
    }


@pytest.mark.parametrize(
    ("agent", "record", "kind"),
    [
        ("claude_code", exchange("Bash", '{"command": "ls"}', system="You are Claude Code, a CLI."), "execute"),
        ("codex", exchange("exec_command", '{"cmd": "ls"}', tools=("exec_command", "write_stdin")), "execute"),
        (
            "gemini_cli",
            exchange("replace", '{"file_path": "a", "old_string": "b", "new_string": "c"}')
            | {"headers": {"User-Agent": "GeminiCLI/0.61.0 (linux)"}},
            "file_edit",
        ),
    ],
    ids=["by its system prompt", "by its tools", "by its user agent"],
)
def test_the_agent_behind_recorded_calls(
    unspool: Run, machine: Machine, write: Write, agent: str, record: dict[str, Any], kind: str
) -> None:
    ((found, tool),) = tools(unspool, machine, write(record)).items()
    assert found[0] == agent
    assert tool["kinds"] == {kind: 1}
    assert tool["known"]


def test_recorded_calls_of_nobody_that_we_know_are_named_by_their_api(
    unspool: Run, machine: Machine, write: Write
) -> None:
    nobody = {"headers": {"user-agent": "customized-client/2 (authorized)"}}
    seen = tools(unspool, machine, write(exchange("Bash", '{"command": "ls"}', system="You are Roomie.") | nobody))
    assert {name: tool["kinds"] for name, tool in seen.items()} == {("openai", "Bash"): {"generic": 1}}


def test_tools_that_the_api_defines_make_nobody_an_agent(unspool: Run, machine: Machine, write: Write) -> None:
    """Codex' own tools have the names of two of OpenAI's."""
    ran = {"type": "shell_call", "call_id": "c1", "action": {"commands": ["make"]}, "status": "completed"}
    record = {
        "request": {"model": "m", "input": "Go", "tools": [{"type": "shell"}, {"type": "apply_patch"}]},
        "response": {"object": "response", "status": "completed", "output": [ran]},
    }
    seen = tools(unspool, machine, write(record))
    assert {name: tool["kinds"] for name, tool in seen.items()} == {("responses", "shell"): {"execute": 1}}


def test_a_file_that_is_neither_log_nor_traffic_is_a_mistake(unspool: Run, tmp_path: Path, write: Write) -> None:
    (tmp_path / "notes.txt").write_text("no log\n")
    done = unspool("tools", tmp_path / "notes.txt")
    assert (done.returncode, b"notes.txt: no agent's log that we know" in done.stderr) == (2, True)
    assert unspool("tools", write({"request": {"messages": []}})).returncode == 0, "a call without tools is one"
    assert unspool("tools", tmp_path).returncode == 0, "in a folder it is passed over"
