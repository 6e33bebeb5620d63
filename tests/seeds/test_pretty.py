"""Document 001: what `pretty` draws of each message, in both modes, with our own data."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import unspool
from conftest import Run
from streams import Live


def drawn(live: Live, **options: object) -> str:
    return "\n".join(unspool.pretty([live.data], **options))  # type: ignore[arg-type]


START = """\
╔════════════════════════ system ════════════════════════╗
║                                                        ║
║   🚀 Session Initialized                               ║
║   Session ID: session_abc123                           ║
║                                                        ║
╚════════════════════════════════════════════════════════╝"""
NAMED = """\
╔════════════════════════ system ════════════════════════╗
║                                                        ║
║   🚀 Harvest at the mill                               ║
║   Counting the sacks of May                            ║
║   URL: https://mill.example.org/run/9                  ║
║   Session ID: session_abc123                           ║
║                                                        ║
╚════════════════════════════════════════════════════════╝"""
TEXT = """\
╔══════════════════════ assistant ═══════════════════════╗
║                                                        ║
║  I'll oil the wheel.                                   ║
║                                                        ║
╚════════════════════════════════════════════════════════╝"""
PROMPT = """\
╔═════════════════════════ user ═════════════════════════╗
║                                                        ║
║  Grind the rye.                                        ║
║                                                        ║
╚════════════════════════════════════════════════════════╝"""
RUNNING = """\
╔═════════════════════════ tool ═════════════════════════╗
║                                                        ║
║  ⏳ Tool: Bash                                         ║
║  🔧 Command: ls grain                                  ║
║  📝 Description: List the grain                        ║
║                                                        ║
╚════════════════════════════════════════════════════════╝"""
COMPLETED = """\
╔═════════════════════════ tool ═════════════════════════╗
║                                                        ║
║  ✅ Tool: Bash - COMPLETED (2.50s)                     ║
║  🔧 Command: ls grain                                  ║
║  📝 Description: List the grain                        ║
║                                                        ║
║  📄 Result: rye    3 sacks                             ║
║  wheat  9 sacks                                        ║
║                                                        ║
╚════════════════════════════════════════════════════════╝"""
FAILED = """\
╔═════════════════════════ tool ═════════════════════════╗
║                                                        ║
║  ❌ Tool: Bash - FAILED (0.50s)                        ║
║  🔧 Command: grind rye                                 ║
║                                                        ║
║  🚨 Error: grind: no such command                      ║
║                                                        ║
╚════════════════════════════════════════════════════════╝"""
INTERRUPTED = """\
╔═════════════════════ interrupted ══════════════════════╗
║                                                        ║
║  ⚠️ Tool: Read - INTERRUPTED                           ║
║  📁 File: /mill/plan.txt                               ║
║                                                        ║
║  🚫 Tool execution was interrupted by a new tool       ║
║  request                                               ║
║                                                        ║
╚════════════════════════════════════════════════════════╝

╔═════════════════════════ tool ═════════════════════════╗
║                                                        ║
║  ✅ Tool: Bash - COMPLETED (0.45s)                     ║
║  🔧 Command: ls grain                                  ║
║                                                        ║
║  📄 Result: rye                                        ║
║                                                        ║
╚════════════════════════════════════════════════════════╝"""
ORPHANED = """\
╔═══════════════════════ orphaned ═══════════════════════╗
║                                                        ║
║  ⌛ Tool: Write - ORPHANED (timeout after 30s)         ║
║  📁 File: /mill/plan.txt                               ║
║                                                        ║
║  🔍 No result received within timeout period           ║
║                                                        ║
╚════════════════════════════════════════════════════════╝"""
TODO = """\
╔═════════════════════════ todo ═════════════════════════╗
║                                                        ║
║  📝 Todo List:                                         ║
║                                                        ║
║  ✅ [HIGH] Clean the stones                            ║
║  🔄 [MEDIUM] Grind rye                                 ║
║  ⬜ [LOW] Sell the flour                               ║
║                                                        ║
╚════════════════════════════════════════════════════════╝"""
SUCCESS = """\
╔════════════════════════ result ════════════════════════╗
║                                                        ║
║  ✅ Task Success                                       ║
║                                                        ║
║  The mill runs                                         ║
║                                                        ║
║  ⏱  Duration: 9.00s                                    ║
║  🔄 API Time: 4.00s                                    ║
║  💬 Turns: 3                                           ║
║  💰 Cost: $0.0125                                      ║
║                                                        ║
╚════════════════════════════════════════════════════════╝"""
FAILURE = """\
╔════════════════════════ result ════════════════════════╗
║                                                        ║
║  ❌ Task Failed (error)                                ║
║                                                        ║
║  🚨 Error: Stopped: no grain                           ║
║                                                        ║
║  ⏱  Duration: 0.90s                                    ║
║  🔄 API Time: 0.40s                                    ║
║  💬 Turns: 1                                           ║
║  💰 Cost: $0.0020                                      ║
║                                                        ║
╚════════════════════════════════════════════════════════╝"""
TODOS = [
    {"id": "1", "content": "Clean the stones", "status": "completed", "priority": "high"},
    {"id": "2", "content": "Grind rye", "status": "in_progress", "priority": "medium"},
    {"id": "3", "content": "Sell the flour", "status": "pending", "priority": "low"},
]


def listing(live: Live) -> Live:
    return live.calls("t", "Bash", command="ls grain", description="List the grain")


@pytest.mark.parametrize(
    ("live", "drawing"),
    [
        pytest.param(Live().starts(), START, id="init"),
        pytest.param(Live().says("I'll oil the wheel."), TEXT, id="text"),
        pytest.param(Live().user("Grind the rye."), PROMPT, id="user text"),
        pytest.param(listing(Live()), RUNNING, id="tool_use"),
        pytest.param(Live().calls("t", "TodoWrite", todos=TODOS), TODO, id="TodoWrite"),
        pytest.param(
            Live().ends(
                result="The mill runs",
                duration_ms=9000,
                duration_api_ms=4000,
                num_turns=3,
                total_cost_usd=None,
                cost_usd=0.0125,
            ),
            SUCCESS,
            id="result success",
        ),
        pytest.param(
            Live().fails(
                "error",
                error="Stopped: no grain",
                duration_ms=900,
                duration_api_ms=400,
                num_turns=1,
                total_cost_usd=None,
                cost_usd=0.002,
            ),
            FAILURE,
            id="result error",
        ),
    ],
)
def test_boxes(live: Live, drawing: str) -> None:
    assert drawn(live) == drawing


def test_a_tool_result_without_queue_mode_is_a_box_of_its_own() -> None:
    text = drawn(listing(Live()).result("t", "rye\nwheat"))
    assert text.startswith(RUNNING)
    assert re.findall(r"║  (.*\S) +║", text[len(RUNNING) :]) == ["✅ Tool: Bash - COMPLETED", "📄 Result: rye", "wheat"]


@pytest.mark.parametrize(
    ("live", "drawing"),
    [
        pytest.param(
            listing(Live().at(1)).at(3.5).result("t", "rye    3 sacks\nwheat  9 sacks"), COMPLETED, id="use and result"
        ),
        pytest.param(
            Live()
            .at(1)
            .calls("t", "Bash", command="grind rye")
            .at(1.5)
            .result("t", "Error: grind: no such command", True),
            FAILED,
            id="a failed tool",
        ),
        pytest.param(
            Live().at(1).calls("w", "Write", file_path="/mill/plan.txt").at(31.5).says("I'll oil the wheel."),
            f"{ORPHANED}\n\n{TEXT}",
            id="an orphan after 30 seconds",
        ),
    ],
)
def test_boxes_of_queue_mode(live: Live, drawing: str) -> None:
    assert drawn(live, queue=True) == drawing


def test_a_list_of_tasks_in_queue_mode() -> None:
    live = Live().at(1).calls("t", "TodoWrite", todos=TODOS).at(2).result("t", "Todos have been modified")
    lines = TODO.split("\n")
    head = ["║  ✅ Tool: TodoWrite - COMPLETED (1.00s)                ║", lines[1]]
    title = "╔═════════════════════════ tool ═════════════════════════╗"
    assert drawn(live, queue=True).split("\n") == [title, lines[1], *head, *lines[2:]]


def test_a_new_tool_interrupts_the_open_one_if_tools_run_one_at_a_time() -> None:
    live = Live().at(1).calls("r", "Read", file_path="/mill/plan.txt").at(2).calls("b", "Bash", command="ls grain")
    live.at(2.45).result("b", "rye")
    assert drawn(live, queue=True, one_tool_at_a_time=True) == INTERRUPTED
    assert "INTERRUPTED" not in drawn(live.at(3).result("r", "oak"), queue=True)  # tools of today run beside each other


def test_an_orphans_time_can_be_set() -> None:
    live = Live().at(1).calls("r", "Read", file_path="/mill/plan.txt").at(31.5).says("Still here.")
    assert "ORPHANED" not in drawn(live, queue=True, orphan_after=60.0)
    assert "ORPHANED (timeout after 2s)" in drawn(live, queue=True, orphan_after=2.0)


# The command, its options and variables

LIVE = listing(Live().starts().at(1)).at(3.5).result("t", "rye    3 sacks\nwheat  9 sacks")


def test_a_stream_on_standard_input_and_one_in_a_file(unspool: Run, tmp_path: Path) -> None:
    path = tmp_path / "stream.jsonl"
    path.write_bytes(LIVE.data)
    piped = unspool("pretty", "--queue", stdin=LIVE.data)
    assert piped.stdout.decode() == f"{START}\n\n{COMPLETED}\n"
    assert unspool("pretty", path, "--queue").stdout == piped.stdout


def test_variables_name_the_run(unspool: Run) -> None:
    done = unspool(
        "pretty",
        stdin=Live().starts().data,
        CCPRETTY_TITLE="Harvest at the mill",
        CCPRETTY_DESCRIPTION="Counting the sacks of May",
        CCPRETTY_URL="https://mill.example.org/run/9",
    )
    assert done.stdout.decode() == f"{NAMED}\n"


def one_object_over_lines(indent: int | None) -> bytes:
    return b"".join(json.dumps(each, indent=indent).replace(', "', ',\n"').encode() + b"\n" for each in LIVE.records)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(one_object_over_lines(2), id="indented"),
        pytest.param(one_object_over_lines(None), id="broken without indentation"),
        pytest.param(b"".join(json.dumps(each).encode() for each in LIVE.records), id="all in one line"),
        pytest.param(json.dumps(LIVE.records).encode(), id="an array"),
    ],
)
def test_objects_need_not_be_one_a_line(data: bytes, unspool: Run) -> None:
    assert unspool("pretty", "--queue", stdin=data).stdout.decode() == f"{START}\n\n{COMPLETED}\n"


def test_other_lines_pass_through(unspool: Run) -> None:
    done = unspool("pretty", stdin=b"npm warn old\n" + Live().starts().data + b"{torn\n")
    assert done.stdout.decode() == f"npm warn old\n\n{START}\n\n{{torn\n"


@pytest.mark.parametrize(("succeeds", "status"), [(True, 0), (False, 1), (None, 3)])
def test_the_exit_status_can_be_that_of_the_run(succeeds: bool | None, status: int, unspool: Run) -> None:
    live = Live().starts()
    if succeeds is not None:
        live = live.ends() if succeeds else live.fails("error", error="No grain")
    assert unspool("pretty", "--exit-code", stdin=live.data).returncode == status
    assert unspool("pretty", stdin=live.data).returncode == 0


def test_silence_ends_nothing() -> None:
    """A call without a result is an orphan while nothing comes, and what comes then is shown."""
    command = [sys.executable, "-m", "unspool", "pretty", "--queue", "--orphan-after", "200ms"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ}) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(Live().calls("r", "Read", file_path="/mill/plan.txt").data)
        process.stdin.flush()
        shown = b""
        while b"period" not in shown:
            line = process.stdout.readline()
            assert line, shown.decode()
            shown += line
        process.stdin.write(Live().says("Still here.").data)
        process.stdin.close()
        ending = process.stdout.read()
    assert "ORPHANED (timeout after 0.2s)" in shown.decode()
    assert "Still here." in ending.decode()
