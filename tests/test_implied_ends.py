"""Where a call to the model ends, in logs that do not count each: sums, copies, and answers without numbers."""

import json
from pathlib import Path
from typing import Any

from conftest import Run
from logs import CHAT, SHOP, THREAD, Claude, Gemini, Machine
from test_implied import cooked, said


def turns_in(found: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Of each call the last thing that it was sent, and what it gave: words, or the ids of calls."""
    rows = {row["id"]: row for row in found["messages"]}
    return [
        (
            said(found, request["request_messages"])[-1][1] if request["request_messages"] else "",
            [
                word
                for id_ in request["response_messages"]
                for word in [call["id"] for call in rows[id_]["tool_calls"] or []] or [rows[id_]["content"]]
            ],
        )
        for request in found["requests"]
    ]


BREWED = [("Tea", ["I look", "c1"]), ("hot", ["I pour", "c2"]), ("full", ["Done"]), ("Thanks", ["Welcome"])]


def test_a_sum_for_the_whole_session_ends_no_call(unspool: Run, tmp_path: Path) -> None:
    def message(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
        return {"type": "message", "message": {"role": role, "content": list(blocks)}}

    def text(words: str) -> dict[str, Any]:
        return {"type": "text", "text": words}

    records = [
        {"type": "session_start", "id": "kettle", "title": "Tea", "cwd": "/home/ada"},
        message("user", text("Tea")),
        message("assistant", text("I look"), {"type": "tool_use", "id": "c1", "name": "LS", "input": {}}),
        message("user", {"type": "tool_result", "tool_use_id": "c1", "content": "hot"}),
        message("assistant", text("I pour"), {"type": "tool_use", "id": "c2", "name": "LS", "input": {}}),
        message("user", {"type": "tool_result", "tool_use_id": "c2", "content": "full"}),
        message("assistant", text("Done")),
        message("user", text("Thanks")),
        message("assistant", text("Welcome")),
    ]
    path = tmp_path / "kettle.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    sums = {"tokenUsage": {"inputTokens": 9, "outputTokens": 4}}
    path.with_name("kettle.settings.json").write_text(json.dumps(sums))
    found = json.loads(unspool("cook", path, "-q").stdout)
    assert turns_in(found) == BREWED
    assert [request["usage"] for request in found["requests"]] == [None, None, None, {"input": 9, "output": 4}]


def test_nor_does_a_sum_for_the_turn(unspool: Run, tmp_path: Path) -> None:
    items = [
        {"type": "agent_message", "text": "I look"},
        {"type": "command_execution", "id": "c1", "command": "ls", "aggregated_output": "hot", "status": "completed"},
        {"type": "command_execution", "id": "c2", "command": "ls", "aggregated_output": "full", "status": "completed"},
        {"type": "agent_message", "text": "Done"},
    ]
    records = [
        {"type": "thread.started", "thread_id": THREAD},
        *({"type": "item.completed", "item": item} for item in items),
        {"type": "turn.completed", "usage": {"input_tokens": 9, "output_tokens": 4}},
    ]
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    found = json.loads(unspool("cook", path, "-q").stdout)
    assert turns_in(found) == [("", ["I look", "c1"]), ("hot", ["c2"]), ("full", ["Done"])]


def brewing() -> Claude:
    log = Claude().user("Tea").says("I look").calls("c1", "Bash", new=False, command="ls").result("c1", "hot")
    log.says("I pour").calls("c2", "Bash", new=False, command="ls").result("c2", "full")
    return log.says("Done").user("Thanks").says("Welcome")


def test_calls_that_a_fork_copied_stay_calls_of_their_own(unspool: Run, tmp_path: Path) -> None:
    log = brewing()
    for record in log.records[:-2]:
        record["sessionId"] = "22222222-2222-4333-8444-555555555555"
    found = json.loads(unspool("cook", log.save(tmp_path / f"{SHOP}.jsonl"), "-q").stdout)
    assert turns_in(found) == BREWED
    assert [bool(request["usage"]) for request in found["requests"]] == [False, False, False, True]


def test_so_do_those_that_a_server_did_not_count(unspool: Run, tmp_path: Path) -> None:
    log = brewing()
    for record in log.records[3:-2]:
        if record["type"] == "assistant":
            record["message"]["usage"] = {"input_tokens": 0, "output_tokens": 0}
    found = json.loads(unspool("cook", log.save(tmp_path / f"{SHOP}.jsonl"), "-q").stdout)
    assert turns_in(found) == BREWED


def test_an_answer_that_was_not_counted_ends_where_the_model_speaks_of_its_results(
    unspool: Run, tmp_path: Path
) -> None:
    def record(kind: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
        message = {"role": "model" if kind == "assistant" else "user", "parts": list(parts)}
        return {"uuid": f"u{len(records)}", "sessionId": CHAT, "type": kind, "cwd": "/a", "message": message, **more}

    def call(name: str) -> dict[str, Any]:
        return {"functionCall": {"id": name, "name": "read_file", "args": {"absolute_path": "/a"}}}

    def result(name: str, output: str) -> dict[str, Any]:
        return {"functionResponse": {"id": name, "name": "read_file", "response": {"output": output}}}

    used = {"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 4, "totalTokenCount": 13}}
    records: list[dict[str, Any]] = []
    records.append(record("user", {"text": "Water"}))
    records.append(record("assistant", {"text": "It boils"}, **used))
    records.append(record("user", {"text": "Tea"}))
    records.append(record("assistant", {"text": "I look"}, call("c1")))
    records.append(record("tool_result", result("c1", "hot")))
    records.append(record("assistant", {"text": "I pour"}, call("c2")))
    records.append(record("tool_result", result("c2", "full")))
    records.append(record("assistant", {"text": "Done"}, **used))
    records.append(record("user", {"text": "Thanks"}))
    records.append(record("assistant", {"text": "Welcome"}, **used))
    path = tmp_path / f"{CHAT}.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    found = json.loads(unspool("cook", path, "-q").stdout)
    assert turns_in(found) == [("Water", ["It boils"]), *BREWED]


def test_so_does_one_of_gemini_cli_that_has_no_tokens(unspool: Run, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    log = Gemini().user("Tea").says("I look", Gemini().called("c1", "list_directory", "hot", path="."))
    log.says("I pour", log.called("c2", "list_directory", "full", path=".")).says("Done").user("Thanks").says("Welcome")
    log.records[2]["tokens"] = None
    del log.records[3]["tokens"]
    assert turns_in(cooked(unspool, machine, machine.gemini(log))) == BREWED
