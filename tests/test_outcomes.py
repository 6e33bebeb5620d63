"""One rule for failed tool calls: a log, a live stream and recorded traffic of the same run agree on them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calls import call
from conftest import Run
from logs import Codex, Gemini
from unspool.ingest.open import read_exchanges
from unspool.ingest.outcomes import _RULES, rule_for, was_stopped
from unspool.model import Exchange, ToolResult

OUTPUTS = {
    "Chunk ID: 1da441\nWall time: 0.1 seconds\nProcess exited with code 1\nOriginal token count: 9\nOutput:\nno": True,
    "Chunk ID: 1da442\nWall time: 0.1 seconds\nProcess exited with code 0\nOriginal token count: 9\nOutput:\nok": False,
    "Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno": True,
    "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nProcess exited with code 1": False,
    json.dumps({"output": "no", "metadata": {"exit_code": 1, "duration_seconds": 0.1}}): True,
    json.dumps({"output": "ok", "metadata": {"exit_code": 0, "duration_seconds": 0.1}}): False,
    "apply_patch verification failed: no such file": True,
    "just words": False,
}
"""What Codex's tools give back, and whether the call failed."""


def write(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def responses(*items: dict[str, Any], answer: list[dict[str, Any]], client: str, number: int) -> dict[str, Any]:
    """A recorded call of the Responses API."""
    return {
        "id": f"q{number}",
        "timestamp": 1_772_359_200 + number,
        "path": "/v1/responses",
        "headers": {"user-agent": client},
        "request": {"model": "gpt-test", "input": [{"role": "user", "content": "Go"}, *items]},
        "response": {"id": f"resp_{number}", "object": "response", "status": "completed", "output": answer},
    }


def traffic_of_codex(path: Path, client: str = "codex_exec/0.166.0") -> Path:
    records: list[dict[str, Any]] = []
    items: list[dict[str, Any]] = []
    for number, output in enumerate(OUTPUTS):
        arguments = json.dumps({"cmd": f"step {number}"})
        asked = {"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": f"c{number}"}
        records.append(responses(*items, answer=[asked], client=client, number=number))
        items += [asked, {"type": "function_call_output", "call_id": f"c{number}", "output": output}]
    last = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done"}]}
    return write(path, *records, responses(*items, answer=[last], client=client, number=len(OUTPUTS)))


def log_of_codex(path: Path) -> Path:
    log = Codex().user("Go")
    for number, output in enumerate(OUTPUTS):
        log.calls(f"c{number}", "exec_command", cmd=f"step {number}").result(f"c{number}", output)
    return log.says("Done").save(path)


def results(path: Path) -> dict[str, bool]:
    """The results of the last call, by their calls: whether they failed."""
    exchanges = [item for item in read_exchanges(path) if isinstance(item, Exchange)]
    blocks = [block for message in exchanges[-1].messages for block in message.blocks]
    return {block.call_id or "": bool(block.is_error) for block in blocks if isinstance(block, ToolResult)}


def statuses(unspool: Run, path: Path) -> list[str]:
    lines = unspool("pretty", path, "--style", "line", "--queue").stdout.decode()
    return re.findall(r"^ *\[(?:result|error)\] \w+ ([A-Z]+)\b", lines, re.MULTILINE)


def test_log_and_traffic_of_codex_agree(unspool: Run, tmp_path: Path) -> None:
    log = log_of_codex(tmp_path / "rollout-2026-03-01T10-00-00-x.jsonl")
    trace = traffic_of_codex(tmp_path / "trace.jsonl")
    assert list(results(trace).values()) == list(OUTPUTS.values())
    assert results(log) == results(trace)
    expected = ["FAILED" if failed else "COMPLETED" for failed in OUTPUTS.values()]
    assert statuses(unspool, trace) == statuses(unspool, log) == expected


def test_the_same_result_of_log_and_traffic_is_one_message(unspool: Run, tmp_path: Path) -> None:
    log = log_of_codex(tmp_path / "rollout-2026-03-01T10-00-00-x.jsonl")
    trace = traffic_of_codex(tmp_path / "trace.jsonl")
    cooked = json.loads(unspool("cook", log, trace).stdout)
    told = [message for message in cooked["messages"] if message["role"] == "tool_result"]
    # The log's reader takes the text out of the JSON in which older versions wrapped it: these two stay apart.
    assert len(told) == len(OUTPUTS) + 2
    assert [message["tool_use_id"] for message in told if message["is_error"]] == ["c0", "c2", "c4", "c6", "c4"]


@pytest.mark.parametrize("share", ["0.4", "0.6"])
def test_squash_keeps_log_and_traffic_alike(unspool: Run, tmp_path: Path, share: str) -> None:
    log = log_of_codex(tmp_path / "rollout-2026-03-01T10-00-00-x.jsonl")
    trace = traffic_of_codex(tmp_path / "trace.jsonl")
    kept = []
    for path in (log, trace):
        out = tmp_path / f"out-{path.stem}"
        done = unspool("squash", path, "-o", out, "--filter", f"errors<={share}")
        assert done.returncode in (0, 1), done.stderr
        kept.append(sum(len(file.read_text().splitlines()) for file in out.rglob("*.jsonl")))
    assert kept == ([0, 0] if share == "0.4" else [1, 1])


def test_a_stream_of_codex_agrees_with_its_log(unspool: Run, tmp_path: Path) -> None:
    output = next(iter(OUTPUTS))
    stream = write(
        tmp_path / "stream.jsonl",
        {"type": "thread.started", "thread_id": "019c0001-0000-7000-8000-000000000002"},
        {"type": "turn.started"},
        {
            "type": "item.completed",
            "item": {
                "id": "item_0",
                "type": "command_execution",
                "command": "step 0",
                "aggregated_output": output,
                "exit_code": 1,
                "status": "failed",
            },
        },
    )
    log = Codex().user("Go").calls("c0", "exec_command", cmd="step 0").result("c0", output)
    path = log.save(tmp_path / "rollout-2026-03-01T10-00-00-x.jsonl")
    assert statuses(unspool, stream) == statuses(unspool, path) == ["FAILED"]


def test_other_programs_are_not_judged_by_text(tmp_path: Path) -> None:
    trace = traffic_of_codex(tmp_path / "trace.jsonl", client="my-program/1.0")
    for record in (records := [json.loads(line) for line in trace.read_text().splitlines()]):
        for item in [*record["request"]["input"], *record["response"]["output"]]:
            if item.get("name") == "exec_command":
                item["name"] = "run"
    assert set(results(write(trace, *records)).values()) == {False}


def test_a_request_that_does_not_show_its_agent_repeats_the_same_messages(tmp_path: Path) -> None:
    trace = traffic_of_codex(tmp_path / "trace.jsonl")
    records = [json.loads(line) for line in trace.read_text().splitlines()]
    aside = json.loads(json.dumps(records[-1])) | {"id": "title", "timestamp": records[-1]["timestamp"] + 1}
    del aside["headers"]
    assert list(results(write(trace, *records, aside)).values()) == list(OUTPUTS.values())


def chat(name: str, output: str, client: str, **more: Any) -> dict[str, Any]:
    """A recorded chat call that gives back the result of one tool."""
    function = {"name": name, "arguments": json.dumps({"command": "step"})}
    record = call("Go", "c:c1", "t:c1", answer="a1", headers={"user-agent": client}, path="/v1/chat/completions")
    record["request"]["messages"][1]["tool_calls"][0]["function"] = function
    record["request"]["messages"][2] |= {"content": output, **more}
    return record


@pytest.mark.parametrize(
    ("client", "tool", "output", "failed"),
    [
        ("QwenCode/0.15", "run_shell_command", "Command: x\nOutput: no\nError: (none)\nExit Code: 1\nSignal: 0", True),
        ("QwenCode/0.15", "run_shell_command", "Command: x\nOutput: ok\nError: (none)\nExit Code: 0\nSignal: 0", False),
        ("QwenCode/0.15", "read_file", "Output: ok\nExit Code: 1\nSignal: 0", False),
        ("QwenCode/0.15", "read_file", "File not found: /x", True),
        ("QwenCode/0.15", "read_file", "Error: is the first line\nof a file", False),
        ("QwenCode/0.15", "edit", "Failed to edit, could not find the string to replace.", True),
        ("QwenCode/0.15", "edit", "The file: /x has been updated.", False),
        ("opencode/1.18", "read", "File not found: /x", True),
        ("opencode/1.18", "read", "File not found: is the first line\nof a file", False),
        ("opencode/1.18", "invalid", "The arguments provided to the tool are invalid: no", True),
        ("opencode/1.18", "bash", "no\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>", True),
        ("opencode/1.18", "bash", "User aborted the command", False),
        ("factory-cli/0.30", "Execute", "no\n\n[Process exited with code 1]", True),
        ("factory-cli/0.30", "Execute", "ok\n\n[Process exited with code 0]", False),
        ("copilot/1.0", "bash", "no\n<exited with exit code 2>", True),
        ("copilot/1.0", "bash", "ok\n<exited with exit code 0>", False),
        ("RooCode/3.1", "execute_command", "Command executed in '/x'. Command execution was not successful\nno", True),
        ("goose/1.9", "developer__shell", "The tool call returned the following error:\nno", True),
        ("goose/1.9", "developer__shell", "ok", False),
        ("claude-cli/2.1", "Bash", "Exit code 1", False),
        ("my-program/1.0", "bash", "Exit code: 1\nno", False),
    ],
)
def test_results_are_judged_as_in_the_agents_log(
    client: str, tool: str, output: str, failed: bool, tmp_path: Path
) -> None:
    assert results(write(tmp_path / "t.jsonl", chat(tool, output, client))) == {"c1": failed}


@pytest.mark.parametrize(
    ("tool", "output", "failed"),
    [
        ("bash", "no\n\nCommand exited with code 2", True),
        ("bash", "Command timed out after 5 seconds", True),
        ("bash", "Command exited with code 2\nis what it printed", False),
        ("read", "ENOENT: no such file or directory, access '/x'", True),
        ("read", "ENOENT: is the first line\nof a file", False),
        ("edit", "Could not find the exact text in a.py. The old text must match exactly.", True),
        ("edit", "Successfully replaced 1 block(s) in a.py.", False),
    ],
)
def test_pi_is_known_by_its_prompt(tool: str, output: str, failed: bool, tmp_path: Path) -> None:
    record = chat(tool, output, "OpenAI/JS 5.0")
    record["request"]["messages"].insert(0, {"role": "system", "content": "You are operating inside pi, a harness."})
    assert results(write(tmp_path / "t.jsonl", record)) == {"c1": failed}


def test_what_the_api_says_counts(tmp_path: Path) -> None:
    record = chat("run_shell_command", "Output: no\nExit Code: 1\nSignal: 0", "QwenCode/0.15", is_error=False)
    assert results(write(tmp_path / "t.jsonl", record)) == {"c1": False}


@pytest.mark.parametrize("code", [0, 1])
def test_log_and_traffic_of_gemini_agree(unspool: Run, code: int, tmp_path: Path) -> None:
    output = f"Output: x\nExit Code: {code}\nProcess Group PGID: 77"
    log = Gemini()
    made = log.called("g1", "run_shell_command", output, command="step")
    log.user("Go").says("", made)
    path = log.says("Done").save(tmp_path / "chats" / "session-2026-03-03T10-00-33333333.jsonl")
    asked = {"functionCall": {"id": "g1", "name": "run_shell_command", "args": {"command": "step"}}}
    contents = [
        {"role": "user", "parts": [{"text": "Go"}]},
        {"role": "model", "parts": [asked]},
        {"role": "user", "parts": [made["result"][0]]},
    ]
    answers = [{"role": "model", "parts": [asked]}, {"role": "model", "parts": [{"text": "Done"}]}]
    trace = write(
        tmp_path / "trace.jsonl",
        *(
            {
                "id": f"g{number}",
                "timestamp": 1_772_532_000 + number,
                "path": "/v1beta/models/gemini-test:generateContent",
                "headers": {"user-agent": "GeminiCLI/0.61.0"},
                "request": {"contents": contents[: 1 + 2 * number]},
                "response": {"candidates": [{"content": answer, "finishReason": "STOP"}]},
            }
            for number, answer in enumerate(answers)
        ),
    )
    expected = ["FAILED" if code else "COMPLETED"]
    assert results(trace) == results(path) == {"g1": bool(code)}
    assert statuses(unspool, trace) == statuses(unspool, path) == expected


@pytest.mark.parametrize("agent", sorted(_RULES))
@given(text=st.text(), tool=st.none() | st.sampled_from(["bash", "read", "run_shell_command", "spawn_agent"]))
def test_no_text_is_too_odd(agent: str, text: str, tool: str | None) -> None:
    rule = rule_for(agent)
    assert rule is not None
    assert rule(text, tool) in (True, False)
    assert was_stopped(agent, text) in (True, False)
