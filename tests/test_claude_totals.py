"""What a run of Claude Code took, where its totals began with those of an earlier run."""

import json
from pathlib import Path
from typing import Any

import pytest

from told import events_of, tokens_of

SESSION = "11111111-2222-4333-8444-555555555555"
TAKEN = {"input_tokens": 5, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 100, "output_tokens": 30}
INIT = {"type": "system", "subtype": "init", "tools": [], "mcp_servers": [], "model": "claude-opus-5"}
OWN = sum(TAKEN.values())


def total(read: int, cached: int, written: int, output: int, searches: int = 0) -> dict[str, int]:
    return {
        "inputTokens": read,
        "cacheReadInputTokens": cached,
        "cacheCreationInputTokens": written,
        "outputTokens": output,
        "webSearchRequests": searches,
    }


ALONE, EARLIER, HELPED = total(5, 900, 100, 30), total(25, 2700, 1500, 200), total(205, 900, 100, 50)


def ended(whole: dict[str, int], **more: Any) -> dict[str, Any]:
    return {
        "type": "result",
        "subtype": "success",
        "num_turns": 1,
        "result": "Green.",
        "usage": TAKEN,
        "modelUsage": {"claude-opus-5": whole},
        **more,
    }


def answered(content: dict[str, Any]) -> dict[str, Any]:
    message = {"model": "claude-opus-5", "id": "msg_1", "role": "assistant", "content": [content], "usage": TAKEN}
    return {"type": "assistant", "message": message, "parent_tool_use_id": None}


def written(folder: Path, *records: dict[str, Any]) -> Path:
    file = folder / "run.jsonl"
    file.write_text("".join(json.dumps({**record, "session_id": SESSION}) + "\n" for record in records))
    return file


@pytest.mark.parametrize(
    ("version", "whole", "counted"),
    [
        ("2.1.277", EARLIER, OWN),
        ("2.1.296", ALONE, OWN),
        ("2.1.296", HELPED, 1255),  # a helper was asked, and that is this run's
        ("2.1.296", total(25, 2700, 1500, 200, searches=1), 4425),  # a search may have asked it all
        ("2.1.276", EARLIER, 4425),  # each run counted from nothing
        ("soon", EARLIER, 4425),
    ],
)
def test_an_earlier_run_is_not_counted_again(tmp_path: Path, version: str, whole: dict[str, int], counted: int) -> None:
    said = answered({"type": "text", "text": "Green."})
    log = written(tmp_path, {**INIT, "claude_code_version": version}, said, ended(whole))
    assert tokens_of(events_of(log)) == counted


def test_what_agents_took_is_counted(tmp_path: Path) -> None:
    call = answered({"type": "tool_use", "id": "toolu_1", "name": "Agent", "input": {"prompt": "Count."}})
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Nine."}
    came = {"type": "user", "message": {"role": "user", "content": [result]}, "parent_tool_use_id": None}
    log = written(
        tmp_path,
        {**INIT, "claude_code_version": "2.1.296"},
        call,
        {**came, "tool_use_result": {"agentId": "ag1"}},
        ended(EARLIER),
    )
    assert tokens_of(events_of(log)) == 4425


def test_turns_of_the_same_run_are_counted(tmp_path: Path) -> None:
    """A turn that failed leaves its totals out; the next one tells both."""
    said = answered({"type": "text", "text": "Green."})
    failed = {**ended({}), "subtype": "error_during_execution", "is_error": True, "modelUsage": {}}
    log = written(tmp_path, {**INIT, "claude_code_version": "2.1.296"}, said, failed, ended(EARLIER))
    assert tokens_of(events_of(log)) == 4425


@pytest.mark.parametrize("times", [1, 3])
def test_a_result_without_totals_tells_of_its_turn_alone(tmp_path: Path, times: int) -> None:
    more = {name: times * number for name, number in TAKEN.items()}
    log = written(tmp_path, INIT, ended({}), {**ended({}), "usage": more})
    assert tokens_of(events_of(log)) == OWN + times * OWN


@pytest.mark.parametrize("mark", ["process_turn_index", "safety_stops"])
def test_a_result_that_stands_alone_tells_how_new_it_is(tmp_path: Path, mark: str) -> None:
    new = written(tmp_path, ended(EARLIER, subagent_stats={"spawned": 0}, **{mark: 0}))
    assert tokens_of(events_of(new)) == OWN
    with_agents = written(tmp_path, ended(EARLIER, subagent_stats={"spawned": 1}, **{mark: 0}))
    assert tokens_of(events_of(with_agents)) == 4425
