"""A retry asks the same model again: other names of that model count, other models do not."""

from pathlib import Path
from typing import Any

import pytest

from calls import call
from entries import Log, says, system, user
from test_view_threads import Talk, opened, talk
from unspool.jobs.tree import pairs
from unspool.model.model_names import same_model

__all__ = ["talk"]


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("gpt-x", "gpt-x", True),
        ("gpt-x", "gpt-y", False),
        ("openai/gpt-x", "gpt-x", True),
        ("openrouter/openai/GPT-X", "gpt-x", True),
        ("models/gemini-2.0-flash-001", "gemini-2.0-flash", True),
        ("gpt-x", "gpt-x-2026-01-31", True),
        ("gpt-x-2026-01-31", "gpt-x-2026-05-13", False),
        ("gpt-x-mini", "gpt-x", False),
        ("claude-x-latest", "claude-x-20260131", True),
        ("claude-x@20260131", "us.anthropic.claude-x-20260131-v1:0", True),
        ("claude-sonnet-4-5", "claude-sonnet-4-6", False),
        ("qwen3:0.6b", "qwen3:4b", False),
        (None, "gpt-x", True),
    ],
)
def test_names_of_one_model(first: str | None, second: str | None, same: bool) -> None:
    assert same_model(first, second) is same
    assert same_model(second, first) is same


def test_one_prompt_to_four_models_is_four_conversations(links: Any) -> None:
    found = links(*(call("s:S", "u1", answer=f"a {name}", model=name, id=name) for name in "abcd"))
    assert found == dict.fromkeys("abcd", (None, None, None))


def test_each_model_is_retried_by_itself(links: Any) -> None:
    found = links(
        call("u1", error="busy", model="openai/gpt-x", id="1"),
        call("u1", error="busy", model="claude-x", id="2"),
        call("u1", answer="a1", model="gpt-x-2026-01-31", id="3"),
        call("u1", answer="a2", model="claude-x", id="4"),
    )
    assert [found[name] for name in "1234"] == [
        (None, None, None),
        (None, None, None),
        (None, None, "1"),
        (None, None, "2"),
    ]


def test_a_fallback_to_another_model_is_a_sibling(links: Any) -> None:
    found = links(
        call("u1", answer="a1", model="large", id="1"),
        call("u1", "a1", "u2", error="overloaded", model="large", id="2"),
        call("u1", "a1", "u2", answer="a2", model="small", id="3"),
        call("u1", "a1", "u2", "a2", "u3", answer="a3", model="small", id="4"),
    )
    assert found["3"] == ("1", "switch", None)
    assert found["4"] == ("3", "continues", None)


def test_a_summary_sent_to_another_model_is_no_child_of_its_sibling(links: Any) -> None:
    summary = "This session is being continued from a previous conversation that ran out of context. It was about tea."
    found = links(
        call("u1", answer="a1", id="0"),
        call("u1", "a1", "u2", answer="a2", id="1"),
        call(summary, "u3", error="overloaded", model="large", id="2"),
        call(summary, "u3", answer="a3", model="small", id="3"),
    )
    assert found["2"] == ("1", "compaction", None)
    assert found["3"] == ("1", "compaction", None)


def test_history_that_the_provider_holds(links: Any) -> None:
    def responses(name: str, model: str, previous: str | None = None) -> dict[str, Any]:
        request = {"model": model, "input": f"Go on {previous}", "previous_response_id": previous}
        output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": name}]}]
        response = {"object": "response", "id": f"resp_{name}", "output": output}
        return {"id": name, "timestamp": 1_700_000_000, "request": request, "response": response}

    found = links(
        responses("1", "large"),
        responses("2", "large", "resp_1"),
        responses("3", "small", "resp_1"),
        responses("4", "large", "resp_1"),
    )
    assert [found[name] for name in "234"] == [("1", "continues", None), ("1", "switch", None), ("1", "retry", "2")]


def test_an_answer_of_another_model_is_a_branch_and_makes_no_pair(tmp_path: Path) -> None:
    log = Log()
    log.ask([system(), user("Mend it")], says("I cannot"))
    history = log.ask([system(), user("Mend it")], says("I can"))
    log.ask([*history, user("Go on")], says("Done"))
    log.entries[0]["request"]["model"] = "claude-x"
    main, other = found = log.records(tmp_path)
    assert [record.relation for record in found] == ["main", "switch"]
    assert (other.parent, other.model) == (main.id, "claude-x")
    assert list(pairs(found)) == []


def test_a_thread_asked_of_another_model(talk: Talk) -> None:
    asked = talk.asks("Try", head="try")
    talk.says("", asked, status="error", error="529 overloaded")
    talk.says("Mine", asked, model="gpt-5")
    talk.says("Done", asked)
    rows = opened("try").load().rows
    assert [row.retry_of for row in rows] == [None, None, 0]
