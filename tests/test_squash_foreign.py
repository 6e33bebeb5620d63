"""`unspool squash` of other APIs' traffic: what it gives is in the shape that trainers take."""

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from logs import Codex
from many import records

GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "start: hunk+"}
TOOLS = [
    {"type": "function", "name": "run", "description": "Runs.", "parameters": {"type": "object", "properties": {}}},
    {"type": "custom", "name": "apply_patch", "description": "Patches.", "format": GRAMMAR},
]
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
CALLS = [
    {"type": "function_call", "call_id": "c1", "name": "run", "arguments": '{"n":1}'},
    {"type": "custom_tool_call", "call_id": "c2", "name": "apply_patch", "input": "*** Begin Patch"},
]
RESULTS = [
    {"type": "function_call_output", "call_id": "c1", "output": "one"},
    {"type": "custom_tool_call_output", "call_id": "c2", "output": "two"},
]
ASKED = {"role": "user", "content": "Mend it"}
DONE = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Mended."}]}


def exchange(second: int, given: list[Any], output: list[Any]) -> dict[str, Any]:
    return {
        "timestamp": f"2026-03-01T10:00:{second:02}Z",
        "session_id": "s",
        "request": {"model": "gpt-5", "input": given, "tools": TOOLS},
        "response": {
            "id": f"resp_{second}",
            "object": "response",
            "status": "completed",
            "model": "gpt-5",
            "output": output,
            "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
        },
    }


@pytest.fixture
def log(tmp_path: Path) -> Path:
    calls = [exchange(1, [ASKED], [THOUGHT, *CALLS]), exchange(2, [ASKED, THOUGHT, *CALLS, *RESULTS], [DONE])]
    path = tmp_path / "responses.jsonl"
    path.write_text("".join(json.dumps(call) + "\n" for call in calls))
    return path


@pytest.mark.parametrize("strategy", ["snapshot", "tree"])
def test_parallel_calls_are_one_answer_in_front_of_their_results(
    unspool: Run, tmp_path: Path, log: Path, strategy: str
) -> None:
    assert unspool("squash", log, "-o", tmp_path / "out", "--strategy", strategy).returncode == 0
    (record,) = records(tmp_path / "out")
    messages = record["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "tool", "assistant"]
    given = [(call["id"], json.loads(call["function"]["arguments"])) for call in messages[1]["tool_calls"]]
    assert given == [("c1", {"n": 1}), ("c2", {"input": "*** Begin Patch"})]
    assert [message["tool_call_id"] for message in messages[2:4]] == ["c1", "c2"]
    assert [tool["name"] for tool in record["tools"]] == ["run", "apply_patch"]
    assert record["tools"][1]["parameters"]["properties"]["input"]["description"] == GRAMMAR["definition"]


@pytest.mark.parametrize("strategy", ["snapshot", "tree"])
def test_openai_takes_it_and_each_answer_is_trained_on(unspool: Run, tmp_path: Path, log: Path, strategy: str) -> None:
    done = unspool("squash", log, "-o", tmp_path / "out", "--strategy", strategy, "--to", "openai")
    assert done.returncode == 0, done.stderr
    (record,) = records(tmp_path / "out")
    assert [message.get("weight") for message in record["messages"]] == [None, 1, None, None, 1]


@pytest.mark.parametrize("strategy", ["snapshot", "tree"])
def test_an_answer_that_comes_back_without_its_thoughts_is_trained_on(
    unspool: Run, tmp_path: Path, strategy: str
) -> None:
    """Gemini's clients send neither thoughts nor signatures back, nor the ids of calls."""
    asked = {"role": "user", "parts": [{"text": "Tea?"}]}
    called = {"functionCall": {"name": "brew", "args": {"cups": 1}}}
    thought = {"text": "One cup.", "thought": True}
    signed = {**called, "thoughtSignature": "c2ln"}
    signed["functionCall"] = {**called["functionCall"], "id": "f1"}
    gave = {"role": "user", "parts": [{"functionResponse": {"name": "brew", "response": {"ok": True}}}]}
    histories = [[asked], [asked, {"role": "model", "parts": [called]}, gave]]
    answers = [[thought, signed], [{"text": "Here."}]]
    calls = [
        {
            "timestamp": f"2026-03-01T10:00:{second:02}Z",
            "session_id": "s",
            "url": "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent",
            "request": {"contents": history},
            "response": {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]},
        }
        for second, (history, parts) in enumerate(zip(histories, answers, strict=True))
    ]
    (tmp_path / "gemini.jsonl").write_text("".join(json.dumps(call) + "\n" for call in calls))
    done = unspool(
        "squash", tmp_path / "gemini.jsonl", "-o", tmp_path / "out", "--strategy", strategy, "--to", "axolotl"
    )
    assert done.returncode == 0, done.stderr
    (record,) = records(tmp_path / "out")
    assert [(message["role"], message["train"]) for message in record["messages"]] == [
        ("user", False),
        ("assistant", True),
        ("tool", False),
        ("assistant", True),
    ]


def test_a_call_that_failed_does_not_hide_the_answer_to_the_same_prompt(unspool: Run, tmp_path: Path) -> None:
    failed = exchange(3, [ASKED], []) | {"response": {"error": {"type": "server_error", "message": "overloaded"}}}
    (tmp_path / "a.jsonl").write_text(
        "".join(json.dumps(call) + "\n" for call in (exchange(1, [ASKED], [DONE]), failed))
    )
    assert unspool("squash", tmp_path / "a.jsonl", "-o", tmp_path / "out").returncode == 0
    (record,) = records(tmp_path / "out")
    assert record["messages"][-1] == {"role": "assistant", "content": "Mended."}
    assert json.loads((tmp_path / "out/summary.json").read_text())["counts"]["entries cut off"] == 1


def test_what_a_snapshot_leaves_out_is_told(unspool: Run, tmp_path: Path) -> None:
    """Calls behind a compaction, and further choices."""

    def asked(second: int, *texts: str) -> dict[str, Any]:
        said = [{"content": {"role": "model", "parts": [{"text": text}]}} for text in ("Done", "Or so")]
        given = [{"role": "user", "parts": [{"text": text}]} for text in texts]
        return {
            "timestamp": f"2026-03-01T10:00:{second:02}Z",
            "session_id": "s",
            "path": "/v1beta/models/g:generateContent",
        } | {
            "request": {"contents": given},
            "response": {"candidates": said},
        }

    log = tmp_path / "log.jsonl"
    lines = [asked(0, "Mend it"), asked(1, "Mend it", "And that"), asked(2, "What was done so far")]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = unspool("squash", log, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    found = (tmp_path / "out" / "integrity-report.txt").read_text()
    assert "cut off behind entry 2, which has the most messages: 1 of 3" in found
    assert "the last answer has 2 choices; the first is kept" in found


@pytest.mark.parametrize("strategy", ["snapshot", "tree"])
def test_that_no_tools_were_sent_is_an_error_of_traffic_and_a_fact_of_an_agents_log(
    unspool: Run, tmp_path: Path, log: Path, strategy: str
) -> None:
    bare = [json.loads(line) for line in log.read_text().splitlines()]
    for call in bare:
        call["request"]["tools"] = []
    log.write_text("".join(json.dumps(call) + "\n" for call in bare))
    about = {"sessionId": "7b1f", "cwd": "/p", "version": "2.1.0", "timestamp": "2026-03-01T10:00:00Z"}
    answer = [{"type": "text", "text": "Hello."}]
    said = {"id": "m1", "role": "assistant", "model": "claude-sonnet-4-5", "content": answer}
    lines = [
        {**about, "type": "user", "uuid": "u1", "parentUuid": None, "message": {"role": "user", "content": "Hi"}},
        {**about, "type": "assistant", "uuid": "u2", "parentUuid": "u1", "message": said},
    ]
    logged = tmp_path / "7b1f.jsonl"
    logged.write_text("".join(json.dumps(line) + "\n" for line in lines))
    out = tmp_path / "out"
    unspool("squash", str(log), str(logged), "-o", str(out), "--strategy", strategy)
    findings = json.loads((out / "integrity-report.json").read_text())["findings"]
    told = {(Path(found["input"]).name, found["severity"]) for found in findings if found["rule"] == "no-tools"}
    assert told == {("responses.jsonl", "ERROR"), ("7b1f.jsonl", "INFO")}


def roles(out: Path) -> list[list[str]]:
    return [[message["role"] for message in record["messages"]] for record in records(out)]


@pytest.mark.parametrize("strategy", ["snapshot", "tree"])
def test_an_answer_is_not_joined_with_the_next_where_a_log_keeps_no_results(
    unspool: Run, tmp_path: Path, strategy: str
) -> None:
    asked: dict[str, Any] = {"role": "user", "message": {"content": [{"type": "text", "text": "Mend it"}]}}
    lines = [asked]
    for text, command in (("I look.", "ls"), ("I see.", "make"), ("Done.", None)):
        said = [{"type": "text", "text": text}]
        call = [{"type": "tool_use", "name": "Shell", "input": {"command": command}}] if command else []
        lines.append({"role": "assistant", "message": {"content": [*said, *call]}})
    log = tmp_path / "transcript.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    out = tmp_path / "out"
    unspool("squash", str(log), "-o", str(out), "--strategy", strategy)
    (record,) = records(out)
    assert [message["content"] for message in record["messages"]] == ["Mend it", "I look.", "I see.", "Done."]


@pytest.mark.parametrize("strategy", ["snapshot", "tree"])
def test_a_search_in_an_agents_log_stands_before_what_was_said_of_it(
    unspool: Run, tmp_path: Path, strategy: str
) -> None:
    log = Codex().user("Is tea hot?")
    log.line("response_item", type="web_search_call", id="ws_1", status="completed", action={"query": "tea"})
    path = log.says("It is.").counts(100, 40, 20, 5).save(tmp_path / log.name())
    out = tmp_path / "out"
    unspool("squash", str(path), "-o", str(out), "--strategy", strategy)
    assert roles(out) == [["user", "assistant", "tool", "assistant"]]


@pytest.mark.parametrize("strategy", ["snapshot", "tree"])
def test_a_text_that_a_log_has_in_place_of_arguments_is_the_input_of_its_tool(
    unspool: Run, tmp_path: Path, strategy: str
) -> None:
    call = {"toolCallId": "c1", "name": "apply_patch", "arguments": "*** Begin Patch"}
    lines = [
        {"type": "session.start", "data": {"sessionId": "s1", "version": 1, "producer": "copilot-agent"}},
        {"type": "user.message", "data": {"content": "Mend it"}},
        {"type": "assistant.message", "data": {"messageId": "m1", "content": "", "toolRequests": [call]}},
        {"type": "tool.execution_complete", "data": {"toolCallId": "c1", "success": True, "result": {"content": "ok"}}},
        {"type": "assistant.message", "data": {"messageId": "m2", "content": "Done.", "toolRequests": []}},
    ]
    log = tmp_path / "events.jsonl"
    log.write_text("".join(json.dumps(line | {"id": f"e{n}"}) + "\n" for n, line in enumerate(lines)))
    out = tmp_path / "out"
    unspool("squash", str(log), "-o", str(out), "--strategy", strategy)
    (record,) = records(out)
    (made,) = record["messages"][1]["tool_calls"]
    assert json.loads(made["function"]["arguments"]) == {"input": "*** Begin Patch"}


@pytest.mark.parametrize("strategy", ["snapshot", "tree"])
def test_a_tool_that_was_defined_anew_is_told_and_the_last_definition_can_be_had(
    unspool: Run, tmp_path: Path, strategy: str
) -> None:
    first, second = exchange(1, [ASKED], [DONE]), exchange(2, [ASKED, DONE, ASKED], [DONE])
    second["request"]["tools"] = [TOOLS[0] | {"description": "Runs faster."}]
    path = tmp_path / "responses.jsonl"
    path.write_text("".join(json.dumps(call) + "\n" for call in (first, second)))
    told = {}
    for which in ("all", "last"):
        out = tmp_path / which
        assert unspool("squash", path, "-o", out, "--strategy", strategy, "--tools-from", which).returncode == 0
        (record,) = records(out)
        found = [finding["rule"] for finding in json.loads((out / "integrity-report.json").read_bytes())["findings"]]
        told[which] = [tool["description"] for tool in record["tools"]], "tool-changed" in found
    assert told == {"all": (["Runs.", "Patches."], True), "last": (["Runs faster."], False)}
