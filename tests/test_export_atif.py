from typing import Any

import pytest
from hypothesis import given

from training import FULL, SEEN, SYSTEM, WEATHER, answer, call, conversations, encoded, record, result, row, user
from unspool.exports.training import format_for
from unspool.model.record import TrainingRecord

atif = pytest.importorskip("nat.atif")


def trajectories(*records: TrainingRecord) -> list[dict[str, Any]]:
    """As they are written, each taken by the validator."""
    rows = [each for made in format_for("atif").encode(records) for each in made.rows]
    for each in rows:
        atif.Trajectory.model_validate(each)
    return rows


@given(conversations)
def test_the_validator_takes_each_trajectory(messages: list[dict[str, Any]]) -> None:
    for made in trajectories(record(*messages)):
        answers = [message for message in messages if message["role"] == "assistant"]
        assert len([step for step in made["steps"] if step["source"] == "agent"]) == len(answers)
        results = [one for step in made["steps"] for one in step.get("observation", {"results": ()})["results"]]
        assert len(results) == len([message for message in messages if message["role"] == "tool"])


def test_results_stand_in_the_step_of_their_calls() -> None:
    (made,) = trajectories(record(*FULL))
    assert made["schema_version"] == "ATIF-v1.7"
    assert [step["source"] for step in made["steps"]] == ["system", "user", "agent", "agent", "user", "agent"]
    step = made["steps"][2]
    assert step["tool_calls"][1] == {
        "tool_call_id": "b",
        "function_name": "weather",
        "arguments": {"city": "Kraków", "days": 2},
    }
    assert [(one["source_call_id"], one["content"]) for one in step["observation"]["results"]] == [
        ("a", "sunny"),
        ("b", "rain"),
    ]
    assert step["reasoning_content"] == "Two calls."
    assert step["metrics"]["prompt_tokens"] == 105
    assert made["steps"][4]["message"][1] == {"type": "image", "source": {"media_type": "image/png", "path": SEEN}}
    assert made["agent"] == {"name": "codex", "version": "unknown", "model_name": "m-1", "tool_definitions": [WEATHER]}
    assert made["final_metrics"] == {
        "total_steps": 6,
        "total_prompt_tokens": 315,
        "total_completion_tokens": 21,
        "total_cached_tokens": 270,
    }


def test_what_was_trained_on_before_is_copied_context() -> None:
    (made,) = trajectories(record(*FULL, train={7}))
    assert [step.get("is_copied_context", False) for step in made["steps"]] == [True, True, True, True, False, False]
    (fresh,) = trajectories(record(*FULL))
    assert not any("is_copied_context" in step for step in fresh["steps"])


def test_sub_agents_stand_in_their_callers() -> None:
    main = record(*FULL, id="main")
    helper = record(
        SYSTEM, user("Look."), answer(None, call("x")), id="helper", parent="main", call="b", relation="subagent"
    )
    below = record(user("Deeper."), answer("!"), id="below", parent="helper", call="x", relation="subagent")
    (made,) = trajectories(main, helper, below)
    (inner,) = made["subagent_trajectories"]
    assert made["steps"][2]["observation"]["results"][1]["subagent_trajectory_ref"] == [
        {"trajectory_id": "helper", "session_id": "s1"}
    ]
    assert [each["trajectory_id"] for each in inner["subagent_trajectories"]] == ["below"]
    assert inner["steps"][2]["observation"]["results"] == [
        {"source_call_id": "x", "subagent_trajectory_ref": [{"trajectory_id": "below", "session_id": "s1"}]}
    ]


def test_a_sub_agent_whose_caller_is_missing_stands_alone() -> None:
    (made,) = trajectories(record(user("?"), answer("!"), id="h", parent="gone", call="b", relation="subagent"))
    assert made["extra"] == {"relation": "subagent", "parent": "gone", "call": "b", "source": "logs/s1.jsonl"}


def test_a_compacted_trajectory_refers_to_its_continuation() -> None:
    first = record(*FULL, id="one")
    second = record(user("Summary."), answer("!"), id="two", parent="one", relation="compaction")
    made = trajectories(first, second)
    assert [each.get("continued_trajectory_ref") for each in made] == ["two.json", None]


def test_what_has_no_field_is_extra() -> None:
    document = {"type": "file", "file": {"file_id": "f"}}
    odd = answer("See.", call("a", arguments="not json"), annotations=[1])
    (made,) = trajectories(record(user([document]), odd, result("a", is_error=True), result("zz", "late")))
    asked, step = made["steps"]
    assert asked["extra"]["content"] == [document]
    assert step["tool_calls"][0]["extra"] == {"arguments": "not json"}
    assert step["extra"]["annotations"] == [1]
    given = step["observation"]["results"]
    assert [one.get("extra") for one in given] == [{"is_error": True, "name": "weather"}, {"tool_call_id": "zz"}]


def test_a_record_without_messages_is_refused() -> None:
    assert encoded("atif").refused == "no message"
    assert row("atif", result("a"))["steps"][0]["source"] == "system"
