"""Qwen Code: what is counted, whose a document is, and where logs are looked for."""

import json
from pathlib import Path
from typing import Any

from told import contents_of
from unspool.ingest.logs import open_log
from unspool.model import Event
from unspool.model.event import AgentMessage, Notification, TokenUsage, ToolOutput, User
from unspool.readers import qwen_code

FOLDER = Path(__file__).parent / "readers"


def usages_of(path: Path) -> list[TokenUsage]:
    return contents_of(path, TokenUsage)


def total_of(usages: list[TokenUsage]) -> int:
    return sum(usage.input + usage.cache_read + usage.output for usage in usages)


def test_calls_that_the_telemetry_repeats_count_once() -> None:
    usages = usages_of(FOLDER / "qwen_code" / "session.jsonl")
    assert total_of(usages) == 350 + 415 + 509
    assert [usage.response_id for usage in usages] == ["chatcmpl-1", None, "chatcmpl-3", None]


def test_what_a_fork_copied_was_paid_for_elsewhere() -> None:
    assert total_of(usages_of(FOLDER / "qwen_code" / "fork.jsonl")) == 21


def test_the_sum_of_a_stream_is_what_its_last_record_says() -> None:
    assert total_of(usages_of(FOLDER / "qwen_stream" / "run.jsonl")) == 254
    assert total_of(usages_of(FOLDER / "qwen_stream" / "agents.jsonl")) == 55


def test_places_follow_the_environment() -> None:
    reader = qwen_code.reader
    assert next(place.folder for place in reader.places({}, Path("/home/me"))) == Path("/home/me/.qwen/projects")
    moved = reader.places({"QWEN_RUNTIME_DIR": "/data"}, Path("/home/me"))
    assert [place.folder for place in moved] == [Path("/data/projects"), Path("/data/tmp")]


def test_a_sub_agents_transcript_is_read_with_what_stands_beside_it() -> None:
    [agent] = (FOLDER / "qwen_code" / "subagent").rglob("agent-*.jsonl")
    assert [Path(path).name for path in qwen_code.reader.beside(str(agent))] == ["agent-explore-1.meta.json"]
    assert list(qwen_code.reader.beside(str(agent.with_name("other.jsonl")))) == []


def test_sub_agents_are_kin() -> None:
    [agent] = (FOLDER / "qwen_code" / "subagent").rglob("agent-*.jsonl")
    [session] = (FOLDER / "qwen_code" / "subagent").rglob("chats/*.jsonl")
    assert list(qwen_code.reader.kin(str(session))) == [str(agent)]


def _ran(outcome: str) -> dict[str, Any]:
    return {"status": "success", "resultDisplay": {"type": "shell_result", "outcome": outcome}}


def test_calls_that_were_stopped_or_ended_badly_are_told_so(tmp_path: Path) -> None:
    results: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("c1", {"error": "[Operation Cancelled] Reason: Denied"}, {"status": "cancelled"}),
        (
            "c2",
            {"output": "nothing"},
            _ran("failed"),
        ),
        (
            "c3",
            {"output": "done"},
            _ran("completed"),
        ),
    ]
    lines = []
    for call, response, about in results:
        answer = {"functionResponse": {"id": call, "name": "run_shell_command", "response": response}}
        record = {
            "uuid": call,
            "sessionId": "s",
            "type": "tool_result",
            "timestamp": "2026-03-01T10:00:00.000Z",
            "message": {"role": "user", "parts": [answer]},
            "toolCallResult": {"callId": call, **about},
        }
        lines.append(json.dumps(record))
    path = tmp_path / "s.jsonl"
    path.write_text("\n".join(lines))
    told = contents_of(path, ToolOutput)
    assert [(result.is_error, result.interrupted) for result in told] == [(True, True), (True, False), (False, False)]


def _told(path: Path, *records: dict[str, Any]) -> list[Any]:
    """The contents of events that records give which have nothing in common but their session."""
    about = {"sessionId": "s", "timestamp": "2026-10-01T10:00:00.000Z", "cwd": "/work"}
    lines = [json.dumps({"uuid": f"u{number}", **about, **record}) for number, record in enumerate(records)]
    path.write_text("\n".join(lines), encoding="utf-8")
    log = open_log(str(path))
    assert log is not None
    return [item.content for item in log if isinstance(item, Event)]


def test_what_another_agent_answers_is_no_prompt(tmp_path: Path) -> None:
    asked = {"type": "user", "subtype": "agent_mention", "systemPayload": {"displayText": "@bo is it wet?"}}
    told = {"displayText": "It is.", "author": {"agentId": "a2", "name": "bo"}, "status": "completed"}
    answer = {"type": "user", "subtype": "agent_message", "agentId": "a2", "systemPayload": told}
    assert _told(tmp_path / "s.jsonl", asked, answer) == [User("@bo is it wet?"), AgentMessage("It is.", "bo")]


def test_nor_is_what_it_asks_a_third_one(tmp_path: Path) -> None:
    told = {"displayText": "@al look!", "mentionedAgentIds": ["a1"], "author": {"agentId": "a2", "name": "bo"}}
    asked = {"type": "user", "subtype": "agent_mention", "provenance": "external_agent", "systemPayload": told}
    assert _told(tmp_path / "s.jsonl", asked) == [AgentMessage("@al look!", "bo")]


def test_results_of_calls_that_a_script_made_are_not_the_models(tmp_path: Path) -> None:
    inside = {"functionResponse": {"id": "c1:code:1", "name": "read_file", "response": {"output": "wet"}}}
    record = {"type": "tool_result", "subtype": "code_mode_tool_result", "message": {"role": "user", "parts": [inside]}}
    assert _told(tmp_path / "s.jsonl", record) == [Notification("read_file: wet", "info")]


def test_the_tokens_of_a_sub_agents_answer_stand_behind_its_calls(tmp_path: Path) -> None:
    """They are written with its words; each call is a record of its own behind them."""

    def record(kind: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
        about = {"type": kind, "uuid": f"{parts}{more}", "agentId": "a", "isSidechain": True}
        return about | {"message": {"role": "user", "parts": list(parts)}} | more

    def call(name: str) -> dict[str, Any]:
        return record("assistant", {"functionCall": {"id": name, "name": "glob", "args": {"pattern": "*"}}})

    def result(name: str) -> dict[str, Any]:
        return record("tool_result", {"functionResponse": {"id": name, "name": "glob", "response": {"output": "a"}}})

    def said(tokens: int, *parts: dict[str, Any]) -> dict[str, Any]:
        return record("assistant", *parts, usageMetadata={"promptTokenCount": tokens, "candidatesTokenCount": 1})

    ready = record("system", subtype="agent_session_ready", systemPayload={"callId": "2"})
    rounds = [said(10, {"text": "I look."}), call("1"), ready, call("2"), result("1"), result("2")]
    rounds += [said(20), call("3"), result("3"), said(30, {"text": "Done."})]
    told = _told(tmp_path / "agent-a.jsonl", record("user", {"text": "Find teas."}), *rounds)
    first = ["message", "tool_call", "tool_call", "token_usage", "tool_result", "tool_result"]
    kinds = [content.type for content in told[2:]]
    assert kinds == [*first, "tool_call", "token_usage", "tool_result", "message", "token_usage"]
    assert [content.input for content in told if isinstance(content, TokenUsage)] == [10, 20, 30]
